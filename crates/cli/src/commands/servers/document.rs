//! The document of `servers --json`: see `docs/cli.md`.

use std::time::Duration;

use serde::Serialize;
use switchboard::explain;
use switchboard::host::Status;
use switchboard::protocol::Raw;

use super::{era, transport};
use crate::exit::Exit;

/// One server.
#[derive(Serialize)]
pub(super) struct Document {
    server: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
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
    took_ms: Option<u128>,
    latency_ms: Option<f64>,
    pid: Option<u32>,
    source: Option<Source>,
    notices: Vec<Said>,
}

#[derive(Serialize)]
struct Problem {
    exit: u8,
    message: String,
    hints: Vec<String>,
    stderr: Vec<String>,
}

/// A notice. The lists fill in `name`; here the name is part of the message.
#[derive(Serialize)]
struct Said {
    name: Option<String>,
    message: String,
}

#[derive(Serialize)]
struct Source {
    file: String,
    layer: String,
    line: Option<usize>,
    column: Option<usize>,
}

pub(super) fn document(status: &Status, latency: Option<Duration>) -> Document {
    let origin = &status.origin;
    let capabilities = status.capabilities.as_ref();
    Document {
        server: status.name.to_string(),
        state: status.state.word(),
        error: status.problem().map(|error| {
            let diagnosis = explain(error);
            Problem {
                exit: Exit::of(error).number(),
                message: diagnosis.title,
                hints: diagnosis.steps,
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
        took_ms: status.took.map(|took| took.as_millis()),
        latency_ms: latency.map(|latency| (latency.as_secs_f64() * 100_000.0).round() / 100.0),
        pid: status.pid,
        source: origin.file.as_ref().map(|file| Source {
            file: file.display().to_string(),
            layer: origin.layer.to_string(),
            line: origin.line,
            column: origin.column,
        }),
        notices: status
            .notices
            .iter()
            .map(|notice| Said {
                name: None,
                message: notice.clone(),
            })
            .collect(),
    }
}
