//! What is drawn on stderr while somebody waits: one line for a call or a read, and one for each server
//! that is being connected to. Nothing of it stays, and nothing of it is drawn but for a person at a
//! terminal that can move its cursor.
//!
//! There is one terminal, so this is the one thing in the program that everything shares. Whoever
//! prints does it [`around`] the lines; whoever asks something takes them away with [`pause`] until
//! the answer is there. `line` says what a line says, `starting` what a server is doing that
//! is being connected to, `wait` when there is a line.

mod line;
mod starting;
mod wait;

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use wait::{Waiting, waiting};

use crate::output::{self, Stream};

/// Goes to the beginning of the line and takes away all from there on.
const ERASE: &str = "\r\u{1b}[J";

/// What is drawn.
static BOARD: Mutex<Board> = Mutex::new(Board {
    lines: Vec::new(),
    pauses: 0,
});

/// What is drawn. The cursor rests at its beginning: what a terminal echoes of a Ctrl-C goes with the
/// lines that it is written over.
struct Board {
    /// Safe to show, and none of them as wide as the terminal.
    lines: Vec<String>,
    /// How many questions wait for an answer.
    pauses: usize,
}

/// Whether there is a terminal that lines can be drawn on.
pub(crate) fn is_possible() -> bool {
    let is_dumb = match std::env::var_os("TERM") {
        Some(term) => term.is_empty() || term == "dumb",
        // Where nobody sets it, only the newer of two terminals can move its cursor.
        None => std::env::var_os("WT_SESSION").is_none(),
    };
    !is_dumb && io::stderr().is_terminal()
}

/// Prints something without tearing a line that is drawn.
pub(crate) fn around<T>(print: impl FnOnce() -> T) -> T {
    let board = board();
    board.erase();
    let printed = print();
    board.show();
    printed
}

/// Takes the lines away until what it gives is dropped.
pub(crate) fn pause() -> Paused {
    let mut board = board();
    board.erase();
    board.pauses += 1;
    Paused
}

/// While this is there, no lines are drawn.
pub(crate) struct Paused;

impl Drop for Paused {
    fn drop(&mut self) {
        let mut board = board();
        board.pauses = board.pauses.saturating_sub(1);
    }
}

/// Lines that are drawn; they vanish when this is dropped.
struct Drawn;

impl Drawn {
    /// Draws these lines in place of those before.
    fn draw(&self, lines: Vec<String>) {
        let mut board = board();
        board.erase();
        board.lines = lines;
        board.show();
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.draw(Vec::new());
    }
}

fn board() -> MutexGuard<'static, Board> {
    BOARD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    fn is_shown(&self) -> bool {
        self.pauses == 0 && !self.lines.is_empty()
    }

    fn erase(&self) {
        if self.is_shown() {
            write(ERASE);
        }
    }

    fn show(&self) {
        if !self.is_shown() {
            return;
        }
        let up = match self.lines.len() - 1 {
            0 => String::new(),
            rows => format!("\u{1b}[{rows}A"),
        };
        write(&format!("{}{up}\r", self.lines.join("\r\n")));
    }
}

/// Writes all at once, so that nothing of it is seen half done.
fn write(text: &str) {
    // A terminal that takes nothing shows nothing.
    output::write(Stream::Err, text.as_bytes()).ok();
}
