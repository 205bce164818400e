//! Commands that use servers of a daemon: real processes, and the protocol by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::environment::NetworkVariables;
use switchboard_core::limits::Limits;
use switchboard_process::{BoxRead, BoxWrite, Exit, Launch as _, Process, Running, Start};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;

use super::{Contact, Daemon, DaemonLauncher};
use crate::{DaemonOptions, DaemonStatus, Place, Unused};

/// A server of the legacy era. Its tool `call` answers with what it is given; other tools do what they say.
const SERVER: &str = r#"
import json, os, sys, threading
def send(message):
    print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)
def answer(request, result):
    send({"id": request["id"], "result": result})
count = 0
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        count += 1
        answer(request, {"handshakes": count, "pid": os.getpid()})
    elif method == "server/discover":
        if os.environ.get("ERA") == "modern":
            answer(request, {})
        else:
            send({"id": request["id"], "error": {"code": -32601, "message": "no"}})
    elif method == "tools/call":
        tool = request["params"]["name"]
        if tool == "crash":
            print("last words", file=sys.stderr, flush=True)
            sys.exit(7)
        if tool == "hang":
            continue
        if tool == "ask":
            send({"id": "q1", "method": "roots/list"})
            answer(request, {"asked": json.loads(sys.stdin.readline())})
            continue
        if tool == "prompt":
            print("Password: ", end="", file=sys.stderr, flush=True)
        if tool == "stubborn":
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            answer(request, {"pid": os.getpid()})
            while True:
                signal.pause()
        if tool == "say":
            print("a line", file=sys.stderr, flush=True)
        if tool == "large":
            answer(request, {"text": "x" * request["params"]["size"]})
            continue
        if tool == "noise":
            print("not a message", flush=True)
        answer(request, {"pid": os.getpid(), "id": request["id"], "token": os.environ.get("TOKEN"),
                         "folder": os.getcwd()})
    elif method == "later":
        send({"method": "notifications/tools/list_changed"})
        answer(request, {})
    elif "id" in request and method and method != "subscriptions/listen":
        answer(request, {})
"#;

/// A daemon, and a folder for its servers.
struct Stage {
    folder: TempDir,
    place: Place,
    serving: JoinHandle<()>,
}

impl Stage {
    fn new() -> Self {
        Self::with(DaemonOptions::default())
    }

    fn with(options: DaemonOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), SERVER).unwrap();
        let place = Place::at(folder.path().join("daemon"));
        let daemon = Daemon::bind(&place, options).unwrap();
        let serving = tokio::spawn(daemon.serve(std::future::pending()));
        Self {
            folder,
            place,
            serving,
        }
    }

    fn start(&self, variables: &[(&str, &str)]) -> Start {
        let path = std::env::var("PATH").unwrap();
        let python = std::env::split_paths(&path).map(|folder| folder.join("python3"));
        let program = python.into_iter().find(|file| file.exists()).unwrap();
        let own = variables.iter().map(|(name, value)| (*name, *value));
        let all = own.chain([("PATH", path.as_str())]);
        let secret = |value: &str| switchboard_core::secret::Secret::new(value.to_owned());
        let script = self.folder.path().join("server.py");
        Start {
            program,
            args: vec![script.display().to_string()],
            variables: all
                .map(|(name, value)| (name.to_owned(), secret(value)))
                .collect(),
            network: NetworkVariables::default(),
            cwd: Some(self.folder.path().to_owned()),
            limits: Limits::default(),
            keeper: None,
            record: None,
        }
    }

    fn launcher(&self) -> DaemonLauncher {
        let notice = |why: &Unused| panic!("the daemon is not used: {why:?}");
        DaemonLauncher::new(self.place.clone(), String::new(), Box::new(notice))
    }

    async fn command(&self) -> Command {
        self.command_with(&self.start(&[])).await
    }

    async fn command_with(&self, start: &Start) -> Command {
        Command::of(self.launcher().launch(start).await.unwrap())
    }

    async fn status(&self) -> DaemonStatus {
        let contact = Contact::open(&self.place).await.unwrap().unwrap();
        contact.status().await.unwrap()
    }

    async fn stop(self) {
        let contact = Contact::open(&self.place).await.unwrap().unwrap();
        contact.stop().await.unwrap();
        self.serving.await.unwrap();
    }
}

