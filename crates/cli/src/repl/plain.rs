//! Lines from a pipe, or from a terminal that can do nothing.

use std::io;

use super::editor::{Line, Read, Waiting, Wanted};
use crate::screen::talk;

/// Reads stdin line by line.
pub(crate) struct Plain {
    pub(crate) shows_prompt: bool,
}

impl Read for Plain {
    fn read(&mut self, wanted: &Wanted, _: &Waiting<'_>) -> Line {
        match wanted {
            Wanted::Command(prompt) if self.shows_prompt => talk(prompt),
            Wanted::Command(_) => {}
            Wanted::Answer(question) => talk(question),
        }
        let mut line = String::new();
        match io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => Line::End,
            Ok(_) => Line::Typed(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}
