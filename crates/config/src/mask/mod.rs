//! Finds the parts of a file that must not be shown, whether or not the file can be parsed.
//!
//! An excerpt is needed most when a file is broken, so this works on rough tokens instead of a tree.
//! Values of known keys are shown as they are written, except secrets by the definition of
//! [`is_secret`](switchboard_core::secret::is_secret), and except variables and headers. In a file that
//! cannot be parsed every value is masked, because nothing tells what it is. Comments are masked too, because they
//! often contain old tokens.

mod json;
mod toml;
mod yaml;

use switchboard_core::secret::{is_secret, mask_args};
use switchboard_core::text::closest;

pub(super) use json::{mask as json, outline};
pub(super) use toml::{mask as toml, too_deep as toml_too_deep};
pub(super) use yaml::mask as yaml;

use super::fields;

/// The place of a value, which decides whether it is a secret.
#[derive(Clone, Copy, Default)]
struct ValuePlace<'t> {
    /// The map that it is in: `env` or `headers`.
    map: Option<&'t str>,
    /// Its key, or the key of the list that it is in.
    key: &'t str,
    /// The item before it in the list.
    before: &'t str,
    /// True if it is in a section beside the servers, such as `agents`.
    is_in_section: bool,
}

/// Returns true if a key is nearly the name of a field.
fn is_misspelled(key: &str) -> bool {
    closest(key, fields::names()).is_some()
}

/// Returns true if a value is one reference and nothing else: a default in it may be a secret.
fn is_reference(value: &str) -> bool {
    let inner = value
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'));
    let Some(inner) = inner else {
        return false;
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match inner
        .strip_prefix("env:")
        .or_else(|| inner.strip_prefix("input:"))
    {
        Some(name) => name.chars().all(|c| is_word(c) || c == '-'),
        None => inner.chars().all(is_word),
    }
}

impl ValuePlace<'_> {
    /// Returns true if the value may be shown.
    fn shows(self, value: &str) -> bool {
        // A reference such as `${TOKEN}` is not a secret, whatever its name.
        if is_reference(value) {
            return true;
        }
        // A variable or a header may hold a secret under any name.
        if self.map.is_some() {
            return self.key == "PATH";
        }
        // Under an unknown key, or where something else belongs, a text may be anything.
        let is_known =
            fields::find(self.key).is_some() || fields::find_converted(self.key).is_some();
        if !is_known && !self.is_in_section && !is_misspelled(self.key) {
            return false;
        }
        // Any part of a URL but its host and path may be a password or a key, and a text that is not a
        // URL may be one as a whole.
        if self.key.to_ascii_lowercase().ends_with("url") {
            let is_web = value.starts_with("https://") || value.starts_with("http://");
            if !is_web || value.contains(['@', '?', '#']) {
                return false;
            }
        }
        // A whole command line may be written as one text.
        let line = std::iter::once(self.before).chain(value.split_whitespace());
        let line: Vec<String> = line.map(str::to_owned).collect();
        let is_line_plain = mask_args(&line).get(1..) == line.get(1..);
        let pair = [self.before.to_owned(), value.to_owned()];
        let masked = mask_args(&pair);
        is_line_plain
            && !fields::is_map(self.key)
            && !is_secret(self.key, value)
            && masked.last().map(String::as_str) == Some(value)
    }
}

fn is_number(text: &str) -> bool {
    text.len() <= 12 && text.parse::<f64>().is_ok()
}
