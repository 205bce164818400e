//! Takes an entry of a config file apart into facts, each masked by a policy.

use std::borrow::Cow;

use serde_json::Value;

use super::{MaskPolicy, arguments, secret, url, variable};
use crate::environment::{Danger, danger};
use crate::secret::{MASK, looks_secret};
use crate::text::{canonical_json, json_escape};

/// Members that set environment variables, in all clients' spellings.
pub const ENV: &[&str] = &["env", "environment"];

/// Members that set HTTP headers.
pub const HEADERS: &[&str] = &["headers", "http_headers", "httpHeaders"];

/// Members that name a program and its arguments.
pub const COMMAND: &[&str] = &["command", "args"];

/// Members that hold a URL.
pub const URL: &[&str] = &["url", "httpUrl", "serverUrl"];

/// One value of an entry: the path to it, and its text with secrets masked.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The keys and indices that lead to it.
    pub path: Vec<String>,
    /// The name of a fact that is not part of the entry.
    outside: Option<Cow<'static, str>>,
    /// The value with secrets masked, if it is a string.
    pub text: Option<String>,
    /// The value with secrets masked, as JSON.
    pub shown: String,
    /// The original value as JSON, if any of it is masked.
    pub hidden: Option<String>,
}

impl Fact {
    /// Creates a fact that is not part of the entry.
    pub fn outside(
        name: impl Into<Cow<'static, str>>,
        shown: &str,
        hidden: Option<String>,
    ) -> Self {
        Self {
            path: Vec::new(),
            outside: Some(name.into()),
            text: Some(shown.to_owned()),
            shown: json_escape(shown),
            hidden,
        }
    }

    /// The path as a JSON pointer, or the plain name of a fact that is not part of the entry.
    pub fn pointer(&self) -> String {
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
pub fn facts(entry: &Value, policy: MaskPolicy) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut walk = EntryWalk {
        policy,
        path: Vec::new(),
        facts: &mut facts,
    };
    walk.value(entry, false);
    facts
}

/// Returns a copy of the entry with its secrets masked.
pub fn mask_entry(entry: &Value, policy: MaskPolicy) -> Value {
    mask_entry_with(entry, policy, |_, _| String::new())
}

/// Returns a copy of the entry with its secrets masked. `mark` returns a text to append to each mask,
/// given the pointer to the value and its canonical text.
pub fn mask_entry_with(
    entry: &Value,
    policy: MaskPolicy,
    mark: impl Fn(&str, &str) -> String,
) -> Value {
    let mut entry = entry.clone();
    for fact in facts(&entry, policy) {
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

/// Returns true if a path leads to a member of one of these objects.
pub fn is_of(path: &[String], objects: &[&str]) -> bool {
    matches!(path, [object, _, ..] if objects.contains(&object.as_str()))
}

/// A depth-first walk over an entry that collects its facts.
struct EntryWalk<'a> {
    policy: MaskPolicy,
    path: Vec<String>,
    facts: &'a mut Vec<Fact>,
}

impl EntryWalk<'_> {
    fn value(&mut self, value: &Value, is_secret: bool) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let mut members: Vec<_> = members.iter().collect();
                // Sorted, so that the facts do not depend on the order in the file.
                members.sort_unstable_by_key(|(key, _)| *key);
                for (key, member) in members {
                    self.path.push(key.clone());
                    let is_secret = is_secret || self.is_secret_by_place(key, member);
                    self.value(member, is_secret);
                    self.path.pop();
                }
            }
            Value::Array(items) if !items.is_empty() => self.items(items, is_secret),
            Value::String(text) => self.text(value, text, is_secret),
            Value::Bool(_) | Value::Number(_)
                if is_secret && self.policy != MaskPolicy::Terminal =>
            {
                self.fact(value, None, MASK.to_owned());
            }
            _ => self.fact(value, None, canonical_json(value)),
        }
    }

    /// Returns true if a member is secret because of its place, whatever its value.
    fn is_secret_by_place(&self, key: &str, member: &Value) -> bool {
        if is_of(&self.path, HEADERS) {
            return true;
        }
        if !is_of(&self.path, ENV) {
            return looks_secret(key);
        }
        match self.policy {
            MaskPolicy::Log => true,
            // Strings are judged together with their value, and numbers reveal little. Lists and objects are
            // not valid variables, so they are masked.
            MaskPolicy::Listing => member.is_array() || member.is_object(),
            _ => looks_secret(key),
        }
    }

    /// The policy for the current path. A report shows whole values only where they may be run.
    fn policy(&self) -> MaskPolicy {
        let first = self.path.first().map(String::as_str).unwrap_or_default();
        let may_run = COMMAND.contains(&first) || ENV.contains(&first);
        if self.policy == MaskPolicy::Report && !may_run {
            MaskPolicy::Lock
        } else {
            self.policy
        }
    }

    fn items(&mut self, items: &[Value], is_secret: bool) {
        let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        // An argument may be secret because of the one before it, so the list is masked as a whole.
        let texts = texts.filter(|_| !is_secret);
        let texts = texts.map(|texts| arguments(&texts, self.policy()));
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
        // The order of the cases matters: a terminal shows all, then places decide, then values.
        let is_variable = is_of(&self.path, ENV);
        let is_hook = is_variable
            && self
                .path
                .last()
                .is_some_and(|name| danger(name) == Some(Danger::Code));
        let is_url = matches!(self.path.as_slice(), [name] if URL.contains(&name.as_str()));
        let name = self.path.last().map(String::as_str).unwrap_or_default();
        let shown = if self.policy == MaskPolicy::Terminal
            || (is_hook && self.policy == MaskPolicy::Report)
        {
            text.to_owned()
        } else if is_secret {
            secret(text, self.policy)
        } else if is_variable && self.policy == MaskPolicy::Listing {
            variable(name, text)
        } else if is_url {
            url(text, self.policy)
        } else {
            arguments(&[text], self.policy()).concat()
        };
        let json = json_escape(&shown);
        self.fact(value, Some(shown), json);
    }

    fn fact(&mut self, value: &Value, text: Option<String>, shown: String) {
        // Unchanged means that nothing is hidden; compare the canonical texts.
        let is_whole = match value {
            Value::String(text) => json_escape(text) == shown,
            _ => canonical_json(value) == shown,
        };
        self.facts.push(Fact {
            path: self.path.clone(),
            outside: None,
            text,
            shown,
            hidden: (!is_whole).then(|| canonical_json(value)),
        });
    }
}
