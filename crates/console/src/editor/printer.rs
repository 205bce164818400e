//! Prints lines while another line may be being typed.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use reedline::ExternalPrinter;

use crate::talk;

/// Maximum number of lines that wait for their place above the typed line.
const WAITING: usize = 256;

/// Prints lines above the line that is being typed, if there is one. The caller has made them safe to show.
#[derive(Clone)]
pub struct Printer(Option<Arc<Above>>);

struct Above {
    lines: SyncSender<String>,
    state: Mutex<State>,
}

#[derive(Default)]
/// Lines are printed directly while nothing is typed, handed to the editor while a command is, and held back
/// while an answer is.
struct State {
    typing: Typing,
    /// Lines that wait until a question is answered.
    held: VecDeque<String>,
    /// Number of lines that found no room.
    lost: u64,
}

/// The kind of line that is being typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Typing {
    #[default]
    Nothing,
    Command,
    Answer,
}

impl Printer {
    /// Creates a printer that prints directly.
    pub(super) fn plain() -> Self {
        Self(None)
    }

    /// Creates a printer that prints above the typed line, and the channel that the editor takes lines from.
    pub(super) fn above_a_line() -> (Self, ExternalPrinter<String>) {
        let lines = ExternalPrinter::new(WAITING);
        let above = Above {
            lines: lines.sender(),
            state: Mutex::default(),
        };
        (Self(Some(Arc::new(above))), lines)
    }

    /// Sets the kind of line that is being typed, and prints lines that can be shown now.
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

    /// Prints a line. Never blocks: without room the line is counted.
    pub fn print(&self, line: String) {
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
