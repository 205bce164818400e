//! Fills in the form of an elicitation with the defaults of its schema.

use std::collections::HashSet;

use crate::{ElicitParams, Raw};

/// The content of a form, complete or with required fields missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledForm {
    /// The answers: an object, as [`crate::ElicitResult::accept`] takes it.
    pub content: Raw,
    /// The required fields that have neither an answer nor a default.
    pub missing: Vec<String>,
}

impl FilledForm {
    /// Returns true if every required field has a value.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

impl ElicitParams {
    /// Returns the form as it is before a person has edited it: the defaults of its schema.
    pub fn defaults(&self) -> FilledForm {
        self.fill(&Raw::empty_object())
    }

    /// Combines the person's answers with the schema's defaults for the fields left out.
    ///
    /// Answers are kept as they are and come first; anything but an object counts as no answers. A
    /// default that its own field would not accept (another type, not a choice of the enum) is skipped,
    /// because the server would refuse it.
    pub fn fill(&self, answers: &Raw) -> FilledForm {
        let mut names = HashSet::new();
        let mut content = String::from("{");
        let mut put = |name: &str, value: &Raw, names: &mut HashSet<String>| {
            if content.len() > 1 {
                content.push(',');
            }
            content.push_str(&json_string(name));
            content.push(':');
            content.push_str(value.as_str());
            names.insert(name.to_owned());
        };
        // Answers first: a default never replaces an answer.
        for (name, answer) in answers.members() {
            put(&name, &answer, &mut names);
        }
        let schema = self.requested_schema();
        let fields = schema.and_then(|schema| schema.member("properties"));
        for (name, field) in fields.map(|fields| fields.members()).unwrap_or_default() {
            if names.contains(&name) {
                continue;
            }
            if let Some(default) = field.member("default").filter(|it| takes(&field, it)) {
                put(&name, &default, &mut names);
            }
        }
        content.push('}');
        // What is still missing after the defaults: only the person can supply it.
        let required = schema.and_then(|schema| schema.member("required"));
        let required = required.map(|names| names.items()).unwrap_or_default();
        FilledForm {
            // Made of JSON values and names in quotes, so it is an object.
            content: Raw::parse(&content).unwrap_or_else(|_| Raw::empty_object()),
            missing: required
                .iter()
                .filter_map(Raw::as_text)
                .filter(|name| !names.contains(name))
                .collect(),
        }
    }
}

/// Encodes a name as a JSON string.
fn json_string(name: &str) -> String {
    // A string always has a JSON form.
    serde_json::to_string(name).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Returns true if a field accepts the value, judging by its type and its choices.
fn takes(field: &Raw, value: &Raw) -> bool {
    let kind = field.member("type").and_then(|kind| kind.as_text());
    match kind.as_deref() {
        Some("string") => value.is_string() && is_choice(&choices(field, "oneOf"), value),
        Some("number") => is_number(value),
        Some("integer") => is_number(value) && is_whole(value),
        Some("boolean") => matches!(value.as_str(), "true" | "false"),
        // 2025-11-25: several choices of an enum.
        Some("array") => {
            let items = field.member("items");
            let choices = items.and_then(|items| choices(&items, "anyOf"));
            let fits = |item: &Raw| item.is_string() && is_choice(&choices, item);
            value.is_array() && value.items().iter().all(fits)
        }
        _ => false,
    }
}

/// Returns the choices of an enum, titled or plain; `None` if any value is allowed.
fn choices(field: &Raw, titled: &str) -> Option<Vec<Raw>> {
    if let Some(plain) = field.member("enum") {
        return Some(plain.items());
    }
    let titled = field.member(titled)?.items();
    Some(titled.iter().filter_map(|it| it.member("const")).collect())
}

/// Compares decoded strings, not spellings: `"\u0061"` equals `"a"`.
fn is_choice(choices: &Option<Vec<Raw>>, value: &Raw) -> bool {
    let same = |choice: &Raw| choice.is_string() && choice.as_text() == value.as_text();
    choices.as_ref().is_none_or(|all| all.iter().any(same))
}

fn is_number(value: &Raw) -> bool {
    value
        .as_str()
        .starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Returns true if a number has no fraction, in any notation: `3`, `3.0`, `3e2`.
fn is_whole(value: &Raw) -> bool {
    let text = value.as_str();
    !text.contains(['.', 'e', 'E']) || text.parse::<f64>().is_ok_and(|it| it.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRaw;

    fn form(schema: &str) -> ElicitParams {
        let text = format!(r#"{{"message":"?","requestedSchema":{schema}}}"#);
        ElicitParams::from_raw(&Raw::parse(&text).unwrap()).unwrap()
    }

    fn defaults_of(fields: &str) -> String {
        let form = form(&format!(r#"{{"type":"object","properties":{fields}}}"#));
        form.defaults().content.as_str().to_owned()
    }

    #[test]
    fn a_default_of_every_type_is_taken_as_it_is_written() {
        let fields = r#"{
            "name": {"type": "string", "default": "J\u00f6rg"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.50},
            "status": {"type": "string", "enum": ["on", "off"], "default": "off"},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}], "default": "s"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["b"]},
            "days": {"type": "array", "items": {"anyOf": [{"const": "mo", "title": "Monday"}]}, "default": ["mo"]},
            "sure": {"type": "boolean", "default": false}
        }"#;
        assert_eq!(
            defaults_of(fields),
            r#"{"name":"J\u00f6rg","age":30,"score":95.50,"status":"off","size":"s","tags":["b"],"days":["mo"],"sure":false}"#
        );
    }

    #[test]
    fn a_default_that_its_field_would_not_take_is_passed_over() {
        for field in [
            r#"{"type":"string","default":1}"#,
            r#"{"type":"string","default":null}"#,
            r#"{"type":"string","enum":["a"],"default":"b"}"#,
            r#"{"type":"string","oneOf":[{"const":"a"}],"default":"b"}"#,
            r#"{"type":"integer","default":1.5}"#,
            r#"{"type":"integer","default":"1"}"#,
            r#"{"type":"number","default":true}"#,
            r#"{"type":"boolean","default":"true"}"#,
            r#"{"type":"array","items":{"type":"string","enum":["a"]},"default":["a","b"]}"#,
            r#"{"type":"array","items":{"type":"string"},"default":"a"}"#,
            r#"{"type":"object","default":{}}"#,
            r#"{"default":"a"}"#,
            r#"{"type":"string"}"#,
            "true",
        ] {
            assert_eq!(defaults_of(&format!(r#"{{"x":{field}}}"#)), "{}", "{field}");
        }
    }

    #[test]
    fn whole_numbers_may_be_written_in_any_way() {
        for number in ["3", "-3", "3.0", "3e2", "123456789012345678901234567890"] {
            let field = format!(r#"{{"x":{{"type":"integer","default":{number}}}}}"#);
            assert_eq!(defaults_of(&field), format!(r#"{{"x":{number}}}"#));
        }
    }

    #[test]
    fn a_choice_may_be_spelled_with_escapes() {
        let field = r#"{"x":{"type":"string","enum":["a"],"default":"\u0061"}}"#;
        assert_eq!(defaults_of(field), r#"{"x":"\u0061"}"#);
    }

    #[test]
    fn answers_win_over_defaults_and_keep_their_text() {
        let form = form(
            r#"{"properties":{"a":{"type":"number","default":1},"b":{"type":"number","default":2}}}"#,
        );
        let filled = form.fill(&Raw::parse(r#"{"b":2.00,"extra":"x"}"#).unwrap());
        assert_eq!(filled.content.as_str(), r#"{"b":2.00,"extra":"x","a":1}"#);
        let nothing = form.fill(&Raw::parse("[1]").unwrap());
        assert_eq!(nothing, form.defaults());
    }

    #[test]
    fn required_fields_without_a_value_are_named() {
        let form = form(
            r#"{"properties":{"a":{"type":"string"},"b":{"type":"boolean","default":true}},"required":["a","b"]}"#,
        );
        let blank = form.defaults();
        assert_eq!(blank.missing, ["a"]);
        assert!(!blank.is_complete());
        assert!(
            form.fill(&Raw::parse(r#"{"a":"x"}"#).unwrap())
                .is_complete()
        );
    }

    #[test]
    fn a_field_may_have_any_name() {
        let field = r#"{"a\"b\\\n":{"type":"boolean","default":true}}"#;
        assert_eq!(defaults_of(field), r#"{"a\"b\\\n":true}"#);
    }

    #[test]
    fn a_question_without_a_schema_has_an_empty_form() {
        let url = r#"{"message":"?","mode":"url","url":"https://example.com"}"#;
        let url = ElicitParams::from_raw(&Raw::parse(url).unwrap()).unwrap();
        assert_eq!(url.defaults().content, Raw::empty_object());
        assert_eq!(defaults_of("[]"), "{}");
    }
}
