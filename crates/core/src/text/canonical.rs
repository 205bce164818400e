//! A canonical text for JSON values, for hashing and comparing them.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Writes a value without white space, with object keys in byte order and as few escapes as JSON allows.
///
/// Two values have the same text exactly if a program that reads them cannot tell them apart: `1.50` and
/// `15e-1` are the same; `1` and `1.0` are not, because only the first can be read as an integer. Of
/// repeated keys the last value counts, as everywhere.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, member)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

/// Writes integers as digits and all other numbers with an exponent, so that they never look alike.
fn write_number(number: &Number, out: &mut String) {
    // Writing to a string never fails.
    let _ = if let Some(integer) = number.as_u64() {
        write!(out, "{integer}")
    } else if let Some(integer) = number.as_i64() {
        write!(out, "{integer}")
    } else if let Some(float) = number.as_f64() {
        // The shortest digits that parse to the same number.
        write!(out, "{float:e}")
    } else {
        // Only reached if a program makes serde_json keep arbitrary precision.
        write!(out, "{number}")
    };
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\0'..='\u{1f}' => {
                // Writing to a string never fails.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> String {
        canonical_json(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn order_white_space_and_spelling_do_not_count() {
        assert_eq!(
            of(r#" { "b" : [ 1 , { "z":null, "a":true } ], "a":"\u0041\/\n" } "#),
            r#"{"a":"A/\u000a","b":[1,{"a":true,"z":null}]}"#
        );
        assert_eq!(of(r#""\ud83d\ude42""#), of(r#""🙂""#));
    }

    #[test]
    fn numbers_are_equal_when_a_reader_cannot_tell_them_apart() {
        assert_eq!(of("1.50"), of("15e-1"));
        assert_eq!(of("1.0"), of("1e0"));
        assert_eq!(of("1e0"), "1e0");
        assert_eq!(of("1"), "1");
        assert_eq!(of("-1"), "-1");
        assert_eq!(of("-0"), of("-0.0"));
        let all = [
            "0",
            "-0",
            "0.0",
            "1",
            "1.0",
            "-1",
            "10",
            "1e1",
            "18446744073709551615",
            "18446744073709551616",
            "\"1\"",
            "0.1",
            "0.10000000000000002",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                assert_ne!(of(one), of(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn what_is_written_means_the_same() {
        let value =
            serde_json::json!({"a\"\\\u{1}": ["\u{2028}\u{7f}", 1.5e300, -3, {}, [], null, false]});
        assert_eq!(
            serde_json::from_str::<Value>(&canonical_json(&value)).unwrap(),
            value
        );
    }
}
