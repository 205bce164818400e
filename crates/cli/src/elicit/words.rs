//! Form fields in words.

use switchboard::protocol::Raw;
use switchboard::talk::{Field, Kind, TextFormat};

use super::safe_line;

/// Formats a field: title, constraints, description, and the choices.
pub(super) fn lines(field: &Field) -> String {
    let mut wanted: Vec<String> = Vec::new();
    wanted.push(if field.is_required {
        "required".to_owned()
    } else {
        "optional".to_owned()
    });
    wanted.extend(kind(&field.kind));
    let mut lines = format!("\n  {} ({})\n", safe_line(field.label()), wanted.join("; "));
    if let Some(description) = &field.description {
        lines.push_str(&super::quote_lines(description));
    }
    if let Kind::One(choices) | Kind::Many { choices, .. } = &field.kind {
        for (at, choice) in choices.iter().enumerate() {
            lines.push_str(&format!("    {}. {}\n", at + 1, safe_line(choice.label())));
        }
    }
    lines
}

/// Returns the constraints of a kind of field in words.
fn kind(kind: &Kind) -> Option<String> {
    match kind {
        Kind::Text {
            format,
            least,
            most,
        } => match format {
            Some(TextFormat::Email) => Some("an email address".to_owned()),
            Some(TextFormat::Uri) => Some("a URL such as https://example.com/".to_owned()),
            Some(TextFormat::Date) => Some("a date such as 2026-07-28".to_owned()),
            Some(TextFormat::DateTime) => Some("such as 2026-07-28T09:30:00Z".to_owned()),
            _ => range(*least, *most).map(|range| format!("{range} characters")),
        },
        Kind::Number {
            is_whole,
            least,
            most,
        } => {
            let number = if *is_whole {
                "a whole number"
            } else {
                "a number"
            };
            Some(match range(*least, *most) {
                Some(range) => format!("{number}, {range}"),
                None => number.to_owned(),
            })
        }
        Kind::Truth => Some("yes or no".to_owned()),
        Kind::One(_) => Some("choose one".to_owned()),
        Kind::Many { least, most, .. } => Some(match range(*least, *most) {
            Some(range) => format!("choose {range}, comma-separated"),
            None => "choose any, comma-separated".to_owned(),
        }),
        _ => None,
    }
}

/// Words a range, such as `2 to 5`; `None` without a limit.
fn range<T: ToString>(least: Option<T>, most: Option<T>) -> Option<String> {
    let (least, most) = (
        least.map(|it| it.to_string()),
        most.map(|it| it.to_string()),
    );
    match (least, most) {
        (Some(least), Some(most)) if least == most => Some(format!("exactly {least}")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

/// Formats a value for people: choices by their titles, booleans as yes or no.
pub(super) fn value(field: &Field, value: &Raw) -> String {
    let text = match &field.kind {
        Kind::Truth if value.as_str() == "true" => "yes".to_owned(),
        Kind::Truth => "no".to_owned(),
        Kind::One(_) => title(field, value),
        Kind::Many { .. } => {
            let titles: Vec<String> = value.items().iter().map(|it| title(field, it)).collect();
            if titles.is_empty() {
                "(none)".to_owned()
            } else {
                titles.join(", ")
            }
        }
        _ => text(value),
    };
    safe_line(&text)
}

fn text(value: &Raw) -> String {
    value.as_text().unwrap_or_else(|| value.as_str().to_owned())
}

fn title(field: &Field, value: &Raw) -> String {
    let value = text(value);
    match &field.kind {
        Kind::One(choices) | Kind::Many { choices, .. } => {
            let choice = choices.iter().find(|choice| choice.value == value);
            choice.map_or(value, |choice| choice.label().to_owned())
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::{ElicitParams, FromRaw as _};
    use switchboard::talk::{ElicitLimits, Form};

    use super::*;

    fn field(schema: &str, required: &str) -> Field {
        let text = format!(
            r#"{{"message":"","requestedSchema":{{"properties":{{"x":{schema}}},"required":[{required}]}}}}"#
        );
        let question = ElicitParams::from_raw(&Raw::parse(&text).unwrap()).unwrap();
        let form = Form::read(&question, &ElicitLimits::default()).unwrap();
        form.fields().first().unwrap().clone()
    }

    #[test]
    fn a_field_says_what_it_is_for_and_what_it_takes() {
        let said = |schema: &str| lines(&field(schema, ""));
        let text = r#"{"type":"string","title":"Na\u001bme","description":"to greet you\nby","minLength":2,"maxLength":9}"#;
        assert_eq!(
            lines(&field(text, r#""x""#)),
            "\n  Na\\u{1b}me (required; 2 to 9 characters)\n  | to greet you\n  | by\n"
        );
        assert_eq!(said(r#"{"type":"string"}"#), "\n  x (optional)\n");
        assert_eq!(
            said(r#"{"type":"integer","minimum":1}"#),
            "\n  x (optional; a whole number, at least 1)\n"
        );
        let many = r#"{"type":"array","maxItems":1,"items":{"anyOf":[{"const":"m","title":"Monday"},{"const":"t"}]}}"#;
        assert_eq!(
            said(many),
            "\n  x (optional; choose at most 1, comma-separated)\n    1. Monday\n    2. t\n"
        );
    }

    #[test]
    fn a_value_is_shown_as_somebody_would_say_it() {
        let shown =
            |schema: &str, json: &str| value(&field(schema, ""), &Raw::parse(json).unwrap());
        assert_eq!(shown(r#"{"type":"boolean"}"#, "true"), "yes");
        assert_eq!(shown(r#"{"type":"number"}"#, "1.10"), "1.10");
        assert_eq!(shown(r#"{"type":"string"}"#, r#""a\nb""#), "a\\nb");
        let one = r#"{"type":"string","oneOf":[{"const":"s","title":"Small"}]}"#;
        assert_eq!(shown(one, r#""s""#), "Small");
        let many = r#"{"type":"array","items":{"enum":["a","b"]}}"#;
        assert_eq!(shown(many, r#"["b","a"]"#), "b, a");
        assert_eq!(shown(many, "[]"), "(none)");
    }
}
