//! Config files: any text is read to an end, every problem has its place, and no value is told.

use std::path::Path;

use serde_json::Value;
use switchboard::config::{Client, Config, Expansion, Reference, read_client};
use switchboard::spec::Layer;
use switchboard::transport::Environment;

use crate::bytes::Bytes;

/// What stands in the place of every value that must not be told.
const CANARY: &str = "canary7f3a";

/// The keys whose values are never shown. Arguments are, unless they are secrets by name or form.
const PRIVATE: &[&str] = &["env", "environment", "headers", "http_headers", "url"];

/// Reads a text as a file of some client, as it is and with canaries in it.
///
/// # Panics
/// Where a problem is outside of the file, or where a canary is told.
pub fn config(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let client = bytes.one_of(Client::ALL);
    let layer = bytes.one_of(&[0, 1]);
    let layer = if layer == 0 {
        Layer::User
    } else {
        Layer::Project
    };
    let missing = usize::from(bytes.byte());
    let text = String::from_utf8_lossy(bytes.rest()).into_owned();
    let file = Path::new("/shop/mcp.json");
    let config = read_client(&text, file, layer.clone(), client);
    hold(&config, &text);
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
        return;
    };
    plant(&mut value, false);
    let planted = value.to_string();
    if is_key(&value) || client == Client::Codex {
        return;
    }
    untold(
        &read_client(&planted, file, layer.clone(), client),
        &planted,
    );
    // The same without one of its characters, which breaks most of them.
    let mut broken = planted.clone();
    let marks = planted
        .char_indices()
        .filter(|(_, c)| "{}[],:\"".contains(*c));
    if let Some((at, _)) = marks.clone().nth(missing % marks.count().max(1)) {
        broken.remove(at);
        untold(&read_client(&broken, file, layer, client), &broken);
    }
}

/// Holds a config against the text that it was read from.
fn hold(config: &Config, text: &str) {
    let lines = text.split('\n').count();
    for problem in config.problems() {
        let (Some(line), Some(column)) = (problem.line(), problem.column()) else {
            continue;
        };
        assert!(line >= 1 && line <= lines, "{problem} of {lines} lines");
        let length = text.split('\n').nth(line - 1).unwrap().chars().count();
        assert!(column >= 1 && column <= length + 1, "{problem} of {length}");
        let carets = problem
            .excerpt()
            .iter()
            .filter(|line| line.trim_start().starts_with('|') && line.trim_end().ends_with('^'));
        assert_eq!(carets.count(), 1, "{:?}", problem.excerpt());
    }
    let host: Environment = [("A".to_owned(), "${B}".to_owned())].into_iter().collect();
    for entry in config.entries() {
        let reads = |reference: &Reference| matches!(reference, Reference::File(_));
        if !entry.references().iter().any(reads) {
            // Whether it can be filled is its own affair; that it ends is ours.
            let _ = entry.expand(&Expansion::new(&host, Path::new("/shop")));
        }
        assert!(config.get(entry.name().as_str()).is_some());
    }
}

/// Puts the canary in the place of all private values.
fn plant(value: &mut Value, is_private: bool) {
    match value {
        Value::String(text) if is_private => *text = CANARY.to_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, is_private)),
        Value::Object(members) => {
            for (key, member) in members {
                let is_url = key == "url" && !member.is_string();
                plant(member, is_private || (PRIVATE.contains(&&**key) && !is_url));
            }
        }
        _ => {}
    }
}

/// Whether the canary is also something that may be told.
fn is_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_key),
        Value::Object(members) => members
            .iter()
            .any(|(key, member)| key.contains("canary") || is_key(member)),
        // Names in lists are told.
        Value::String(text) => text.contains("canary") && text != CANARY,
        _ => false,
    }
}

fn untold(config: &Config, text: &str) {
    for problem in config.problems() {
        let excerpt = problem.excerpt().join("\n");
        let told = format!(
            "{problem} {problem:?} {:?} {:?} {excerpt}",
            problem.expected(),
            problem.hints()
        );
        assert!(!told.contains(CANARY), "{told}\nof\n{text}");
    }
    for entry in config.entries() {
        assert!(!format!("{entry:?}").contains(CANARY), "{entry:?}");
    }
}
