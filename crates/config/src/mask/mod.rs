//! Finds the parts of a file that must not be shown, whether or not the file can be parsed.
//!
//! An excerpt is needed most when a file is broken, so this works on rough tokens instead of a tree, and
//! is cautious: everything is masked that is not clearly a key, a bracket, or a known word or number as
//! the value of a field that takes one. Comments are masked too, because they often contain old tokens.

mod json;
mod toml;

use switchboard_core::limits::parse_duration;

pub(super) use json::{mask as json, outline};
pub(super) use toml::{mask as toml, too_deep as toml_too_deep};

use super::fields::{self, Visibility};
use super::size;

/// Returns true if the value of a key may be shown: a word or a number that configures a server.
fn is_shown(key: &str, value: &str) -> bool {
    match fields::visibility(key) {
        Visibility::Never => false,
        Visibility::Words(words) => words.contains(&value),
        Visibility::Number => is_number(value),
        Visibility::Time => is_number(value) || parse_duration(value).is_ok(),
        Visibility::Size => is_number(value) || size::parse(value).is_some(),
    }
}

fn is_number(text: &str) -> bool {
    text.len() <= 12 && text.parse::<f64>().is_ok()
}
