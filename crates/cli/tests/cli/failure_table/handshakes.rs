//! Programs that start and do not agree with us: silence, text, questions, downloads, other versions.

use super::{AMPLE, BRIEF, Case};

const USUAL: Case = Case {
    deadline: BRIEF,
    ..Case::usual((4, "connect"))
};

/// Stays and says nothing more.
const STAYS: &str = "exec /bin/sleep 100";

pub(super) fn cases() -> Vec<Case> {
    let mut cases = silent();
    cases.extend(starting());
    cases.extend(odd());
    cases
}

fn silent() -> Vec<Case> {
    vec![
        Case {
            name: "silent",
            title: "the server did not answer the handshake within 2 s",
            shows: &[
                "failed at: initialize",
                "it is not an MCP server, or one that serves at a URL",
            ],
            step: "give it more time: `switchboard tools thing --timeout 2m`",
            make: |stage| stage.script(STAYS),
            ..USUAL
        },
        Case {
            name: "silent-but-for-its-log",
            title: "the server did not answer the handshake within 2 s",
            shows: &["connecting to the database", "see its output above"],
            step: "`\"connect_timeout\": \"2m\"` into its entry: ~/config/switchboard/mcp.json:3",
            make: |stage| stage.script(&format!("echo 'connecting to the database' >&2; {STAYS}")),
            ..USUAL
        },
        Case {
            name: "waits-for-input",
            title: "the server waits for input, and did not answer within 2 s",
            shows: &["Password for north:", "its last line is a question"],
            step: "give it the answer in its arguments or in `env`",
            make: |stage| stage.script(&format!("printf 'Password for north: ' >&2; {STAYS}")),
            ..USUAL
        },
        Case {
            name: "npx-asks",
            title: "the server waits for input, and did not answer within 2 s",
            shows: &["Ok to proceed? (y)"],
            step: "write `-y` before the package in `args`",
            make: |stage| {
                stage.program(
                    "npx",
                    &format!("printf 'Need to install thing\\nOk to proceed? (y) ' >&2; {STAYS}"),
                );
                stage.tools(r#""command": "npx", "args": ["thing"]"#)
            },
            ..USUAL
        },
        Case {
            name: "garbage",
            title: "the server writes text to stdout, and did not answer within 2 s",
            shows: &[
                "on stdout, but not an MCP message",
                "Welcome to thing 1.0",
                "it logs to stdout",
            ],
            step: "make it log to stderr",
            make: |stage| stage.script(&format!("echo 'Welcome to thing 1.0'; {STAYS}")),
            ..USUAL
        },
        Case {
            name: "serves-at-a-url",
            title: "the server writes text to stdout, and did not answer within 2 s",
            shows: &[
                "Listening on http://localhost:3000/mcp",
                "it serves at a URL instead of stdio",
            ],
            step: "`switchboard tools --url http://localhost:3000/mcp`",
            make: |stage| {
                stage.script(&format!(
                    "echo 'Listening on http://localhost:3000/mcp'; {STAYS}"
                ))
            },
            ..USUAL
        },
    ]
}

fn starting() -> Vec<Case> {
    vec![
        Case {
            name: "slow-start-npx",
            title: "the server was still starting after 2 s",
            shows: &[
                "npm warn exec The following package was not found",
                "npx is downloading or building the server",
            ],
            step: "give it more time: `switchboard tools thing --timeout 2m`",
            make: |stage| {
                let words = "npm warn exec The following package was not found and will be installed: thing";
                stage.program("npx", &format!("echo '{words}' >&2; {STAYS}"));
                stage.tools(r#""command": "npx", "args": ["-y", "thing"]"#)
            },
            ..USUAL
        },
        Case {
            name: "slow-start-uvx",
            title: "the server was still starting after 2 s",
            shows: &["uvx downloads the server at its first start"],
            step: "or download it beforehand: run `uvx thing`",
            make: |stage| {
                stage.program("uvx", STAYS);
                stage.tools(r#""command": "uvx", "args": ["thing"]"#)
            },
            ..USUAL
        },
    ]
}

/// A server that answers the handshake with this line, and its first question with an error.
pub(super) fn answering(line: &str) -> String {
    format!(
        r#"while read -r asked; do
  case "$asked" in
    *server/discover*) echo '{{"jsonrpc":"2.0","id":"discover-1","error":{{"code":-32601,"message":"?"}}}}' ;;
    *initialize*) id=${{asked#*\"id\":}}; id=${{id%%,*}}; echo "{line}" ;;
  esac
done"#
    )
}

fn odd() -> Vec<Case> {
    vec![
        Case {
            name: "echo",
            title: "the server sends back what it receives: it is not an MCP server",
            shows: &["\"method\":\"initialize\"", "repeats its input"],
            step: "run it by hand",
            deadline: AMPLE,
            make: |stage| stage.script("exec /bin/cat"),
            ..USUAL
        },
        Case {
            name: "broken-answer",
            title: "the server answered the handshake with an invalid message",
            shows: &["the line begins", "\"result\":{oops}"],
            step: "run it by hand",
            deadline: AMPLE,
            make: |stage| {
                let line = r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{oops}}"#;
                stage.script(&answering(line))
            },
            ..USUAL
        },
        Case {
            name: "wrong-era",
            title: "the server does not speak the protocol version that is configured",
            shows: &[
                "the server speaks: 2026-07-28",
                "Switchboard speaks: 2025-11-25",
            ],
            step: "`\"protocol\": \"auto\"` into its entry: ~/config/switchboard/mcp.json:3",
            deadline: AMPLE,
            make: |stage| {
                let order = r#", "protocol": "legacy""#;
                stage.bundled(&["--era", "modern"], order, &["tools", "thing"])
            },
            ..USUAL
        },
        Case {
            name: "wrong-era-modern",
            title: "the server does not speak the protocol version that is configured",
            shows: &[
                "the server speaks: a legacy version",
                "Switchboard speaks: 2026-07-28",
            ],
            step: "`switchboard tools thing --protocol auto`",
            deadline: AMPLE,
            make: |stage| {
                let order = r#", "protocol": "2026-07-28""#;
                stage.bundled(&["--era", "legacy"], order, &["tools", "thing"])
            },
            ..USUAL
        },
        Case {
            name: "wrong-version",
            title: "the server and Switchboard have no protocol version in common",
            shows: &[
                "the server speaks: 1999-01-01",
                "Switchboard speaks: 2025-11-25",
            ],
            step: "update the server",
            deadline: AMPLE,
            make: |stage| {
                let line = r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"1999-01-01\",\"capabilities\":{},\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}"#;
                stage.script(&answering(line))
            },
            ..USUAL
        },
    ]
}
