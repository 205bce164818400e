//! Prints while somebody may be typing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use reedline::ExternalPrinter;

use crate::screen::talk;

/// This many lines wait for a place above the line that is being typed.
const WAITING: usize = 256;

/// Prints lines: above the line that is being typed, where there is one. They are safe to show already.
#[derive(Clone)]
pub(crate) struct Printer(Option<Arc<Above>>);

struct Above {
    lines: ExternalPrinter<String>,
    /// Whether a line is being typed.
    is_typing: AtomicBool,
    /// How many had no place.
    lost: AtomicU64,
}

impl Printer {
    /// Prints as it comes.
    pub(crate) fn plain() -> Self {
        Self(None)
    }

    /// Prints above the line that is being typed.
    pub(crate) fn above_a_line() -> Self {
        Self(Some(Arc::new(Above {
            lines: ExternalPrinter::new(WAITING),
            is_typing: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        })))
    }

    /// What the editor takes its lines from.
    pub(crate) fn lines(&self) -> Option<ExternalPrinter<String>> {
        self.0.as_ref().map(|above| above.lines.clone())
    }

    /// Says whether a line is being typed.
    pub(crate) fn set_typing(&self, is_typing: bool) {
        let Some(above) = &self.0 else { return };
        above.is_typing.store(is_typing, Ordering::Release);
        if is_typing {
            return;
        }
        while let Some(line) = above.lines.get_line() {
            talk(&format!("{line}\n"));
        }
        match above.lost.swap(0, Ordering::AcqRel) {
            0 => {}
            lost => talk(&format!("({lost} more lines were not shown)\n")),
        }
    }

    /// Prints a line. Never waits: where there is no more place, it is counted.
    pub(crate) fn print(&self, line: String) {
        match &self.0 {
            Some(above) if above.is_typing.load(Ordering::Acquire) => {
                if above.lines.sender().try_send(line).is_err() {
                    above.lost.fetch_add(1, Ordering::AcqRel);
                }
            }
            _ => talk(&format!("{line}\n")),
        }
    }
}
