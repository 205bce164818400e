//! Text that is shown: nothing forbidden comes through, and nothing is lost.

mod forbidden;

use std::borrow::Cow;

use serde_json::Value;
use switchboard::text::{closest, excerpt, json_escape, sanitise, sanitise_line, write_json_safe};

use crate::model;

/// Shows a text in every way that there is.
///
/// # Panics
/// Where something forbidden is shown, where showing it again changes it, where it cannot be read
/// back, or where JSON means something else than before.
pub fn text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for sink in [sanitise, sanitise_line] {
        let shown = sink(&text);
        safe(&shown);
        assert!(matches!(sink(&shown), Cow::Borrowed(same) if same == shown));
        // A backslash of the text's own cannot be told from one of ours.
        if !text.contains('\\') {
            assert_eq!(unescaped(&shown), text);
        }
    }
    assert!(!sanitise_line(&text).contains(['\n', '\r', '\t']));
    json(&text);
    cut(&text, data.len());
    guess(&text);
}

fn safe(shown: &str) {
    assert_eq!(forbidden::find(shown), None);
}

/// JSON stays JSON and means the same; a text becomes a string that means the text.
fn json(text: &str) {
    let literal = json_escape(text);
    safe(&literal);
    assert_eq!(serde_json::from_str::<String>(&literal).unwrap(), text);
    let written = serde_json::to_string(text).unwrap();
    assert_eq!(write_json_safe(&written), literal);
    let shown = write_json_safe(text);
    safe(&shown);
    assert!(matches!(write_json_safe(&shown), Cow::Borrowed(_)));
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        assert_eq!(serde_json::from_str::<Value>(&shown).ok(), Some(value));
    }
    if let Some(value) = model::value(text) {
        let shown = model::value(&shown).unwrap();
        assert_eq!(model::depth(shown), model::depth(value));
    }
}

/// What is kept is a beginning of the text, as long as it may be.
fn cut(text: &str, seed: usize) {
    let most = (seed * 7) % (text.len() + 2);
    let short = excerpt(text, most);
    if text.len() <= most {
        assert_eq!(short, text);
        return;
    }
    let (kept, note) = short.rsplit_once('…').unwrap();
    assert!(text.starts_with(kept));
    // At most a character, or a line end, less than what was allowed.
    assert!(kept.len() <= most && most - kept.len() < 4);
    let cut = text.len() - kept.len();
    let noun = if cut == 1 { "byte" } else { "bytes" };
    assert_eq!(note, format!(" ({cut} more {noun})"));
}

/// The guess is one of the candidates, and the same one in whatever order they come.
fn guess(text: &str) {
    let mut words = text.split('\n').take(8);
    let Some(name) = words.next() else { return };
    let candidates: Vec<&str> = words.collect();
    let backwards: Vec<&str> = candidates.iter().rev().copied().collect();
    let guessed = closest(name, &candidates);
    assert!(guessed.is_none_or(|guess| candidates.contains(&guess)));
    assert_eq!(closest(name, &backwards), guessed);
}

/// Reads the visible escapes back.
fn unescaped(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let (kind, after) = escape.split_at(1);
        rest = after;
        text.push(match kind {
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "u" => {
                let inner = after.strip_prefix('{').unwrap();
                let (code, after) = inner.split_once('}').unwrap();
                rest = after;
                char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap()
            }
            other => panic!("an unknown escape {other:?}"),
        });
    }
    text.push_str(rest);
    text
}
