//! Parses JSON with comments and trailing commas, and nothing looser.

use jsonc_parser::ast::Value;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseStringErrorKind, parse_to_ast};

use super::EditError;
use crate::tree::JSONC;

/// Parses a text; `None` if it contains no value at all.
pub(super) fn parse(text: &str) -> Result<Option<Value<'_>>, EditError> {
    parse_to_ast(text, &CollectOptions::default(), &JSONC)
        .map(|result| result.value)
        .map_err(|error| syntax(&error))
}

/// Returns the position of the first byte that is not UTF-8.
pub(super) fn not_text(bytes: &[u8], error: &std::str::Utf8Error) -> EditError {
    let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let good = str::from_utf8(good).unwrap_or_default();
    let line = good.rsplit('\n').next().unwrap_or_default();
    EditError::Syntax {
        line: good.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        what: "not UTF-8".to_owned(),
    }
}

fn syntax(error: &ParseError) -> EditError {
    let what = match error.kind() {
        // The only message of the parser that quotes the text.
        ParseErrorKind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) => {
            "invalid unicode escape sequence".to_owned()
        }
        kind => lowercase_first(&kind.to_string()),
    };
    EditError::Syntax {
        line: error.line_display(),
        column: error.column_display(),
        what,
    }
}

fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
