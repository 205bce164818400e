//! Sets and removes tables and keys of a TOML document. Everything else stays as it is, byte for byte.

mod layout;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::{Map, Value};
use switchboard_core::spec::Layer;

use self::layout::{Section, line_end, line_start, sections, with_comments_above};
use super::EditError;
use super::layout::{Splice, splice};
use crate::export::toml as write;
use crate::source::{Source, Syntax};
use crate::tree;

/// The byte order mark that some editors put before a text.
const MARK: &str = "\u{feff}";

/// Returns the value at a path, if the document has it.
pub(crate) fn value_at(text: &str, path: &[&str]) -> Result<Option<Value>, EditError> {
    let document = parse(text)?;
    let mut found = Some(&document);
    for key in path {
        found = found.and_then(|value| value.get(*key));
    }
    Ok(found.cloned())
}

/// Adds a table, or sets a key of a table that has a header of its own.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let mut expected = parse(text)?;
    place(&mut expected, path, value)?;
    let (mark, text) = split_mark(text);
    let sections = sections(text);
    let newline = newline(text);
    let item = sections.iter().find_map(|section| {
        let mut items = section.items.iter();
        items.find(|item| is_at(section, &item.path, path))
    });
    // In place where the key is there; else as a table of its own, or as a line of its table.
    let splices = if let Some(item) = item {
        vec![Splice {
            range: item.value.clone(),
            text: write::toml_value(value),
        }]
    } else if let Some(members) = value.as_object() {
        let table = write::table_at(path, members).replace('\n', newline);
        vec![put_table(text, &sections, path, &table, newline)]
    } else {
        let (key, parents) = path.split_last().ok_or(EditError::Unsafe)?;
        let mut sections = sections.iter();
        let section = sections.find(|section| section.path == parents);
        let at = section.ok_or(EditError::Unsafe)?.end;
        let line = format!(
            "{} = {}{newline}",
            write::key(key),
            write::toml_value(value)
        );
        vec![put_line(text, at, &line, newline)]
    };
    let out = splice(text, &splices);
    check(&out, expected, path)?;
    Ok(format!("{mark}{out}"))
}

/// Removes a table with all below it, with the comments directly above it. Returns the text as it is if the document
/// does not have it.
pub(crate) fn unset(text: &str, path: &[&str]) -> Result<String, EditError> {
    let mut expected = parse(text)?;
    let (mark, text) = split_mark(text);
    let mut inside = Some(&mut expected);
    let (key, parents) = path.split_last().ok_or(EditError::Unsafe)?;
    for key in parents {
        inside = inside.and_then(|value| value.get_mut(*key));
    }
    if let Some(members) = inside.and_then(Value::as_object_mut) {
        members.shift_remove(*key);
    }
    let sections = sections(text);
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        let is_whole = section.path.iter().zip(path).all(|(own, key)| own == key)
            && section.path.len() >= path.len();
        if is_whole {
            cuts.push(whole(text, &sections, at));
            continue;
        }
        for item in &section.items {
            // A table may be written as dotted keys, or inline: then its lines go.
            let own = section.path.iter().chain(&item.path);
            if own.zip(path).filter(|(own, key)| own == key).count() == path.len() {
                let start = with_comments_above(text, line_start(text, item.start));
                cuts.push(start..line_end(text, item.value.end));
            }
        }
    }
    let splices = cuts.into_iter().map(|range| Splice {
        range,
        text: String::new(),
    });
    let out = splice(text, &splices.collect::<Vec<_>>());
    check(&out, expected, path)?;
    Ok(format!("{mark}{out}"))
}

/// The range of a table with the comments directly above it and the empty lines below it. Comments below it stay:
/// they may be about anything.
fn whole(text: &str, sections: &[Section], at: usize) -> Range<usize> {
    let Some(section) = sections.get(at) else {
        return 0..0;
    };
    let start = with_comments_above(text, section.start);
    let rest = text.get(section.end..).unwrap_or_default();
    let content = rest.find(|c: char| !c.is_whitespace());
    if let Some(content) = content {
        // The indentation of the next line is its own.
        return start..line_start(text, section.end + content).max(section.end);
    }
    // The empty lines that set the last table apart go with it.
    let before = text.get(..start).unwrap_or_default().trim_end();
    let start = if before.is_empty() {
        0
    } else {
        line_end(text, before.len())
    };
    start..text.len()
}

