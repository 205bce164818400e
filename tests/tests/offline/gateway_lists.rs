//! Lists of a gateway in front of twenty servers: nothing is asked for them, and no server holds them up.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::catalog::ExposedNames;
use switchboard::host::{Host, HostBuilder, KeptDefinitions, State};
use switchboard::pins::{Mode, Pins};
use switchboard::policy::{AgentPolicy, Caller, Level};
use switchboard::spec::Settings;
use switchboard::transport::Memory;
use switchboard_gateway::{ClientIdentity, Gateway, GatewayOptions};
use tokio::time::Instant;

use super::gateway_client::Client;
use crate::host_support::name;
use crate::host_support::recorder::{Offer, Recorder};

const SERVERS: usize = 20;
const TOOLS_EACH: usize = 50;

fn server(number: usize) -> String {
    format!("s{number:02}")
}

fn recorder() -> Recorder {
    let tool = |number: usize| {
        let name = format!("tool_{number:02}");
        json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}})
    };
    Recorder::new(Offer {
        tools: (0..TOOLS_EACH).map(tool).collect(),
        prompts: vec![json!({"name": "hello"})],
        resources: vec![json!({"uri": "file:///a", "name": "a"})],
        ..Offer::default()
    })
}

fn builder() -> HostBuilder {
    Host::builder()
        .exposed_names(ExposedNames::unprefixed())
        .default_agent("gateway", AgentPolicy::everything(Level::Yolo))
}

/// A builder that keeps its state in this folder.
fn keeping(folder: &Path) -> HostBuilder {
    builder()
        .kept_definitions(&KeptDefinitions::at(folder))
        .pins(Pins::at(folder), Mode::Block)
}

/// A server that never says a word.
fn hanging(label: &str) -> Memory {
    Memory::new(label, |input, output| async move {
        std::future::pending::<()>().await;
        drop((input, output));
    })
}

fn local() -> ClientIdentity {
    ClientIdentity::local(Caller::agent("gateway").unwrap())
}

fn gateway(host: &Host) -> Gateway {
    Gateway::new(host.clone(), GatewayOptions::default()).unwrap()
}

/// Adds those servers to a host, the last of them hanging.
fn with_servers(mut builder: HostBuilder, recorders: &[Recorder]) -> Host {
    for (number, recorder) in recorders.iter().enumerate() {
        let server = server(number);
        let memory = match number + 1 == SERVERS {
            true => hanging(&server),
            false => recorder.memory(&server),
        };
        builder = builder.transport(name(&server), memory, Settings::default());
    }
    builder.build().unwrap()
}

