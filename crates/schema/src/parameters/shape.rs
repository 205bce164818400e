//! Simplified reading of the schema of one value.

use serde_json::Value;
use switchboard_wire::Raw;

use super::JsonType;

/// Maximum depth of nested schemas; recursive references end here.
const DEEPEST: usize = 8;

/// The constraints of a schema on one value, as far as they are simple.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// The allowed types; `None` if any is.
    pub kinds: Option<Vec<JsonType>>,
    /// The allowed values, if they are enumerated.
    pub choices: Option<Vec<Raw>>,
    /// The shape of the items of an array.
    pub item: Option<Box<Shape>>,
}

impl Shape {
    /// Reads the schema of a value; references point into `root`.
    pub fn read(schema: &Raw, root: &Raw) -> Self {
        Self::read_within(schema, root, DEEPEST)
    }

    fn read_within(schema: &Raw, root: &Raw, depth: usize) -> Self {
        let Some(depth) = depth.checked_sub(1) else {
            return Self::default();
        };
        if let Some(reference) = schema.member("$ref") {
            // As in older drafts, keywords beside a reference are ignored.
            let target = reference
                .as_text()
                .and_then(|pointer| resolve(root, &pointer));
            return target
                .map(|target| Self::read_within(&target, root, depth))
                .unwrap_or_default();
        }
        let mut shape = Self {
            kinds: types(schema),
            choices: choices(schema),
            item: schema
                .member("items")
                .filter(Raw::is_object)
                .map(|items| Box::new(Self::read_within(&items, root, depth))),
        };
        // Alternatives are united first; the value must then match all requirements.
        for key in ["anyOf", "oneOf"] {
            let parts = schema
                .member(key)
                .map(|parts| parts.items())
                .unwrap_or_default();
            let parts = parts
                .iter()
                .map(|part| Self::read_within(part, root, depth));
            if let Some(either) = parts.reduce(Self::or) {
                shape = shape.and(either);
            }
        }
        let parts = schema
            .member("allOf")
            .map(|parts| parts.items())
            .unwrap_or_default();
        for part in &parts {
            shape = shape.and(Self::read_within(part, root, depth));
        }
        shape
    }

    /// Combines two alternatives: values that match either shape.
    fn or(self, other: Self) -> Self {
        Self {
            choices: self
                .all_choices()
                .zip(other.all_choices())
                .map(|(a, b)| [a, b].concat()),
            kinds: self
                .possible_kinds()
                .zip(other.possible_kinds())
                .map(|(mut all, more)| {
                    all.extend(
                        more.into_iter()
                            .filter(|kind| !all.contains(kind))
                            .collect::<Vec<_>>(),
                    );
                    all
                }),
            item: self.item.or(other.item),
        }
    }

    /// Combines two requirements: values that match both shapes.
    fn and(self, other: Self) -> Self {
        let kinds = match (self.kinds, other.kinds) {
            (Some(ours), Some(theirs)) => {
                let narrower = |one: &JsonType, others: &[JsonType]| {
                    others.iter().any(|other| one.is_a(*other))
                };
                let mut both: Vec<JsonType> = ours
                    .iter()
                    .copied()
                    .filter(|kind| narrower(kind, &theirs))
                    .collect();
                let more = theirs
                    .iter()
                    .filter(|kind| narrower(kind, &ours) && !both.contains(kind));
                let more: Vec<JsonType> = more.copied().collect();
                both.extend(more);
                // A contradiction, or a schema that was not understood: leave it to the server.
                (!both.is_empty()).then_some(both)
            }
            (kinds, others) => kinds.or(others),
        };
        Self {
            kinds,
            choices: self.choices.or(other.choices),
            item: self.item.or(other.item),
        }
    }

    /// Returns the possible types of a value, derived from the choices if needed.
    pub fn possible_kinds(&self) -> Option<Vec<JsonType>> {
        if self.kinds.is_some() {
            return self.kinds.clone();
        }
        let choices = self.choices.as_ref()?;
        let mut kinds = Vec::new();
        for kind in choices.iter().map(JsonType::of) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Some(kinds)
    }

    /// Returns true if the value may match the type and the choices. Constraints that were not understood
    /// count as matched.
    pub fn may_be(&self, value: &Raw) -> bool {
        let kind = JsonType::of(value);
        let is_kind = self
            .kinds
            .as_ref()
            .is_none_or(|kinds| kinds.iter().any(|wanted| kind.is_a(*wanted)));
        let is_choice = self
            .choices
            .as_ref()
            .is_none_or(|choices| choices.iter().any(|choice| may_equal(choice, value)));
        is_kind && is_choice
    }

