//! Prints while somebody may be typing.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use reedline::ExternalPrinter;

use crate::screen::talk;

/// This many lines wait for a place above the line that is being typed.
const WAITING: usize = 256;

/// Prints lines: above the line that is being typed, where there is one. They are safe to show already.
#[derive(Clone)]
pub(crate) struct Printer(Option<Arc<Above>>);

struct Above {
    lines: SyncSender<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    typing: Typing,
    /// What waits until a question is answered.
    held: VecDeque<String>,
    /// How many had no place.
    lost: u64,
}

/// What is being typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Typing {
    #[default]
    Nothing,
    Command,
    Answer,
}

impl Printer {
    /// Prints as it comes.
    pub(super) fn plain() -> Self {
        Self(None)
    }

    /// Prints above the line that is being typed; and where the editor takes what it prints from.
    pub(super) fn above_a_line() -> (Self, ExternalPrinter<String>) {
        let lines = ExternalPrinter::new(WAITING);
        let above = Above {
            lines: lines.sender(),
            state: Mutex::default(),
        };
        (Self(Some(Arc::new(above))), lines)
    }

    /// Says what is being typed from now on.
    pub(super) fn set(&self, typing: Typing) {
        let Some(above) = &self.0 else { return };
        let mut state = above.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.typing = typing;
        if typing == Typing::Answer {
            return;
        }
        for line in std::mem::take(&mut state.held) {
            above.place(&mut state, line);
        }
        if let (Typing::Nothing, lost @ 1..) = (typing, state.lost) {
            talk(&format!("({lost} more lines were not shown)\n"));
            state.lost = 0;
        }
    }

    /// Prints a line. Never waits: where there is no more place, it is counted.
    pub(crate) fn print(&self, line: String) {
        match &self.0 {
            Some(above) => {
                let mut state = above.state.lock().unwrap_or_else(PoisonError::into_inner);
                above.place(&mut state, line);
            }
            None => talk(&format!("{line}\n")),
        }
    }
}

impl Above {
    fn place(&self, state: &mut State, line: String) {
        match state.typing {
            Typing::Nothing => talk(&format!("{line}\n")),
            Typing::Command => state.lost += u64::from(self.lines.try_send(line).is_err()),
            Typing::Answer if state.held.len() < WAITING => state.held.push_back(line),
            Typing::Answer => state.lost += 1,
        }
    }
}
