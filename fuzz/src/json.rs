//! JSON kept as text: what is accepted, where parts are, and what the typed readings make of it.

use serde_json::Value;
use switchboard::protocol::{
    CallToolResult, Checked, Content, Era, FromRaw, GetPromptResult, ListTools, Prompt, Raw,
    ReadResourceResult, Resource, ResourceTemplate, RpcError, Tool, read_outcome,
};

use crate::model;

/// How many values of one input are looked into: each costs a pass over its text.
const VALUES: usize = 64;

/// Checks a text, takes it apart and reads it as every type that servers send.
///
/// # Panics
/// Where `serde_json` judges or reads it otherwise, or where a typed reading changes its text.
pub fn json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let checked = Checked::new(text);
    let expected = model::value(text);
    assert_eq!(
        checked.as_ref().ok().map(Checked::as_str),
        expected,
        "{text:?}"
    );
    let Ok(checked) = checked else {
        assert!(Raw::parse(text).is_err());
        return;
    };
    model::assert_is_part(text, checked.as_str());
    assert_eq!(checked.depth(), model::depth(text), "{text:?}");
    // Once with the ends of its parts noted, once without.
    let noted = Raw::from(checked);
    let plain = serde_json::from_str::<Raw>(text).unwrap();
    assert_eq!(noted, plain);
    take_apart(&noted);
    take_apart(&plain);
    read_as_everything(&noted);
}

/// Compares the members and items of a value, and of the values in it, with the plain reading.
fn take_apart(whole: &Raw) {
    let mut waiting = vec![whole.clone()];
    for _ in 0..VALUES {
        let Some(raw) = waiting.pop() else { return };
        let text = raw.as_str();
        assert_eq!(raw.len_bytes(), text.len());
        assert_eq!(raw.depth(), model::depth(text));
        assert_eq!(raw.is_object(), model::members(text).is_some());
        assert_eq!(raw.is_array(), model::items(text).is_some());
        let string = serde_json::from_str::<String>(text).ok();
        assert_eq!(raw.as_text(), string, "{text:?}");
        assert_eq!(String::from_raw(&raw).ok(), string, "{text:?}");
        let ours: Vec<String> = raw
            .items()
            .iter()
            .map(|item| item.as_str().to_owned())
            .collect();
        assert_eq!(ours, model::items(text).unwrap_or_default(), "{text:?}");
        compare_members(&raw);
        waiting.extend(raw.items());
        waiting.extend(raw.members().into_iter().map(|(_, value)| value));
    }
}

fn compare_members(raw: &Raw) {
    let expected = model::members(raw.as_str()).unwrap_or_default();
    let ours = raw.members();
    assert_eq!(ours.len(), expected.len());
    for ((name, value), (key, text)) in ours.iter().zip(&expected) {
        assert_eq!(value.as_str(), *text);
        // A key that is no text is given in its escaped form, which has a backslash.
        match key.text() {
            Some(key) => assert_eq!(name, key),
            None => assert!(name.contains('\\'), "{name:?}"),
        }
        let last = expected.iter().rev().find(|(other, _)| other == key);
        if key.text().is_some() {
            let found = raw.member(name);
            assert_eq!(found.as_ref().map(Raw::as_str), last.map(|(_, text)| *text));
        }
    }
}

/// Reads the value as each type: whatever comes of it, the text stays.
fn read_as_everything(raw: &Raw) {
    macro_rules! keeps_its_text {
        ($($Type:ty),*) => {$(
            if let Ok(read) = <$Type>::from_raw(raw) {
                assert_eq!(read.raw(), raw);
                assert_eq!(
                    serde_json::to_string(&read).unwrap(),
                    serde_json::to_string(raw).unwrap(),
                );
            }
        )*};
    }
    keeps_its_text!(
        Tool,
        Prompt,
        Resource,
        ResourceTemplate,
        CallToolResult,
        GetPromptResult,
        ReadResourceResult,
        RpcError
    );
    if let Ok(content) = Content::from_raw(raw) {
        content.as_text();
    }
    for era in [Era::Legacy, Era::Modern] {
        read_outcome::<ListTools>(era, raw).ok();
    }
    // What Rust's own value can hold, it holds alike.
    if let Ok(value) = serde_json::from_str::<Value>(raw.as_str()) {
        assert_eq!(raw.decode::<Value>().ok(), Some(value));
    }
}
