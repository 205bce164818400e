//! Two hundred secrets, and servers that repeat all of them wherever they can: none is ever shown.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use switchboard::config::{Client, Config, Expansion, Places, read_client};
use switchboard::events::write_line;
use switchboard::host::{Caller, Host, Logs};
use switchboard::secret::Redactor;
use switchboard::spec::Layer;
use switchboard::transport::{Environment, Tap, TapLimits, Wire};
use switchboard::{Error, explain};
use switchboard_testkit::Options;

use crate::host_support::secrets::{Parrots, Shown, Traced, canary, plain_canary, write};
use crate::host_support::{self, With as _, testkit};
use crate::support::alone::is_alone;

fn environment() -> Environment {
    let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
    Parrots::variables().into_iter().chain([path]).collect()
}

fn add_error(shown: &mut Shown, place: &str, error: &Error) {
    shown.add(place, format!("{error} {error:?}"));
    shown.add(place, format!("{:?}", explain(error)));
    shown.add(place, format!("{:?}", error.context()));
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        shown.add(place, format!("{error} {error:?}"));
        source = error.source();
    }
}

fn add_config(shown: &mut Shown, place: &str, config: &Config) {
    shown.add(place, format!("{config:?} {:?}", config.files()));
    let entries = config.entries().iter().chain(config.shadowed());
    for entry in entries {
        shown.add(place, format!("{entry:?} {:?}", entry.references()));
    }
    for problem in config.problems() {
        shown.add(place, format!("{problem} {problem:?}"));
        shown.add(place, problem.excerpt().join("\n"));
        shown.add(place, problem.hints().join("\n"));
        shown.add(
            place,
            format!("{} {:?}", problem.message(), problem.expected()),
        );
    }
}