/// One command with its server.
struct Command {
    process: Process,
    reader: BufReader<BoxRead>,
    writer: Option<BoxWrite>,
    next: i64,
}

impl Command {
    fn of(running: Running) -> Self {
        Self {
            process: running.process,
            reader: BufReader::new(running.reader),
            writer: Some(running.writer),
            next: running.first_id,
        }
    }

    async fn write(&mut self, line: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn send(&mut self, method: &str, params: &str) -> i64 {
        let id = self.next;
        self.next += 1;
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.write(&line).await;
        id
    }

    async fn read(&mut self) -> serde_json::Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or(serde_json::Value::String(line))
    }

    /// Sends a request and returns its result.
    async fn ask(&mut self, method: &str, params: &str) -> serde_json::Value {
        let id = self.send(method, params).await;
        let answer = self.read().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    async fn begin_with(&mut self, params: &str) -> serde_json::Value {
        let result = self.ask("initialize", params).await;
        self.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        result
    }

    async fn begin(&mut self) -> serde_json::Value {
        self.begin_with("{}").await
    }

    async fn call(&mut self, tool: &str) -> serde_json::Value {
        let params = format!(r#"{{"name":"{tool}"}}"#);
        self.ask("tools/call", &params).await
    }

    /// Gives the server back, and returns what the session then learns of its process.
    async fn end(mut self) -> Exit {
        self.writer = None;
        self.process.end();
        self.process.ended().await
    }
}

#[tokio::test]
async fn the_next_command_gets_the_same_process() {
    let stage = Stage::new();
    let mut pids = Vec::new();
    for number in 0..5 {
        let mut command = stage.command().await;
        let hello = command.begin().await;
        // The server shakes hands once; the daemon repeats its answer.
        assert_eq!(hello["handshakes"], 1, "{number}");
        let said = command.call("call").await;
        assert_eq!(
            said["folder"],
            stage
                .folder
                .path()
                .canonicalize()
                .unwrap()
                .to_str()
                .unwrap()
        );
        pids.push(said["pid"].clone());
        assert_eq!(command.end().await, Exit::Code(0));
    }
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let servers = stage.status().await.servers;
    assert_eq!(servers.len(), 1);
    assert_eq!((servers[0].uses, servers[0].in_use), (5, false));
    stage.stop().await;
}

#[tokio::test]
async fn no_request_has_an_id_that_an_earlier_one_had() {
    let stage = Stage::new();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let mut command = stage.command().await;
        command.begin().await;
        ids.push(command.call("call").await["id"].as_i64().unwrap());
        command.end().await;
    }
    assert!(ids[0] < ids[1] && ids[1] < ids[2], "{ids:?}");
    stage.stop().await;
}

#[tokio::test]
async fn commands_at_the_same_time_get_processes_of_their_own() {
    let stage = Stage::new();
    let mut first = stage.command().await;
    let mut second = stage.command().await;
    let mut pids = Vec::new();
    for command in [&mut first, &mut second] {
        command.begin().await;
        pids.push(command.call("call").await["pid"].clone());
    }
    assert_ne!(pids[0], pids[1]);
    assert_eq!(stage.status().await.servers.len(), 2);
    first.end().await;
    second.end().await;
    stage.stop().await;
}

#[tokio::test]
async fn other_variables_folders_and_contexts_are_other_servers() {
    let stage = Stage::new();
    let mut starts = vec![stage.start(&[]), stage.start(&[("TOKEN", "a")])];
    starts.push(stage.start(&[("TOKEN", "b")]));
    let other = stage.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let mut elsewhere = stage.start(&[]);
    elsewhere.cwd = Some(other);
    starts.push(elsewhere);
    for _ in 0..2 {
        for start in &starts {
            let mut command = stage.command_with(start).await;
            command.begin().await;
            let said = command.call("call").await;
            let token = start.variables.get("TOKEN").map(|it| it.expose().as_str());
            assert_eq!(said["token"].as_str(), token);
            command.end().await;
        }
    }
    let launcher = DaemonLauncher::new(stage.place.clone(), "roots".to_owned(), Box::new(|_| {}));
    drop(launcher.launch(&starts[0]).await.unwrap());
    let servers = stage.status().await.servers;
    assert!(servers.len() >= 5, "{servers:?}");
    assert!(
        servers[..4].iter().all(|server| server.uses == 2),
        "{servers:?}"
    );
    stage.stop().await;
}

#[tokio::test]
async fn a_script_that_was_edited_is_started_anew() {
    let stage = Stage::new();
    let mut pids = Vec::new();
    for change in ["", "", "# edited\n"] {
        std::fs::write(
            stage.folder.path().join("server.py"),
            format!("{SERVER}{change}"),
        )
        .unwrap();
        let mut command = stage.command().await;
        command.begin().await;
        pids.push(command.call("call").await["pid"].clone());
        command.end().await;
    }
    assert_ne!(pids[1], pids[2]);
    stage.stop().await;
}

#[tokio::test]
async fn another_handshake_gets_another_process() {
    let stage = Stage::new();
    let mut pids = BTreeMap::new();
    for _ in 0..2 {
        for params in ["{}", r#"{"capabilities":{"roots":{}}}"#] {
            let mut command = stage.command().await;
            let hello = command.begin_with(params).await;
            assert_eq!(hello["handshakes"], 1);
            let pid = command.call("call").await["pid"].clone();
            assert_eq!(*pids.entry(params).or_insert(pid.clone()), pid);
            command.end().await;
        }
    }
    assert_eq!(stage.status().await.servers.len(), 2);
    stage.stop().await;
}

#[tokio::test]
async fn a_probe_that_was_refused_is_refused_again_without_the_server() {
    let stage = Stage::new();
    let mut pids = Vec::new();
    for _ in 0..2 {
        let mut command = stage.command().await;
        command
            .write(r#"{"jsonrpc":"2.0","id":"discover-1","method":"server/discover"}"#)
            .await;
        let refused = command.read().await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&"discover-1".into(), &(-32601).into())
        );
        command.begin().await;
        pids.push(command.call("call").await["pid"].clone());
        command.end().await;
    }
    assert_eq!(pids[0], pids[1]);
    stage.stop().await;
}