    /// Returns the enumerated values; the type `null` enumerates itself.
    fn all_choices(&self) -> Option<Vec<Raw>> {
        match (&self.choices, self.kinds.as_deref()) {
            (Some(choices), _) => Some(choices.clone()),
            (None, Some([JsonType::Null])) => Some(vec![Raw::null()]),
            _ => None,
        }
    }
}

fn types(schema: &Raw) -> Option<Vec<JsonType>> {
    let types = schema.member("type")?;
    if let Some(name) = types.as_text() {
        return JsonType::from_name(&name).map(|kind| vec![kind]);
    }
    let named = |name: &Raw| name.as_text().and_then(|name| JsonType::from_name(&name));
    let kinds: Option<Vec<JsonType>> = types.items().iter().map(named).collect();
    kinds.filter(|kinds| !kinds.is_empty())
}

fn choices(schema: &Raw) -> Option<Vec<Raw>> {
    if let Some(only) = schema.member("const") {
        return Some(vec![only]);
    }
    let choices = schema.member("enum")?.items();
    (!choices.is_empty()).then_some(choices)
}

/// Resolves a reference within the same document.
pub(super) fn resolve(root: &Raw, reference: &str) -> Option<Raw> {
    let pointer = reference.strip_prefix('#')?;
    let mut found = root.clone();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        found = if found.is_array() {
            found.items().get(part.parse::<usize>().ok()?)?.clone()
        } else {
            found.member(&part)?
        };
    }
    Some(found)
}

/// Returns true if two values may be equal to a server.
fn may_equal(a: &Raw, b: &Raw) -> bool {
    let (Ok(a), Ok(b)) = (a.decode::<Value>(), b.decode::<Value>()) else {
        return true;
    };
    match (&a, &b) {
        // 1 and 1.0 are the same number.
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        // They may contain numbers that are spelled differently.
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => true,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(schema: &str) -> Shape {
        let schema = Raw::parse(schema).unwrap();
        Shape::read(&schema, &schema)
    }

    fn kinds(schema: &str) -> Option<Vec<JsonType>> {
        shape(schema).possible_kinds()
    }

    #[test]
    fn types_are_read_alone_and_as_lists() {
        assert_eq!(
            kinds(r#"{"type":"integer"}"#),
            Some(vec![JsonType::Integer])
        );
        assert_eq!(
            kinds(r#"{"type":["string","null"]}"#),
            Some(vec![JsonType::String, JsonType::Null])
        );
    }

    #[test]
    fn what_is_not_understood_may_be_anything() {
        for schema in [
            "{}",
            "true",
            r#"{"type":"tuple"}"#,
            r#"{"type":["string","tuple"]}"#,
            r#"{"type":7}"#,
            r#"{"enum":[]}"#,
            r##"{"$ref":"#/nowhere"}"##,
            r#"{"$ref":"https://elsewhere.invalid/x"}"#,
            r##"{"$ref":"#"}"##,
            r#"{"anyOf":[{"type":"string"},{}]}"#,
            r#"{"type":"string","allOf":[{"type":"integer"}]}"#,
        ] {
            assert_eq!(kinds(schema), None, "{schema}");
        }
    }

    #[test]
    fn alternatives_are_put_together() {
        assert_eq!(
            kinds(r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#),
            Some(vec![JsonType::Integer, JsonType::Null])
        );
        let found = shape(r#"{"oneOf":[{"const":"a"},{"enum":["b"]},{"type":"null"}]}"#);
        let choices: Vec<String> = found
            .choices
            .unwrap()
            .iter()
            .map(|choice| choice.as_str().to_owned())
            .collect();
        assert_eq!(choices, [r#""a""#, r#""b""#, "null"]);
    }

    #[test]
    fn what_holds_together_is_narrowed() {
        assert_eq!(
            kinds(r#"{"type":["number","string"],"allOf":[{"type":"integer"}]}"#),
            Some(vec![JsonType::Integer])
        );
    }

    #[test]
    fn references_into_the_document_are_followed() {
        let root = Raw::parse(r##"{"$defs":{"a/b":{"type":"boolean"}}}"##).unwrap();
        let schema = Raw::parse(r##"{"$ref":"#/$defs/a~1b","type":"string"}"##).unwrap();
        assert_eq!(
            Shape::read(&schema, &root).kinds,
            Some(vec![JsonType::Boolean])
        );
    }
}