fn assert_none(shown: &Shown) {
    let mut hits = shown.hits();
    hits.dedup_by_key(|hit| {
        hit.split(": ")
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let first = hits
        .iter()
        .take(12)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n\n");
    assert!(hits.is_empty(), "{} hits:\n{first}", hits.len());
}

/// Reads all that went over the wire and all that was logged.
async fn watch(mut wire: Wire, mut logs: Logs) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let (mut messages, mut lines) = (0, 0);
    loop {
        tokio::select! {
            biased;
            Some(passed) = wire.next() => {
                messages += 1;
                all.push(("wire", format!("{passed:?}")));
            }
            Some(log) = logs.next() => {
                lines += 1;
                all.push(("log", format!("{log:?}")));
            }
            else => break,
        }
    }
    assert!(messages > 500 && lines > 100, "{messages} {lines}");
    all
}

#[tokio::test]
async fn no_secret_is_in_an_error_an_event_a_status_a_log_or_a_trace() {
    if !is_alone(&no_secret_is_in_an_error_an_event_a_status_a_log_or_a_trace) {
        return;
    }
    let traced = Traced::default();
    tracing::subscriber::set_global_default(traced.clone()).unwrap();
    let parrots = Parrots::new();
    let file = parrots.path("mcp.json");
    write(&file, &parrots.servers());
    let mut shown = Shown::default();
    let config = Config::load(&Places::only(&file));
    add_config(&mut shown, "config", &config);
    assert_eq!(config.entries().len(), 13, "{:?}", config.problems());
    let environment = environment();
    for entry in config.entries() {
        let spec = entry.expand(&Expansion::new(&environment, Path::new("/")));
        shown.add("spec", format!("{:?}", spec.unwrap()));
    }
    let (tap, wire) = Tap::new(&TapLimits::default());
    let builder = Host::builder().environment(&environment).config(&config);
    let host = builder.tap(&tap).build().unwrap();
    let mut events = host.events();
    let watching = tokio::spawn(watch(wire, host.logs()));
    let view = host.view(Caller::owner());
    for status in host.connect_all().await {
        shown.add("status", format!("{status:?}"));
        if let Some(error) = status.error() {
            add_error(&mut shown, status.name.as_str(), error);
        }
        for (kind, error) in &status.unlisted {
            add_error(&mut shown, &format!("{} {kind}", status.name), error);
        }
    }
    for server in host.servers() {
        let server = server.name.as_str();
        for tool in ["go", "fail", "refuse", "odd", "strict", "missing", "die"] {
            let name = format!("{server}/{tool}");
            let place = format!("call {name}");
            match view.find(&name).await {
                Ok(tool) => {
                    if let Err(error) = tool.call(json!({})).await {
                        add_error(&mut shown, &place, &error);
                    }
                    if let Err(error) = tool.call(json!({"a": 1})).typed::<u8>().await {
                        add_error(&mut shown, &place, &error);
                    }
                }
                Err(error) => add_error(&mut shown, &place, &error),
            }
        }
        shown.add("status", format!("{:?}", host.server(server).unwrap()));
        let item = format!("{server}/p");
        for error in [
            view.read(server, "file:///x").await.err(),
            view.prompt(&item, json!({})).await.err(),
            view.prompt(&format!("{server}/q"), json!({})).await.err(),
            host.check(server).await.err(),
            host.refresh(server).await.err(),
            host.restart(server).await.err(),
        ]
        .into_iter()
        .flatten()
        {
            add_error(&mut shown, &format!("use of {server}"), &error);
        }
    }
    // Tools that are named after secrets can be called, and tell nobody.
    for tool in view.tools() {
        if let Err(error) = tool.call(json!({})).await {
            add_error(&mut shown, "a tool named so", &error);
        }
    }
    for resource in view.resources() {
        let read = view.read(resource.server().as_str(), resource.uri()).await;
        add_error(&mut shown, "a resource named so", &read.unwrap_err());
    }
    shown.add("host", format!("{host:?} {view:?} {:?}", host.catalog()));
    shown.add("secrets", format!("{:?}", host.secrets()));
    host.shutdown().await;
    drop((host, view, tap));
    for (place, text) in watching.await.unwrap() {
        shown.add(place, text);
    }
    let mut count = 0;
    while let Ok(event) = events.try_recv() {
        let mut line = String::new();
        write_line(&event, &mut line);
        shown.add("event", format!("{event:?}"));
        shown.add("line of an event", line);
        count += 1;
    }
    assert!(count > 100, "{count}");
    shown.add("trace", traced.0.lock().unwrap().clone());
    // The parrots were heard: it is the secrets that are missing, not what they said.
    assert!(shown.text().contains("***"));
    assert!(shown.text().contains("Traceback: "));
    assert_none(&shown);
}

#[tokio::test]
async fn no_secret_is_in_the_question_about_a_project() {
    let parrots = Parrots::new();
    let file = parrots.path("project/.mcp.json");
    let mut servers = parrots.servers();
    for (name, entry) in servers.as_object_mut().unwrap() {
        if name.starts_with("started") {
            // Where an argument may be code, the person sees it whole: these cannot be.
            let word = |number| plain_canary(number);
            entry["args"] = json!([
                "server.py",
                format!("--token={}", word(1)),
                "--api-key",
                word(2),
                format!("API_KEY={}", word(3)),
                format!("https://me:{}@example.com/?token={}", word(4), word(5)),
                format!("ghp_{}{}", word(6), word(7)),
                format!("${{HERE_TOKEN:-{}}}", word(8)),
            ]);
            // A value that no name calls a secret is shown, because it decides what is run.
            let env = entry["env"].as_object().unwrap().clone().into_iter();
            let env = env.map(|(name, value)| (format!("{name}_TOKEN"), value));
            entry["env"] = Value::Object(env.collect());
        }
    }
    let read = |servers: &Value| {
        let text = json!({"mcpServers": servers}).to_string();
        Config::read(&text, &file, Layer::Project)
    };
    let mut shown = Shown::default();
    let store = || switchboard::trust::Store::at(parrots.path("trust"));
    for round in 0..2 {
        let config = read(&servers);
        add_config(&mut shown, "config", &config);
        let builder = Host::builder().environment(&environment()).trust(store());
        let host = builder.config(&config).build().unwrap();
        for status in host.connect_all().await {
            let name = status.name.as_str();
            shown.add("status", format!("{status:?}"));
            add_error(&mut shown, name, status.error().unwrap());
            let question = host.question(name).unwrap().unwrap();
            shown.add(name, format!("{question:?} {:?}", question.claim));
            // `lines` shows every literal of the project's file, for a person at a terminal.
            shown.add(name, question.masked_lines().join("\n"));
            store().approve(&question.claim).unwrap();
        }
        shown.add("approvals", format!("{:?}", store().list().unwrap()));
        // Everything is another in the second round, and the difference is shown.
        for (at, entry) in servers.as_object_mut().unwrap().values_mut().enumerate() {
            for key in ["env", "headers"] {
                let members = entry.get_mut(key).and_then(Value::as_object_mut);
                for (number, member) in members.into_iter().flatten().enumerate() {
                    *member.1 = json!(canary((number + at + round) % 200));
                }
            }
        }
    }
    for file in std::fs::read_dir(parrots.path("trust")).unwrap() {
        let text = std::fs::read(file.unwrap().path()).unwrap();
        shown.add("the store", String::from_utf8_lossy(&text));
    }
    assert!(shown.text().contains("***"));
    assert_none(&shown);
}

#[test]
fn the_text_of_a_result_arrives_as_it_was_sent_whatever_is_secret() {
    let secrets = [
        "correct-horse-battery",
        "hunter2",
        "é/%+\"&<",
        "\u{1b}[31m1",
    ];
    let known: Redactor = secrets.iter().collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let host = runtime.block_on(async {
        let host = Host::builder().secrets(&known);
        let host = host.with("s", testkit(Options::default()));
        host.build().unwrap()
    });
    let piece = prop_oneof![
        prop::sample::select(secrets.to_vec()).prop_map(str::to_owned),
        ".{0,8}",
        "\\PC{0,8}",
    ];
    let texts = prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::default();
    let checked = runner.run(&texts, |text| {
        let arguments = json!({"message": text});
        let arrived = runtime.block_on(host_support::call(&host, "s/echo", arguments));
        prop_assert_eq!(arrived, text);
        Ok(())
    });
    checked.unwrap();
    runtime.block_on(host.shutdown());
}

/// Files with mistakes of all kinds in them, near secrets and at them.
fn broken(servers: &Value) -> Vec<String> {
    let whole = serde_json::to_string_pretty(&json!({"mcpServers": servers})).unwrap();
    let mut files = Vec::new();
    // Cut off anywhere, and with one sign too many or too few anywhere.
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let at = (0..=at).rfind(|at| whole.is_char_boundary(*at)).unwrap();
        files.push(whole[..at].to_owned());
        files.push(format!("{}\"{}", &whole[..at], &whole[at..]));
        files.push(format!("{}}}{}", &whole[..at], &whole[at..]));
        files.push(format!("{} x {}", &whole[..at], &whole[at..]));
        let mut less = whole.clone();
        less.remove(at);
        files.push(less);
    }
    // Secrets in places where something else belongs. A command, its arguments and plain settings are
    // shown as they are written.
    for number in 0..200 {
        let secret = canary(number);
        for entry in [
            json!({"command": {"a": secret}}),
            json!({"command": "x", "args": [[secret]]}),
            json!({"command": "x", "env": secret}),
            json!({"command": "x", "env": [secret]}),
            json!({"command": "x", "env": {"TOKEN": [secret]}}),
            json!({"command": "x", "env": {"TOKEN": {"value": secret}}}),
            json!({"command": "x", "envv": {"TOKEN": secret}}),
            json!({"command": "x", "env": {"TOKEN": format!("${{{secret}")}}),
            json!({"command": "x", "env": {"TOKEN": format!("${{A:-{secret}")}}),
            json!({"command": "x", "env": {"TOKEN": format!("${{A:?{secret}}}")}}),
            json!({"url": secret}),
            json!({"url": [secret]}),
            json!({"url": format!("ftp://me:{secret}@example.com")}),
            json!({"url": "http://example.com", "headers": secret}),
            json!({"url": "http://example.com", "headers": [secret]}),
            json!({"url": "http://example.com", "headers": {"X": 5, "Y": [secret]}}),
            json!({"url": "http://example.com", "command": "x", "headers": {"X": secret}}),
            json!(secret),
            json!([secret]),
        ] {
            files.push(json!({"mcpServers": {"one": entry}}).to_string());
        }
        files.push(json!({"mcpServers": secret}).to_string());
        files.push(json!({"mcpServers": [secret]}).to_string());
        files.push(json!({"defaults": secret, "mcpServers": {}}).to_string());
        files.push(format!("{secret}\n"));
        files.push(format!("{{\"mcpServers\": {{}} }} {secret}"));
        let quoted = json!(secret);
        files.push(format!(
            "{{\"mcpServers\": {{\"one\": {{\"command\": \"x\",\n\"env\": {{\"TOKEN\": {quoted},\n\
             \"TOKEN\": {quoted} \"A\": {quoted}}}}}}}}}"
        ));
    }
    files
}

