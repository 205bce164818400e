//! Progress lines on stderr, drawn at the bottom of the terminal and removed without a trace.
//!
//! There is one terminal, so the board is shared by the whole program. Output is printed [`around`] the
//! lines; a question removes them with [`pause`] until it is answered.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::output::{self, Stream};

/// Goes to the start of the line and erases everything from there on.
const ERASE: &str = "\r\u{1b}[J";

/// The lines that are drawn now.
static BOARD: Mutex<Board> = Mutex::new(Board {
    lines: Vec::new(),
    pauses: 0,
});

/// The lines that are drawn. The cursor rests at their start, so that the echo of a Ctrl-C is erased with
/// them.
struct Board {
    /// Safe to show, each narrower than the terminal.
    lines: Vec<String>,
    /// Number of questions that wait for an answer.
    pauses: usize,
}

/// Returns true if stderr is a terminal that can move its cursor.
pub fn is_possible() -> bool {
    let is_dumb = match std::env::var_os("TERM") {
        Some(term) => term.is_empty() || term == "dumb",
        // Windows sets no TERM: only the newer Windows Terminal can move its cursor.
        None => std::env::var_os("WT_SESSION").is_none(),
    };
    !is_dumb && io::stderr().is_terminal()
}

/// Prints something without tearing the drawn lines.
pub fn around<T>(print: impl FnOnce() -> T) -> T {
    let board = board();
    board.erase();
    let printed = print();
    board.show();
    printed
}

/// Hides the lines until the returned guard is dropped.
pub fn pause() -> Paused {
    let mut board = board();
    board.erase();
    board.pauses += 1;
    Paused
}

/// Keeps lines from being drawn while it exists.
#[derive(Debug)]
pub struct Paused;

impl Drop for Paused {
    fn drop(&mut self) {
        let mut board = board();
        board.pauses = board.pauses.saturating_sub(1);
    }
}

/// Owns the drawn lines, and removes them when it is dropped.
#[derive(Debug)]
pub struct Drawn;

impl Drawn {
    /// Draws these lines in place of the previous ones. They are safe to show, each narrower than the terminal.
    pub fn draw(&self, lines: Vec<String>) {
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

/// Writes everything at once, so that no half-drawn state is visible.
fn write(text: &str) {
    // Ignored: progress lines are not essential.
    output::write(Stream::Err, text.as_bytes()).ok();
}
