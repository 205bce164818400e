//! The first list over HTTP while a server that was never seen does not answer.

use std::time::Duration;

use serde_json::json;
use switchboard::Host;
use switchboard::policy::{AgentPolicy, Level};
use switchboard::spec::{ServerName, Settings};
use switchboard::transport::Memory;
use switchboard_gateway::{Gateway, GatewayOptions};
use tokio::time::Instant;

use crate::support::{Ask, options};

/// A server that reads and never answers.
fn silent() -> Memory {
    Memory::new("silent", |input, output| async move {
        std::future::pending::<()>().await;
        drop((input, output));
    })
}

#[tokio::test(start_paused = true)]
async fn a_first_list_over_http_waits_a_quarter_of_a_second_at_most() {
    let name = ServerName::parse("silent").unwrap();
    let host = Host::builder()
        .transport(name, silent(), Settings::default())
        .agent("gateway", AgentPolicy::everything(Level::Yolo))
        .build()
        .unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default()).unwrap();
    let service = gateway.http(options()).unwrap();
    let list = Ask::modern("tools/list", json!({}));
    // The clock moves for what is waited for, and for nothing else.
    let start = Instant::now();
    let answer = service.clone().handle(list.request()).await;
    let took = start.elapsed();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/json");
    let most = Duration::from_millis(250);
    assert!(took >= most && took < most * 2, "{took:?}");
    // The next one knows that it is being connected to.
    let start = Instant::now();
    let answer = service.handle(list.request()).await;
    assert_eq!(answer.status(), 200);
    assert!(start.elapsed() <= most, "{:?}", start.elapsed());
}
