//! The definition of a secret, which all masking and redaction uses.

use super::args::find_in_value;
use super::name::names_secret;
use super::token::{looks_like_a_key, looks_mixed};

/// The longest number that counts as a setting; more digits make it a key.
const MOST_DIGITS: usize = 15;

/// The longest word that counts as a setting; more letters may be a password.
const MOST_LETTERS: usize = 5;

/// Returns true if the value of a variable, an argument or a query parameter is a secret, or contains
/// one.
///
/// It is secret by its name if that contains TOKEN, KEY, SECRET, PASSWORD, PASS, CREDENTIAL or AUTH as a
/// whole word and the value is neither a number, a boolean, a word of at most five letters nor a path.
/// It is secret by its value if that is or contains a token of a known form (`ghp_...`, `sk-...`, a JWT,
/// a private key), a URL with a user or a password, a named secret in JSON or after `NAME=`, or a long
/// random word.
///
/// ```
/// use switchboard_core::secret::is_secret;
///
/// assert!(is_secret("GITHUB_TOKEN", "hunter2"));
/// assert!(is_secret("DATABASE_URL", "postgres://me:hunter2@localhost/db"));
/// assert!(!is_secret("MAX_TOKENS", "4096"));
/// assert!(!is_secret("FASTMCP_LOG_LEVEL", "ERROR"));
/// ```
pub fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    !is_plain(value) && (is_secret_by_name(name, value) || !find_in_value(value).is_empty())
}

/// Returns true if the value of an HTTP header is a secret: any value is, unless it is a number, a
/// boolean or a word of at most five letters.
pub fn is_secret_header(value: &str) -> bool {
    !is_plain(value.trim())
}

/// Returns true if a value as a whole is secret because of its name.
pub(super) fn is_secret_by_name(name: &str, value: &str) -> bool {
    let value = value.trim();
    // The name first: it is short, and most names are not secret.
    names_secret(name) && !is_plain(value) && (!is_path(value) || has_random_part(value))
}

/// Returns true if a value is too plain to be secret: empty, a number, a boolean or a short word.
pub(super) fn is_plain(value: &str) -> bool {
    // A sign and one decimal point are allowed.
    let is_number = || {
        let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let has_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        !whole.is_empty()
            && has_digits(whole)
            && has_digits(fraction)
            && whole.len() + fraction.len() <= MOST_DIGITS
    };
    let is_word =
        || value.chars().all(char::is_alphabetic) && value.chars().nth(MOST_LETTERS).is_none();
    // Every boolean (`true`, `no`, `off`) is a short word.
    value.is_empty() || is_word() || is_number()
}

/// Returns true if a value is a file path: it begins like one, and has only characters of names.
pub(super) fn is_path(value: &str) -> bool {
    let begins = ["~/", "./", "../", "\\\\"].iter().any(|start| value.starts_with(start))
        // A single `/` also begins random text.
        || (value.starts_with('/') && value.matches('/').count() > 1)
        || matches!(value.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    let is_name = |c: char| c.is_alphanumeric() || " _-.@~:/\\(),".contains(c);
    begins && value.chars().all(is_name)
}

/// Returns true if a part of a path looks random, so that it may not be a path at all.
fn has_random_part(path: &str) -> bool {
    path.split(['/', '\\'])
        .any(|part| looks_like_a_key(part) || looks_mixed(part) || is_short_mix(part))
        || looks_mixed(path)
}

/// Returns true for eight or more letters and digits with upper case, lower case and digits.
fn is_short_mix(part: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| part.as_bytes().iter().any(kind);
    part.len() >= 8
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
