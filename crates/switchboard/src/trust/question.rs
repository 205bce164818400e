//! What a person is asked, and everything they need to see for it.

use serde_json::Value;

use super::facts::{self, COMMAND, Difference, ENV, Fact, HEADERS, URL, is_of};
use super::hooks::is_hook;
use super::mask::{self, Reader};
use super::{Claim, Fingerprint, path};
use crate::spec::{Layer, Origin};
use crate::text::{json_escape, sanitise_line};

/// Where variables of the host are let through, by all the names that clients have for it.
const PASSTHROUGH: &[&str] = &["env_passthrough", "envPassthrough", "env_vars"];

/// What is asked about a claim that is not approved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// What wants to be done.
    pub claim: Claim,
    /// The fingerprint that a yes is for.
    pub fingerprint: Fingerprint,
    /// How it differs from what was approved before; empty where nothing was.
    pub changes: Vec<Difference>,
    /// The variables, set or let through, that can make a program run something else than itself.
    pub hooks: Vec<String>,
}

impl Question {
    /// Asks about a claim that differs like this from what was approved before.
    pub fn new(claim: Claim, changes: Vec<Difference>) -> Self {
        Self {
            fingerprint: claim.fingerprint(),
            hooks: hooks(&claim.entry),
            claim,
            changes,
        }
    }

    /// Everything that a person has to see, one fact a line, safe for a terminal and nothing cut.
    ///
    /// Every value of the entry is among them. What looks like a secret is masked, and a line says so.
    pub fn lines(&self) -> Vec<String> {
        let claim = &self.claim;
        let facts = facts::of_entry(&claim.entry, Reader::Person);
        let mut lines = vec![
            format!("server: {}", word(claim.server.as_str())),
            format!("file: {}", place(&path::shown(&claim.file), claim.line)),
            format!("written by: {}", layer(&claim.layer)),
        ];
        lines.extend(runs(&facts));
        match &claim.program {
            Some(program) => lines.push(format!("program: {}", word(&path::shown(program)))),
            None if claim.entry.get("command").is_some() => {
                lines.push("program: not found".to_owned());
            }
            None => {}
        }
        lines.extend(facts.iter().filter_map(line));
        lines.extend(host(&claim.entry));
        let references = mask::references(&claim.references).into_iter();
        lines.extend(references.map(|reference| format!("reads: {}", word(&reference))));
        let hooks = self.hooks.iter();
        lines.extend(hooks.map(|name| {
            let name = word(name);
            format!("careful: {name} can make a program run something else than itself")
        }));
        let shadows = claim.shadows.iter();
        lines.extend(shadows.map(|origin| format!("hides: {}", shadowed(origin))));
        lines.extend(self.changes.iter().map(change));
        let masked = facts.iter().filter(|fact| fact.hidden.is_some()).count();
        if masked > 0 {
            lines.push(format!(
                "masked: {masked} values that look like secrets are shown as ***; the file has them whole"
            ));
        }
        lines.push(format!("fingerprint: {}", self.fingerprint));
        let lines = lines.iter().map(|line| sanitise_line(line).into_owned());
        lines.collect()
    }
}

/// The command with all its arguments, in one line, or in one each where letters that run from right
/// to left could put them in another order.
fn runs(facts: &[Fact]) -> Vec<String> {
    let of = |name: &str| {
        let words = facts.iter().filter(move |fact| is_word_of(fact, name));
        words.map(|fact| quoted(&fact.shown)).collect::<Vec<_>>()
    };
    let words: Vec<String> = COMMAND.iter().flat_map(|name| of(name)).collect();
    if words.iter().all(|word| word.is_ascii()) {
        let line = format!("runs: {}", words.join(" "));
        return if words.is_empty() {
            Vec::new()
        } else {
            vec![line]
        };
    }
    let lines = words.iter().enumerate().map(|(at, word)| match at {
        0 => format!("runs: {word}"),
        _ => format!("with argument {at}: {word}"),
    });
    lines.collect()
}

