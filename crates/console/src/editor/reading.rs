//! The line that is being read, and the flag that breaks it off.
//!
//! The line editor polls a flag. If it were set too late, it would break off the next line, whose terminal
//! would be out of its mode for a moment, just when the person may press Ctrl-C. So the flag is only set for
//! the line that is being read: setting it and beginning a line happen under the same lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Request, Wanted};

/// The line that is being read.
#[derive(Default)]
pub(super) struct Reading {
    now: Mutex<ReadingState>,
    /// Breaks off the line that is being read.
    flag: Arc<AtomicBool>,
}

#[derive(Default)]
struct ReadingState {
    /// Number of requests so far.
    wanted: u64,
    /// The request that is being read, and true if it is a command, which questions interrupt.
    line: Option<(u64, bool)>,
}

/// The action to take instead of reading a line.
pub(super) enum Instead {
    /// Answer this question first.
    Question(Request),
    /// Skip the line: its requester is gone.
    GiveUp,
}

impl Reading {
    /// Returns the flag that the line editor polls.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Sends a request under a new number. If it is urgent, breaks off a command that is being typed.
    pub(super) fn send(&self, is_urgent: bool, send: impl FnOnce(u64)) -> u64 {
        let mut now = self.now();
        // Sent under the lock, so that requests arrive in the order of their numbers.
        now.wanted += 1;
        send(now.wanted);
        if is_urgent && matches!(now.line, Some((_, true))) {
            self.flag.store(true, Ordering::Release);
        }
        now.wanted
    }

    /// Breaks off this request, if it is the one that is being read.
    pub(super) fn give_up(&self, id: u64) {
        let now = self.now();
        if matches!(now.line, Some((line, _)) if line == id) {
            self.flag.store(true, Ordering::Release);
        }
    }

    /// Begins to read a request. Returns another action if that must come first.
    pub(super) fn begin(
        &self,
        request: &Request,
        requests: &Receiver<Request>,
    ) -> Result<(), Instead> {
        let mut now = self.now();
        // Under the lock: a flag that was set for the previous line must not break off this one.
        self.flag.store(false, Ordering::Release);
        if request.is_given_up() {
            return Err(Instead::GiveUp);
        }
        let is_command = matches!(request.wanted, Wanted::Command(_));
        if is_command && let Ok(question) = requests.try_recv() {
            return Err(Instead::Question(question));
        }
        now.line = Some((request.id, is_command));
        Ok(())
    }

    /// Ends the reading.
    pub(super) fn end(&self) {
        self.now().line = None;
    }

    fn now(&self) -> MutexGuard<'_, ReadingState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    fn request(id: u64, wanted: Wanted) -> (Request, oneshot::Receiver<crate::editor::Line>) {
        let (reply, line) = oneshot::channel();
        (Request { id, wanted, reply }, line)
    }

    fn question() -> Wanted {
        Wanted::Answer {
            before: String::new(),
            question: "?".to_owned(),
            goes_on: false,
        }
    }

    #[test]
    fn a_question_breaks_off_a_command_and_nothing_else() {
        let (reading, (send, requests)) = (Reading::default(), mpsc::channel());
        let flag = reading.flag();
        let is_set = || flag.load(Ordering::Acquire);
        let ask = || {
            let mut kept = None;
            reading.send(true, |id| {
                let (request, line) = request(id, question());
                kept = Some(line);
                send.send(request).unwrap();
            });
            kept.unwrap()
        };
        let first_line = ask();
        assert!(!is_set(), "nothing is read");
        let first = requests.recv().unwrap();
        assert!(reading.begin(&first, &requests).is_ok());
        let second_line = ask();
        assert!(!is_set(), "an answer is not broken off by a question");
        let (command, command_line) = request(9, Wanted::Command("> ".to_owned()));
        let Err(Instead::Question(second)) = reading.begin(&command, &requests) else {
            panic!("a question that waits goes before a command");
        };
        assert!(reading.begin(&second, &requests).is_ok());
        assert!(reading.begin(&command, &requests).is_ok());
        reading.give_up(second.id);
        assert!(!is_set(), "what was given up is not what is read");
        let third_line = ask();
        assert!(is_set(), "a command is broken off");
        drop((first_line, second_line, third_line, command_line));
        assert!(matches!(
            reading.begin(&command, &requests),
            Err(Instead::GiveUp)
        ));
        assert!(!is_set(), "the flag is for the line that was read");
    }
}
