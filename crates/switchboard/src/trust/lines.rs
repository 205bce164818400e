//! The lines of a question.

use switchboard_core::mask::{self, COMMAND, ENV, Fact, HEADERS, MaskPolicy, URL, is_of};

use super::careful::{self, PASSTHROUGH};
use super::{Claim, Difference, Question, Reason, path};
use crate::spec::{Layer, Origin};
use crate::text::{exact, exact_word, json_escape, sanitise_line};

/// The longest line of a summary, in characters.
const SUMMARY_CHARS: usize = 400;

/// Number of those characters that are taken from the beginning of a line that is too long.
const SUMMARY_HEAD: usize = 280;

/// Maximum number of warnings that a summary repeats.
const SUMMARY_CAREFUL: usize = 6;

/// Marks a value that differs from the previous one although both are masked alike.
const ANOTHER: &str = " (another value)";

/// Everything that there is to see, masked by a policy.
pub(super) fn of(question: &Question, policy: MaskPolicy) -> Vec<String> {
    let claim = &question.claim;
    // Masked here, once: no line below sees a value that must not be shown.
    let facts = mask::facts(&claim.entry, policy);
    let mut lines = vec![
        format!("server: {}", exact_word(claim.server.as_str())),
        format!(
            "file: {}",
            place(&path::display_text(&claim.file), claim.line)
        ),
        format!("written by: {}", layer(&claim.layer)),
    ];
    lines.extend(why(question));
    lines.extend(runs(&facts));
    lines.extend(program(claim));
    lines.extend(facts.iter().filter_map(|fact| line(fact, claim)));
    lines.extend(hosts(claim));
    lines.extend(env_file(claim));
    let references = match policy {
        MaskPolicy::Terminal => claim.references.clone(),
        _ => mask::references(&claim.references),
    };
    let references = references.iter();
    lines.extend(references.map(|reference| format!("reads: {}", exact_word(reference))));
    lines.extend(login(claim));
    lines.extend(contents(claim));
    // After the facts that they are about.
    lines.extend(careful::lines(claim));
    let shadows = claim.shadows.iter();
    lines.extend(shadows.map(|origin| format!("hides: {}", shadowed(origin))));
    let changes = question.changes.iter();
    lines.extend(changes.map(|difference| change(difference, claim, policy)));
    let masked = facts.iter().filter(|fact| fact.hidden.is_some()).count();
    if masked > 0 {
        lines.push(format!(
            "masked: {masked} values that look like secrets are shown as ***; the file has them whole"
        ));
    }
    lines.push(format!("fingerprint: {}", question.fingerprint));
    safe(&lines)
}

/// Summarizes the command that would be run or the URL that would be connected to.
pub(super) fn summary(question: &Question, policy: MaskPolicy) -> Vec<String> {
    let claim = &question.claim;
    let facts = mask::facts(&claim.entry, policy);
    let words = words(&facts);
    let careful = careful::lines(claim);
    // A server must not push its command off the screen with many warnings.
    let more = careful.len().saturating_sub(SUMMARY_CAREFUL);
    let mut lines: Vec<String> = careful.into_iter().take(SUMMARY_CAREFUL).collect();
    if more > 0 {
        lines.push(format!("careful: {more} more of these lines are above"));
    }
    if !words.is_empty() {
        lines.push(format!("runs: {}", words.join(" ")));
    }
    lines.extend(program(claim));
    let urls = facts.iter().filter(|fact| is_one_of(fact, URL));
    lines.extend(urls.filter_map(|fact| line(fact, claim)));
    lines.extend(hosts(claim));
    let lines: Vec<String> = lines.iter().map(|line| shortened(line)).collect();
    safe(&lines)
}

fn safe(lines: &[String]) -> Vec<String> {
    let lines = lines.iter().map(|line| sanitise_line(line).into_owned());
    lines.collect()
}

