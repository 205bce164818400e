//! Parses TOML, which Codex uses.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Member, Node, NodeKind};
use crate::limits::LIMITS;
use crate::mask;
use crate::problem::ProblemKind;
use crate::report::Note;

/// Parses a TOML text.
pub(super) fn parse(text: &str) -> Result<Node, Note> {
    // The parser recurses, so check the depth before it.
    if let Some(at) = mask::toml_too_deep(text) {
        let message = format!("nested more than {} levels deep", LIMITS.depth);
        return Err(Note::error(ProblemKind::TooDeep, at, message).expecting("a flatter file"));
    }
    match DeTable::parse(text) {
        Ok(table) => Ok(Node::new(0..text.len(), object(table.into_inner()))),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            Err(describe_error(text, error.message(), span))
        }
    }
}

fn object(table: DeTable<'_>) -> NodeKind {
    let mut members: Vec<Member> = table
        .into_iter()
        .map(|(key, value)| Member {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            value: node(value),
        })
        .collect();
    // The parser sorts the table by key; restore the order of the file.
    members.sort_by_key(|member| member.key_span.start);
    NodeKind::Object(members)
}

fn node(value: Spanned<DeValue<'_>>) -> Node {
    let span = value.span();
    let kind = match value.into_inner() {
        DeValue::String(text) => NodeKind::Text(text.into_owned()),
        DeValue::Integer(number) => NodeKind::Number(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| number.to_string(), |number| number.to_string()),
        ),
        DeValue::Float(number) => NodeKind::Number(number.as_str().to_owned()),
        DeValue::Boolean(is) => NodeKind::Bool(is),
        DeValue::Datetime(time) => NodeKind::Text(time.to_string()),
        DeValue::Array(items) => NodeKind::List(items.into_iter().map(node).collect()),
        DeValue::Table(table) => object(table),
    };
    Node::new(span, kind)
}

/// Describes an error of the parser in our own words: its own may quote the text.
fn describe_error(text: &str, message: &str, span: Range<usize>) -> Note {
    let note = |message: &str| Note::error(ProblemKind::Syntax, span.clone(), message);
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if says(&["duplicate key"]) {
        note("this key is there twice").hint("remove one of the two")
    } else if says(&["recurs"]) {
        Note::error(ProblemKind::TooDeep, span, "nested too deeply")
    } else if says(&["must be quoted"]) {
        note("a text without quotes").expecting("a text in double quotes")
    } else if says(&["unclosed array table", "unclosed table"]) {
        note("the name of this table is not closed").expecting("`]`")
    } else if says(&["unclosed array"]) {
        note("this list is not closed").expecting("`]`")
    } else if says(&["unclosed inline table"]) {
        note("this inline table is not closed").expecting("`}`")
    } else if says(&["missing comma"]) {
        note("a comma is missing before this").expecting("`,`")
    } else if says(&["key with no value", "missing value", "missing assignment"]) {
        note("a key without a value").expecting("`key = value`")
    } else if says(&["string", "escape", "quote"]) {
        note("this text is not written as TOML writes them")
            .expecting("a text in double quotes, on one line")
            .hint("write a backslash twice, or use single quotes")
    } else if says(&["key", "table"]) {
        note("this is no key and no table").expecting("`key = value` or `[mcp_servers.NAME]`")
    } else if text.get(span.start..).is_none_or(str::is_empty) {
        note("the document ends too early").expecting("`key = value` or `[mcp_servers.NAME]`")
    } else {
        note("this is no value").expecting("a text in double quotes, a number, `true` or `false`")
    }
}
