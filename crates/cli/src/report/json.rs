//! Reports as one JSON object.

use serde::Serialize;
use switchboard::protocol::Raw;
use switchboard::secret::Redactor;
use switchboard::text::write_json_safe;

use super::{Report, ReportSource};
use switchboard_terminal::json::redact_json;

impl Report {
    /// Formats the report as one line of JSON, without secrets.
    pub(crate) fn json(&self, secrets: &Redactor, verbose: bool) -> String {
        let plain = |text: &str| secrets.redact(text).into_owned();
        let all = |lines: &[String]| lines.iter().map(|text| plain(text)).collect::<Vec<_>>();
        let optional = |text: &Option<String>| text.as_deref().map(plain);
        let document = ErrorDocument {
            exit: self.exit.number(),
            kind: self.kind,
            server: optional(&self.server),
            identity: optional(&self.command),
            message: plain(&self.message),
            source: self.source.as_ref(),
            facts: self
                .shown_facts(verbose)
                .map(|(name, value)| Fact {
                    name: plain(name),
                    value: plain(value),
                })
                .collect(),
            evidence: self
                .evidence
                .iter()
                .map(|(title, lines)| Evidence {
                    title: plain(title),
                    lines: all(lines),
                })
                .collect(),
            causes: all(&self.causes),
            hints: all(&self.hints),
            fault: self.fault.map(|(word, _)| word),
            status: self.fault.and_then(|(_, status)| status),
            // Redaction keeps it valid JSON.
            rpc: self
                .rpc
                .as_ref()
                .and_then(|rpc| Raw::parse(&redact_json(secrets, rpc)).ok()),
        };
        // Every field has a JSON form.
        let text = serde_json::to_string(&document).unwrap_or_default();
        format!("{}\n", write_json_safe(&text))
    }
}

/// The error object of `--json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ErrorDocument<'a> {
    exit: u8,
    kind: &'a str,
    server: Option<String>,
    identity: Option<String>,
    message: String,
    source: Option<&'a ReportSource>,
    facts: Vec<Fact>,
    evidence: Vec<Evidence>,
    causes: Vec<String>,
    hints: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rpc: Option<Raw>,
}

#[derive(Serialize)]
struct Fact {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct Evidence {
    title: String,
    lines: Vec<String>,
}