/// The beginning and the end of a long line, and how much is between them.
fn shortened(line: &str) -> String {
    let count = line.chars().count();
    if count <= SUMMARY_CHARS {
        return line.to_owned();
    }
    let head: String = line.chars().take(SUMMARY_HEAD).collect();
    // Both ends stay: what matters may be at the end of a long command.
    let tail = SUMMARY_CHARS - SUMMARY_HEAD;
    let tail: String = line.chars().skip(count - tail).collect();
    let cut = count - SUMMARY_CHARS;
    format!("{head} [... {cut} characters, shown whole above ...] {tail}")
}

/// Returns the reason why an entry that was approved is asked about again.
fn why(question: &Question) -> Option<String> {
    if question.reason != Reason::BindsMore {
        return None;
    }
    let has = |name: &str| {
        let mut changes = question.changes.iter();
        changes.any(|change| change.pointer.split(' ').next() == Some(name))
    };
    let bound = [
        ("program", "the program"),
        ("env_file", "the env file"),
        ("content", "the content of its files"),
        ("login", "the use of your logins"),
    ];
    let bound: Vec<&str> = bound
        .iter()
        .filter_map(|(name, words)| has(name).then_some(*words))
        .collect();
    let bound = match bound.as_slice() {
        [] => "all that is shown here".to_owned(),
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    };
    Some(format!(
        "asked again: you approved this entry before Switchboard also bound {bound}"
    ))
}

/// Returns the words of the command, each quoted so that its boundaries are visible.
fn words(facts: &[Fact]) -> Vec<String> {
    let of = |name: &str| {
        let words = facts.iter().filter(move |fact| is_word_of(fact, name));
        let words = words.filter_map(|fact| fact.text.as_deref());
        words.map(exact_word).collect::<Vec<_>>()
    };
    COMMAND.iter().flat_map(|name| of(name)).collect()
}

/// The command with all its arguments, in one line, or in one each where letters of other scripts could
/// pass for others.
fn runs(facts: &[Fact]) -> Vec<String> {
    let words = words(facts);
    if words.is_empty() {
        return Vec::new();
    }
    if words.iter().all(|word| word.is_ascii()) {
        return vec![format!("runs: {}", words.join(" "))];
    }
    let lines = words.iter().enumerate().map(|(at, word)| match at {
        0 => format!("runs: {word}"),
        _ => format!("with argument {at}: {word}"),
    });
    lines.collect()
}

/// The program that the command was found to be.
fn program(claim: &Claim) -> Option<String> {
    let shown = match &claim.program {
        Some(program) => exact_word(&path::display_text(program)),
        None => {
            claim.entry.get("command")?;
            "not found".to_owned()
        }
    };
    Some(format!("program: {shown}"))
}

/// Returns `true` if a fact is a word of the command: the member itself, or an item of its list.
fn is_word_of(fact: &Fact, name: &str) -> bool {
    let is_text = fact.text.is_some();
    match fact.path.as_slice() {
        [member] => member == name && is_text,
        [member, item] => member == name && is_text && item.parse::<usize>().is_ok(),
        _ => false,
    }
}

fn is_one_of(fact: &Fact, names: &[&str]) -> bool {
    matches!(fact.path.as_slice(), [only] if names.contains(&only.as_str()))
}

/// One line for a fact that no other line has.
fn line(fact: &Fact, claim: &Claim) -> Option<String> {
    if COMMAND.iter().any(|name| is_word_of(fact, name)) {
        return None;
    }
    let value = match &fact.text {
        Some(text) => exact(text),
        None => fact.shown.clone(),
    };
    let name = || {
        let parts = fact.path.iter().skip(1).map(String::as_str);
        exact_word(&parts.collect::<Vec<_>>().join("/"))
    };
    Some(if is_of(&fact.path, ENV) {
        format!("sets: {}={value}", name())
    } else if is_of(&fact.path, HEADERS) {
        format!("sends header: {}: {value}", name())
    } else if is_of(&fact.path, PASSTHROUGH) {
        format!("lets through: {value}")
    } else if is_one_of(fact, URL) {
        format!("connects to: {value}")
    } else if is_one_of(fact, &["cwd"]) {
        format!("runs in: {value}")
    } else if claim.env_file.is_some() && is_one_of(fact, &["env_file"]) {
        format!("variables from: {value}")
    } else {
        format!("setting: {} = {value}", exact_word(&fact.pointer()))
    })
}

