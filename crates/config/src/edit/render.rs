//! Writes new values as text, in the style of the file around them.

use serde_json::Value;

/// Longest list of plain values that is written on one line.
const LINE: usize = 72;

/// The style of new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style<'d> {
    /// Over several lines.
    Lines {
        /// The line end.
        newline: &'d str,
        /// The indentation of the first line.
        indent: &'d str,
        /// The indentation of each further level.
        unit: &'d str,
    },
    /// On one line, with or without spaces.
    OneLine {
        /// True for spaces after colons and commas.
        spaced: bool,
    },
}

/// Writes a member of an object.
pub(super) fn member(key: &str, value: &Value, style: Style<'_>) -> String {
    let mut out = string(key);
    out.push_str(style.colon());
    write(&mut out, value, style, 0);
    out
}

/// Writes a value.
pub(super) fn value(value: &Value, style: Style<'_>) -> String {
    let mut out = String::new();
    write(&mut out, value, style, 0);
    out
}

impl Style<'_> {
    fn colon(self) -> &'static str {
        match self {
            Self::OneLine { spaced: false } => ":",
            _ => ": ",
        }
    }

    /// Starts a new line for an item at a depth, or for the closing bracket.
    fn begin(self, out: &mut String, depth: usize) {
        if let Self::Lines {
            newline,
            indent,
            unit,
        } = self
        {
            out.push_str(newline);
            out.push_str(indent);
            for _ in 0..depth {
                out.push_str(unit);
            }
        }
    }

    fn comma(self, out: &mut String) {
        out.push_str(match self {
            Self::OneLine { spaced: true } => ", ",
            _ => ",",
        });
    }
}

fn write(out: &mut String, value: &Value, style: Style<'_>, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                if at > 0 {
                    style.comma(out);
                }
                style.begin(out, depth + 1);
                out.push_str(&string(key));
                out.push_str(style.colon());
                write(out, value, style, depth + 1);
            }
            style.begin(out, depth);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            let style = match style {
                // Short lists such as `args` are easier to read on one line.
                Style::Lines { .. } if fits_a_line(items) => Style::OneLine { spaced: true },
                _ => style,
            };
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    style.comma(out);
                }
                style.begin(out, depth + 1);
                write(out, item, style, depth + 1);
            }
            style.begin(out, depth);
            out.push(']');
        }
        Value::String(text) => out.push_str(&string(text)),
        // An empty container, or a scalar.
        _ => out.push_str(&value.to_string()),
    }
}

fn fits_a_line(items: &[Value]) -> bool {
    let is_plain = |item: &Value| !item.is_object() && !item.is_array();
    items.iter().all(is_plain)
        && items.iter().map(|i| i.to_string().len() + 2).sum::<usize>() <= LINE
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}
