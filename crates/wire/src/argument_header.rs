//! Arguments as headers of HTTP have them (`x-mcp-header`).

use crate::Raw;

/// The largest integer that a header may say: beyond it, numbers of other languages are not exact.
const LARGEST: i64 = (1 << 53) - 1;

/// A string, an integer or a boolean as the text of a header; `None` for everything else, which no header can say.
#[must_use]
pub fn argument_header(value: &Raw) -> Option<String> {
    match value.as_str() {
        text @ ("true" | "false") => Some(text.to_owned()),
        _ if value.is_string() => value.as_text(),
        text => integer(text).map(|number| number.to_string()),
    }
}

/// Parses a JSON number that is an integer, however it is written: `7`, `7.0`, `70e-1`.
fn integer(text: &str) -> Option<i64> {
    let number = text.parse::<i64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok()?;
        // A larger float may stand for a different number than the one written.
        #[allow(clippy::cast_precision_loss, reason = "2^53 - 1 is exact")]
        let is_exact = number.fract() == 0.0 && number.abs() <= LARGEST as f64;
        // An integer within 2^53, so nothing is cut off.
        #[allow(clippy::cast_possible_truncation, reason = "checked in the line above")]
        is_exact.then_some(number as i64)
    })?;
    (-LARGEST..=LARGEST).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_in_one_way_and_fractions_not_at_all() {
        let cases = [
            ("7", Some("7")),
            ("7.0", Some("7")),
            ("70e-1", Some("7")),
            ("-0.0", Some("0")),
            ("9007199254740991", Some("9007199254740991")),
            ("9007199254740992", None),
            ("9007199254740993.0", None),
            ("1e300", None),
            ("0.5", None),
            ("true", Some("true")),
            ("null", None),
            ("{}", None),
            ("\"a b\"", Some("a b")),
        ];
        for (json, expected) in cases {
            let value: Raw = serde_json::from_str(json).unwrap();
            assert_eq!(argument_header(&value).as_deref(), expected, "{json}");
        }
    }
}