/// Describes the variables that the file of variables sets.
fn env_file(claim: &Claim) -> Option<String> {
    let file = claim.env_file.as_ref()?;
    let path = exact_word(&path::display_text(&file.path));
    Some(match &file.names {
        Ok(names) if names.is_empty() => format!("sets from {path}: nothing"),
        Ok(names) => {
            let names: Vec<String> = names.iter().map(|name| exact_word(name)).collect();
            format!("sets from {path}: {}", names.join(" "))
        }
        Err(why) => format!("sets from {path}: it cannot be read: {why}"),
    })
}

/// Returns the line for a claim that would use the user's login.
fn login(claim: &Claim) -> Option<String> {
    let line = "uses login: where you have logged in to this URL, your token is sent to it";
    claim.uses_login.then(|| line.to_owned())
}

/// Lists the files whose content is bound.
fn contents(claim: &Claim) -> impl Iterator<Item = String> {
    let contents = claim.contents.iter();
    contents.map(|content| {
        let path = exact_word(&path::display_text(&content.path));
        match &content.hash {
            Ok(hash) => format!("binds content: {path} {hash}"),
            Err(why) => format!("binds content: {path}: {why}"),
        }
    })
}

/// Lists the hosts of URLs in the form in which they are connected to, whatever their spelling.
fn hosts(claim: &Claim) -> Vec<String> {
    let urls = URL.iter();
    let urls = urls.filter_map(|name| claim.entry.get(name)?.as_str());
    let urls = urls.filter_map(|text| url::Url::parse(text).ok());
    let hosts = urls.filter_map(|url| Some(format!("at host: {}", exact_word(url.host_str()?))));
    hosts.collect()
}

fn change(change: &Difference, claim: &Claim, policy: MaskPolicy) -> String {
    let at = exact_word(&change.pointer);
    // Records contain no secrets, so take the current value from the entry itself.
    let now = claim.entry.pointer(&change.pointer);
    let now = now.and_then(|value| value.as_str());
    let now = now.filter(|_| policy == MaskPolicy::Terminal && change.pointer.starts_with('/'));
    let after = change.after.as_deref();
    let after = after.map(|after| now.map_or_else(|| restated(after), exact));
    let before = change.before.as_deref().map(restated);
    match (before, after) {
        (Some(before), Some(after)) => format!("changed: {at}: {before} -> {after}"),
        (None, Some(after)) => format!("added: {at}: {after}"),
        (Some(before), None) => format!("removed: {at}: {before}"),
        (None, None) => format!("changed: {at}"),
    }
}

/// Writes a value of a difference, which is JSON, so that nothing in it can hide.
fn restated(shown: &str) -> String {
    let (json, note) = match shown.strip_suffix(ANOTHER) {
        Some(json) => (json, ANOTHER),
        None => (shown, ""),
    };
    match serde_json::from_str::<String>(json) {
        Ok(text) => exact(&text) + note,
        // A number, or JSON that the program wrote itself.
        Err(_) if serde_json::from_str::<serde_json::Value>(json).is_ok() => shown.to_owned(),
        Err(_) => json_escape(shown),
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
                exact_word(&path::display_text(folder))
            )
        }
        Layer::Project => "the project in the current folder".to_owned(),
    }
}

fn shadowed(origin: &Origin) -> String {
    let layer = layer(&origin.layer);
    match &origin.file {
        Some(file) => {
            let place = place(&path::display_text(file), origin.line);
            format!("the server of the same name in {place} ({layer})")
        }
        None => format!("the server of the same name of {layer}"),
    }
}

fn place(file: &str, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}:{line}", exact_word(file)),
        None => exact_word(file),
    }
}
