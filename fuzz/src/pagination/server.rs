//! A server that is honest until it is asked for a list.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::script::{Act, Script};

/// Serves one connection and counts the requests for pages.
pub(crate) async fn serve(
    input: DuplexStream,
    mut output: DuplexStream,
    mut script: Script,
    asked: Arc<AtomicUsize>,
) {
    let mut input = BufReader::new(input);
    let mut line = String::new();
    loop {
        line.clear();
        match input.read_line(&mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        let act = match method {
            "initialize" => greet(&message, &hello_legacy()),
            "server/discover" => greet(&message, &hello_modern()),
            _ if method.ends_with("/list") => {
                asked.fetch_add(1, Ordering::SeqCst);
                script.next(&message["id"].to_string())
            }
            // What else a client says needs no answer.
            _ => continue,
        };
        let (bytes, closes) = match act {
            Act::Write(bytes) => (bytes, false),
            Act::WriteAndClose(bytes) => (bytes, true),
        };
        if output.write_all(&bytes).await.is_err() || closes {
            return;
        }
    }
}

fn greet(request: &Value, hello: &Value) -> Act {
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": hello});
    Act::Write(format!("{answer}\n").into_bytes())
}

fn hello_legacy() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "fuzz", "version": "1"},
    })
}

fn hello_modern() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}
