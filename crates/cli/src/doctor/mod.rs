//! What is found when everything is looked over, before anybody shows it.
//!
//! `finding` is what there is to say and what it amounts to; `checks` makes findings of what the
//! library knows of a server, `surroundings` of what is around servers: files, programs, folders,
//! processes; `render` writes them for people and for programs. Nothing here starts anything.

pub(crate) mod checks;
mod finding;
pub(crate) mod render;
pub(crate) mod surroundings;

pub(crate) use finding::{Check, Examination, Examined, Finding, Standing};
