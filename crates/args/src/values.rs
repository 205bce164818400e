//! Tool arguments on a command line.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

use switchboard::files::{self, FileError, Refusal, Source};
use switchboard::protocol::Raw;
use switchboard::schema::parameters::{JsonType, Parameters, Shape};
use switchboard::talk::Answers;
use switchboard::text::excerpt;

/// Maximum size of a file or of stdin in bytes: the limit of the queue to a server.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum length of a word in a message.
const LONGEST_WORD: usize = 60;

/// One argument as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    key: String,
    value: ArgumentValue,
}

#[derive(Debug, Clone, PartialEq)]
enum ArgumentValue {
    /// A text, typed later by the schema.
    Text(String),
    /// A JSON value.
    Json(Raw),
}

/// The problem with arguments that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(String);

impl std::error::Error for Unreadable {}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses `--args` and the `key=value` words, in that order.
///
/// # Errors
/// Fails if a word is not an argument, or two have the same name.
pub fn read(object: Option<&str>, words: &[String]) -> Result<Vec<Argument>, Unreadable> {
    let mut arguments: Vec<Argument> = Vec::new();
    let object = object.map(read_object).transpose()?;
    let given = object.iter().flat_map(Raw::members).map(|(key, value)| {
        let value = ArgumentValue::Json(value);
        Ok(Argument { key, value })
    });
    for argument in given.chain(words.iter().map(|word| read_word(word))) {
        let argument = argument?;
        // Refused rather than overridden: the second value may be a typo.
        if arguments.iter().any(|other| other.key == argument.key) {
            return Err(Unreadable(format!(
                "the argument {:?} is given twice",
                argument.key
            )));
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

/// Returns true if the value of a word is in a file.
#[must_use]
pub fn names_file(word: &str) -> bool {
    let value = word.split_once('=');
    value.is_some_and(|(key, text)| !key.ends_with(':') && text.starts_with('@'))
}

fn read_object(text: &str) -> Result<Raw, Unreadable> {
    let text = match text {
        "-" => &from(std::io::stdin()).map_err(|why| Unreadable(format!("--args -: {why}")))?,
        text => text,
    };
    match Raw::parse(text) {
        Ok(object) if object.is_object() => Ok(object),
        Ok(_) => Err(Unreadable(
            "--args must be a JSON object, such as '{\"key\": \"value\"}'".to_owned(),
        )),
        Err(error) => Err(Unreadable(format!("--args is {error}"))),
    }
}

fn read_word(word: &str) -> Result<Argument, Unreadable> {
    let shown = || excerpt(word, LONGEST_WORD);
    let Some((key, text)) = word.split_once('=') else {
        return Err(Unreadable(format!(
            "cannot parse argument {:?}: use key=value or key:=JSON",
            shown()
        )));
    };
    // `key:=JSON`: the colon belongs to the operator.
    let (key, is_json) = match key.strip_suffix(':') {
        Some(key) => (key, true),
        None => (key, false),
    };
    if key.is_empty() {
        return Err(Unreadable(format!(
            "{:?} has no name before the \"=\"",
            shown()
        )));
    }
    // JSON before files: with `:=` an `@` is no mark.
    let value = if is_json {
        let json = Raw::parse(text).map_err(|error| {
            Unreadable(format!(
                "the value of {key:?} is {error}; write {key}=... for a plain text"
            ))
        })?;
        ArgumentValue::Json(json)
    } else if let Some(path) = text.strip_prefix('@') {
        let text = read_file(path).map_err(|why| {
            Unreadable(format!(
                "{key}=@{path}: {why}; write {key}:='\"@...\"' for a text that starts with @"
            ))
        })?;
        ArgumentValue::Text(text)
    } else {
        ArgumentValue::Text(text.to_owned())
    };
    let key = key.to_owned();
    Ok(Argument { key, value })
}

fn read_file(path: &str) -> Result<String, String> {
    if path == "-" {
        return Err("stdin is read by --args -".to_owned());
    }
    read_named_file(Path::new(path))
}

/// Reads a file that the person has named, or a pipe such as `<(command)` makes.
fn read_named_file(path: &Path) -> Result<String, String> {
    let told = |error: FileError| match error.into_why() {
        Refusal::Absent => "there is no such file".to_owned(),
        Refusal::NotAFile => "it is a folder".to_owned(),
        Refusal::TooLarge { .. } => too_long(),
        Refusal::Io(error) => error.to_string(),
        _ => "it cannot be read".to_owned(),
    };
    // The guarded open: a file that the person has named may be a pipe, but is bounded.
    let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
    let read = files::read(path, Source::Named, most).map_err(told)?;
    String::from_utf8(read.bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn too_long() -> String {
    format!("it is longer than {MOST_BYTES} bytes")
}

fn from(source: impl std::io::Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    // One byte more than allowed, to tell "exactly" from "too long".
    let mut bounded = source.take(MOST_BYTES + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MOST_BYTES {
        return Err(too_long());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// Converts arguments whose values are all strings.
///
/// # Errors
/// Fails if a value is not a string.
pub fn to_texts(arguments: Vec<Argument>) -> Result<BTreeMap<String, String>, Unreadable> {
    let arguments = arguments.into_iter();
    let texts = arguments.map(|Argument { key, value }| match value {
        ArgumentValue::Text(text) => Ok((key, text)),
        ArgumentValue::Json(json) => match json.as_text() {
            Some(text) => Ok((key, text)),
            None => Err(Unreadable(format!(
                "the value of {key:?} is no text: prompts take nothing else"
            ))),
        },
    });
    texts.collect()
}

/// Parses answers for elicitation: those of a file with a JSON object, and `key=value` words.
///
/// # Errors
/// Fails if one of them is not an answer, or two have the same name.
pub fn answers(file: Option<&Path>, words: &[String]) -> Result<Answers, Unreadable> {
    let unreadable = |path: &Path, why: &dyn fmt::Display| {
        Unreadable(format!("--answers {}: {why}", path.display()))
    };
    let object = match file {
        Some(path) => {
            let text = read_named_file(path).map_err(|why| unreadable(path, &why))?;
            let object = Raw::parse(&text).map_err(|error| unreadable(path, &error))?;
            if !object.is_object() {
                return Err(unreadable(path, &"it is no JSON object"));
            }
            Some(text)
        }
        None => None,
    };
    // The file counts as --args: a field given twice is an error here, too.
    let given = read(object.as_deref(), words)?.into_iter();
    Ok(given.fold(
        Answers::new(),
        |answers, Argument { key, value }| match value {
            ArgumentValue::Text(text) => answers.text(key, text),
            ArgumentValue::Json(value) => answers.json(key, value),
        },
    ))
}

/// Types the arguments by the tool's parameters.
///
/// A text that cannot be converted to the type of its parameter stays a text, which the check will reject.
pub fn apply_types(arguments: Vec<Argument>, parameters: &Parameters) -> Vec<(String, Raw)> {
    let typed = arguments.into_iter().map(|Argument { key, value }| {
        let value = match value {
            ArgumentValue::Json(value) => value,
            ArgumentValue::Text(text) => {
                let shape = parameters.get(&key).map(|parameter| &parameter.shape);
                type_text(&text, shape)
            }
        };
        (key, value)
    });
    typed.collect()
}

/// Types a text by the schema of its argument.
fn type_text(text: &str, shape: Option<&Shape>) -> Raw {
    // Every string has a JSON form.
    let string = Raw::of(text).unwrap_or_else(|_| Raw::null());
    // Without a type in the schema a text stays a text.
    let Some((shape, kinds)) = shape.and_then(|shape| Some((shape, shape.possible_kinds()?)))
    else {
        return string;
    };
    // "007" stays a string, unless only a choice of another type matches.
    if kinds.contains(&JsonType::String) && (shape.choices.is_none() || shape.may_be(&string)) {
        return string;
    }
    match Raw::parse(text) {
        Ok(value) if shape.may_be(&value) => value,
        _ => string,
    }
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
