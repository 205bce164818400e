//! Definitions that are kept from one run to the next: listed with nothing started, and checked again.

use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::catalog::Freshness;
use switchboard::host::{Host, HostBuilder, KeptDefinitions, KeptLimits, State, View};
use switchboard::pins::{Mode, Pins};
use switchboard::policy::{AgentPolicy, Level, Policy};
use switchboard::protocol::Version;
use tempfile::TempDir;
use tokio::time::{Duration, Instant, sleep};

use crate::host_support::pinned::{host, offer, plain, planner, policy, reader};
use crate::host_support::recorder::Recorder;
use crate::host_support::{With as _, name, silent, until};

/// The person's folder of state, over several runs.
struct Runs(TempDir);

impl Runs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("state")
    }

    fn kept(&self) -> KeptDefinitions {
        KeptDefinitions::at(self.folder())
    }

    /// A host of another run.
    fn host(&self, recorder: &Recorder) -> Host {
        self.host_with(recorder, Mode::Block, |builder| builder)
    }

    fn host_with(
        &self,
        recorder: &Recorder,
        mode: Mode,
        make: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Host {
        let (kept, pins) = (self.kept(), Pins::at(self.folder()));
        host(recorder, |builder| {
            make(builder.kept_definitions(&kept).pins(pins, mode))
        })
    }

    /// Connects to a server that offers this, and ends.
    async fn first(&self) {
        let host = self.host(&Recorder::new(offer()));
        host.connect("notes").await.unwrap();
        host.shutdown().await;
    }

    /// The files of kept definitions.
    fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder()).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let is_kept = |file: &Path| {
            let name = file.file_name().unwrap().to_str().unwrap();
            name.starts_with("definitions-")
        };
        files.filter(|file| is_kept(file)).collect()
    }
}

