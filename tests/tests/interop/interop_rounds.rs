//! Our host with servers of 2026-07-28 that others wrote and that talk back: their questions come as rounds, their
//! news by listening.
//!
//! Made of rmcp, of the Python SDK and of fastmcp; what they offer is in `tests/src/talk.rs`. fastmcp tells nobody
//! of changes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::{Host, HostBuilder, Said, Update};
use switchboard::protocol::{
    CompleteParams, CompletionArgument, CompletionRef, CreateMessageParams, CreateMessageResult,
    ElicitMode, ElicitResult, LogLevel, Raw,
};
use switchboard::session::{CallOptions, Progress, Refusal};
use switchboard::spec::{ServerName, ServerSpec};
use switchboard::talk::{Answering, Answers, ElicitRequest, ElicitSupport, Operator, Sample};
use switchboard::transport::{Environment, Watched};
use switchboard::{Caller, View};
use switchboard_tests::partners::{self, Launch};
use switchboard_tests::talk;
use tokio::sync::watch;
use tokio::time::timeout;

/// What nothing should take, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Those that tell of changes.
fn telling() -> [Launch; 2] {
    let rmcp = partners::rmcp3_talking(env!("CARGO_BIN_EXE_rmcp3-server"));
    [rmcp, partners::python_v2_talking()]
}

fn everybody() -> impl Iterator<Item = Launch> {
    telling().into_iter().chain([partners::fastmcp_talking()])
}

