//! The content of a file as a tree in which every value knows its position.

mod json;
mod toml;
mod yaml;

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::report::Note;
use super::source::{Source, Syntax};

pub(super) use json::JSONC;

/// A value and its position in the file.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: NodeKind,
}

/// The content of a value.
#[derive(Clone)]
pub(super) enum NodeKind {
    Null,
    Bool(bool),
    /// As written; the field decides on its meaning.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

/// A key with its value.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) value: Node,
}

/// Parses a file; `None` if it contains no value.
pub(super) fn parse(source: &Source) -> Result<Option<Node>, Note> {
    match source.syntax {
        Syntax::Json => json::parse(source.text()),
        Syntax::Toml => toml::parse(source.text()).map(Some),
        Syntax::Yaml => yaml::parse(source.text()),
    }
}

/// The effective members: of several with the same key the last one, as in most JSON parsers.
pub(super) fn latest(members: &[Member]) -> impl Iterator<Item = &Member> {
    let indexed = members.iter().enumerate();
    // Remember the last index of each key; inserting later ones overwrites.
    let last: HashMap<&str, usize> = indexed
        .clone()
        .map(|(index, member)| (member.key.as_str(), index))
        .collect();
    indexed
        .filter(move |(index, member)| last.get(member.key.as_str()) == Some(index))
        .map(|(_, member)| member)
}

impl Node {
    /// The number of values in it, including itself.
    pub(super) fn size(&self) -> usize {
        let inside: usize = match &self.kind {
            NodeKind::List(items) => items.iter().map(Self::size).sum(),
            NodeKind::Object(members) => members.iter().map(|member| member.value.size()).sum(),
            _ => 0,
        };
        inside + 1
    }

    pub(super) fn new(span: Range<usize>, kind: NodeKind) -> Self {
        Self { span, kind }
    }

    /// A description for messages: `a number`.
    pub(super) fn is_a(&self) -> &'static str {
        match &self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool(true) => "true",
            NodeKind::Bool(false) => "false",
            NodeKind::Number(_) => "a number",
            NodeKind::Text(_) => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Object(_) => "an object",
        }
    }

    pub(super) fn object(&self) -> Option<&[Member]> {
        match &self.kind {
            NodeKind::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The member with a key; the last one if it is repeated, as in most JSON parsers.
    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        let mut members = self.object()?.iter();
        members.rfind(|member| member.key == key)
    }

    /// The value of the member with a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.member(key).map(|member| &member.value)
    }

    /// Converts to a value without positions.
    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(is) => Value::Bool(*is),
            // A number that JSON does not have, such as TOML's `inf`, becomes a string.
            NodeKind::Number(text) => text
                .parse()
                .map_or_else(|_| Value::String(text.clone()), Value::Number),
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::List(items) => items.iter().map(Self::to_value).collect(),
            NodeKind::Object(members) => members
                .iter()
                .map(|member| (member.key.clone(), member.value.to_value()))
                .collect(),
        }
    }
}