fn tools(view: &View) -> Vec<String> {
    let tools = view.tools();
    tools
        .iter()
        .map(|tool| tool.raw_name().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn kept_definitions_are_listed_with_nothing_started() {
    let runs = Runs::new();
    runs.first().await;
    let recorder = Recorder::new(offer());
    let host = runs.host(&recorder);
    let view = host.view(planner());
    assert_eq!(tools(&view), ["read", "list"]);
    let tool = view.tool("notes/read").unwrap();
    assert_eq!(tool.description(), "Reads a note.");
    assert_eq!(view.prompts()[0].name(), "hello");
    assert_eq!(view.templates()[0].uri_template(), "note:{id}");
    let instructions = vec![(name("notes"), "Read before you write.".to_owned())];
    assert_eq!(view.instructions(), instructions);
    let status = host.server("notes").unwrap();
    assert!(matches!(status.state, State::Idle) && status.is_kept);
    assert_eq!(status.freshness, Some(Freshness::Stale));
    assert_eq!(status.version, Some(Version::V2025_11_25));
    assert!(status.known_capabilities.unwrap().tools_list_changed());
    assert!(status.server.unwrap().raw().as_str().contains("recorder"));
    assert!(view.connect_within(Duration::ZERO).await.is_empty());
    assert_eq!(recorder.starts(), 0);
    tool.call(json!({})).await.unwrap();
    assert_eq!(recorder.starts(), 1);
    let status = host.server("notes").unwrap();
    assert_eq!(status.freshness, Some(Freshness::Live));
    assert!(!status.is_kept);
}

#[tokio::test(start_paused = true)]
async fn a_kept_tool_that_has_changed_is_withheld_at_its_first_use() {
    for mode in [Mode::Ask, Mode::Block] {
        let runs = Runs::new();
        runs.first().await;
        let mut changed = offer();
        changed.tools[0] = reader("Reads a note, and sends it on.");
        let recorder = Recorder::new(changed);
        let host = runs.host_with(&recorder, mode, |builder| builder);
        let view = host.view(planner());
        let tool = view.tool("notes/read").unwrap();
        let error = tool.call(json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        assert_eq!((recorder.starts(), recorder.uses()), (1, Vec::new()));
        assert_eq!(tools(&view), ["list"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_kept_prompt_that_has_changed_is_withheld_at_its_first_use() {
    let runs = Runs::new();
    runs.first().await;
    let mut changed = offer();
    changed.prompts[0]["description"] = json!("Says something else.");
    let recorder = Recorder::new(changed);
    let host = runs.host(&recorder);
    let view = host.view(planner());
    assert_eq!(view.prompts().len(), 1);
    view.prompt("notes/hello", json!({})).await.unwrap_err();
    assert_eq!((recorder.starts(), recorder.uses()), (1, Vec::new()));
    assert!(view.prompts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn arguments_for_a_kept_tool_are_checked_as_the_tool_is_now() {
    let runs = Runs::new();
    let own = |builder: HostBuilder| builder.policy(everything());
    let before = Recorder::new(offer());
    let host = runs.host_with(&before, Mode::Off, own);
    host.connect("notes").await.unwrap();
    host.shutdown().await;
    let mut changed = offer();
    changed.tools[0]["inputSchema"]["required"] = json!(["folder"]);
    let recorder = Recorder::new(changed);
    let host = runs.host_with(&recorder, Mode::Off, own);
    let tool = host.view(planner()).tool("notes/read").unwrap();
    let error = tool.call(json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Arguments, "{error}");
    tool.call(json!({"folder": "a"})).await.unwrap();
    assert_eq!(recorder.uses().len(), 1);
}

fn everything() -> Policy {
    let planner = planner().id().clone();
    Policy::none().agent(planner, AgentPolicy::everything(Level::Yolo))
}

#[tokio::test(start_paused = true)]
async fn kept_definitions_are_not_listed_before_there_is_a_baseline() {
    let runs = Runs::new();
    runs.first().await;
    let recorder = Recorder::new(offer());
    let kept = runs.kept();
    let unpinned = |mode| {
        let kept = kept.clone();
        host(&recorder, move |builder| {
            builder
                .kept_definitions(&kept)
                .pins(Pins::in_memory(), mode)
        })
    };
    let host = unpinned(Mode::Block);
    let view = host.view(planner());
    assert!(tools(&view).is_empty());
    let mut rights = host.watch_revision();
    assert!(
        view.connect_within(Duration::from_secs(60))
            .await
            .is_empty()
    );
    assert_eq!(tools(&view), ["read", "list"]);
    assert!(rights.has_changed().unwrap());
    rights.mark_unchanged();
    host.set_policy(Policy::none());
    assert!(rights.has_changed().unwrap());
    assert_eq!(
        tools(&unpinned(Mode::Off).view(planner())),
        ["read", "list"]
    );
}

#[tokio::test(start_paused = true)]
async fn changed_lists_are_written_after_a_while() {
    let runs = Runs::new();
    let recorder = Recorder::new(offer());
    let host = runs.host_with(&recorder, Mode::Off, |builder| builder);
    host.connect("notes").await.unwrap();
    recorder.change(|offer| offer.tools.push(plain("write")));
    let has_write =
        |catalog: &switchboard::catalog::Catalog| catalog.by_key("notes", "write").is_some();
    until(&host, "the tool is listed", has_write).await;
    // The first host goes on: the file of the second is written by then.
    sleep(Duration::from_secs(5)).await;
    let other = Recorder::new(offer());
    let second = runs.host_with(&other, Mode::Off, |builder| builder);
    assert!(has_write(&second.catalog()));
    assert_eq!(other.starts(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_used_is_named_and_replaced() {
    let runs = Runs::new();
    runs.first().await;
    let [file] = &runs.files()[..] else {
        panic!("one file: {:?}", runs.files());
    };
    let good = std::fs::read_to_string(file).unwrap();
    let foreign = good.replace("\"identity\": \"", "\"identity\": \"0");
    let misfit = good.replace("\"name\":\"read\"", "\"name\":7");
    assert!(foreign != good && misfit != good);
    let newer = good.replace("\"version\": 1", "\"version\": 2");
    let huge = " ".repeat(17 * 1024 * 1024);
    for bad in ["", "{", "\u{0}", &foreign, &misfit, &newer, &huge] {
        std::fs::write(file, bad).unwrap();
        let recorder = Recorder::new(offer());
        let host = runs.host(&recorder);
        assert!(host.catalog().server("notes").is_none());
        let status = host.server("notes").unwrap();
        let notice = &status.notices[0];
        assert!(notice.contains("is not used"), "{notice}");
        assert!(notice.contains(file.to_str().unwrap()), "{notice}");
        assert!(!status.is_kept);
        host.connect("notes").await.unwrap();
        host.shutdown().await;
        assert_eq!(std::fs::read_to_string(file).unwrap(), good);
    }
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn kept_definitions_are_for_the_person_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = Runs::new();
    runs.first().await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&runs.folder()), 0o700);
    let file = &runs.files()[0];
    assert_eq!(mode(file), 0o600);
    // Another user could have written it.
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o622)).unwrap();
    let host = runs.host(&Recorder::new(offer()));
    assert!(host.catalog().server("notes").is_none());
}

#[tokio::test(start_paused = true)]
async fn of_too_many_servers_the_one_that_was_written_first_is_forgotten() {
    let runs = Runs::new();
    let mut limits = KeptLimits::default();
    limits.servers = 1;
    let kept = runs.kept().limits(limits);
    let one = |label: &str| {
        let memory = Recorder::new(offer()).memory(label);
        Host::builder().kept_definitions(&kept).with(label, memory)
    };
    for label in ["a", "b"] {
        let host = one(label).build().unwrap();
        host.connect(label).await.unwrap();
        host.shutdown().await;
        assert_eq!(runs.files().len(), 1);
    }
    let is_kept = |label: &str| {
        let host = one(label).build().unwrap();
        host.catalog().server(label).is_some()
    };
    assert!(!is_kept("a") && is_kept("b"));
}

#[tokio::test(start_paused = true)]
async fn definitions_over_the_limit_are_not_kept() {
    let runs = Runs::new();
    let mut limits = KeptLimits::default();
    limits.file_bytes = 64;
    let kept = runs.kept().limits(limits);
    let recorder = Recorder::new(offer());
    let host = host(&recorder, |builder| {
        builder.kept_definitions(&kept).policy(policy())
    });
    let mut events = host.events();
    host.connect("notes").await.unwrap();
    host.shutdown().await;
    assert!(runs.files().is_empty());
    let told = std::iter::from_fn(|| events.try_recv().ok());
    let mut notices = told.map(|event| format!("{event:?}"));
    assert!(notices.any(|notice| notice.contains("its definitions are not kept")));
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn kept_definitions_of_a_server_that_is_not_approved_are_not_shown() {
    use std::os::unix::fs::PermissionsExt as _;

    use crate::host_support::cloned::{Cloned, builder};
    use switchboard::trust::Store;

    let cloned = Cloned::new();
    cloned.write_one(&cloned.touch("one"));
    let kept = KeptDefinitions::at(cloned.path("state/kept"));
    let built = || builder(&cloned).kept_definitions(&kept).build().unwrap();
    let host = built();
    // As a run in which it was approved has left it.
    let identity = host.identity("one").unwrap().to_string();
    let tool = json!({"name": "x", "inputSchema": {"type": "object"}});
    let text = json!({
        "version": 1, "identity": identity, "server": "one", "protocol": "2025-11-25",
        "info": null, "capabilities": null, "instructions": null,
        "tools": [tool], "prompts": [], "resources": [], "templates": [],
    });
    let file = cloned.path(&format!("state/kept/definitions-{identity}.json"));
    cloned.write(&file, &text.to_string());
    let folder = file.parent().unwrap();
    for (path, mode) in [(folder, 0o700), (&*file, 0o600)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let shown = || built().tools().len();
    assert_eq!(shown(), 0);
    let question = host.question("one").unwrap().unwrap();
    let store = Store::at(cloned.path("state/trust"));
    store.approve(&question.claim).unwrap();
    assert_eq!(shown(), 1);
    assert!(cloned.canaries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_waited_for_no_longer_than_said() {
    let recorder = Recorder::new(offer());
    let builder = Host::builder()
        .with("good", recorder.memory("good"))
        .with("hanging", silent())
        .with("hidden", Recorder::new(offer()).memory("hidden"));
    let grants = switchboard::Grants::parse(["mcp:good:*", "mcp:hanging:*"]).unwrap();
    let builder = builder.agent("planner", AgentPolicy::new(Level::Yolo).grants(grants));
    let host = builder.pins(Pins::in_memory(), Mode::Off).build().unwrap();
    let view = host.view(planner());
    let began = Instant::now();
    let waiting = view.connect_within(Duration::from_millis(250)).await;
    assert_eq!(waiting, [name("hanging")]);
    assert_eq!(began.elapsed(), Duration::from_millis(250));
    assert_eq!(tools(&view), ["read", "list"]);
    assert!(matches!(
        host.server("hanging").unwrap().state,
        State::Connecting
    ));
    assert!(matches!(host.server("hidden").unwrap().state, State::Idle));
    // The owner waits for all: of these, one was connected to already.
    let waiting = host.connect_within(Duration::from_millis(250)).await;
    assert_eq!(waiting, [name("hanging")]);
    assert_eq!((host.tools().len(), recorder.starts()), (4, 1));
    host.shutdown().await;
}