/// Connects to servers once, so that their definitions are kept.
async fn see(folder: &Path, servers: usize) {
    let mut builder = keeping(folder);
    for number in 0..servers {
        let server = server(number);
        let memory = recorder().memory(&server);
        builder = builder.transport(name(&server), memory, Settings::default());
    }
    let host = builder.build().unwrap();
    host.connect_all().await;
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_warm_list_of_a_thousand_tools_asks_no_server() {
    let recorders: Vec<_> = (0..SERVERS).map(|_| recorder()).collect();
    let mut builder = builder();
    for (number, recorder) in recorders.iter().enumerate() {
        let server = server(number);
        let memory = recorder.memory(&server);
        builder = builder.transport(name(&server), memory, Settings::default());
    }
    let host = builder.build().unwrap();
    host.connect_all().await;
    let gateway = gateway(&host);
    let asked = || recorders.iter().map(Recorder::asked).sum::<usize>();
    let before = asked();
    assert!(before >= SERVERS, "the servers count what they are asked");
    for is_modern in [true, false] {
        let mut client = Client::open(&gateway, local(), is_modern).await;
        for _ in 0..5 {
            let tools = client.list("tools/list", "name").await;
            assert_eq!(tools.len(), SERVERS * TOOLS_EACH);
            assert!(tools.is_sorted());
            assert_eq!(client.list("prompts/list", "name").await.len(), SERVERS);
            assert_eq!(client.list("resources/list", "uri").await.len(), SERVERS);
        }
    }
    assert_eq!(asked(), before);
    // A call is asked for, so the count would have shown a list.
    let mut client = Client::open(&gateway, local(), true).await;
    let call = json!({"name": "s07__tool_49"});
    assert!(client.ask("tools/call", call).await["result"].is_object());
    assert_eq!(asked(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_server_seen_before_holds_up_no_first_list() {
    for is_modern in [true, false] {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("state");
        see(&folder, SERVERS).await;
        let recorders: Vec<_> = (0..SERVERS).map(|_| recorder()).collect();
        let host = with_servers(keeping(&folder), &recorders);
        let gateway = gateway(&host);
        let mut client = Client::open(&gateway, local(), is_modern).await;
        // The clock stands still unless something is waited for.
        let start = Instant::now();
        let tools = client.list("tools/list", "name").await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(tools.len(), SERVERS * TOOLS_EACH);
        let starts: usize = recorders.iter().map(Recorder::starts).sum();
        assert_eq!(starts, 0, "nothing is started for a list");
        // The others can be used, and the first call starts its server.
        let call = json!({"name": "s03__tool_00"});
        assert!(client.ask("tools/call", call).await["result"].is_object());
        let hung = json!({"name": format!("{}__tool_00", server(SERVERS - 1))});
        let answer = client.ask("tools/call", hung).await;
        assert_eq!(answer["error"]["data"]["server"], server(SERVERS - 1));
        assert_eq!(answer["error"]["data"]["mayHaveRun"], false, "{answer}");
        // Kept definitions are offered as long as the server may come back.
        let again = client.list("tools/list", "name").await;
        assert_eq!(again.len(), SERVERS * TOOLS_EACH);
        let starts: usize = recorders.iter().map(Recorder::starts).sum();
        assert_eq!(starts, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_server_never_seen_is_named_while_it_connects() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("state");
    see(&folder, SERVERS - 1).await;
    let recorders: Vec<_> = (0..SERVERS).map(|_| recorder()).collect();
    let host = with_servers(keeping(&folder), &recorders);
    let gateway = gateway(&host);
    let mut client = Client::open(&gateway, local(), true).await;
    let start = Instant::now();
    let answer = client.ask("tools/list", json!({})).await;
    let last = server(SERVERS - 1);
    assert!(matches!(
        host.server(&last).unwrap().state,
        State::Connecting
    ));
    assert!(start.elapsed() <= GatewayOptions::default().limits.first_list_stream);
    let tools = answer["result"]["tools"].as_array().map(Vec::len);
    assert_eq!(tools, Some((SERVERS - 1) * TOOLS_EACH));
    let left_out: &Value = &answer["result"]["_meta"]["switchboard/leftOut"];
    assert_eq!(*left_out, json!([{"server": last, "reason": "connecting"}]));
    // The others were not started for it.
    let starts: usize = recorders.iter().map(Recorder::starts).sum();
    assert_eq!(starts, 0);
}

#[tokio::test(start_paused = true)]
async fn a_first_use_waits_for_servers_that_were_never_seen() {
    for (method, params) in [
        ("tools/call", json!({"name": "s07__tool_49"})),
        ("prompts/get", json!({"name": "s07__hello"})),
        (
            "resources/read",
            json!({"uri": "switchboard://s07/file%3A%2F%2F%2Fa"}),
        ),
    ] {
        let recorders: Vec<_> = (0..SERVERS).map(|_| recorder()).collect();
        let host = with_servers(builder(), &recorders);
        let mut client = Client::open(&gateway(&host), local(), true).await;
        let answer = client.ask(method, params).await;
        assert!(answer["result"].is_object(), "{answer}");
        // What no server has is waited for as long as a first list is, and no longer.
        let start = Instant::now();
        let answer = client.ask("tools/call", json!({"name": "nothing"})).await;
        assert_eq!(answer["error"]["message"], "unknown tool: nothing");
        assert!(start.elapsed() <= GatewayOptions::default().limits.first_list_stream);
    }
}
