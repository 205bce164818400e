//! The last lines that a process wrote to stderr.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::Limits;

/// The last lines of stderr, readable while the process runs.
#[derive(Clone)]
pub(crate) struct StderrTail {
    state: Arc<Mutex<State>>,
    lines: usize,
    line_bytes: usize,
}

#[derive(Default)]
struct State {
    kept: VecDeque<String>,
    /// The line being written; no longer than what is kept of it.
    open: Vec<u8>,
}

impl StderrTail {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            state: Arc::default(),
            lines: limits.stderr_lines,
            line_bytes: limits.stderr_line_bytes,
        }
    }

    /// The last lines, oldest first; a line without its end counts.
    pub(crate) fn lines(&self) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<String> = state.kept.iter().cloned().collect();
        if !state.open.is_empty() {
            lines.push(String::from_utf8_lossy(&state.open).into_owned());
        }
        let surplus = lines.len().saturating_sub(self.lines);
        lines.drain(..surplus);
        lines
    }

    fn take(&self, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            self.extend(&mut state.open, line);
            let open = std::mem::take(&mut state.open);
            let line = String::from_utf8_lossy(&open);
            let line = line.strip_suffix('\r').unwrap_or(&line).to_owned();
            if state.kept.len() >= self.lines {
                state.kept.pop_front();
            }
            state.kept.push_back(line);
        }
        self.extend(&mut state.open, rest);
    }

    fn extend(&self, open: &mut Vec<u8>, bytes: &[u8]) {
        let room = self.line_bytes.saturating_sub(open.len());
        open.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
    }

    /// Reads until the process and everybody it gave its stderr to have closed it.
    pub(super) async fn drain(self, mut stderr: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match stderr.read(&mut buffer).await {
                // An error ends the stream as its end does: there is nobody to tell.
                Ok(0) | Err(_) => return,
                Ok(read) => self.take(buffer.get(..read).unwrap_or_default()),
            }
        }
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StderrTail({} lines)", self.lines().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail() -> StderrTail {
        StderrTail::new(&Limits {
            stderr_lines: 3,
            stderr_line_bytes: 5,
            ..Limits::default()
        })
    }

    #[test]
    fn the_last_lines_are_kept_and_long_ones_cut() {
        let tail = tail();
        tail.take(b"one\ntwo\r\nth");
        assert_eq!(tail.lines(), ["one", "two", "th"]);
        tail.take(b"ree and more\nfour\nfive\n");
        assert_eq!(tail.lines(), ["three", "four", "five"]);
    }

    #[tokio::test]
    async fn a_flood_without_lines_is_drained_and_not_kept() {
        let tail = tail();
        let flood = vec![b'x'; 1024 * 1024];
        tail.clone().drain(&flood[..]).await;
        assert_eq!(tail.lines(), ["xxxxx"]);
    }
}