/// Whether a fact is a word of the command: the member itself, or an item of its list.
fn is_word_of(fact: &Fact, name: &str) -> bool {
    let is_text = fact.shown.starts_with('"');
    match fact.path.as_slice() {
        [member] => member == name && is_text,
        [member, item] => member == name && is_text && item.parse::<usize>().is_ok(),
        _ => false,
    }
}

/// One line for a fact that no other line has.
fn line(fact: &Fact) -> Option<String> {
    if COMMAND.iter().any(|name| is_word_of(fact, name)) {
        return None;
    }
    let shown = &fact.shown;
    let name = || {
        word(
            &fact
                .path
                .iter()
                .skip(1)
                .cloned()
                .collect::<Vec<_>>()
                .join("/"),
        )
    };
    let is_one_of =
        |names: &[&str]| matches!(fact.path.as_slice(), [only] if names.contains(&only.as_str()));
    Some(if is_of(&fact.path, ENV) {
        format!("sets: {}={shown}", name())
    } else if is_of(&fact.path, HEADERS) {
        format!("sends header: {}: {shown}", name())
    } else if is_of(&fact.path, PASSTHROUGH) {
        format!("lets through: {shown}")
    } else if is_one_of(URL) {
        format!("connects to: {shown}")
    } else if is_one_of(&["cwd"]) {
        format!("runs in: {shown}")
    } else {
        format!("setting: {} = {shown}", word(&fact.pointer()))
    })
}

/// The hosts of URLs as they would be dialled, whatever they look like in writing.
fn host(entry: &Value) -> Vec<String> {
    let urls = URL.iter().filter_map(|name| entry.get(name)?.as_str());
    let urls = urls.filter_map(|text| url::Url::parse(text).ok());
    let hosts = urls.filter_map(|url| Some(format!("at host: {}", word(url.host_str()?))));
    hosts.collect()
}

fn hooks(entry: &Value) -> Vec<String> {
    let set = ENV.iter().filter_map(|name| entry.get(name)?.as_object());
    let set = set.flat_map(|members| members.keys().map(String::as_str));
    let through = PASSTHROUGH.iter().filter_map(|name| entry.get(name));
    let through = through.flat_map(|names| match names {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect::<Vec<_>>(),
    });
    let mut hooks: Vec<String> = Vec::new();
    for name in set.chain(through).filter(|name| is_hook(name)) {
        if !hooks.iter().any(|known| known == name) {
            hooks.push(name.to_owned());
        }
    }
    hooks
}

fn change(change: &Difference) -> String {
    let at = word(&change.pointer);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("changed: {at}: {before} -> {after}"),
        (None, Some(after)) => format!("added: {at}: {after}"),
        (Some(before), None) => format!("removed: {at}: {before}"),
        (None, None) => format!("changed: {at}"),
    }
}

fn layer(layer: &Layer) -> String {
    match layer {
        Layer::Program => "this program".to_owned(),
        Layer::Named => "a file that was named".to_owned(),
        Layer::User => "your own file".to_owned(),
        Layer::Ancestor(folder) => {
            format!(
                "a folder above the current one, {}",
                word(&path::shown(folder))
            )
        }
        Layer::Project => "the project in the current folder".to_owned(),
    }
}

fn shadowed(origin: &Origin) -> String {
    let layer = layer(&origin.layer);
    match &origin.file {
        Some(file) => {
            let place = place(&path::shown(file), origin.line);
            format!("the server of the same name in {place} ({layer})")
        }
        None => format!("the server of the same name of {layer}"),
    }
}

fn place(file: &str, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}:{line}", word(file)),
        None => word(file),
    }
}

/// Writes a text so that it is seen where it ends: in quotes, unless it is a plain word.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./@%+=:,~${}*".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        json_escape(text)
    }
}

/// Takes the quotes off a JSON string that is a plain word.
fn quoted(shown: &str) -> String {
    match serde_json::from_str::<String>(shown) {
        Ok(text) => word(&text),
        Err(_) => shown.to_owned(),
    }
}
