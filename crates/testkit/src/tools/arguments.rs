//! Validation of arguments against a tool's schema.
//!
//! Supports only the keywords that our schemas use. Arguments are checked against the same
//! definition that clients see.

use serde_json::{Map, Value};

/// Checks arguments against a schema of flat properties.
pub(crate) fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(format!("missing required argument {name}"));
        }
    }
    let properties = schema.get("properties");
    for (name, value) in arguments {
        let property = properties
            .and_then(|known| known.get(name))
            .ok_or_else(|| format!("unknown argument {name}"))?;
        fits(property, value).map_err(|what| format!("argument {name} {what}"))?;
    }
    Ok(())
}

fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let kind = schema.get("type").and_then(Value::as_str);
    let (fits, expected) = match kind {
        Some("string") => (value.is_string(), "a string"),
        Some("number") => (value.is_number(), "a number"),
        Some("integer") => (whole(value), "an integer"),
        Some("boolean") => (value.is_boolean(), "a boolean"),
        Some("object") => (value.is_object(), "an object"),
        _ => (true, ""),
    };
    if !fits {
        return Err(format!("must be {expected}"));
    }
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    if let Some(number) = value.as_f64() {
        if let Some(minimum) = bound("minimum").filter(|minimum| number < *minimum) {
            return Err(format!("must be at least {minimum}"));
        }
        if let Some(maximum) = bound("maximum").filter(|maximum| number > *maximum) {
            return Err(format!("must be at most {maximum}"));
        }
    }
    match schema.get("enum").and_then(Value::as_array) {
        Some(values) if !values.contains(value) => {
            let names: Vec<String> = values.iter().map(Value::to_string).collect();
            Err(format!("must be one of {}", names.join(", ")))
        }
        _ => Ok(()),
    }
}

/// Returns true if JSON Schema considers it an integer: `3.0` is one.
fn whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Reads a number.
pub(crate) fn number(arguments: &Map<String, Value>, name: &str) -> Option<f64> {
    arguments.get(name).and_then(Value::as_f64)
}

/// Reads an integer, however it is written.
pub(crate) fn whole_number(arguments: &Map<String, Value>, name: &str) -> Option<u32> {
    let number = number(arguments, name)?;
    // Through text: a cast would distort values that do not fit.
    format!("{number:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(arguments: &Value) -> Result<(), String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "enum": ["a", "b"]},
                "count": {"type": "integer", "minimum": 1, "maximum": 3},
                "size": {"type": "number"},
            },
            "required": ["count"],
        });
        check(&schema, arguments.as_object().unwrap())
    }

    #[test]
    fn arguments_that_fit_pass() {
        assert_eq!(
            verdict(&json!({"count": 3.0, "text": "a", "size": 1e3})),
            Ok(())
        );
        assert_eq!(verdict(&json!({"count": 1})), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let cases = [
            (json!({}), "missing required argument count"),
            (json!({"count": "1"}), "argument count must be an integer"),
            (json!({"count": 1.5}), "argument count must be an integer"),
            (json!({"count": null}), "argument count must be an integer"),
            (json!({"count": 0}), "argument count must be at least 1"),
            (json!({"count": 4}), "argument count must be at most 3"),
            (
                json!({"count": 1, "size": true}),
                "argument size must be a number",
            ),
            (
                json!({"count": 1, "text": 5}),
                "argument text must be a string",
            ),
            (
                json!({"count": 1, "text": "c"}),
                "argument text must be one of \"a\", \"b\"",
            ),
            (json!({"count": 1, "cuont": 1}), "unknown argument cuont"),
        ];
        for (arguments, what) in cases {
            assert_eq!(verdict(&arguments), Err(what.to_owned()));
        }
    }

    #[test]
    fn whole_numbers_are_read_in_any_spelling() {
        let arguments = json!({"a": 3, "b": 3.0, "c": -1, "d": 1e300});
        let read = |name| whole_number(arguments.as_object().unwrap(), name);
        assert_eq!([read("a"), read("b")], [Some(3), Some(3)]);
        assert_eq!([read("c"), read("d"), read("e")], [None, None, None]);
    }
}
