//! Programs that do not start, or end at once.

use super::Case;

/// What all of them have in common.
const USUAL: Case = Case::usual((4, "connect"));

pub(super) fn cases() -> Vec<Case> {
    let mut cases = not_found();
    cases.extend(not_started());
    cases.extend(ended());
    cases
}

fn not_found() -> Vec<Case> {
    vec![
        Case {
            name: "command-not-found",
            title: "command \"frobnicate\" was not found",
            shows: &[
                "searched: ~/bin",
                "misspelled, not installed, or not in PATH",
            ],
            step: "`command -v frobnicate`",
            make: |stage| stage.tools(r#""command": "frobnicate""#),
            ..USUAL
        },
        Case {
            name: "npx-not-found",
            title: "command \"npx\" was not found",
            shows: &["searched: ~/bin", "Node.js is not installed"],
            step: "install Node.js, which provides n",
            make: |stage| stage.tools(r#""command": "npx", "args": ["-y", "thing"]"#),
            ..USUAL
        },
        Case {
            name: "uvx-not-found",
            title: "command \"uvx\" was not found",
            shows: &["searched: ~/bin", "uv is not installed"],
            step: "`pip install uv`",
            make: |stage| stage.tools(r#""command": "uvx", "args": ["thing"]"#),
            ..USUAL
        },
        Case {
            name: "docker-not-found",
            title: "command \"docker\" was not found",
            shows: &["searched: ~/bin", "Docker is not installed"],
            step: "install Docker",
            make: |stage| stage.tools(r#""command": "docker", "args": ["run", "-i", "thing"]"#),
            ..USUAL
        },
        Case {
            name: "python-has-another-name",
            title: "command \"python\" was not found",
            shows: &[
                "there is: ~/bin/python3",
                "there is a program with a similar name: python3",
            ],
            step: "write `\"command\": \"python3\"` into its entry: ~/config/switchboard/mcp.json:3",
            make: |stage| {
                stage.program("python3", "exit 1");
                stage.tools(r#""command": "python", "args": ["server.py"]"#)
            },
            ..USUAL
        },
        Case {
            name: "path-not-found",
            title: "command \"~/tools/servr.sh\" was not found",
            shows: &[
                "searched: nowhere: the command is a path",
                "there is: ~/tools/server.sh",
            ],
            step: "correct the path of `command` in its entry: ~/config/switchboard/mcp.json:3",
            make: |stage| {
                stage.file("tools/server.sh", "#!/bin/sh\n", 0o755);
                let path = stage.path("tools/servr.sh");
                stage.tools(&format!(r#""command": "{path}""#))
            },
            ..USUAL
        },
    ]
}

fn not_started() -> Vec<Case> {
    vec![
        Case {
            name: "not-executable",
            title: "~/tools/serve is not executable",
            shows: &[
                "permissions: rw-r--r-- (644)",
                "the file is: a script for /bin/sh",
            ],
            step: "`chmod +x ~/tools/serve`",
            make: |stage| {
                stage.file("tools/serve", "#!/bin/sh\n", 0o644);
                let path = stage.path("tools/serve");
                stage.tools(&format!(r#""command": "{path}""#))
            },
            ..USUAL
        },
        Case {
            name: "is-a-folder",
            title: "~/tools is a folder, not a program",
            step: "name the program in it as `command` of its entry: ~/config/switchboard/mcp.json:3",
            make: |stage| {
                stage.file("tools/serve", "#!/bin/sh\n", 0o755);
                let path = stage.path("tools");
                stage.tools(&format!(r#""command": "{path}""#))
            },
            ..USUAL
        },
        Case {
            name: "no-first-line",
            title: "~/bin/serve.py is a script without a `#!` line",
            shows: &[
                "the file is: text without a `#!` line",
                "the system says: Exec format error",
            ],
            step: "`\"command\": \"python3\", \"args\": [\"~/bin/serve.py\"]` at ~/config/switchboard/mcp.json:3",
            make: |stage| {
                stage.file("bin/serve.py", "import sys\n", 0o755);
                stage.tools(r#""command": "serve.py""#)
            },
            ..USUAL
        },
        Case {
            name: "no-interpreter",
            title: "~/bin/serve needs \"/nowhere/bin/node\", which does not exist",
            shows: &[
                "the file is: a script for /nowhere/bin/node",
                "the system says: No such file",
            ],
            step: "`#!/usr/bin/env node`",
            make: |stage| {
                stage.file("bin/serve", "#!/nowhere/bin/node\n", 0o755);
                stage.tools(r#""command": "serve""#)
            },
            ..USUAL
        },
        Case {
            name: "line-ends-of-windows",
            title: "~/bin/serve has Windows line endings and cannot be started",
            shows: &[
                "the file is: a script for /bin/sh",
                "ends in a carriage return",
            ],
            step: "`sed -i 's/\\r$//' ~/bin/serve`",
            make: |stage| {
                stage.file("bin/serve", "#!/bin/sh\r\nexit\r\n", 0o755);
                stage.tools(r#""command": "serve""#)
            },
            ..USUAL
        },
        Case {
            name: "other-machine",
            title: "~/bin/serve is built for another machine: Linux on riscv",
            shows: &[
                "the file is: a program for Linux on riscv",
                "this machine is Linux on ARCH",
            ],
            step: "`file ~/bin/serve`",
            make: |stage| {
                let head = "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0\0\0\0\0\0\u{2}\0";
                stage.file("bin/serve", head, 0o755);
                // The machine's number is no text.
                let path = stage.home().path("bin/serve");
                let mut bytes = std::fs::read(&path).unwrap();
                bytes.extend([0xf3, 0, 1, 0, 0, 0]);
                bytes.resize(64, 0);
                std::fs::write(&path, bytes).unwrap();
                stage.tools(r#""command": "serve""#)
            },
            ..USUAL
        },
        Case {
            name: "no-working-folder",
            title: "the working folder ~/gone does not exist",
            shows: &["the working folder ~/gone"],
            step: "`mkdir -p ~/gone`",
            make: |stage| {
                stage.program("serve", "exit 1");
                let gone = stage.path("gone");
                stage.tools(&format!(r#""command": "serve", "cwd": "{gone}""#))
            },
            ..USUAL
        },
    ]
}

fn ended() -> Vec<Case> {
    vec![
        Case {
            name: "exits-with-code",
            title: "the server ended with exit code 3 in the handshake",
            shows: &[
                "last lines of stderr",
                "no such region: north",
                "see its output above",
            ],
            step: "`env` and `env_passthrough` of its entry: ~/config/switchboard/mcp.json:3",
            make: |stage| stage.script("echo 'no such region: north' >&2; exit 3"),
            ..USUAL
        },
        Case {
            name: "exits-content",
            title: "the server ended with exit code 0 in the handshake",
            shows: &["a program that does its work and exits, not a server"],
            step: "run it by hand and see what it prints: `serve`",
            make: |stage| stage.script("exit 0"),
            ..USUAL
        },
        Case {
            name: "exits-without-a-word",
            title: "the server ended with exit code 1 in the handshake",
            shows: &["it printed no reason"],
            step: "run it by hand and see what it prints: `serve`",
            make: |stage| stage.script("exit 1"),
            ..USUAL
        },
        Case {
            name: "killed",
            title: "the server ended with signal 9 (SIGKILL) in the handshake",
            shows: &["the system does so when memory runs out"],
            step: "run it by hand",
            make: |stage| stage.script("kill -9 $$"),
            ..USUAL
        },
        Case {
            name: "crashes",
            title: "the server ended with signal 11 (SIGSEGV) in the handshake",
            shows: &["it crashed"],
            step: "run it by hand",
            make: |stage| stage.script("kill -11 $$"),
            ..USUAL
        },
        Case {
            name: "module-missing",
            title: "the server ended with exit code 1 in the handshake",
            shows: &[
                "Error: Cannot find module 'express'",
                "the Node.js module express is not installed",
            ],
            step: "`npm install express`",
            make: |stage| stage.script("echo \"Error: Cannot find module 'express'\" >&2; exit 1"),
            ..USUAL
        },
        Case {
            name: "variable-missing",
            title: "the server ended with exit code 1 in the handshake",
            shows: &[
                "API_TOKEN environment variable is required",
                "the variable API_TOKEN is not set for it",
            ],
            step: "write `\"env_passthrough\": [\"API_TOKEN\"]` into its entry",
            make: |stage| {
                stage.script("echo 'API_TOKEN environment variable is required' >&2; exit 1")
            },
            ..USUAL
        },
        Case {
            name: "refused-by-a-database",
            title: "the server ended with exit code 1 in the handshake",
            shows: &[
                "it could not connect to 127.0.0.1:",
                "PostgreSQL: is that running?",
            ],
            step: "check that something listens there: `nc -vz",
            make: |stage| {
                stage.script("echo 'Error: connect ECONNREFUSED 127.0.0.1:5432' >&2; exit 1")
            },
            ..USUAL
        },
        Case {
            name: "file-missing",
            title: "the server ended with exit code 2 in the handshake",
            shows: &["there is no file /nowhere/server.py"],
            step: "correct the path in its arguments",
            make: |stage| {
                stage.script(
                    "echo \"python3: can't open file '/nowhere/server.py': [Errno 2]\" >&2; exit 2",
                )
            },
            ..USUAL
        },
        Case {
            name: "wants-a-terminal",
            title: "the server ended with exit code 1 in the handshake",
            shows: &[
                "the input device is not a TTY",
                "it wants a terminal, and a server has none",
            ],
            step: "of `docker run -it` leave `docker run -i`",
            make: |stage| {
                stage.program("docker", "echo 'the input device is not a TTY' >&2; exit 1");
                stage.tools(r#""command": "docker", "args": ["run", "-it", "thing"]"#)
            },
            ..USUAL
        },
        Case {
            name: "inner-command-missing",
            title: "the server ended with exit code 127 in the handshake",
            shows: &[
                "env: node: No such file or directory",
                "in the server's start script was not found",
            ],
            step: "install Node.js, which provides n",
            make: |stage| stage.script("echo 'env: node: No such file or directory' >&2; exit 127"),
            ..USUAL
        },
    ]
}
