//! A server in a process of its own, for as long as the suite looks at it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::tool;

/// Maximum time until a server prints its URL.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. Dropping it ends the process.
pub(super) struct Running {
    child: Child,
    url: String,
}

/// The output that a server prints its URL to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prints {
    Stdout,
    Stderr,
}

impl Running {
    /// Starts a server and waits for the URL that it prints.
    ///
    /// # Errors
    ///
    /// Carries what the server printed when it ends, or waits too long, without a URL.
    pub(super) fn start(command: &mut Command, prints: Prints) -> Result<Self, String> {
        command.stdin(Stdio::null());
        match prints {
            Prints::Stdout => command.stdout(Stdio::piped()),
            Prints::Stderr => command.stderr(Stdio::piped()).stdout(Stdio::null()),
        };
        let name = tool::line(command);
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start `{name}`: {error}"))?;
        let output: Option<Box<dyn Read + Send>> = match prints {
            Prints::Stdout => child.stdout.take().map(|pipe| Box::new(pipe) as _),
            Prints::Stderr => child.stderr.take().map(|pipe| Box::new(pipe) as _),
        };
        let mut running = Self {
            child,
            url: String::new(),
        };
        let output = output.ok_or_else(|| format!("`{name}` has no output"))?;
        running.url = wait(output).map_err(|said| format!("`{name}` printed no URL\n{said}"))?;
        Ok(running)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a line with a URL; an error is what was printed instead.
fn wait(output: impl Read + Send + 'static) -> Result<String, String> {
    let (sender, lines) = mpsc::channel();
    // Reads to the end, so that the server never waits for us to read.
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Once the URL is known, the rest is read and dropped.
            let _ = sender.send(line);
        }
    });
    let deadline = Instant::now() + PATIENCE;
    let mut said = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) => {
                if let Some(url) = url_in(&line) {
                    return Ok(url.to_owned());
                }
                said.push(line);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Err(said.join("\n"));
            }
        }
    }
}

/// Finds the first URL in a line.
fn url_in(line: &str) -> Option<&str> {
    let begin = line.find("http://")?;
    let rest = line.get(begin..)?;
    let end = rest.find(|letter: char| letter.is_whitespace() || "'\"`,)".contains(letter));
    rest.get(..end.unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_found_in_a_line() {
        let url = Some("http://127.0.0.1:80/mcp");
        assert_eq!(url_in("listening on http://127.0.0.1:80/mcp"), url);
        assert_eq!(url_in("clients: `http://127.0.0.1:80/mcp`, no token"), url);
        assert_eq!(url_in("nothing yet"), None);
    }

    #[test]
    fn what_is_printed_instead_of_a_url_is_shown() {
        assert_eq!(wait(&b"one\ntwo\n"[..]), Err("one\ntwo".to_owned()));
        let url = "http://localhost:1/mcp".to_owned();
        assert_eq!(wait(&b"begun\nhttp://localhost:1/mcp\n"[..]), Ok(url));
    }
}
