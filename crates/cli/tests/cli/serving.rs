//! The bundled server over HTTP, as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::run::command;

/// A test server that ends with its value.
pub(crate) struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = command(&["test-server", "--port", "0"]);
        let mut child = command.args(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap();
        Self {
            url: url.to_owned(),
            child,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
