//! Where a failure is made: a home folder, with servers that last as long as the run.

use std::any::Any;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::home::Home;

/// This program, which is a server too.
pub(super) const SELF: &str = env!("CARGO_BIN_EXE_switchboard");

/// A home folder. The server of a case is called `thing`.
pub(super) struct Stage(Home);

/// A command line, and what must last until it has run.
pub(super) struct Made {
    pub(super) args: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
    keep: Vec<Box<dyn Any>>,
}

impl Made {
    pub(super) fn of(args: &[&str]) -> Self {
        Self {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            variables: Vec::new(),
            keep: Vec::new(),
        }
    }

    pub(super) fn keeping(mut self, what: impl Any) -> Self {
        self.keep.push(Box::new(what));
        self
    }

    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.variables.push((name, value));
        self
    }
}

impl Stage {
    pub(super) fn new() -> Self {
        Self(Home::new())
    }

    pub(super) fn home(&self) -> &Home {
        &self.0
    }

    /// A path in the home folder.
    pub(super) fn path(&self, path: &str) -> String {
        self.0.path(path).display().to_string()
    }

    /// Writes a file with a mode.
    pub(super) fn file(&self, path: &str, text: &str, mode: u32) {
        self.0.write(path, text);
        fs::set_permissions(self.0.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A program in `PATH`, as a script of the shell that really is one.
    pub(super) fn program(&self, name: &str, lines: &str) {
        self.file(
            &format!("bin/{name}"),
            &format!("#!/bin/sh\n{lines}\n"),
            0o755,
        );
    }

    /// Describes `thing` in the person's own file, on line 3 of it.
    pub(super) fn describe(&self, members: &str) {
        let text = format!("{{\n  \"mcpServers\": {{\n    \"thing\": {{{members}}}\n  }}\n}}\n");
        self.0.write("config/switchboard/mcp.json", &text);
    }

    /// The tools of a server that is described so.
    pub(super) fn tools(&self, members: &str) -> Made {
        self.describe(members);
        Made::of(&["tools", "thing"])
    }

    /// The tools of a server that is a script of the shell.
    pub(super) fn script(&self, lines: &str) -> Made {
        self.program("serve", lines);
        self.tools(r#""command": "serve""#)
    }

    /// The tools of a server at a URL.
    pub(super) fn url(&self, url: &str) -> Made {
        self.tools(&format!(r#""url": "{url}""#))
    }

    /// A command line about the bundled server, started with these arguments.
    pub(super) fn bundled(&self, server: &[&str], members: &str, args: &[&str]) -> Made {
        let mut words = vec!["test-server"];
        words.extend(server);
        let words = serde_json::to_string(&words).unwrap();
        self.describe(&format!(r#""command": "{SELF}", "args": {words}{members}"#));
        Made::of(args)
    }
}
