//! Connections that nothing uses: when they are closed, and what a later use finds.

use std::time::Duration;

use serde_json::json;
use switchboard::host::{Caller, Host};
use tokio::time::timeout;

use crate::host_support::PATIENCE;
use crate::host_support::asker::{Connections, asker, builder};

const UNUSED: Duration = Duration::from_secs(600);

/// A host that closes connections without a use, with one server that counts its starts.
async fn closing() -> (Host, Connections) {
    let (memory, connections, _) = asker();
    let host = builder(memory).close_unused(UNUSED).build().unwrap();
    host.connect("one").await.unwrap();
    (host, connections)
}

async fn start_of(host: &Host) -> String {
    let call = host.call("one/who", json!({})).into_future();
    timeout(PATIENCE, call).await.unwrap().unwrap().text()
}

#[tokio::test(start_paused = true)]
async fn an_unused_connection_is_closed_and_its_tools_stay_listed() {
    let (host, connections) = closing().await;
    assert_eq!(start_of(&host).await, "1");
    let before = host.tools().len();
    // A use in between begins the time anew.
    tokio::time::sleep(UNUSED - Duration::from_secs(1)).await;
    assert_eq!(start_of(&host).await, "1");
    tokio::time::sleep(UNUSED * 2).await;
    connections.until_alive(0).await;
    assert_eq!((host.tools().len(), connections.started()), (before, 1));
    assert_eq!(host.servers()[0].state.word(), "idle");
    // The next use starts the server again, and the end of that connection is watched too.
    assert_eq!(start_of(&host).await, "2");
    connections.until_alive(1).await;
    tokio::time::sleep(UNUSED * 3).await;
    connections.until_alive(0).await;
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_and_a_watch_keep_a_connection() {
    let (host, connections) = closing().await;
    let held = host.call("one/hold", json!({})).timeout(UNUSED * 20);
    let held = tokio::spawn(held.into_future());
    let watching = host
        .view(Caller::owner())
        .watch("one", "file:///a")
        .await
        .unwrap();
    tokio::time::sleep(UNUSED * 5).await;
    connections.until_alive(1).await;
    let released = host.call("one/release", json!({})).await.unwrap();
    assert_eq!(released.text(), "released");
    assert_eq!(held.await.unwrap().unwrap().text(), "held");
    tokio::time::sleep(UNUSED * 5).await;
    // It is watched still.
    assert_eq!(start_of(&host).await, "1");
    drop(watching);
    tokio::time::sleep(UNUSED * 3).await;
    connections.until_alive(0).await;
}

#[tokio::test(start_paused = true)]
async fn connections_without_a_use_stay_where_no_time_is_set() {
    let (memory, connections, _) = asker();
    let host = builder(memory).build().unwrap();
    host.connect("one").await.unwrap();
    tokio::time::sleep(UNUSED * 100).await;
    connections.until_alive(1).await;
    assert_eq!(start_of(&host).await, "1");
}
