//! Texts of an entry with what looks secret masked and everything else in sight.
//!
//! An entry is the project's own text. To the person who decides about it at a terminal it is shown whole, because
//! every mask is a place to hide code in; the masks are for reports and records, which others may read. There a
//! reference such as `${TOKEN}` is no secret, and a report does not mask what may be code.

use serde_json::Value;

use super::facts::is_of;
use crate::secret::{MASK, looks_secret, mask_args};

/// Words before a token that are no part of it.
const SCHEMES: &[&str] = &["Bearer", "Basic", "Token", "Digest"];

/// Who is going to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// The person who decides, at a terminal: every literal is shown whole.
    Person,
    /// A report that may end up in a log: what looks like a secret is masked, unless it may be code.
    Report,
    /// A file or a log: whatever looks like a secret is masked.
    Record,
}

/// Masks a value that is secret by its name: nothing stays but references and the kind of token.
pub(super) fn secret(text: &str) -> String {
    let pieces = pieces(text).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Reference { name, default } => reference(name, default.map(|_| MASK.to_owned())),
            Piece::Literal(literal) => secret_literal(literal),
        })
        .collect()
}

fn secret_literal(literal: &str) -> String {
    if literal.trim().is_empty() {
        return literal.to_owned();
    }
    // By itself such a word may as well be a password.
    let Some(rest) = behind_scheme(literal) else {
        return MASK.to_owned();
    };
    let scheme = literal.strip_suffix(rest).unwrap_or_default();
    let rest = if rest.trim().is_empty() { rest } else { MASK };
    format!("{scheme}{rest}")
}

/// What comes behind the kind of a token: `x` of `Bearer x`.
fn behind_scheme(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once(' ')?;
    let mut schemes = SCHEMES.iter();
    schemes
        .any(|scheme| first.eq_ignore_ascii_case(scheme))
        .then_some(rest)
}

/// Masks what looks secret in a text whose name tells nothing.
pub(super) fn plain(text: &str) -> String {
    arguments(&[text], Reader::Record).concat()
}

/// Masks what looks secret in arguments.
pub(super) fn arguments(args: &[&str], reader: Reader) -> Vec<String> {
    if reader == Reader::Person {
        return args.iter().map(|arg| (*arg).to_owned()).collect();
    }
    let owned: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let mut before = "";
    let masked = args.iter().zip(mask_args(&owned));
    masked
        .map(|(arg, masked)| {
            let is_behind_flag = takes_code(std::mem::replace(&mut before, arg));
            if arg.contains("${") && arg.contains("://") && !arg.contains(char::is_whitespace) {
                url(arg)
            } else if (masked == *arg && !has_secret_default(arg))
                || (reader == Reader::Report && may_be_code(arg, is_behind_flag))
            {
                (*arg).to_owned()
            } else if !arg.contains("${") {
                masked
            } else if masked == MASK {
                secret(arg)
            } else {
                around_references(arg)
            }
        })
        .collect()
}

/// Whether a reference that is named like a secret has a default, which is one then.
fn has_secret_default(text: &str) -> bool {
    let mut pieces = pieces(text).into_iter();
    pieces.any(|piece| match piece {
        Piece::Reference { name, default } => default.is_some() && looks_secret(name),
        Piece::Literal(_) => false,
    })
}

/// Masks what looks secret in a URL: user and password, values of the query, the fragment.
///
/// References stay where a part is shown; where one is in a part that is masked, it goes with it.
pub(super) fn url(text: &str) -> String {
    // A URL with references in it is none yet: words take their place for as long as it is looked at.
    let mut stand_ins: Vec<(String, String)> = Vec::new();
    let mut whole = String::new();
    let mut number = 1000_u32;
    for piece in pieces(text) {
        match piece {
            Piece::Literal(literal) => whole.push_str(literal),
            Piece::Reference { name, default } => {
                let is_port = whole.ends_with(':');
                let stand_in = loop {
                    number += 1;
                    let stand_in = match is_port {
                        true => number.to_string(),
                        false => format!("reference-{number}"),
                    };
                    if !text.contains(&stand_in) {
                        break stand_in;
                    }
                };
                whole.push_str(&stand_in);
                stand_ins.push((stand_in, reference(name, default.map(plain))));
            }
        }
    }
    // What begins with a reference may have its scheme from there.
    let scheme = if whole.contains("://") { "" } else { "http://" };
    let masked = match url::Url::parse(&format!("{scheme}{whole}")) {
        Ok(_) => mask_args(&[format!("{scheme}{whole}")]).concat(),
        // Nothing tells what is what, but what comes before the query leads somewhere.
        Err(_) => match whole.split_once(['?', '#', '@']) {
            Some((before, _)) => format!("{scheme}{} {MASK}", plain(before)),
            None => format!("{scheme}{}", mask_args(&[whole]).concat()),
        },
    };
    let masked = masked.strip_prefix(scheme).unwrap_or(&masked).to_owned();
    let stand_ins = stand_ins.into_iter();
    stand_ins.fold(masked, |text, (stand_in, name)| {
        text.replace(&stand_in, &name)
    })
}

