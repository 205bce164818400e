//! Connections of single clients: which servers they share, and how long their own last.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::{
    Caller, ClientConnections, ClientOptions, Host, HostLimits, Sharing, Update, View,
};
use switchboard::protocol::{Implementation, LogLevel};
use switchboard::spec::{Protocol, ServerSpec};
use switchboard::{ErrorKind, ToolHandle};
use switchboard_testkit::Options;
use switchboard_testkit::http::Http as TestServer;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::host_support::asker::{Connections, Named, asker, builder};
use crate::host_support::{PATIENCE, With as _, tapped};
use crate::support::http_script::{Asked, Scripted};

fn view(host: &Host, client: &ClientConnections) -> View {
    host.view(Caller::owner()).with_connections(client)
}

async fn call(view: &View, tool: &str) -> String {
    let call = view.call(tool, json!({})).into_future();
    timeout(PATIENCE, call).await.unwrap().unwrap().text()
}

/// A host with a server of which each client has its own connection, and three clients.
async fn separate(
    limits: impl FnOnce(&mut ClientOptions),
) -> (Host, ClientConnections, Connections) {
    let (memory, connections, _) = asker();
    let host = builder(memory).build().unwrap();
    host.set_sharing("one", Sharing::PerClient).unwrap();
    host.connect("one").await.unwrap();
    let mut options = ClientOptions::default();
    limits(&mut options);
    let client = host.client_connections(options);
    (host, client, connections)
}

#[tokio::test]
async fn a_modern_server_is_shared_by_all_clients() {
    let (memory, tap) = tapped(Options::default());
    let host = Host::builder().with("one", memory);
    let host = host.protocol(Protocol::Modern).build().unwrap();
    let clients = [(); 3].map(|()| host.client_connections(ClientOptions::default()));
    for client in &clients {
        let echo = view(&host, client).call("one/echo", json!({"message": "hello"}));
        assert_eq!(echo.await.unwrap().text(), "hello");
        assert_eq!(client.open(), 0);
    }
    assert_eq!(tap.count("server/discover"), 1);
}

#[tokio::test]
async fn own_connections_read_no_lists_and_carry_the_clients_name() {
    let (memory, connections, mut heard) = asker();
    let host = builder(memory).build().unwrap();
    host.set_sharing("one", Sharing::PerClient).unwrap();
    host.connect("one").await.unwrap();
    let before = host.catalog();
    let mut options = Named::new("ada").options();
    options.client = Some(Implementation::new("editor", "7"));
    let (first, second) = (
        host.client_connections(options),
        Named::new("bob").connect(&host),
    );
    assert_eq!(connections.started(), 1);
    assert_eq!(call(&view(&host, &first), "one/who").await, "2");
    assert_eq!(call(&view(&host, &second), "one/who").await, "3");
    assert_eq!(call(&view(&host, &first), "one/who").await, "2");
    // One handle for all clients.
    let tool: ToolHandle = host.view(Caller::owner()).find("one/who").await.unwrap();
    assert_eq!(tool.call(json!({})).await.unwrap().text(), "1");
    let over = tool.call(json!({})).connections(&second);
    assert_eq!(over.await.unwrap().text(), "3");
    assert!(before.diff(&host.catalog()).is_empty());
    let sent: Vec<Value> = std::iter::from_fn(|| heard.try_recv().ok()).collect();
    let count = |method| sent.iter().filter(|sent| sent["method"] == method).count();
    assert_eq!((count("initialize"), count("tools/list")), (3, 1));
    let names = sent.iter().filter(|sent| sent["method"] == "initialize");
    let names: Vec<&str> = names
        .filter_map(|sent| sent["params"]["clientInfo"]["name"].as_str())
        .collect();
    assert_eq!(names[1], "editor");
}