/// A person who fills forms in and goes where they are sent, and a model; both write down what they were asked.
#[derive(Clone, Default)]
struct Both {
    answers: Answers,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Both {
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

impl Operator for Both {
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::FormsAndUrls
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        if request.params.mode() == ElicitMode::Form {
            self.note(request.params.message().to_owned());
            return self.answers.elicit(request).await;
        }
        self.note(request.params.url().unwrap().to_owned());
        Ok(ElicitResult::accept(None))
    }
}

impl Sample for Both {
    fn sample<'a>(
        &'a self,
        _server: &'a ServerName,
        question: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult> {
        Box::pin(async move {
            let raw: Value = question.raw().decode().unwrap();
            let text = &raw["messages"][0]["content"]["text"];
            let (system, most) = (&raw["systemPrompt"], &raw["maxTokens"]);
            self.note(format!("{text} {system} {most}"));
            Ok(CreateMessageResult::text("small", "a short answer"))
        })
    }
}

/// A host with one such server, which is connected to and found to be modern.
async fn host(launch: &Launch, with: impl FnOnce(HostBuilder) -> HostBuilder) -> Host {
    let mut spec = ServerSpec::stdio("partner", launch.program.to_str().unwrap()).unwrap();
    spec = spec.args(launch.args.clone());
    spec.settings.sampling = true;
    let host = Host::builder().environment(&Environment::of_process());
    let host = with(host.server(spec)).build().unwrap();
    let status = timeout(PATIENCE, host.connect("partner")).await.unwrap();
    let version = status.unwrap().version.unwrap();
    assert_eq!(version.as_str(), "2026-07-28", "{launch:?}");
    host
}

/// Calls a tool, and gives its text.
async fn call(host: &Host, tool: &str, arguments: Value) -> String {
    let tool = format!("partner/{tool}");
    let tool = host.view(Caller::owner()).find(&tool).await.unwrap();
    let result = timeout(PATIENCE, tool.call(arguments)).await.unwrap();
    let result = result.unwrap();
    assert!(!result.is_error(), "{}", result.text());
    result.text()
}

fn ada() -> Both {
    let answers = Answers::new().text("name", "Ada");
    Both {
        answers,
        ..Both::default()
    }
}

#[tokio::test]
async fn a_form_is_filled_in_and_declined_where_nobody_knows_the_answer() {
    for launch in everybody() {
        let both = ada();
        let here = host(&launch, |host| host.operator(both.clone())).await;
        let said = call(&here, "ask_form", json!({})).await;
        assert_eq!(said, r#"accept {"name":"Ada","size":"small"}"#);
        assert_eq!(both.asked(), [talk::WHO]);
        here.shutdown().await;
        let nobody = host(&launch, |host| host.operator(Both::default())).await;
        let said = call(&nobody, "ask_form", json!({})).await;
        assert_eq!(said, "decline null");
        nobody.shutdown().await;
    }
}

#[tokio::test]
async fn prompts_and_resources_ask_as_tools_do() {
    for launch in everybody() {
        let both = ada();
        let host = host(&launch, |host| host.operator(both.clone())).await;
        let view = host.view(Caller::owner());
        let letter = view.prompt("partner/letter", json!({}));
        let letter = timeout(PATIENCE, letter).await.unwrap().unwrap();
        let letter = letter.raw().as_str();
        assert!(letter.contains("Please write to Ada."), "{letter}");
        let read = view.read("partner", "partner://locked/box");
        let read = timeout(PATIENCE, read).await.unwrap().unwrap();
        assert_eq!(read.contents()[0].text(), Some("box, opened by Ada"));
        assert_eq!(both.asked().len(), 2);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_person_is_sent_to_an_address() {
    for launch in everybody() {
        let both = Both::default();
        let host = host(&launch, |host| host.operator(both.clone())).await;
        assert_eq!(call(&host, "ask_url", json!({})).await, "accept");
        assert_eq!(both.asked(), [talk::ADDRESS]);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_model_is_asked_and_folders_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    for launch in everybody() {
        let both = Both::default();
        let with = |host: HostBuilder| host.sample(both.clone()).roots([folder.path()]);
        let host = host(&launch, with).await;
        let said = call(&host, "ask_model", json!({"prompt": "why"})).await;
        assert_eq!(said, "a short answer");
        assert_eq!(both.asked(), [r#""why" "You are brief." 50"#]);
        let said = call(&host, "ask_roots", json!({})).await;
        assert_eq!(said, format!("file://{}", real.display()));
        host.shutdown().await;
    }
}

#[tokio::test]
async fn several_questions_in_several_rounds_come_back_with_the_state_untouched() {
    let folder = tempfile::tempdir().unwrap();
    for launch in everybody() {
        let both = ada();
        let with = |host: HostBuilder| {
            let host = host.operator(both.clone()).sample(both.clone());
            host.roots([folder.path()])
        };
        let host = host(&launch, with).await;
        let said = call(&host, "interview", json!({})).await;
        assert_eq!(said, "Ada with 1 folders: a short answer");
        let model = r#""Describe Ada." "You are brief." 50"#;
        assert_eq!(both.asked(), [talk::WHO, model]);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn logs_come_from_the_level_on_that_each_request_asks_for() {
    for launch in everybody() {
        let host = host(&launch, |host| host).await;
        let mut logs = host.logs();
        call(&host, "log", json!({})).await;
        host.set_log_level("partner", LogLevel::Info).await.unwrap();
        call(&host, "log", json!({})).await;
        host.set_log_level("partner", LogLevel::Debug)
            .await
            .unwrap();
        call(&host, "log", json!({})).await;
        host.shutdown().await;
        drop(host);
        let mut said = Vec::new();
        while let Some(log) = timeout(PATIENCE, logs.next()).await.unwrap() {
            let Watched::Item(log) = log else {
                panic!("{log:?}");
            };
            if let Said::Message { level, data, .. } = log.said {
                said.push((level.unwrap(), data.as_str().to_owned()));
            }
        }
        // What somebody else asked for meanwhile is logged too.
        said.retain(|(_, data)| data.contains("words"));
        let levels: Vec<LogLevel> = said.iter().map(|(level, _)| *level).collect();
        let (debug, warning) = (LogLevel::Debug, LogLevel::Warning);
        assert_eq!(levels, [warning, debug, warning], "{said:?}");
        assert!(said[0].1.contains("loud words"), "{said:?}");
    }
}

#[tokio::test]
async fn progress_is_told_while_a_call_runs() {
    for launch in everybody() {
        let host = host(&launch, |host| host).await;
        let tool = host.view(Caller::owner()).find("partner/count").await;
        let (shown, mut seen) = watch::channel(None);
        let options = CallOptions::default().progress(shown);
        let arguments = Raw::of(&json!({"steps": 2, "pause": 0})).unwrap();
        let result = tool
            .unwrap()
            .call_raw(arguments)
            .options(options)
            .await
            .unwrap();
        assert_eq!(result.text(), "counted to 2");
        let last: Option<Progress> = seen.borrow_and_update().clone();
        let last = last.unwrap();
        let message = last.message.as_deref();
        assert_eq!(
            (last.progress, last.total, message),
            (2.0, Some(2.0), Some("at 2"))
        );
        host.shutdown().await;
    }
}

#[tokio::test]
async fn changes_of_a_resource_and_of_tools_are_listened_to() {
    for launch in telling() {
        let host = host(&launch, |host| host).await;
        let view = host.view(Caller::owner());
        let watching = timeout(PATIENCE, view.watch("partner", talk::NUMBER)).await;
        let mut watching = watching.unwrap().unwrap();
        let changed = Update::Changed(talk::NUMBER.to_owned());
        let told = timeout(PATIENCE, watching.next()).await.unwrap();
        assert_eq!(told.unwrap(), changed, "as soon as it is watched");
        call(&host, "touch", json!({})).await;
        let told = timeout(PATIENCE, watching.next()).await.unwrap();
        assert_eq!(told.unwrap(), changed);
        assert_eq!(number(&view).await, "1");
        grow(&host).await;
        host.restart("partner").await.unwrap();
        let told = timeout(PATIENCE, watching.next()).await.unwrap();
        assert_eq!(told.unwrap(), Update::Again);
        host.shutdown().await;
    }
}

async fn number(view: &View) -> String {
    let read = view.read("partner", talk::NUMBER).await.unwrap();
    read.contents()[0].text().unwrap().to_owned()
}

/// Has the server offer another tool, and waits until it is in the catalog.
async fn grow(host: &Host) {
    let mut catalog = host.watch_catalog();
    call(host, "grow", json!({"name": "another"})).await;
    let here = |catalog: &switchboard::catalog::Catalog| {
        let mut tools = catalog.tools();
        tools.any(|tool| tool.tool().name() == "another")
    };
    timeout(PATIENCE, catalog.wait_for(here))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn arguments_of_prompts_and_of_templates_are_completed() {
    for launch in everybody() {
        let host = host(&launch, |host| host).await;
        let view = host.view(Caller::owner());
        let prompt = CompletionRef::Prompt {
            name: talk::GREET.to_owned(),
        };
        let template = CompletionRef::Resource {
            uri: talk::NOTES.to_owned(),
        };
        for (target, begun, wanted) in [
            (prompt, "A", &talk::NAMES[..2]),
            (template, "G", &talk::NAMES[2..]),
        ] {
            let argument = CompletionArgument {
                name: "name".to_owned(),
                value: begun.to_owned(),
            };
            let ask = CompleteParams {
                target,
                argument,
                context: None,
            };
            let found = timeout(PATIENCE, view.complete("partner", &ask)).await;
            assert_eq!(found.unwrap().unwrap().values, wanted);
        }
        host.shutdown().await;
    }
}
