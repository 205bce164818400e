//! What a process writes to stderr: its last lines, and every line for whoever listens.

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
    /// How long that line is by now.
    open_bytes: usize,
    /// Lines that are not kept any more.
    gone: u64,
    ears: Vec<StderrEar>,
}

/// Is told each line as it is written, and must not wait.
pub(crate) type StderrEar = Arc<dyn Fn(Stderr<'_>) + Send + Sync>;

/// What somebody who listens to stderr is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stderr<'a> {
    /// A line.
    Line {
        /// The line, or its beginning where it was too long.
        text: &'a str,
        /// How long it was.
        bytes: usize,
    },
    /// So many lines came before anybody could listen, and are not kept.
    Missed(u64),
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

    /// Tells somebody of each line from now on, and first of those that are kept.
    pub(crate) fn hear(&self, ear: StderrEar) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.gone > 0 {
            ear(Stderr::Missed(state.gone));
        }
        for line in &state.kept {
            ear(Stderr::Line {
                text: line,
                bytes: line.len(),
            });
        }
        state.ears.push(ear);
    }

    fn take(&self, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            self.extend(&mut state, line);
            self.finish(&mut state);
        }
        self.extend(&mut state, rest);
    }

    /// Ends the line being written.
    fn finish(&self, state: &mut State) {
        let open = std::mem::take(&mut state.open);
        let bytes = std::mem::take(&mut state.open_bytes);
        let line = String::from_utf8_lossy(&open);
        let line = line.strip_suffix('\r').unwrap_or(&line).to_owned();
        for ear in &state.ears {
            ear(Stderr::Line {
                text: &line,
                bytes: match bytes == open.len() {
                    true => line.len(),
                    false => bytes,
                },
            });
        }
        if state.kept.len() >= self.lines {
            state.kept.pop_front();
            state.gone += 1;
        }
        state.kept.push_back(line);
    }

    fn extend(&self, state: &mut State, bytes: &[u8]) {
        let room = self.line_bytes.saturating_sub(state.open.len());
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        state.open.extend_from_slice(kept);
        state.open_bytes = state.open_bytes.saturating_add(bytes.len());
    }

    /// Ends a last line that has no end of its own.
    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.open.is_empty() {
            self.finish(&mut state);
        }
    }

    /// Reads until the process and everybody it gave its stderr to have closed it.
    pub(super) async fn drain(self, mut stderr: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match stderr.read(&mut buffer).await {
                // An error ends the stream as its end does: there is nobody to tell.
                Ok(0) | Err(_) => return self.end(),
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

    #[test]
    fn whoever_listens_hears_what_is_kept_and_then_every_line() {
        let tail = tail();
        tail.take(b"1\n2\n3\n4\nop");
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let ear = Arc::clone(&heard);
        tail.hear(Arc::new(move |said| {
            ear.lock().unwrap().push(format!("{said:?}"));
        }));
        tail.take(b"en line\r\n");
        tail.take(b"last");
        tail.end();
        tail.end();
        let line = |text: &str, bytes| format!("{:?}", Stderr::Line { text, bytes });
        let wanted = [
            "Missed(1)".to_owned(),
            line("2", 1),
            line("3", 1),
            line("4", 1),
            line("open ", 10),
            line("last", 4),
        ];
        assert_eq!(*heard.lock().unwrap(), wanted);
        assert_eq!(tail.lines(), ["4", "open ", "last"]);
    }

    #[tokio::test]
    async fn a_flood_without_lines_is_drained_and_not_kept() {
        let tail = tail();
        let flood = vec![b'x'; 1024 * 1024];
        tail.clone().drain(&flood[..]).await;
        assert_eq!(tail.lines(), ["xxxxx"]);
    }
}
