//! What is drawn on stderr while somebody waits: one line for a call or a read, and one for each server
//! that is being connected to. Nothing of it stays, and nothing of it is drawn but for a person at a
//! terminal that can move its cursor.
//!
//! There is one terminal, so this is the one thing in the program that everything shares. Whoever
//! prints does it [`around`] the lines; whoever asks something takes them away with [`pause`] until
//! the answer is there. `line` says what a line says, `wait` when there is one.

mod line;
mod wait;

use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(crate) use wait::{Waiting, waiting};

/// The lines that are drawn, once there are any.
static LINES: OnceLock<MultiProgress> = OnceLock::new();

/// How many questions wait for an answer.
static PAUSES: AtomicUsize = AtomicUsize::new(0);

/// Whether there is a terminal that lines can be drawn on.
pub(crate) fn is_possible() -> bool {
    let is_dumb = match std::env::var_os("TERM") {
        Some(term) => term.is_empty() || term == "dumb",
        // Only where nobody sets it is it no sign of anything.
        None => cfg!(unix),
    };
    !is_dumb && io::stderr().is_terminal()
}

/// Prints something without tearing a line that is drawn.
pub(crate) fn around<T>(print: impl FnOnce() -> T) -> T {
    match LINES.get() {
        Some(lines) if !is_paused() => lines.suspend(print),
        _ => print(),
    }
}

/// Takes the lines away until what it gives is dropped.
pub(crate) fn pause() -> Paused {
    if let (false, Some(lines)) = (is_paused(), LINES.get()) {
        // A terminal that takes nothing shows nothing.
        lines.clear().ok();
    }
    PAUSES.fetch_add(1, Ordering::Relaxed);
    Paused
}

/// While this is there, no lines are drawn.
pub(crate) struct Paused;

impl Drop for Paused {
    fn drop(&mut self) {
        PAUSES.fetch_sub(1, Ordering::Relaxed);
    }
}

fn is_paused() -> bool {
    PAUSES.load(Ordering::Relaxed) > 0
}

/// Lines that are drawn; they vanish when this is dropped.
struct Drawn(Vec<ProgressBar>);

impl Drawn {
    fn new() -> Self {
        Self(Vec::new())
    }

    /// Draws these lines, which are safe to show and fit, in place of those before.
    fn draw(&mut self, texts: Vec<String>) {
        if is_paused() {
            return;
        }
        for extra in self.0.drain(texts.len().min(self.0.len())..) {
            erase(&extra);
        }
        let target = || ProgressDrawTarget::stderr_with_hz(20);
        let all = LINES.get_or_init(|| MultiProgress::with_draw_target(target()));
        for (at, text) in texts.into_iter().enumerate() {
            match self.0.get(at) {
                Some(line) => line.set_message(text),
                None => {
                    // All of a line is its message: what it says is made by us, to its last column.
                    let style = ProgressStyle::with_template("{msg}");
                    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
                    let line = all.add(ProgressBar::new_spinner().with_style(style));
                    line.set_message(text);
                    self.0.push(line);
                }
            }
        }
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.0.iter().for_each(erase);
    }
}

fn erase(line: &ProgressBar) {
    line.finish_and_clear();
    if let Some(all) = LINES.get() {
        all.remove(line);
    }
}
