//! Example arguments for a tool.

use std::cell::Cell;

use switchboard_wire::Raw;

use super::detail::{details_within, follow};
use super::{Detail, JsonType, Shape, to_object};

/// Maximum depth of generated objects.
const DEEPEST: usize = 4;

/// Maximum number of generated values: a recursive schema has no end.
const MOST_VALUES: usize = 100;

/// Generates arguments: all required ones and no others.
pub fn example(schema: &Raw) -> Vec<(String, Raw)> {
    let maker = Maker {
        root: schema,
        left: Cell::new(MOST_VALUES),
    };
    maker.members(schema, DEEPEST)
}

/// Generates values; references point into `root`.
struct Maker<'s> {
    root: &'s Raw,
    /// Number of values that may still be generated.
    left: Cell<usize>,
}

impl Maker<'_> {
    fn members(&self, schema: &Raw, depth: usize) -> Vec<(String, Raw)> {
        let all = details_within(schema, self.root).into_iter();
        let wanted = all.filter(|detail| detail.required);
        let made = wanted.map(|detail| {
            let value = self.value(&detail, depth);
            (detail.name, value)
        });
        made.collect()
    }

    /// Returns an example or default of the schema, or the simplest value of its type.
    fn value(&self, detail: &Detail, depth: usize) -> Raw {
        // The schema's own examples are better than generated ones.
        let schema = &detail.schema;
        let examples = schema.member("examples");
        let first = examples.and_then(|list| list.items().into_iter().next());
        let given = first
            .or_else(|| detail.default.clone())
            .or_else(|| schema.member("example"))
            .filter(|value| detail.shape.may_be(value));
        given.unwrap_or_else(|| self.generate(&detail.name, &detail.shape, schema, depth))
    }

    fn generate(&self, name: &str, shape: &Shape, schema: &Raw, depth: usize) -> Raw {
        // Both the number of values and the depth are bounded: a schema may refer to itself.
        self.left.set(self.left.get().saturating_sub(1));
        let depth = depth.checked_sub(1).filter(|_| self.left.get() > 0);
        if let Some(choice) = shape.choices.as_ref().and_then(|choices| choices.first()) {
            return choice.clone();
        }
        let kinds = shape.possible_kinds().unwrap_or_default();
        // Of a nullable type the other alternative is the better example.
        let kind = kinds.iter().find(|kind| **kind != JsonType::Null);
        match kind.or(kinds.first()).copied().unwrap_or(JsonType::String) {
            JsonType::String => Raw::of(word(name, schema)).unwrap_or_else(|_| Raw::null()),
            JsonType::Integer | JsonType::Number => number(schema),
            JsonType::Boolean => json("true"),
            JsonType::Null => Raw::null(),
            JsonType::Array => {
                let item = schema.member("items").zip(depth);
                let item = item.map(|(item, depth)| {
                    let item = follow(&item, self.root);
                    let shape = Shape::read(&item, self.root);
                    self.generate(name, &shape, &item, depth)
                });
                let item = item.as_ref().map_or("", Raw::as_str);
                json(&format!("[{item}]"))
            }
            JsonType::Object => {
                let inside = depth.map(|depth| self.members(schema, depth));
                json(&to_object(&inside.unwrap_or_default()))
            }
        }
    }
}

/// Returns a number within simple limits of the schema.
fn number(schema: &Raw) -> Raw {
    let bound = schema
        .member("minimum")
        .or_else(|| schema.member("maximum"));
    let is_number = |value: &Raw| JsonType::of(value).is_a(JsonType::Number);
    match bound.filter(is_number) {
        Some(bound) => bound,
        None => json("1"),
    }
}

/// Returns a text that suits the format or name of an argument.
fn word(name: &str, schema: &Raw) -> &'static str {
    let format = schema.member("format").and_then(|format| format.as_text());
    let lower = name.to_ascii_lowercase();
    match format.as_deref() {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("email") => "ada@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("ipv4") => "192.0.2.1",
        _ if lower.contains("url") => "https://example.com/",
        _ if lower.contains("uri") => "file:///tmp/example.txt",
        _ if lower.contains("path") || lower.contains("file") => "/tmp/example.txt",
        _ if lower.contains("email") => "ada@example.com",
        _ if lower.contains("timezone") => "Europe/Berlin",
        _ if lower.contains("query") || lower.contains("search") => "example",
        _ if lower.contains("name") => "Ada",
        _ => "hello",
    }
}

fn json(text: &str) -> Raw {
    Raw::parse(text).unwrap_or_else(|_| Raw::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: &str) -> String {
        to_object(&example(&Raw::parse(schema).unwrap()))
    }

    #[test]
    fn what_must_be_given_is_made_up_by_its_type() {
        let schema = r##"{"properties":{
            "text":{"type":"string"},"when":{"type":"string","format":"date"},
            "count":{"type":"integer","minimum":5},"ratio":{"type":["null","number"]},
            "on":{"type":"boolean"},"mode":{"enum":["fast","slow"]},
            "tags":{"type":"array","items":{"type":"string"}},
            "who":{"$ref":"#/$defs/P"},"left":{"type":"string"},
            "given":{"type":"string","examples":["theirs"]},"free":{}},
            "required":["text","when","count","ratio","on","mode","tags","who","given","free"],
            "$defs":{"P":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}"##;
        assert_eq!(
            made(schema),
            r#"{"text":"hello","when":"2026-01-31","count":5,"ratio":1,"on":true,"mode":"fast","tags":["hello"],"who":{"name":"Ada"},"given":"theirs","free":"hello"}"#
        );
        assert_eq!(made("{}"), "{}");
    }

    #[test]
    fn a_schema_inside_itself_ends() {
        let schema = r##"{"properties":{"a":{"$ref":"#"}},"required":["a"],"type":"object"}"##;
        assert_eq!(made(schema), r#"{"a":{"a":{"a":{"a":{"a":{}}}}}}"#);
    }

    #[test]
    fn a_schema_that_is_everywhere_inside_itself_ends_soon() {
        let names: Vec<String> = (0..60).map(|n| format!("\"p{n}\"")).collect();
        let properties = names
            .iter()
            .map(|name| format!("{name}:{{\"$ref\":\"#\"}}"));
        let properties = properties.collect::<Vec<_>>().join(",");
        let schema = format!(
            "{{\"type\":\"object\",\"properties\":{{{properties}}},\"required\":[{}]}}",
            names.join(",")
        );
        assert!(made(&schema).len() < 50_000);
    }
}
