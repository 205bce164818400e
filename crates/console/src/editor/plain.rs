//! Lines from a pipe, or from a terminal without capabilities.

use std::io;
use std::sync::mpsc::Receiver;

use super::{Line, ReadLine, Request, Wanted};
use crate::talk;

/// Reads stdin line by line.
pub(super) struct Plain {
    pub(super) shows_prompt: bool,
}

impl ReadLine for Plain {
    fn read(&mut self, request: &Request, _: &Receiver<Request>) -> Line {
        match &request.wanted {
            Wanted::Command(prompt) if self.shows_prompt => talk(prompt),
            Wanted::Command(_) => {}
            Wanted::Answer {
                before, question, ..
            } => talk(&format!("{before}{question}")),
            Wanted::Nothing(said) => {
                talk(said);
                return Line::End;
            }
        }
        let mut line = String::new();
        match io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => Line::End,
            Ok(_) => Line::Typed(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}
