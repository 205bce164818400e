//! Reads the stderr of a process: keeps its first and last lines, and passes every line to listeners.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use switchboard_core::limits::Limits;

/// The first and the last lines of stderr, readable while the process runs.
///
/// Programs name the cause of a failed start in their last lines or, before pages of usage text, in
/// their first ones.
#[derive(Clone)]
pub(crate) struct StderrTail {
    state: Arc<Mutex<State>>,
    first_lines: usize,
    lines: usize,
    line_bytes: usize,
}

#[derive(Default)]
struct State {
    first: Vec<String>,
    last: VecDeque<String>,
    /// The line being written, up to the limit.
    open: Vec<u8>,
    /// The full length of that line so far.
    open_bytes: usize,
    /// The number of lines between the first and the last that were dropped.
    gone: u64,
    listeners: Vec<StderrListener>,
    open_listeners: Vec<OpenStderrListener>,
}

/// A listener that receives a line that has not ended, as far as it is written. Must not block.
pub type OpenStderrListener = Arc<dyn Fn(&str) + Send + Sync>;

/// A listener that receives each line as it is written. Must not block.
pub type StderrListener = Arc<dyn Fn(Stderr<'_>) + Send + Sync>;

/// An event for a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr<'a> {
    /// A line.
    Line {
        /// The line, or its beginning if it was too long.
        text: &'a str,
        /// Its full length.
        bytes: usize,
    },
    /// The number of lines that were dropped before the listener was registered.
    Missed(u64),
}

impl StderrTail {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            state: Arc::default(),
            first_lines: limits.stderr_first_lines,
            lines: limits.stderr_lines,
            line_bytes: limits.stderr_line_bytes,
        }
    }

    /// The first and the last lines, oldest first, including an unfinished line. Between them a line gives
    /// the number of dropped ones.
    pub(crate) fn lines(&self) -> Vec<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last: Vec<String> = state.last.iter().cloned().collect();
        if !state.open.is_empty() {
            last.push(String::from_utf8_lossy(&state.open).into_owned());
        }
        let mut lines = state.first.clone();
        let room = self.first_lines.saturating_sub(lines.len()) + self.lines;
        let surplus = last.len().saturating_sub(room);
        last.drain(..surplus);
        let gone = state.gone.saturating_add(surplus as u64);
        if gone > 0 {
            lines.push(gap(gone));
        }
        lines.extend(last);
        lines
    }

    /// Registers a listener, which first receives the lines that are kept.
    pub(crate) fn listen(&self, listener: StderrListener) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let tell = |line: &String| {
            listener(Stderr::Line {
                text: line,
                bytes: line.len(),
            });
        };
        state.first.iter().for_each(tell);
        if state.gone > 0 {
            listener(Stderr::Missed(state.gone));
        }
        state.last.iter().for_each(tell);
        state.listeners.push(listener);
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
        if !rest.is_empty() && !state.open_listeners.is_empty() {
            let open = String::from_utf8_lossy(&state.open);
            state.open_listeners.iter().for_each(|tell| tell(&open));
        }
    }

    /// Registers a listener for lines that have not ended.
    pub(crate) fn listen_to_open(&self, listener: OpenStderrListener) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.open.is_empty() {
            listener(&String::from_utf8_lossy(&state.open));
        }
        state.open_listeners.push(listener);
    }

    /// Sets the line that has not ended.
    pub(crate) fn set_open(&self, line: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.open.clear();
        state.open_bytes = 0;
        self.extend(&mut state, line.as_bytes());
    }

    /// Ends the line being written.
    fn finish(&self, state: &mut State) {
        let open = std::mem::take(&mut state.open);
        let bytes = std::mem::take(&mut state.open_bytes);
        let line = String::from_utf8_lossy(&open);
        let line = line.strip_suffix('\r').unwrap_or(&line).to_owned();
        let bytes = if bytes == open.len() {
            line.len()
        } else {
            bytes
        };
        self.push(state, line, bytes);
    }

    /// Adds a whole line, which is `bytes` long if it was cut.
    pub(crate) fn add(&self, line: &str, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // It is the line that had not ended, if there was one.
        state.open.clear();
        state.open_bytes = 0;
        self.push(&mut state, line.to_owned(), bytes);
    }

    fn push(&self, state: &mut State, line: String, bytes: usize) {
        for listener in &state.listeners {
            listener(Stderr::Line { text: &line, bytes });
        }
        if state.first.len() < self.first_lines {
            state.first.push(line);
            return;
        }
        state.last.push_back(line);
        if state.last.len() > self.lines {
            state.last.pop_front();
            state.gone += 1;
        }
    }

    fn extend(&self, state: &mut State, bytes: &[u8]) {
        let room = self.line_bytes.saturating_sub(state.open.len());
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        state.open.extend_from_slice(kept);
        state.open_bytes = state.open_bytes.saturating_add(bytes.len());
    }

    /// Ends a last line without a newline.
    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.open.is_empty() {
            self.finish(&mut state);
        }
    }

    /// Reads until the process and all others that share its stderr have closed it. Cancels `wrote` after
    /// the first bytes.
    pub(crate) async fn drain(self, mut stderr: impl AsyncRead + Unpin, wrote: CancellationToken) {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match stderr.read(&mut buffer).await {
                // An error ends the stream like its end: there is nothing to report it to.
                Ok(0) | Err(_) => return self.end(),
                Ok(read) => {
                    self.take(buffer.get(..read).unwrap_or_default());
                    wrote.cancel();
                }
            }
        }
    }
}