/// Masks what stands around references, and their defaults, in a text that has a secret somewhere.
fn around_references(text: &str) -> String {
    let pieces = pieces(text).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Reference { name, default } => reference(name, default.map(|_| MASK.to_owned())),
            Piece::Literal(literal) => mask_args(&[literal.to_owned()]).concat(),
        })
        .collect()
}

/// Masks the defaults of references.
pub(super) fn references(references: &[String]) -> Vec<String> {
    let references = references.iter();
    references
        .map(|reference| {
            let masked = secret(reference);
            // What is no reference by its looks is one by where it stands.
            if masked == MASK {
                plain(reference)
            } else {
                masked
            }
        })
        .collect()
}

/// Masks an entry for a log: no literal value of a variable or header stays.
pub(super) fn for_logs(entry: &Value) -> Value {
    let mut entry = entry.clone();
    hide(&mut entry, &mut Vec::new(), false);
    entry
}

fn hide(value: &mut Value, path: &mut Vec<String>, is_hidden: bool) {
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) if !is_hidden => {}
        Value::Bool(_) | Value::Number(_) => *value = MASK.into(),
        Value::String(text) => *text = if is_hidden { secret(text) } else { plain(text) },
        Value::Array(items) if !is_hidden && items.iter().all(Value::is_string) => {
            let args: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            let args = arguments(&args, Reader::Record);
            *items = args.into_iter().map(Value::from).collect();
        }
        Value::Array(items) => {
            for item in items {
                hide(item, path, is_hidden);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                path.push(key.clone());
                let is_value = is_of(path, super::facts::ENV) || is_of(path, super::facts::HEADERS);
                hide(member, path, is_hidden || is_value || looks_secret(key));
                path.pop();
            }
        }
    }
}

/// A part of an unexpanded text.
enum Piece<'a> {
    Literal(&'a str),
    Reference {
        name: &'a str,
        default: Option<&'a str>,
    },
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${") {
        let Some((inside, after)) = from.split_once('}') else {
            break;
        };
        found.push(Piece::Literal(before));
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        found.push(Piece::Reference { name, default });
        rest = after;
    }
    found.push(Piece::Literal(rest));
    found
}

fn reference(name: &str, default: Option<String>) -> String {
    match default {
        Some(default) => format!("${{{name}:-{default}}}"),
        None => format!("${{{name}}}"),
    }
}

/// Tells whether the argument behind this one is code, for the interpreters that there are.
fn takes_code(flag: &str) -> bool {
    let lower = flag.to_ascii_lowercase();
    let letters = lower.strip_prefix('-').unwrap_or_default();
    let is_short = letters.len() <= 4 && letters.chars().all(|c| c.is_ascii_alphabetic());
    matches!(
        lower.as_str(),
        "--eval" | "--print" | "--exec" | "--execute" | "--command" | "-command" | "/c" | "/k"
    ) || (is_short && letters.ends_with(['c', 'e', 'p', 'r']))
        || (letters.len() > 1 && "encodedcommand".starts_with(letters))
}

/// Tells whether an argument may be code, so that a mask could hide what it does.
fn may_be_code(arg: &str, is_behind_flag: bool) -> bool {
    let literals = pieces(arg).into_iter().map(|piece| match piece {
        Piece::Literal(literal) => literal,
        Piece::Reference { default, .. } => default.unwrap_or_default(),
    });
    let literal: String = literals.collect();
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    // `API_KEY=x` and `Authorization: Bearer x` can do nothing, as long as x is a plain word.
    let named = literal
        .split_once(": ")
        .map(|(name, value)| (name, behind_scheme(value).unwrap_or(value)))
        .or_else(|| literal.split_once('='));
    if let Some((name, value)) = named
        && is_name(name)
        && value.chars().all(is_harmless)
    {
        return false;
    }
    if is_behind_flag {
        return true;
    }
    if literal.contains("://")
        && literal
            .chars()
            .all(|c| is_harmless(c) || "&?#[]".contains(c))
    {
        return false;
    }
    let is_document =
        literal.starts_with(['{', '[']) && serde_json::from_str::<Value>(&literal).is_ok();
    !is_document && !literal.chars().all(is_harmless)
}

/// Characters that no interpreter makes anything of.
fn is_harmless(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.~+/=:@%,".contains(c)
}
