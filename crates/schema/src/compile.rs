//! Compiles a schema, or returns the reason why it cannot be used.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, Retrieve, Uri, ValidationError};
use serde_json::Value;
use switchboard_wire::Raw;

use super::checker::Compiled;
use super::measure::{self, Measurements};
use super::meter::Metered;
use super::words::quote;
use super::{Reason, SchemaLimits};

/// Cache of a compiled pattern, in bytes.
const PATTERN_CACHE: usize = 256 * 1024;

pub(super) fn compile(schema: &Raw, limits: &SchemaLimits) -> Result<Compiled, Reason> {
    // Measure first: compiling a hostile schema can take unbounded time and memory.
    let (measured, schema) = check_limits(schema, limits)?;
    let patterns = PatternOptions::regex()
        .size_limit(limits.pattern_bytes)
        .dfa_size_limit(PATTERN_CACHE);
    let options = jsonschema::options_for::<Metered>()
        // Nothing is fetched, patterns are linear, formats are annotations.
        .with_retriever(Nothing)
        .with_pattern_options(patterns)
        .should_validate_formats(false)
        .should_ignore_unknown_formats(true)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json");
    let validator = options.build(&schema).map_err(|error| reason(&error))?;
    Ok(Compiled {
        validator,
        is_cheap: measured.cost <= limits.cheap,
        schema,
    })
}

/// Checks a schema against the limits before it is compiled.
fn check_limits(schema: &Raw, limits: &SchemaLimits) -> Result<(Measurements, Value), Reason> {
    // Cheap checks first: length and depth need no parsed value.
    let bytes = schema.len_bytes();
    if bytes > limits.schema_bytes {
        let most = limits.schema_bytes;
        return Err(Reason::TooLarge { bytes, most });
    }
    let depth = schema.depth();
    if depth > limits.depth {
        let most = limits.depth;
        return Err(Reason::TooDeep { depth, most });
    }
    let value: Value = schema.decode().map_err(|error| Reason::NotASchema {
        detail: error.to_string(),
    })?;
    let measured = measure::measure(&value, limits.subschemas);
    if measured.subschemas > limits.subschemas {
        let most = limits.subschemas;
        return Err(Reason::TooManySubschemas { most });
    }
    if measured.patterns > limits.patterns {
        let most = limits.patterns;
        return Err(Reason::TooManyPatterns { most });
    }
    Ok((measured, value))
}

/// A retriever that refuses every address: no file, no host.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("nothing is fetched".into())
    }
}

/// The reason why the validator refused a schema.
fn reason(error: &ValidationError<'_>) -> Reason {
    match error.kind() {
        ValidationErrorKind::Referencing(error) => unresolved(error),
        ValidationErrorKind::Format { format } if format == "regex" => Reason::Pattern {
            pointer: quote(error.instance_path().as_str()),
        },
        _ => Reason::NotASchema {
            detail: quote(&error.to_string()),
        },
    }
}

fn unresolved(error: &ReferencingError) -> Reason {
    use ReferencingError as E;
    let nowhere = |reference: &str| Reason::NoSuchPlace {
        reference: quote(&format!("#{reference}")),
    };
    match error {
        E::Unretrievable { uri, .. } => Reason::Remote { uri: quote(uri) },
        E::PointerToNowhere { pointer }
        | E::InvalidPercentEncoding { pointer, .. }
        | E::InvalidArrayIndex { pointer, .. } => nowhere(pointer),
        E::NoSuchAnchor { anchor } | E::InvalidAnchor { anchor } => nowhere(anchor),
        E::UnknownSpecification { specification } => Reason::Dialect {
            uri: quote(specification),
        },
        other => Reason::NotASchema {
            detail: quote(&other.to_string()),
        },
    }
}