/// The line that replaces dropped lines.
fn gap(lines: u64) -> String {
    match lines {
        1 => "... 1 line ...".to_owned(),
        many => format!("... {many} lines ..."),
    }
}

/// Returns true if a line replaces dropped lines.
pub fn is_gap(line: &str) -> bool {
    let number = line.strip_prefix("... ");
    let number = number.and_then(|rest| {
        let rest = rest.strip_suffix(" ...")?;
        rest.strip_suffix(" lines").or(rest.strip_suffix(" line"))
    });
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StderrTail({} lines)", self.lines().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(first: usize) -> StderrTail {
        StderrTail::new(&Limits {
            stderr_first_lines: first,
            stderr_lines: 3,
            stderr_line_bytes: 5,
            ..Limits::default()
        })
    }

    #[test]
    fn the_last_lines_are_kept_and_long_ones_cut() {
        let tail = tail(0);
        tail.take(b"one\ntwo\r\nth");
        assert_eq!(tail.lines(), ["one", "two", "th"]);
        tail.take(b"ree and more\nfour\nfive\n");
        assert_eq!(tail.lines(), ["... 2 lines ...", "three", "four", "five"]);
    }

    #[test]
    fn the_first_lines_stay_and_the_gap_is_counted() {
        let tail = tail(2);
        tail.take(b"1\n2\n3\n4\n5\n");
        assert_eq!(tail.lines(), ["1", "2", "3", "4", "5"]);
        tail.take(b"6");
        assert_eq!(tail.lines(), ["1", "2", "... 1 line ...", "4", "5", "6"]);
        tail.take(b"\n7\n8\n");
        assert_eq!(tail.lines(), ["1", "2", "... 3 lines ...", "6", "7", "8"]);
    }

    #[test]
    fn ten_lines_at_the_start_and_twenty_at_the_end_are_kept() {
        let tail = StderrTail::new(&Limits::default());
        let said: String = (1..=150).map(|n| format!("{n}\n")).collect();
        tail.take(said.as_bytes());
        let first = (1..=10).map(|n| n.to_string());
        let last = (131..=150).map(|n| n.to_string());
        let wanted: Vec<String> = first
            .chain(["... 120 lines ...".to_owned()])
            .chain(last)
            .collect();
        assert_eq!(tail.lines(), wanted);
    }

    #[test]
    fn a_listener_hears_what_is_kept_and_then_every_line() {
        let tail = tail(1);
        tail.take(b"1\n2\n3\n4\n5\nop");
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let listener = Arc::clone(&heard);
        tail.listen(Arc::new(move |said| {
            listener.lock().unwrap().push(format!("{said:?}"));
        }));
        tail.take(b"en line\r\n");
        tail.take(b"last");
        tail.end();
        tail.end();
        let line = |text: &str, bytes| format!("{:?}", Stderr::Line { text, bytes });
        let wanted = [
            line("1", 1),
            "Missed(1)".to_owned(),
            line("3", 1),
            line("4", 1),
            line("5", 1),
            line("open ", 10),
            line("last", 4),
        ];
        assert_eq!(*heard.lock().unwrap(), wanted);
        assert_eq!(tail.lines(), ["1", "... 3 lines ...", "5", "open ", "last"]);
    }

    #[test]
    fn a_line_that_has_not_ended_is_heard_as_it_grows() {
        let tail = tail(1);
        tail.take(b"a\nPa");
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let listener = Arc::clone(&heard);
        tail.listen_to_open(Arc::new(move |open| {
            listener.lock().unwrap().push(open.to_owned());
        }));
        tail.take(b"ss:");
        tail.take(b"\n");
        tail.take(b"b\nc");
        assert_eq!(*heard.lock().unwrap(), ["Pa", "Pass:", "c"]);
    }

    #[tokio::test]
    async fn a_flood_without_lines_is_drained_and_not_kept() {
        let tail = tail(0);
        let flood = vec![b'x'; 1024 * 1024];
        let wrote = CancellationToken::new();
        tail.clone().drain(&flood[..], wrote.clone()).await;
        assert_eq!(tail.lines(), ["xxxxx"]);
        assert!(wrote.is_cancelled());
    }

    #[tokio::test]
    async fn a_process_that_writes_nothing_is_not_said_to_have_written() {
        let wrote = CancellationToken::new();
        tail(0).drain(&[][..], wrote.clone()).await;
        assert!(!wrote.is_cancelled());
    }
}
