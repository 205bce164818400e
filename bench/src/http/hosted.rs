//! The server over HTTP, as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Fault;
use crate::work::ServerCommand;

/// A server that ends with its input.
#[derive(Debug)]
pub struct Hosted {
    child: Child,
    input: ChildStdin,
    address: String,
}

impl Hosted {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    /// Fails if it does not start, or does not print its address.
    pub fn start(server: &ServerCommand) -> Result<Self, Fault> {
        let mut child = Command::new(&server.program)
            .args(&server.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("the server has no input")?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().to_owned();
        if address.is_empty() {
            return Err("the server does not say where it listens".into());
        }
        Ok(Self {
            child,
            input,
            address,
        })
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Ends the server.
    ///
    /// # Errors
    /// Fails if it does not exit successfully.
    pub fn end(self) -> Result<(), Fault> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        match child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("the server ended with {status}").into()),
        }
    }
}
