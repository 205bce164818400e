//! The one terminal of a program, shared by everything that uses it.
//!
//! - [`output`]: writes to stdout and stderr that never block the runtime, whatever the reader does;
//! - [`board`]: progress lines on stderr, which make room for everything else;
//! - [`editor`]: the thread that owns the terminal while a prompt runs, and reads lines from it;
//! - [`ask`]: conversations with the person, one after the other, through the editor if there is one.
//!
//! A process has one terminal, so the state of these modules is the process's: there is one board, one
//! conversation at a time, and one editor. Callers make their texts safe for a terminal first. Nothing here
//! knows a server, a command or a config file.

pub mod ask;
pub mod board;
pub mod editor;
pub mod output;

use output::Stream;

/// Prints to stderr, around the progress lines.
pub fn talk(text: &str) {
    // Ignored: without a reader of stderr nothing is lost.
    board::around(|| output::write(Stream::Err, text.as_bytes()).ok());
}
