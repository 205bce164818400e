//! Config files that say nothing, the wrong thing, or too much.

use super::Case;
use super::stage::{Made, Stage};

const USUAL: Case = Case::usual((6, "configuration"));

/// What is said last of everything that is wrong with a file.
const CHECK: &str = "then run `switchboard config check ~/config/switchboard/mcp.json`";

/// The tools of `thing`, with this text as the person's own file.
fn whole(stage: &Stage, text: &str) -> Made {
    stage.home().write("config/switchboard/mcp.json", text);
    Made::of(&["tools", "thing"])
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = unreadable();
    cases.extend(unusable());
    cases
}

fn unreadable() -> Vec<Case> {
    vec![
        Case {
            name: "comma-missing",
            title: "a comma is missing after this value",
            shows: &["^", "expected: `,`", "\"thing\": {\"command\": \"***\"}"],
            step: "put a comma between two members",
            make: |stage| {
                let text = "{\n  \"mcpServers\": {\n    \"thing\": {\"command\": \"npx\"}\n    \"other\": {}\n  }\n}\n";
                whole(stage, text)
            },
            ..USUAL
        },
        Case {
            name: "quote-missing",
            title: "this text has no closing quote",
            shows: &["^", "expected: `\"` before the end of the line"],
            step: CHECK,
            make: |stage| {
                whole(
                    stage,
                    "{\n  \"mcpServers\": {\n    \"thing\": {\"command\": \"npx}\n  }\n}\n",
                )
            },
            ..USUAL
        },
        Case {
            name: "file-everybody-may-change",
            title: "~/config/switchboard/mcp.json cannot be used: everybody may change it (mode 666)",
            place: None,
            shows: &["another user could have written the file"],
            step: "`chmod o-w ~/config/switchboard/mcp.json`",
            make: |stage| {
                let made = stage.tools(r#""command": "serve""#);
                stage.file("config/switchboard/mcp.json", "{}", 0o666);
                made
            },
            ..USUAL
        },
    ]
}

fn unusable() -> Vec<Case> {
    vec![
        Case {
            name: "wrong-type",
            title: "server \"thing\": `args` is a text",
            shows: &["expected: a list of texts", "^^^^^", "\"args\": \"npx\""],
            step: CHECK,
            make: |stage| stage.tools(r#""command": "serve", "args": "npx""#),
            ..USUAL
        },
        Case {
            name: "no-transport",
            title: "server \"thing\": neither `command` nor `url` is there",
            shows: &[
                "\"thing\": { \"command\": \"npx\", \"args\": [\"-y\", \"PACKAGE\"] }",
                "\"thing\": { \"url\": \"https://HOST/mcp\" }",
            ],
            step: CHECK,
            make: |stage| stage.tools(r#""args": ["x"]"#),
            ..USUAL
        },
        Case {
            name: "unknown-key",
            title: "server \"thing\": neither `command` nor `url` is there",
            shows: &[
                "warning: ~/config/switchboard/mcp.json:3:15: server \"thing\": unknown key \"comand\"; did you mean `command`?",
            ],
            step: "write `command` for \"comand\"",
            make: |stage| stage.tools(r#""comand": "npx""#),
            ..USUAL
        },
        Case {
            name: "both-transports",
            title: "server \"thing\": both `command` and `url` are there",
            shows: &["expected: one of the two"],
            step: "make two servers of it, or remove one of the keys",
            make: |stage| stage.tools(r#""command": "serve", "url": "https://example.com/mcp""#),
            ..USUAL
        },
        Case {
            name: "type-does-not-fit",
            title: "server \"thing\": the type is that of a server with a URL, and there is a command",
            shows: &["^"],
            step: "write `\"type\": \"stdio\"`",
            make: |stage| stage.tools(r#""type": "http", "command": "serve""#),
            ..USUAL
        },
        Case {
            name: "unset-variable",
            title: "server \"thing\": the variable `NOWHERE_SET` is not set",
            shows: &["^^^^^", "it is set in another shell"],
            step: "set `NOWHERE_SET`, or write a default: `${NOWHERE_SET:-...}`",
            make: |stage| stage.tools(r#""command": "serve", "env": {"A": "${NOWHERE_SET}"}"#),
            ..USUAL
        },
        Case {
            name: "disabled",
            title: "the server is disabled",
            shows: &[
                "its entry says so, with `enabled` or `disabled`: ~/config/switchboard/mcp.json:3",
            ],
            step: "enable it: `switchboard enable thing`",
            make: |stage| stage.tools(r#""command": "serve", "disabled": true"#),
            ..USUAL
        },
        Case {
            name: "no-such-server",
            title: "there is no server named \"thign\"",
            place: None,
            shows: &[],
            step: "did you mean `switchboard",
            make: |stage| {
                stage.describe(r#""command": "serve""#);
                Made::of(&["tools", "thign"])
            },
            ..USUAL
        },
    ]
}