/// Adds a table after the last of its neighbours, or at the end.
fn put_table(
    text: &str,
    sections: &[Section],
    path: &[&str],
    table: &str,
    newline: &str,
) -> Splice {
    let is_near = |section: &Section| {
        let root = section.path.first().map(String::as_str);
        root.is_some() && root == path.first().copied()
    };
    let at = match sections.iter().rposition(is_near) {
        Some(at) => end_with_comments(text, sections, at),
        None => text.len(),
    };
    let before = text.get(..at).unwrap_or_default();
    let mut gap = String::new();
    if !before.is_empty() && !before.ends_with('\n') {
        gap.push_str(newline);
    }
    // An empty line before the table, unless there is one or nothing to be set apart from.
    let is_apart = before.trim_start_matches(MARK).trim().is_empty()
        || before.ends_with("\n\n")
        || before.ends_with("\n\r\n");
    if !is_apart {
        gap.push_str(newline);
    }
    Splice {
        range: at..at,
        text: gap + table,
    }
}

/// The end of a table with the comments directly below its last key, unless they are about the next table.
fn end_with_comments(text: &str, sections: &[Section], at: usize) -> usize {
    let next = sections.get(at + 1);
    let most = next.map_or(text.len(), |next| with_comments_above(text, next.start));
    let mut end = sections.get(at).map_or(text.len(), |section| section.end);
    while end < most {
        let line = text.get(end..most).unwrap_or_default();
        if !line.trim_start_matches([' ', '\t']).starts_with('#') {
            break;
        }
        end = line_end(text, end);
    }
    end
}

fn put_line(text: &str, at: usize, line: &str, newline: &str) -> Splice {
    let before = text.get(..at).unwrap_or_default();
    let gap = if before.ends_with('\n') { "" } else { newline };
    Splice {
        range: at..at,
        text: format!("{gap}{line}"),
    }
}

fn is_at(section: &Section, item: &[String], path: &[&str]) -> bool {
    let own = section.path.iter().chain(item);
    own.map(String::as_str).eq(path.iter().copied())
}

fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if text.get(..end).is_some_and(|line| line.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(MARK) {
        Some(text) => (MARK, text),
        None => ("", text),
    }
}

fn parse(text: &str) -> Result<Value, EditError> {
    let source = Source::new(text, "".as_ref(), Layer::User, Syntax::Toml);
    match tree::parse(&source) {
        Ok(node) => Ok(node.map_or_else(|| Map::new().into(), |node| node.to_value())),
        Err(note) => {
            let problem = note.at(&source, None);
            Err(EditError::Syntax {
                line: problem.line().unwrap_or_default(),
                column: problem.column().unwrap_or_default(),
                what: problem.message().to_owned(),
            })
        }
    }
}

/// Sets a value in a document. Only tables may be on the way.
fn place(document: &mut Value, path: &[&str], value: &Value) -> Result<(), EditError> {
    match path.split_first() {
        None => *document = value.clone(),
        Some((key, below)) => {
            let members = document.as_object_mut().ok_or_else(|| EditError::Shape {
                pointer: format!("/{key}"),
                expected: "a table",
            })?;
            let inside = members
                .entry((*key).to_owned())
                .or_insert_with(|| Map::new().into());
            place(inside, below, value)?;
        }
    }
    Ok(())
}

/// Parses the new text and compares it with the expected document: a mistake must cost an edit, not the user's file.
fn check(text: &str, mut expected: Value, path: &[&str]) -> Result<(), EditError> {
    let mut found = parse(text).map_err(|_| EditError::Unsafe)?;
    // A table that only its inner tables have made is gone with the last of them.
    for document in [&mut expected, &mut found] {
        if let (Some(members), Some(root)) = (document.as_object_mut(), path.first())
            && members.get(*root) == Some(&Map::new().into())
        {
            members.shift_remove(*root);
        }
    }
    if found == expected {
        Ok(())
    } else {
        Err(EditError::Unsafe)
    }
}
