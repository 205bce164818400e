//! Finds what must not be shown of a file, whether it can be parsed or not.
//!
//! An excerpt is most needed where a file is broken, so this works on rough pieces of text instead of a
//! tree, and is careful: what is not clearly a key, a bracket, or a known word or a number in the
//! place of one is masked. Comments are masked too: old tokens live there.

mod json;
mod toml;

use switchboard_core::limits::parse_duration;

pub(super) use json::{mask as json, outline};
pub(super) use toml::{mask as toml, too_deep as toml_too_deep};

use super::fields::{self, Shown};
use super::size;

/// Whether the value of a key is shown: a word or a number that says how a server is used.
fn is_shown(key: &str, value: &str) -> bool {
    match fields::shown(key) {
        Shown::Never => false,
        Shown::Words(words) => words.contains(&value),
        Shown::Number => is_number(value),
        Shown::Time => is_number(value) || parse_duration(value).is_ok(),
        Shown::Size => is_number(value) || size::parse(value).is_some(),
    }
}

fn is_number(text: &str) -> bool {
    text.len() <= 12 && text.parse::<f64>().is_ok()
}