#[tokio::test]
async fn clients_have_their_own_session_at_a_legacy_server_over_http() {
    let server = Scripted::new(|asked: &Asked| {
        Some(match asked.what().as_str() {
            "initialize" => {
                let number = asked.json()["id"].to_string();
                let name = asked.json()["params"]["clientInfo"]["name"].clone();
                let id = format!("of-{}-{number}", name.as_str().unwrap());
                asked.legacy().header("mcp-session-id", &id)
            }
            "tools/list" => asked.result(&json!({
                "tools": [{"name": "do", "inputSchema": {"type": "object"}}]
            })),
            _ => asked.legacy(),
        })
    })
    .await;
    let spec = ServerSpec::http("one", server.url()).unwrap();
    let host = Host::builder().server(spec).protocol(Protocol::Legacy);
    let host = host.build().unwrap();
    for name in ["ada", "bob"] {
        let mut options = Named::new(name).options();
        options.client = Some(Implementation::new(name, "1"));
        let client = host.client_connections(options);
        assert_eq!(call(&view(&host, &client), "one/do").await, "done");
        assert_eq!(client.open(), 1);
        client.close().await;
    }
    let asked = server.asked();
    let of = |what: &str| {
        let asked = asked.iter().filter(|asked| asked.what() == what);
        let ids = asked.filter_map(|asked| asked.header("mcp-session-id"));
        ids.map(|id| id.split('-').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("tools/call"), ["ada", "bob"]);
    assert_eq!(of("DELETE"), ["ada", "bob"]);
}

#[tokio::test]
async fn a_legacy_server_without_sessions_over_http_is_shared() {
    let server = TestServer::new(Options::default()).stateless();
    let server = server.serve().await.unwrap();
    let spec = ServerSpec::http("one", &server.url()).unwrap();
    let host = Host::builder().server(spec).protocol(Protocol::Legacy);
    let host = host.build().unwrap();
    let client = Named::new("ada").connect(&host);
    let echo = view(&host, &client).call("one/echo", json!({"message": "hello"}));
    assert_eq!(echo.await.unwrap().text(), "hello");
    assert_eq!(client.open(), 0);
    // Unless the program says so.
    host.set_sharing("one", Sharing::PerClient).unwrap();
    let echo = view(&host, &client).call("one/echo", json!({"message": "hello"}));
    assert_eq!(echo.await.unwrap().text(), "hello");
    assert_eq!(client.open(), 1);
}

#[tokio::test]
async fn over_a_cap_the_error_says_so_and_an_idle_connection_makes_room() {
    let [one, two] = [(); 2].map(|()| asker());
    let mut limits = HostLimits::default();
    limits.client_connections = 2;
    let host = builder(one.0).with("two", two.0).host_limits(limits);
    let host = host.build().unwrap();
    for server in ["one", "two"] {
        host.set_sharing(server, Sharing::PerClient).unwrap();
        host.connect(server).await.unwrap();
    }
    let mut options = Named::new("ada").options();
    options.limits.connections = 1;
    let client = host.client_connections(options);
    let view_of = |client: &ClientConnections| view(&host, client);
    // At the cap, and over it while the first is in use.
    let watching = view_of(&client).watch("one", "file:///a").await.unwrap();
    let error = view_of(&client)
        .call("two/who", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    let text = "1 connections of this client are open already";
    assert!(error.to_string().contains(text), "{error}");
    drop(watching);
    assert_eq!(call(&view_of(&client), "two/who").await, "2");
    one.1.until_alive(1).await;
    assert_eq!(client.open(), 1);
    // The other clients count for the cap of all.
    let other = Named::new("bob").connect(&host);
    call(&view_of(&other), "one/who").await;
    let error = view_of(&other)
        .call("two/who", json!({}))
        .await
        .unwrap_err();
    let text = "2 connections of all clients are open already";
    assert!(error.to_string().contains(text), "{error}");
    client.close().await;
    call(&view_of(&other), "two/who").await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_use_is_closed_after_the_idle_time() {
    let idle = Duration::from_secs(300);
    let (host, client, connections) = separate(|options| options.limits.idle = idle).await;
    let view = view(&host, &client);
    assert_eq!(call(&view, "one/who").await, "2");
    tokio::time::advance(idle - Duration::from_secs(1)).await;
    // A use in between begins the time anew.
    assert_eq!(call(&view, "one/who").await, "2");
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(call(&view, "one/who").await, "2");
    // One that is watched is in use.
    let watching = view.watch("one", "file:///a").await.unwrap();
    tokio::time::advance(idle * 3).await;
    assert_eq!(
        (call(&view, "one/who").await.as_str(), client.open()),
        ("2", 1)
    );
    drop(watching);
    tokio::time::advance(idle + Duration::from_secs(1)).await;
    connections.until_alive(1).await;
    assert_eq!(client.open(), 0);
    assert_eq!(call(&view, "one/who").await, "3");
}

#[tokio::test]
async fn own_connections_end_with_their_client_server_or_host() {
    // With the client, which is closed or dropped.
    let (host, client, connections) = separate(|_| {}).await;
    call(&view(&host, &client), "one/who").await;
    connections.until_alive(2).await;
    client.close().await;
    connections.until_alive(1).await;
    let error = view(&host, &client)
        .call("one/who", json!({}))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("the client is gone"), "{error}");
    let dropped = host.client_connections(ClientOptions::default());
    call(&view(&host, &dropped), "one/who").await;
    connections.until_alive(2).await;
    drop(dropped);
    connections.until_alive(1).await;
    // With a disconnect, after which there is another.
    let client = host.client_connections(ClientOptions::default());
    let before = call(&view(&host, &client), "one/who").await;
    host.disconnect("one").await.unwrap();
    connections.until_alive(0).await;
    assert_ne!(call(&view(&host, &client), "one/who").await, before);
    // With the server.
    host.remove("one").await.unwrap();
    connections.until_alive(0).await;
    assert_eq!(client.open(), 0);
    // With the host.
    for is_shut_down in [true, false] {
        let (host, client, connections) = separate(|_| {}).await;
        call(&view(&host, &client), "one/who").await;
        if is_shut_down {
            host.shutdown().await;
        }
        drop(host);
        connections.until_alive(0).await;
        drop(client);
    }
}

#[tokio::test]
async fn a_watch_over_an_own_connection_gets_the_updates_of_that_one() {
    let (host, client, _) = separate(|_| {}).await;
    let other = host.client_connections(ClientOptions::default());
    let mut watching = view(&host, &client)
        .watch("one", "file:///a")
        .await
        .unwrap();
    let mut foreign = view(&host, &other).watch("one", "file:///a").await.unwrap();
    call(&view(&host, &other), "one/touch").await;
    let changed = Update::Changed("file:///a".to_owned());
    let update = timeout(PATIENCE, foreign.next()).await.unwrap();
    assert_eq!(update.unwrap(), changed);
    call(&view(&host, &client), "one/touch").await;
    let update = timeout(PATIENCE, watching.next()).await.unwrap();
    assert_eq!(update.unwrap(), changed);
    client.close().await;
    let ended = timeout(PATIENCE, watching.next()).await.unwrap();
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Connect);
}

/// The levels that were set, as soon as there are as many.
async fn levels(heard: &mut mpsc::UnboundedReceiver<Value>, count: usize) -> Vec<String> {
    let mut levels = Vec::new();
    while levels.len() < count {
        let message = timeout(PATIENCE, heard.recv()).await.unwrap().unwrap();
        if message["method"] == "logging/setLevel" {
            levels.push(message["params"]["level"].as_str().unwrap().to_owned());
        }
    }
    levels
}

#[tokio::test]
async fn a_shared_legacy_server_logs_at_the_most_verbose_level_of_its_clients() {
    let (memory, _, mut heard) = asker();
    let host = builder(memory).build().unwrap();
    host.connect("one").await.unwrap();
    let [ada, bob] = ["ada", "bob"].map(|name| Named::new(name).connect(&host));
    ada.set_log_level(LogLevel::Error);
    assert_eq!(levels(&mut heard, 1).await, ["error"]);
    bob.set_log_level(LogLevel::Debug);
    assert_eq!(levels(&mut heard, 1).await, ["debug"]);
    ada.set_log_level(LogLevel::Info);
    bob.close().await;
    assert_eq!(levels(&mut heard, 1).await, ["info"]);
    // A new connection is told as well, and an own one what its client wants.
    host.set_sharing("one", Sharing::PerClient).unwrap();
    let bob = Named::new("bob").connect(&host);
    bob.set_log_level(LogLevel::Alert);
    call(&view(&host, &bob), "one/who").await;
    assert_eq!(levels(&mut heard, 1).await, ["alert"]);
    host.restart("one").await.unwrap();
    assert_eq!(levels(&mut heard, 1).await, ["info"]);
}
