//! The document of `servers --json`: see `docs/cli.md`.

use std::time::Duration;

use serde::Serialize;
use switchboard::host::Status;
use switchboard::protocol::Raw;

use super::{era, transport};
use crate::commands::listing::NoticeItem;
use crate::exit::Exit;
use crate::login::explained;
use crate::problems::Source;
use crate::report::steps;

/// One server.
#[derive(Serialize)]
pub(super) struct ServerDocument {
    server: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ServerProblem>,
    transport: Option<String>,
    identity: Option<String>,
    version: Option<String>,
    era: Option<&'static str>,
    info: Option<Raw>,
    capabilities: Option<Raw>,
    tools: usize,
    resources: usize,
    templates: usize,
    prompts: usize,
    /// Estimated tokens of the tool definitions.
    tokens: usize,
    took_ms: Option<u128>,
    latency_ms: Option<f64>,
    pid: Option<u32>,
    source: Option<Source>,
    notices: Vec<NoticeItem<'static>>,
}

#[derive(Serialize)]
struct ServerProblem {
    exit: u8,
    message: String,
    hints: Vec<String>,
    stderr: Vec<String>,
}

pub(super) fn document(
    status: &Status,
    latency: Option<Duration>,
    tokens: usize,
) -> ServerDocument {
    let origin = &status.origin;
    let capabilities = status.capabilities.as_ref();
    ServerDocument {
        server: status.name.to_string(),
        state: status.state.word(),
        error: status.problem().map(|error| {
            let diagnosis = explained(error);
            ServerProblem {
                exit: Exit::of(error).number(),
                message: diagnosis.title,
                hints: steps::word_all(&diagnosis.steps),
                stderr: status.stderr.clone(),
            }
        }),
        transport: transport(status),
        identity: status.identity.clone(),
        version: status.version.map(|version| version.to_string()),
        era: status.version.map(era),
        info: status.server.as_ref().map(|server| server.raw().clone()),
        capabilities: capabilities.map(|capabilities| capabilities.raw().clone()),
        tools: status.offers.tools,
        resources: status.offers.resources,
        templates: status.offers.templates,
        prompts: status.offers.prompts,
        tokens,
        took_ms: status.took.map(|took| took.as_millis()),
        latency_ms: latency.map(|latency| (latency.as_secs_f64() * 100_000.0).round() / 100.0),
        pid: status.pid,
        source: origin.file.as_ref().map(|_| Source::of(origin)),
        notices: status
            .notices
            .iter()
            .map(|notice| NoticeItem {
                // The message names it.
                name: None,
                message: notice.clone(),
            })
            .collect(),
    }
}
