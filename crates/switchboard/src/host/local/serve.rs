//! The server of local tools: one connection, in memory, in the legacy era.

use std::collections::HashMap;

use serde_json::{Value, json};
use switchboard_wire::{Version, code};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::{LocalTools, ToolOutput};

/// Serves one connection until the client closes it; calls that run then are dropped.
pub(super) async fn serve(tools: LocalTools, input: DuplexStream, mut output: DuplexStream) {
    let mut lines = BufReader::new(input).lines();
    let mut calls = Calls::default();
    loop {
        let answer = tokio::select! {
            line = lines.next_line() => match line {
                Ok(Some(line)) => calls.take(&tools, &line),
                _ => return,
            },
            Some(ended) = calls.running.join_next_with_id() => calls.answer(ended),
        };
        let Some(answer) = answer else {
            continue;
        };
        let line = format!("{answer}\n");
        if output.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The calls that run on one connection. Dropping them ends their tasks.
#[derive(Default)]
struct Calls {
    running: JoinSet<ToolOutput>,
    /// The requests behind the tasks, and how to end each.
    requests: HashMap<Id, (Value, AbortHandle)>,
}

impl Calls {
    /// Takes a message: returns its answer, or begins the call that it asks for.
    fn take(&mut self, tools: &LocalTools, line: &str) -> Option<Value> {
        let message: Value = serde_json::from_str(line).ok()?;
        let method = message.get("method").and_then(Value::as_str)?;
        let params = message.get("params").unwrap_or(&Value::Null);
        let Some(id) = message.get("id") else {
            if method == "notifications/cancelled" {
                self.cancel(params.get("requestId")?);
            }
            return None;
        };
        Some(match method {
            "initialize" => success(
                id,
                &json!({
                    "protocolVersion": Version::NEWEST_LEGACY.as_str(),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "local", "version": env!("CARGO_PKG_VERSION")},
                }),
            ),
            "ping" => success(id, &json!({})),
            "tools/list" => success(id, &json!({"tools": tools.definitions()})),
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str);
                let Some(tool) = name.and_then(|name| tools.get(name)) else {
                    // 2025-11-25 tools: an unknown tool is a protocol error, not a result.
                    return Some(failure(id, code::INVALID_PARAMS, "there is no such tool"));
                };
                let arguments = params.get("arguments").cloned();
                let arguments = arguments.unwrap_or_else(|| json!({}));
                // The program's function is called in the task: a panic costs this call alone.
                let task = (self.running).spawn(async move { (tool.run)(arguments).await });
                self.requests.insert(task.id(), (id.clone(), task));
                return None;
            }
            _ => failure(id, code::METHOD_NOT_FOUND, "there is no such method"),
        })
    }

    /// Makes the answer of a call that has ended; none if it was cancelled.
    fn answer(&mut self, ended: Result<(Id, ToolOutput), JoinError>) -> Option<Value> {
        let (task, output) = match ended {
            Ok((task, output)) => (task, Some(output)),
            Err(error) => (error.id(), None),
        };
        let (id, _) = self.requests.remove(&task)?;
        Some(match output {
            Some(output) => success(&id, &output.result()),
            None => failure(&id, code::INTERNAL_ERROR, "the tool panicked"),
        })
    }

    fn cancel(&mut self, request: &Value) {
        self.requests.retain(|_, (id, task)| {
            let is_meant = id == request;
            if is_meant {
                task.abort();
            }
            !is_meant
        });
    }
}

fn success(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