#[tokio::test]
async fn a_server_of_the_modern_era_takes_every_command() {
    let stage = Stage::new();
    let start = stage.start(&[("ERA", "modern")]);
    let mut pids = Vec::new();
    for _ in 0..2 {
        let mut command = stage.command_with(&start).await;
        command.ask("server/discover", "{}").await;
        // Such a request stays open until the client is gone.
        command.send("subscriptions/listen", "{}").await;
        pids.push(command.call("call").await["pid"].clone());
        command.end().await;
    }
    assert_eq!(pids[0], pids[1]);
    // A handshake of the other era gets a process of its own.
    let mut command = stage.command_with(&start).await;
    command.begin().await;
    assert_ne!(command.call("call").await["pid"], pids[0]);
    command.end().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_server_with_something_left_in_it_is_ended() {
    let stage = Stage::new();
    for (method, params) in [
        ("tools/call", r#"{"name":"hang"}"#),
        ("logging/setLevel", r#"{"level":"debug"}"#),
        ("resources/subscribe", r#"{"uri":"a:b"}"#),
        ("made/up", "{}"),
    ] {
        let mut command = stage.command().await;
        command.begin().await;
        command.send(method, params).await;
        if method != "tools/call" && method != "made/up" {
            command.read().await;
        }
        command.end().await;
        assert_eq!(stage.status().await.servers, [], "{method}");
    }
    // A command that ends inside of a line, or without a handshake.
    let mut command = stage.command().await;
    command.begin().await;
    command
        .writer
        .as_mut()
        .unwrap()
        .write_all(b"{\"id\"")
        .await
        .unwrap();
    command.end().await;
    assert_eq!(stage.status().await.servers, []);
    stage.command().await.end().await;
    assert_eq!(stage.status().await.servers, []);
    stage.stop().await;
}

#[tokio::test]
async fn commands_that_set_a_level_share_servers_of_their_own() {
    let stage = Stage::new();
    let mut pids = Vec::new();
    for sets_level in [true, true, false] {
        let launcher = stage.launcher().sets_level(sets_level);
        let mut command = Command::of(launcher.launch(&stage.start(&[])).await.unwrap());
        command.begin().await;
        if sets_level {
            command
                .ask("logging/setLevel", r#"{"level":"debug"}"#)
                .await;
        }
        pids.push(command.call("call").await["pid"].clone());
        command.end().await;
    }
    assert_eq!(pids[0], pids[1]);
    assert_ne!(pids[1], pids[2]);
    stage.stop().await;
}

#[tokio::test]
async fn a_crash_is_seen_with_its_exit_code_and_last_words() {
    let stage = Stage::new();
    let mut command = stage.command().await;
    command.begin().await;
    command.send("tools/call", r#"{"name":"crash"}"#).await;
    let mut rest = String::new();
    command.reader.read_to_string(&mut rest).await.unwrap();
    assert_eq!(command.process.ended().await, Exit::Code(7));
    assert_eq!(command.process.stderr(), ["last words"]);
    assert_eq!(stage.status().await.servers, []);
    stage.stop().await;
}

#[tokio::test]
async fn stderr_goes_to_the_command_that_it_was_written_for() {
    let stage = Stage::new();
    let mut first = stage.command().await;
    first.begin().await;
    first.call("say").await;
    while first.process.stderr().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(first.process.stderr(), ["a line"]);
    first.end().await;
    let mut second = stage.command().await;
    second.begin().await;
    second.call("call").await;
    assert_eq!(second.process.stderr(), [""; 0]);
    second.end().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_line_on_stderr_that_has_not_ended_is_seen() {
    let stage = Stage::new();
    let mut command = stage.command().await;
    command.begin().await;
    command.call("prompt").await;
    while command.process.stderr() != ["Password: "] {
        tokio::task::yield_now().await;
    }
    command.call("say").await;
    while command.process.stderr() != ["Password: a line"] {
        tokio::task::yield_now().await;
    }
    command.end().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_server_whose_command_is_gone_ends_sooner() {
    let mut options = DaemonOptions::default();
    // So long that the test would never end.
    options.limits.end_after_close = Duration::from_secs(10_000);
    options.limits.end_after_term = Duration::from_secs(10_000);
    let stage = Stage::with(options);
    let (launcher, start) = (stage.launcher(), stage.start(&[]));
    let command = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap();
        runtime.block_on(async {
            let mut command = Command::of(launcher.launch(&start).await.unwrap());
            command.begin().await;
            command.call("stubborn").await;
            command.send("tools/call", r#"{"name":"hang"}"#).await;
            // The command ends its use, and is gone before the server has ended.
            command.writer = None;
            command.process.end();
            tokio::task::yield_now().await;
        });
        runtime.shutdown_background();
    };
    tokio::task::spawn_blocking(command).await.unwrap();
    while !stage.status().await.servers.is_empty() {
        tokio::task::yield_now().await;
    }
    stage.stop().await;
}

#[tokio::test]
async fn questions_and_notifications_reach_the_command() {
    let stage = Stage::new();
    for _ in 0..2 {
        let mut command = stage.command().await;
        command.begin().await;
        let id = command.send("tools/call", r#"{"name":"ask"}"#).await;
        let question = command.read().await;
        assert_eq!(question["method"], "roots/list");
        command
            .write(r#"{"jsonrpc":"2.0","id":"q1","result":{"roots":[]}}"#)
            .await;
        let answer = command.read().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["asked"]["id"]),
            (&id.into(), &"q1".into())
        );
        command.send("later", "{}").await;
        assert_eq!(
            command.read().await["method"],
            "notifications/tools/list_changed"
        );
        command.read().await;
        command.send("tools/call", r#"{"name":"noise"}"#).await;
        assert_eq!(command.read().await, "not a message\n");
        command.read().await;
        command.end().await;
    }
    assert_eq!(stage.status().await.servers.len(), 1);
    stage.stop().await;
}

#[tokio::test]
async fn large_lines_pass_in_both_directions_at_once() {
    let stage = Stage::new();
    let mut command = stage.command().await;
    command.begin().await;
    let size = 20 << 20;
    let params = format!(
        r#"{{"name":"large","size":{size},"pad":"{}"}}"#,
        "y".repeat(size)
    );
    let result = command.ask("tools/call", &params).await;
    assert_eq!(result["text"].as_str().unwrap().len(), size);
    assert!(command.call("call").await["pid"].is_number());
    command.end().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_command_that_reads_nothing_disturbs_no_others() {
    let stage = Stage::new();
    let mut deaf = stage.command().await;
    deaf.begin().await;
    deaf.send("tools/call", r#"{"name":"large","size":8000000}"#)
        .await;
    let mut other = stage.command().await;
    other.begin().await;
    other.call("call").await;
    other.end().await;
    drop(deaf);
    stage.stop().await;
}

#[tokio::test]
async fn a_server_that_nobody_uses_ends_after_its_time() {
    let mut options = DaemonOptions::default();
    options.idle = Duration::from_millis(1);
    let stage = Stage::with(options);
    let mut command = stage.command().await;
    command.begin().await;
    command.end().await;
    while !stage.status().await.servers.is_empty() {
        tokio::task::yield_now().await;
    }
    stage.stop().await;
}

#[tokio::test]
async fn over_the_limit_a_server_that_waits_makes_way_or_none_is_started() {
    let mut options = DaemonOptions::default();
    options.servers = 1;
    let stage = Stage::with(options);
    let mut first = stage.command().await;
    first.begin().await;
    assert!(stage.launcher().launch(&stage.start(&[])).await.is_none());
    first.end().await;
    let start = stage.start(&[("TOKEN", "a")]);
    let mut other = stage.command_with(&start).await;
    other.begin().await;
    other.end().await;
    stage.stop().await;
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_left_to_the_command() {
    let stage = Stage::new();
    let mut start = stage.start(&[]);
    start.program = PathBuf::from("/nonexistent/program");
    assert!(stage.launcher().launch(&start).await.is_none());
    assert_eq!(stage.status().await.servers, []);
    stage.stop().await;
}

#[tokio::test]
async fn a_daemon_that_stops_lets_calls_finish_and_ends_all_servers() {
    let stage = Stage::new();
    let mut idle = stage.command().await;
    idle.begin().await;
    idle.end().await;
    let mut busy = stage.command().await;
    busy.begin().await;
    let id = busy.send("tools/call", r#"{"name":"ask"}"#).await;
    busy.read().await;
    let contact = Contact::open(&stage.place).await.unwrap().unwrap();
    let stopping = tokio::spawn(contact.stop());
    busy.write(r#"{"jsonrpc":"2.0","id":"q1","result":{}}"#)
        .await;
    assert_eq!(busy.read().await["id"], id);
    stopping.await.unwrap().unwrap();
    // The command learns that its server is gone, and why.
    assert_eq!(busy.process.ended().await, Exit::Unknown);
    assert!(
        busy.process.stderr()[0].contains("daemon"),
        "{:?}",
        busy.process.stderr()
    );
    stage.serving.await.unwrap();
}

#[tokio::test]
async fn a_daemon_of_another_version_is_told_of_once_and_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(folder.path().join("daemon"));
    let (listener, _held) = super::socket::listen(&place).unwrap();
    let answering = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let switchboard = "9.9.9".to_owned();
            let welcome = crate::message::Welcome { switchboard };
            crate::message::send(&mut stream, &welcome).await.unwrap();
        }
    });
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let listening = Arc::clone(&told);
    let notice = move |why: &Unused| listening.lock().unwrap().push(format!("{why:?}"));
    let launcher = DaemonLauncher::new(place, String::new(), Box::new(notice));
    let stage = Stage::new();
    for _ in 0..2 {
        assert!(launcher.launch(&stage.start(&[])).await.is_none());
    }
    assert_eq!(*told.lock().unwrap(), [r#"Version("9.9.9")"#]);
    answering.abort();
    stage.stop().await;
}

#[tokio::test]
async fn two_hundred_commands_in_a_row_use_one_process() {
    let stage = Stage::new();
    for number in 0..200 {
        let mut command = stage.command().await;
        assert_eq!(command.begin().await["handshakes"], 1, "{number}");
        command.call("call").await;
        command.end().await;
    }
    let servers = stage.status().await.servers;
    assert_eq!((servers.len(), servers[0].uses), (1, 200));
    stage.stop().await;
}

#[tokio::test]
async fn of_many_commands_at_once_each_gets_its_own_answers() {
    let stage = Stage::new();
    for _ in 0..3 {
        let commands = (0..12).map(|_| async {
            let mut command = stage.command().await;
            command.begin().await;
            // Each answer is held against the id of its request.
            let first = command.call("call").await;
            for _ in 0..10 {
                assert_eq!(command.call("call").await["pid"], first["pid"]);
            }
            command.end().await;
        });
        join_all(commands.collect()).await;
    }
    // Of those that wait, four are kept.
    while stage.status().await.servers.len() > DaemonOptions::default().idle_servers {
        tokio::task::yield_now().await;
    }
    stage.stop().await;
}

/// Waits for all, at the same time and on this task.
async fn join_all<F: Future<Output = ()>>(futures: Vec<F>) {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[tokio::test]
async fn a_description_that_is_too_long_is_left_to_the_command() {
    let stage = Stage::new();
    let long = "x".repeat(5 << 20);
    let told = Arc::new(std::sync::Mutex::new(0));
    let listening = Arc::clone(&told);
    let notice = move |_: &Unused| *listening.lock().unwrap() += 1;
    let launcher = DaemonLauncher::new(stage.place.clone(), String::new(), Box::new(notice));
    let start = stage.start(&[("LONG", &long)]);
    assert!(launcher.launch(&start).await.is_none());
    assert_eq!(*told.lock().unwrap(), 1);
    stage.stop().await;
}

#[tokio::test]
async fn a_command_that_sends_no_more_than_half_of_its_request_is_cut_off() {
    let stage = Stage::new();
    tokio::time::pause();
    let mut stream = tokio::net::UnixStream::connect(stage.place.socket())
        .await
        .unwrap();
    stream.write_all(b"m\x10\0\0\0{\"request\"").await.unwrap();
    let mut rest = Vec::new();
    // Time passes as soon as no task has anything to do.
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.starts_with(b"m"), "{rest:?}");
    tokio::time::resume();
    stage.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_read_costs_its_own_command_alone() {
    let stage = Stage::new();
    let mut start = stage.start(&[]);
    start.args = vec!["-c".to_owned(), "import time; time.sleep(60)".to_owned()];
    let mut command = stage.command_with(&start).await;
    let mut writer = command.writer.take().unwrap();
    let flood = tokio::spawn(async move {
        let line = format!(
            "{{\"id\":1,\"method\":\"x\",\"params\":\"{}\"}}\n",
            "x".repeat(60_000)
        );
        while writer.write_all(line.as_bytes()).await.is_ok() {}
    });
    let mut other = stage.command().await;
    other.begin().await;
    other.call("call").await;
    other.end().await;
    // The flood has come to a stop: what waits is bounded.
    assert!(!flood.is_finished());
    flood.abort();
    assert!(flood.await.unwrap_err().is_cancelled());
    assert_ne!(command.end().await, Exit::Code(0));
    stage.stop().await;
}

#[tokio::test]
async fn a_daemon_that_does_not_answer_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(folder.path().join("daemon"));
    // Connections wait in the queue of the system, as they do while a daemon is stopped.
    let (_listener, _held) = super::socket::listen(&place).unwrap();
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let listening = Arc::clone(&told);
    let notice = move |why: &Unused| listening.lock().unwrap().push(format!("{why:?}"));
    let launcher = DaemonLauncher::new(place, String::new(), Box::new(notice));
    let stage = Stage::new();
    let start = stage.start(&[]);
    tokio::time::pause();
    assert!(launcher.launch(&start).await.is_none());
    assert_eq!(*told.lock().unwrap(), ["Failed(Silent)"]);
    tokio::time::resume();
    stage.stop().await;
}
