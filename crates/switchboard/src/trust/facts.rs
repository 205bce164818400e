//! An entry taken apart into single facts, and what differs between two.

use std::borrow::Cow;

use serde_json::Value;

use super::canonical::canonical;
use super::hooks::{Danger, danger};
use super::mask::{self, Reader};
use super::{Claim, path};
use crate::secret::{MASK, looks_secret};
use crate::text::json_escape;

/// Where variables are set, by all the names that clients have for it.
pub(super) const ENV: &[&str] = &["env", "environment"];

/// Where headers are set.
pub(super) const HEADERS: &[&str] = &["headers", "http_headers", "httpHeaders"];

/// Where a program and its arguments are.
pub(super) const COMMAND: &[&str] = &["command", "args"];

/// Where a URL is.
pub(super) const URL: &[&str] = &["url", "httpUrl", "serverUrl"];

/// One thing that differs from what was approved. Secrets are masked in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Difference {
    /// Where it is: a JSON pointer into the entry, `program`, `references`, `env_file` for what the file of
    /// variables sets, or `content of PATH`.
    pub pointer: String,
    /// What was approved, as JSON; nothing where it was not there.
    pub before: Option<String>,
    /// What is there now, as JSON; nothing where it is gone.
    pub after: Option<String>,
}

/// One value of an entry: the way to it, and how it may be shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    /// The keys and numbers that lead to it.
    pub(super) path: Vec<String>,
    /// What it is called, where it is no part of the entry.
    outside: Option<Cow<'static, str>>,
    /// The value where it is a text, as far as it may be shown.
    pub(super) text: Option<String>,
    /// The value as JSON that is safe to show.
    pub(super) shown: String,
    /// The value itself, where something of it is masked.
    pub(super) hidden: Option<String>,
}

impl Fact {
    /// The way to it as a JSON pointer; a name without a slash for what is no part of the entry.
    pub(super) fn pointer(&self) -> String {
        if let Some(name) = &self.outside {
            return name.clone().into_owned();
        }
        let parts = self.path.iter();
        parts
            .map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1")))
            .collect()
    }
}

/// Takes an entry apart. Nothing is left out: an empty list is a fact too.
pub(super) fn of_entry(entry: &Value, reader: Reader) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut walk = Walk {
        reader,
        path: Vec::new(),
        facts: &mut facts,
    };
    walk.value(entry, false);
    facts
}

/// The entry with what looks secret masked in it, for a file that others read. `mark` gives what is
/// put behind a mask, from the pointer to the value and its canonical text.
pub fn masked(entry: &Value, mark: impl Fn(&str, &str) -> String) -> Value {
    let mut entry = entry.clone();
    for fact in of_entry(&entry, Reader::Record) {
        let (Some(hidden), pointer) = (&fact.hidden, fact.pointer()) else {
            continue;
        };
        let shown = serde_json::from_str(&fact.shown).ok();
        let shown = shown.unwrap_or_else(|| fact.shown.clone());
        if let Some(value) = entry.pointer_mut(&pointer) {
            *value = Value::String(shown + &mark(&pointer, hidden));
        }
    }
    entry
}

/// Takes a whole claim apart, for the record.
pub(super) fn of_claim(claim: &Claim) -> Vec<Fact> {
    let mut facts = of_entry(&claim.entry, Reader::Record);
    if let Some(program) = &claim.program {
        facts.push(outside("program", &path::to_text(program), None));
    }
    let mut references = claim.references.clone();
    references.sort_unstable();
    references.dedup();
    if !references.is_empty() {
        let (shown, all) = (
            mask::references(&references).join(" "),
            references.join(" "),
        );
        let hidden = (shown != all).then_some(all);
        facts.push(outside("references", &shown, hidden));
    }
    if let Some(file) = &claim.env_file {
        let shown = match &file.names {
            Ok(names) => names.join(" "),
            Err(why) => format!("cannot be read: {why}"),
        };
        // What the variables are set to is told apart, and kept nowhere.
        facts.push(outside(
            "env_file",
            &shown,
            file.content.map(|hash| hash.to_string()),
        ));
    }
    for content in &claim.contents {
        let name = format!("content of {}", path::to_text(&content.path));
        facts.push(outside(name, &content.shown(), None));
    }
    facts
}

/// A fact that is no part of the entry.
fn outside(name: impl Into<Cow<'static, str>>, shown: &str, hidden: Option<String>) -> Fact {
    Fact {
        path: Vec::new(),
        outside: Some(name.into()),
        text: Some(shown.to_owned()),
        shown: json_escape(shown),
        hidden,
    }
}

/// Tells whether a path leads to a member of one of these objects.
pub(super) fn is_of(path: &[String], objects: &[&str]) -> bool {
    matches!(path, [object, _, ..] if objects.contains(&object.as_str()))
}

struct Walk<'a> {
    reader: Reader,
    path: Vec<String>,
    facts: &'a mut Vec<Fact>,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(key, _)| *key);
                for (key, member) in members {
                    self.path.push(key.clone());
                    let is_header = is_of(&self.path, HEADERS);
                    self.value(member, is_secret || is_header || looks_secret(key));
                    self.path.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => self.items(items, is_secret),
            Value::String(text) => self.text(value, text, is_secret),
            Value::Bool(_) | Value::Number(_) if is_secret && self.reader != Reader::Person => {
                self.fact(value, None, MASK.to_owned());
            }
            _ => self.fact(value, None, canonical(value)),
        }
    }

    /// Who reads what is here: what cannot be run need not be shown whole in a report.
    fn reader(&self) -> Reader {
        let first = self.path.first().map(String::as_str).unwrap_or_default();
        if self.reader == Reader::Person || COMMAND.contains(&first) || ENV.contains(&first) {
            self.reader
        } else {
            Reader::Record
        }
    }

    fn items(&mut self, items: &[Value], is_secret: bool) {
        let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        // An argument may be secret because of the one before it.
        let texts = texts.filter(|_| !is_secret);
        let texts = texts.map(|texts| mask::arguments(&texts, self.reader()));
        for (at, item) in items.iter().enumerate() {
            self.path.push(at.to_string());
            match texts.as_ref().and_then(|texts| texts.get(at)) {
                Some(text) => self.fact(item, Some(text.clone()), json_escape(text)),
                None => self.value(item, is_secret),
            }
            self.path.pop();
        }
    }

    fn text(&mut self, value: &Value, text: &str, is_secret: bool) {
        let is_variable = is_of(&self.path, ENV);
        let is_hook = is_variable
            && self
                .path
                .last()
                .is_some_and(|name| danger(name) == Some(Danger::Code));
        let is_url = matches!(self.path.as_slice(), [name] if URL.contains(&name.as_str()));
        let shown = if self.reader == Reader::Person || (is_hook && self.reader == Reader::Report) {
            text.to_owned()
        } else if is_secret {
            mask::secret(text)
        } else if is_url {
            mask::url(text)
        } else {
            mask::arguments(&[text], self.reader()).concat()
        };
        let json = json_escape(&shown);
        self.fact(value, Some(shown), json);
    }

    fn fact(&mut self, value: &Value, text: Option<String>, shown: String) {
        let is_whole = match value {
            Value::String(text) => json_escape(text) == shown,
            _ => canonical(value) == shown,
        };
        self.facts.push(Fact {
            path: self.path.clone(),
            outside: None,
            text,
            shown,
            hidden: (!is_whole).then(|| canonical(value)),
        });
    }
}
