//! An entry taken apart into single facts, each as far as it may be shown.

use std::borrow::Cow;

use serde_json::Value;

use super::{MaskPolicy, arguments, secret, url, variable};
use crate::environment::{Danger, danger};
use crate::secret::{MASK, looks_secret};
use crate::text::{canonical_json, json_escape};

/// Where variables are set, by all the names that clients have for it.
pub const ENV: &[&str] = &["env", "environment"];

/// Where headers are set.
pub const HEADERS: &[&str] = &["headers", "http_headers", "httpHeaders"];

/// Where a program and its arguments are.
pub const COMMAND: &[&str] = &["command", "args"];

/// Where a URL is.
pub const URL: &[&str] = &["url", "httpUrl", "serverUrl"];

/// One value of an entry: the way to it, and how it may be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The keys and numbers that lead to it.
    pub path: Vec<String>,
    /// What it is called, where it is no part of the entry.
    outside: Option<Cow<'static, str>>,
    /// The value where it is a text, as far as it may be shown.
    pub text: Option<String>,
    /// The value as JSON that is safe to show.
    pub shown: String,
    /// The value itself, where something of it is masked.
    pub hidden: Option<String>,
}

impl Fact {
    /// Returns a fact that is no part of the entry.
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

    /// Returns the way to it as a JSON pointer; a name without a slash for what is no part of the entry.
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
    let mut walk = Walk {
        policy,
        path: Vec::new(),
        facts: &mut facts,
    };
    walk.value(entry, false);
    facts
}

/// Returns the entry with what looks secret masked in it.
pub fn masked(entry: &Value, policy: MaskPolicy) -> Value {
    masked_with(entry, policy, |_, _| String::new())
}

/// Returns the entry like [`masked`]. `mark` returns what is put behind a mask, from the pointer to the value
/// and its canonical text.
pub fn masked_with(
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

/// Tells whether a path leads to a member of one of these objects.
pub fn is_of(path: &[String], objects: &[&str]) -> bool {
    matches!(path, [object, _, ..] if objects.contains(&object.as_str()))
}

struct Walk<'a> {
    policy: MaskPolicy,
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

    /// Whether a member is a secret whatever its value is.
    fn is_secret_by_place(&self, key: &str, member: &Value) -> bool {
        if is_of(&self.path, HEADERS) {
            return true;
        }
        if !is_of(&self.path, ENV) {
            return looks_secret(key);
        }
        match self.policy {
            MaskPolicy::Log => true,
            // A text is looked at with its value, and a number says little. A variable is nothing else.
            MaskPolicy::Listing => member.is_array() || member.is_object(),
            _ => looks_secret(key),
        }
    }

    /// The policy for what is here: what cannot be run need not be shown whole in a report.
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
        // An argument may be secret because of the one before it.
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
