//! The calls that models make.

use std::fmt;

use serde_json::Value;
use switchboard_wire::Raw;

/// A call that a model asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id that the result must name.
    pub id: String,
    /// The tool, under the name that the model was told.
    pub name: String,
    /// The arguments: always an object.
    pub arguments: Raw,
}

/// The reason why a model's call cannot be read. It never quotes the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseCallError {
    /// It is not what calls look like in this API.
    NotACall {
        /// The `type` that calls have.
        expected: &'static str,
    },
    /// A member is missing, or no string.
    Missing {
        /// The name of the member.
        member: &'static str,
    },
    /// The arguments are no JSON: often an answer that was cut off.
    ArgumentsNotJson {
        /// The parser's message, with the position.
        detail: String,
    },
    /// The arguments are JSON, but no object.
    ArgumentsNotAnObject,
}

impl fmt::Display for ParseCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACall { expected } => write!(f, "expected a call of type `{expected}`"),
            Self::Missing { member } => write!(f, "the call has no `{member}` that is a string"),
            Self::ArgumentsNotJson { detail } => {
                write!(f, "the arguments of the call are not JSON: {detail}")
            }
            Self::ArgumentsNotAnObject => {
                f.write_str("the arguments of the call must be a JSON object")
            }
        }
    }
}

impl std::error::Error for ParseCallError {}

/// The members of a call of one type.
pub(super) fn of_type(call: &Value, expected: &'static str) -> Result<(), ParseCallError> {
    match call.get("type").and_then(Value::as_str) {
        Some(found) if found == expected => Ok(()),
        // Servers that speak the API of others leave it out.
        None if call.is_object() => Ok(()),
        _ => Err(ParseCallError::NotACall { expected }),
    }
}

pub(super) fn string(call: &Value, member: &'static str) -> Result<String, ParseCallError> {
    let found = call.get(member).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .ok_or(ParseCallError::Missing { member })
}

/// Arguments as a text of JSON, as an object, or not at all.
pub(super) fn arguments(arguments: Option<&Value>) -> Result<Raw, ParseCallError> {
    let not_json = |detail: String| ParseCallError::ArgumentsNotJson { detail };
    let raw = match arguments {
        None | Some(Value::Null) => return Ok(Raw::empty_object()),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(Raw::empty_object()),
        Some(Value::String(text)) => match Raw::parse(text) {
            Ok(raw) => raw,
            // Asked again for its position: the parser of `Raw` may quote what it found.
            Err(_) => {
                let place = serde_json::from_str::<serde::de::IgnoredAny>(text)
                    .err()
                    .map(|error| format!("line {}, column {}", error.line(), error.column()));
                return Err(not_json(
                    place.unwrap_or_else(|| "more than one value".to_owned()),
                ));
            }
        },
        Some(other) => Raw::of(other).map_err(|error| not_json(error.to_string()))?,
    };
    if raw.is_object() {
        Ok(raw)
    } else {
        Err(ParseCallError::ArgumentsNotAnObject)
    }
}
