//! Tools that ask back: they send a person to an address, ask for roots, and log.

use serde_json::json;
use switchboard_wire::LogLevel;

use super::definitions::{input, tool};
use super::{Action, Tool};

/// The default address of `visit`.
pub(crate) const ADDRESS: &str = "https://example.com/visit?from=test-server";

pub(super) fn all() -> Vec<Tool> {
    let levels = LogLevel::ALL.map(LogLevel::as_str);
    vec![
        tool(
            Action::Visit,
            json!({
                "name": "visit",
                "title": "Send to an address",
                "description": "Asks the person at the client to go to an address, and tells what came back.",
                "inputSchema": input(
                    &json!({
                        "url": {"type": "string", "default": ADDRESS, "description": "The address"},
                        "by_error": {
                            "type": "boolean", "default": false,
                            "description": "Refuse the first call with an error that names the address, as 2025-11-25 can; \
                                            another version asks as ever",
                        },
                    }),
                    &[],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": true},
            }),
        ),
        tool(
            Action::ListRoots,
            json!({
                "name": "list_roots",
                "title": "List the client's folders",
                "description": "Asks the client for its roots, and answers with a line for each.",
                "inputSchema": input(&json!({}), &[]),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
        tool(
            Action::Log,
            json!({
                "name": "log",
                "title": "Log",
                "description": "Logs a text, and answers how many messages the client had asked for.",
                "inputSchema": input(
                    &json!({
                        "level": {
                            "type": "string", "enum": levels, "default": "info",
                            "description": "How much it matters",
                        },
                        "text": {"type": "string", "default": "a message", "description": "What to log"},
                        "count": {
                            "type": "integer", "minimum": 1, "maximum": 10000, "default": 1,
                            "description": "How many times",
                        },
                    }),
                    &[],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
    ]
}
