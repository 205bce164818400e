//! The findings of `switchboard doctor`, before they are shown.
//!
//! `finding` has the types and the exit code; `checks` makes findings from what the library knows of a
//! server, `surroundings` from files, programs, folders and processes; `render` formats them as text and
//! JSON. Nothing here starts a server.

pub(crate) mod checks;
mod finding;
pub(crate) mod render;
pub(crate) mod surroundings;

pub(crate) use finding::{Check, Examination, Examined, Finding, Standing};
