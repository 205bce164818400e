//! The lines of a server's stderr that its command has not got yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_process::{Process, Stderr};
use tokio::sync::Notify;

/// Most lines that wait; of more, the last are kept.
const LINES: usize = 1000;

/// The lines, and the number of those that were dropped before them.
#[derive(Debug, Default)]
struct State {
    lines: VecDeque<(String, usize)>,
    missed: u64,
    /// A line that has not ended.
    open: Option<String>,
}

/// Collects the lines of a process.
#[derive(Debug, Default)]
pub(super) struct StderrQueue {
    state: Mutex<State>,
    added: Notify,
}

impl StderrQueue {
    pub(super) fn of(process: &Process) -> Arc<Self> {
        let queue = Arc::new(Self::default());
        let listening = Arc::clone(&queue);
        process.on_stderr(Arc::new(move |said| match said {
            Stderr::Line { text, bytes } => listening.add(text, bytes),
            Stderr::Missed(lines) => listening.state().missed += lines,
        }));
        let listening = Arc::clone(&queue);
        process.on_open_stderr(Arc::new(move |text| {
            listening.state().open = Some(text.to_owned());
            listening.added.notify_one();
        }));
        queue
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, text: &str, bytes: usize) {
        {
            let mut state = self.state();
            if state.lines.len() >= LINES {
                state.lines.pop_front();
                state.missed = state.missed.saturating_add(1);
            }
            state.open = None;
            state.lines.push_back((text.to_owned(), bytes));
        }
        self.added.notify_one();
    }

    /// Waits until there are lines. Cancel safe.
    pub(super) async fn has_lines(&self) {
        loop {
            let added = self.added.notified();
            {
                let state = self.state();
                if !state.lines.is_empty() || state.open.is_some() {
                    return;
                }
            }
            added.await;
        }
    }

    /// Takes all lines, and one that has not ended. A line in place of those that were dropped says how many these
    /// are.
    pub(super) fn take(&self) -> (Vec<(String, usize)>, Option<String>) {
        let taken = std::mem::take(&mut *self.state());
        let State {
            lines,
            missed,
            open,
        } = taken;
        let gap = (missed > 0).then(|| {
            let gap = format!("... {missed} lines ...");
            let bytes = gap.len();
            (gap, bytes)
        });
        (gap.into_iter().chain(lines).collect(), open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_last_lines_are_kept() {
        let queue = StderrQueue::default();
        for number in 0..LINES + 2 {
            queue.add(&number.to_string(), 9);
        }
        let (lines, open) = queue.take();
        assert_eq!(open, None);
        assert_eq!(lines[0].0, "... 2 lines ...");
        assert_eq!((lines[1].0.as_str(), lines[1].1), ("2", 9));
        assert_eq!(lines.len(), LINES + 1);
        assert!(queue.take().0.is_empty());
    }
}
