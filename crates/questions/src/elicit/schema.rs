//! Reads a field off its part of a schema.

use switchboard_wire::Raw;

use super::choices;
use super::field::{Field, Kind, TextFormat};
use super::limits::ElicitLimits;
use super::problem::Misread;

/// Reads a field.
///
/// # Errors
/// Fails if a user cannot fill the field in. The error does not name it.
pub(super) fn field(
    name: &str,
    schema: &Raw,
    is_required: bool,
    limits: &ElicitLimits,
) -> Result<Field, Misread> {
    if !schema.is_object() {
        return Err(Misread::new("is no object"));
    }
    let text = |schema: &Raw, key: &str| {
        let text = schema.member(key).and_then(|text| text.as_text());
        match text {
            Some(text) if text.len() > limits.text_bytes => {
                let most = limits.text_bytes;
                Err(Misread::new(format!(
                    "has a {key} of more than {most} bytes"
                )))
            }
            text => Ok(text.filter(|text| !text.is_empty())),
        }
    };
    // Title and description are outside of the union, the type is inside.
    let inner = without_null(schema);
    let mut field = Field {
        name: name.to_owned(),
        title: text(schema, "title")?,
        description: text(schema, "description")?,
        is_required,
        kind: kind(&inner, limits)?,
        default: None,
        answer_bytes: limits.answer_bytes,
    };
    let default = schema.member("default").or_else(|| inner.member("default"));
    if let Some(default) = default.filter(|default| !default.is_null()) {
        if default.len_bytes() > limits.text_bytes {
            let most = limits.text_bytes;
            return Err(Misread::new(format!(
                "has a default of more than {most} bytes"
            )));
        }
        // Drop a default that the field itself would refuse.
        field.default = Some(default).filter(|default| field.check(default).is_ok());
    }
    Ok(field)
}

/// Returns the formats that a field names: its own, and that of its inner schema if it may be null.
pub(super) fn formats(schema: &Raw) -> Vec<String> {
    let format = |schema: &Raw| schema.member("format").and_then(|it| it.as_text());
    let both = [format(schema), format(&without_null(schema))];
    both.into_iter().flatten().collect()
}

/// Unwraps the union with null that some SDKs write for an optional field.
fn without_null(schema: &Raw) -> Raw {
    let is_null = |schema: &Raw| {
        let kind = schema.member("type").and_then(|kind| kind.as_text());
        kind.as_deref() == Some("null")
    };
    let either = schema.member("anyOf").map(|either| either.items());
    match either.as_deref() {
        Some([inner, null] | [null, inner]) if is_null(null) && !is_null(inner) => inner.clone(),
        _ => schema.clone(),
    }
}

/// The type that a schema names; of several the one beside null.
fn type_of(schema: &Raw) -> Option<String> {
    let kind = schema.member("type")?;
    if !kind.is_array() {
        return kind.as_text();
    }
    let kinds = kind.items().into_iter().filter_map(|kind| kind.as_text());
    let mut kinds = kinds.filter(|kind| kind != "null");
    // More than one type beside null fits no field.
    kinds.next().filter(|_| kinds.next().is_none())
}

fn kind(schema: &Raw, limits: &ElicitLimits) -> Result<Kind, Misread> {
    let choices = choices::read(schema, limits)?;
    match (type_of(schema).as_deref(), choices) {
        (Some("string") | None, Some(choices)) => Ok(Kind::One(choices)),
        (Some("string"), None) => {
            let format = schema.member("format").and_then(|it| it.as_text());
            let (least, most) = (count(schema, "minLength")?, count(schema, "maxLength")?);
            possible(least, most)?;
            Ok(Kind::Text {
                format: match format.as_deref() {
                    Some("email") => Some(TextFormat::Email),
                    Some("uri") => Some(TextFormat::Uri),
                    Some("date") => Some(TextFormat::Date),
                    Some("date-time") => Some(TextFormat::DateTime),
                    _ => None,
                },
                least,
                most,
            })
        }
        (Some(kind @ ("number" | "integer")), None) => {
            let (least, most) = (number(schema, "minimum")?, number(schema, "maximum")?);
            possible(least, most)?;
            Ok(Kind::Number {
                is_whole: kind == "integer",
                least,
                most,
            })
        }
        (Some("boolean"), None) => Ok(Kind::Truth),
        (Some("array"), None) => {
            let items = schema.member("items");
            let choices = items
                .map(|items| choices::read(&items, limits))
                .transpose()?;
            let choices = choices.flatten();
            let choices =
                choices.ok_or_else(|| Misread::new("is a list of something else than choices"))?;
            let (least, most) = (count(schema, "minItems")?, count(schema, "maxItems")?);
            possible(least, most)?;
            let there_are = u64::try_from(choices.len()).unwrap_or(u64::MAX);
            // No more choices can be asked for than there are.
            possible(least, Some(there_are))?;
            Ok(Kind::Many {
                choices,
                least,
                most,
            })
        }
        (Some(kind), _) => {
            let kind = switchboard_core::text::excerpt(kind, 40);
            Err(Misread::new(format!(
                "is a {kind:?} that no form has a field for"
            )))
        }
        (None, None) => Err(Misread::new("does not say of which type it is")),
    }
}

fn possible<T: PartialOrd>(least: Option<T>, most: Option<T>) -> Result<(), Misread> {
    match (least, most) {
        (Some(least), Some(most)) if least > most => Err(Misread::new("wants more than it takes")),
        _ => Ok(()),
    }
}

fn count(schema: &Raw, key: &str) -> Result<Option<u64>, Misread> {
    bound(schema, key)
}

fn number(schema: &Raw, key: &str) -> Result<Option<f64>, Misread> {
    bound(schema, key)
}

fn bound<T: serde::de::DeserializeOwned>(schema: &Raw, key: &str) -> Result<Option<T>, Misread> {
    let Some(value) = schema.member(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let read = value.decode().map(Some);
    read.map_err(|_| Misread::new(format!("has a {key} that is no bound")))
}