#[test]
fn no_secret_is_in_what_is_said_of_a_broken_file() {
    let parrots = Parrots::new();
    let servers = json!({"a": parrots.started("good"), "b": parrots.remote("good")});
    let mut shown = Shown::default();
    let file = Path::new("/p/.mcp.json");
    let mut problems = 0;
    for text in broken(&servers) {
        let config = Config::read(&text, file, Layer::Project);
        problems += config.problems().len();
        add_config(&mut shown, "json", &config);
    }
    for number in 0..200 {
        let quoted = json!(canary(number)).to_string();
        for text in [
            format!("[mcp_servers.one]\ncommand = \"x\"\nenv = {{ TOKEN = {quoted}\n"),
            format!("[mcp_servers.one]\ncommand = \"x\"\nenv = {quoted}\n"),
            format!("[mcp_servers.one]\ncommand = \"x\"\n[mcp_servers.one.env]\nA = {quoted} x\n"),
            format!("[mcp_servers.one]\nurl = {quoted}\nbearer_token = {quoted}\n"),
            format!("[mcp_servers.one]\ncommand = \"x\"\nargs = [\"--token\", {quoted}\n"),
            format!("[mcp_servers.one]\ncommand = \"x\"\nenv.A = {quoted}\nenv.A = {quoted}\n"),
        ] {
            let file = Path::new("/p/.codex/config.toml");
            let config = read_client(&text, file, Layer::Project, Client::Codex);
            problems += config.problems().len();
            add_config(&mut shown, "toml", &config);
        }
    }
    assert!(problems > 5000, "{problems}");
    assert_none(&shown);
}
