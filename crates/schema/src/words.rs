//! Describes violations in words that quote the schema but never the value.
//!
//! Names of members are included, because the violation could not be found without them.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;
use switchboard_core::text::{closest, excerpt, sanitise_line};

use super::Violation;

/// Maximum length of a quoted piece of a schema, or of the name of a member.
const QUOTE_BYTES: usize = 200;

/// Maximum number of allowed values, unexpected members and alternatives in a message.
const LISTED: usize = 10;

/// Shortens a piece of a schema and makes it safe to show.
pub(super) fn quote(text: &str) -> String {
    sanitise_line(&excerpt(text, QUOTE_BYTES)).into_owned()
}

/// Describes an error of the validator.
pub(super) fn violation(error: &ValidationError<'_>, schema: &Value) -> Violation {
    let pointer = error.instance_path().as_str();
    let what = match pointer {
        "" => "the value".to_owned(),
        _ => format!("`{}`", quote(pointer)),
    };
    Violation {
        pointer: pointer.to_owned(),
        rule: error.schema_path().as_str().to_owned(),
        message: format!("{what} {}", demand(error, schema)),
    }
}

/// A violation without details, for a value whose description would cost too much.
pub(super) fn unexplained() -> Violation {
    Violation {
        pointer: String::new(),
        rule: String::new(),
        message: "the value does not fit the schema".to_owned(),
    }
}

/// The demand of a schema: the end of a sentence that begins with the place.
fn demand(error: &ValidationError<'_>, schema: &Value) -> String {
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", types(kind)),
        Kind::Required { property } => match property.as_str() {
            Some(name) => format!("must have `{}`", quote(name)),
            None => "lacks a member".to_owned(),
        },
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("must not have {}", strangers(unexpected, error, schema))
        }
        Kind::Enum { options } => format!("must be one of {}", values(options)),
        Kind::Constant { expected_value } => format!("must be {}", value(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {}", value(limit)),
        Kind::Maximum { limit } => format!("must be at most {}", value(limit)),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {}", value(limit)),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {}", value(limit)),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => at_least(*limit, "character"),
        Kind::MaxLength { limit } => at_most(*limit, "character"),
        Kind::MinItems { limit } => at_least(*limit, "item"),
        Kind::MaxItems { limit } => at_most(*limit, "item"),
        Kind::MinProperties { limit } => at_least(*limit, "member"),
        Kind::MaxProperties { limit } => at_most(*limit, "member"),
        Kind::AdditionalItems { limit } => {
            at_most(u64::try_from(*limit).unwrap_or(u64::MAX), "item")
        }
        Kind::UnevaluatedItems { .. } => "has items that nothing allows".to_owned(),
        Kind::UniqueItems => "must not hold the same item twice".to_owned(),
        Kind::Contains => "does not hold the items that it must".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`", quote(pattern)),
        Kind::PropertyNames { error } => {
            format!("has a member with a name that {}", demand(error, schema))
        }
        Kind::FalseSchema => "must not be there".to_owned(),
        Kind::Not { .. } => "must not be what its schema rules out".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives(context, error.instance_path().as_str(), schema)
        }
        Kind::OneOfMultipleValid { .. } => {
            "fits several alternatives, and must fit exactly one".to_owned()
        }
        // The remaining kinds are disabled or cannot occur in a schema that compiled.
        other => format!("does not fit `{}`", quote(other.keyword())),
    }
}

fn at_least(limit: u64, noun: &str) -> String {
    format!("must have at least {limit} {}", plural(limit, noun))
}

fn at_most(limit: u64, noun: &str) -> String {
    format!("must have at most {limit} {}", plural(limit, noun))
}

fn plural(count: u64, noun: &str) -> String {
    match count {
        1 => noun.to_owned(),
        _ => format!("{noun}s"),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => a_type(*one).to_owned(),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several.iter().map(|one| a_type(one).to_owned()).collect();
            either(&names)
        }
    }
}

fn a_type(json: JsonType) -> &'static str {
    match json {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// Joins names: `a, b or c`.
fn either(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Quotes a value of the schema.
fn value(value: &Value) -> String {
    quote(&value.to_string())
}

fn values(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    // A schema may list thousands of values.
    let mut names: Vec<String> = options.iter().take(LISTED).map(value).collect();
    match options.len().saturating_sub(LISTED) {
        0 => either(&names),
        more => {
            names.push(format!("{more} more values"));
            either(&names)
        }
    }
}

/// Lists unexpected members, each with a suggestion.
fn strangers(unexpected: &[String], error: &ValidationError<'_>, schema: &Value) -> String {
    // The known names are beside the keyword.
    let beside = error.schema_path().as_str();
    let beside = beside.rsplit_once('/').map_or("", |(parent, _)| parent);
    let known = schema
        .pointer(&format!("{beside}/properties"))
        .and_then(Value::as_object);
    let mut names: Vec<String> = unexpected
        .iter()
        .take(LISTED)
        .map(|name| {
            // Only names that the schema has are suggested.
            let meant = known.and_then(|known| closest(name, known.keys()));
            match meant {
                Some(meant) => format!("`{}` (did you mean `{}`?)", quote(name), quote(meant)),
                None => format!("`{}`", quote(name)),
            }
        })
        .collect();
    let more = unexpected.len().saturating_sub(LISTED);
    if more > 0 {
        names.push(format!("{more} more members"));
    }
    either(&names)
}

/// Lists the first violation of each alternative, with its place if that is further inside.
fn alternatives(context: &[Vec<ValidationError<'static>>], here: &str, schema: &Value) -> String {
    let firsts = context.iter().filter_map(|errors| errors.first());
    let mut demands: Vec<String> = Vec::new();
    for error in firsts.take(LISTED) {
        // Alternatives often fail for the same reason: say it once.
        let demand = demand(error, schema);
        let said = match error.instance_path().as_str() {
            place if place == here => demand,
            place => format!("`{}` {demand}", quote(place)),
        };
        if !demands.contains(&said) {
            demands.push(said);
        }
    }
    excerpt(
        &format!("fits no alternative: {}", demands.join("; or ")),
        QUOTE_BYTES * 4,
    )
}
