//! An event as a line of JSON.

use std::time::Duration;

use serde::Serialize;

use super::{Call, Event};

/// The members of a line; those that an event does not have are left out.
#[derive(Default, Serialize)]
struct Line<'a> {
    event: &'a str,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_reconnect: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<u64>,
}

/// Appends an event to a text, as one JSON object without a line end.
///
/// Its members are `event`, `server`, and those that the event has of `is_reconnect`, `version`, `call`,
/// `kind`, `name`, `caller`, `decision`, `rule`, `arguments` (a hash), `took_ms`, `is_error`, `error`,
/// `reason`, `issuer`, `scopes`, `list`, `text`, `changes` and `messages`. Terminal control characters
/// are escaped.
pub fn write_line(event: &Event, out: &mut String) {
    // Every member has a JSON form, so this cannot fail.
    let text = serde_json::to_string(&line(event)).unwrap_or_default();
    out.push_str(&crate::text::write_json_safe(&text));
}

fn line(event: &Event) -> Line<'_> {
    let mut line = Line {
        event: event.name(),
        server: event.server().as_str(),
        ..Line::default()
    };
    match event {
        Event::ConnectStarted { is_reconnect, .. } => line.is_reconnect = Some(*is_reconnect),
        Event::Connected {
            is_reconnect,
            took,
            version,
            ..
        } => {
            line.is_reconnect = Some(*is_reconnect);
            line.took_ms = Some(millis(*took));
            line.version = Some(version);
        }
        Event::ConnectFailed {
            is_reconnect,
            took,
            error,
            ..
        } => {
            line.is_reconnect = Some(*is_reconnect);
            line.took_ms = Some(millis(*took));
            line.error = Some(error);
        }
        Event::Disconnected { reason, .. } => line.reason = Some(reason),
        Event::CallStarted(call) => line.set_call(call),
        Event::Decided {
            call,
            decision,
            rule,
            arguments,
        } => {
            line.set_call(call);
            line.decision = Some(decision);
            line.rule = Some(rule.to_string());
            line.arguments = arguments.as_ref().map(ToString::to_string);
        }
        Event::CallCompleted {
            call,
            took,
            is_error,
        } => {
            line.set_call(call);
            line.took_ms = Some(millis(*took));
            line.is_error = Some(*is_error);
        }
        Event::CallFailed { call, took, error } => {
            line.set_call(call);
            line.took_ms = Some(millis(*took));
            line.error = Some(error);
        }
        Event::CatalogChanged { changes, .. } => line.changes = Some(changes),
        Event::ListFailed { list, error, .. } => {
            line.list = Some(list);
            line.error = Some(error);
        }
        Event::LoginNeeded {
            issuer,
            scopes,
            reason,
            ..
        } => {
            line.issuer = issuer.as_deref();
            line.scopes = Some(scopes);
            line.reason = Some(reason);
        }
        Event::TokenRenewed { issuer, .. } => line.issuer = Some(issuer),
        Event::LoginFailed { error, .. } => line.error = Some(error),
        Event::Notice { text, .. } => line.text = Some(text),
        Event::Shed { messages, .. } => line.messages = Some(*messages),
    }
    line
}

impl<'a> Line<'a> {
    fn set_call(&mut self, call: &'a Call) {
        self.call = Some(call.id);
        self.kind = Some(call.what.as_str());
        self.name = Some(&call.name);
        self.caller = Some(&call.caller);
    }
}

/// Milliseconds, to the microsecond.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::events::What;
    use crate::spec::ServerName;

    #[test]
    fn a_call_is_one_line_without_what_was_sent() {
        let server = ServerName::parse("demo").unwrap();
        let call = Call::new(
            7,
            &server,
            What::Tool,
            &Arc::from("echo\u{1b}"),
            &Arc::from("owner"),
        );
        let event = Event::CallCompleted {
            call,
            took: Duration::from_micros(1500),
            is_error: false,
        };
        let mut out = String::new();
        write_line(&event, &mut out);
        assert_eq!(
            out,
            r#"{"event":"call_completed","server":"demo","call":7,"kind":"tool","name":"echo\u001b","caller":"owner","took_ms":1.5,"is_error":false}"#
        );
    }
}
