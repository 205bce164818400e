//! Parses JSON with comments and trailing commas.

use std::ops::Range;

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::errors::ParseErrorKind as Wrong;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Member, Node, NodeKind};
use crate::limits::LIMITS;
use crate::mask;
use crate::problem::ProblemKind;
use crate::report::Note;

/// Comments and trailing commas, and nothing looser, so that every file that can be read can be edited.
pub(crate) const JSONC: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a JSON text; `None` if it contains no value.
pub(super) fn parse(text: &str) -> Result<Option<Node>, Note> {
    // Check for an unclosed string first: the parser would continue it over the line end, and report an
    // error many lines below.
    let outline = mask::outline(text);
    if let Some(at) = outline.open_string {
        let note = Note::error(ProblemKind::Syntax, at, "this text has no closing quote");
        return Err(note
            .expecting("`\"` before the end of the line")
            .hint("close the text; a line break inside of it is written `\\n`"));
    }
    if let Some(at) = outline.too_deep {
        let message = format!("nested more than {} levels deep", LIMITS.depth);
        return Err(Note::error(ProblemKind::TooDeep, at, message).expecting("a flatter file"));
    }
    // The parser recurses, so the depth had to be checked before.
    match parse_to_ast(text, &CollectOptions::default(), &JSONC) {
        Ok(parsed) => Ok(parsed.value.map(node)),
        Err(error) => {
            let range = error.range();
            Err(describe_error(text, error.kind(), range.start..range.end))
        }
    }
}

fn node(value: Value<'_>) -> Node {
    match value {
        Value::NullKeyword(it) => Node::new(it.range.start..it.range.end, NodeKind::Null),
        Value::BooleanLit(it) => Node::new(it.range.start..it.range.end, NodeKind::Bool(it.value)),
        Value::NumberLit(it) => {
            let kind = NodeKind::Number(it.value.to_owned());
            Node::new(it.range.start..it.range.end, kind)
        }
        Value::StringLit(it) => {
            let kind = NodeKind::Text(it.value.into_owned());
            Node::new(it.range.start..it.range.end, kind)
        }
        Value::Array(it) => {
            let kind = NodeKind::List(it.elements.into_iter().map(node).collect());
            Node::new(it.range.start..it.range.end, kind)
        }
        Value::Object(it) => {
            let members = it.properties.into_iter().map(|member| {
                let range = match &member.name {
                    ObjectPropName::String(name) => name.range,
                    ObjectPropName::Word(name) => name.range,
                };
                Member {
                    key: member.name.into_string(),
                    key_span: range.start..range.end,
                    value: node(member.value),
                }
            });
            let kind = NodeKind::Object(members.collect());
            Node::new(it.range.start..it.range.end, kind)
        }
    }
}

/// Describes an error of the parser in our own words.
fn describe_error(text: &str, wrong: &Wrong, span: Range<usize>) -> Note {
    let note = |message: &str| Note::error(ProblemKind::Syntax, span.clone(), message);
    match wrong {
        Wrong::ExpectedComma => note("a comma is missing after this value")
            .expecting("`,`")
            .hint("put a comma between two members"),
        Wrong::ExpectedColonAfterObjectKey => {
            note("a key without a value").expecting("`:` and a value after the key")
        }
        Wrong::ExpectedObjectValue => note("nothing follows the colon").expecting("a value"),
        Wrong::ExpectedStringObjectProperty => {
            note("a key without quotes").hint("write keys in double quotes: `\"command\"`")
        }
        Wrong::SingleQuotedStringsNotAllowed => {
            note("a text in single quotes").hint("use double quotes")
        }
        Wrong::UnterminatedObject => note("this object is not closed").expecting("`}`"),
        Wrong::UnterminatedArray => note("this list is not closed").expecting("`]`"),
        Wrong::UnterminatedCommentBlock => note("this comment is not closed").expecting("`*/`"),
        Wrong::MultipleRootJsonValues => note("something follows the end of the document")
            .hint("one file holds one object: look for a brace too many above this place"),
        Wrong::UnexpectedWord => note("a word without quotes")
            .expecting("a text in double quotes, a number, `true`, `false` or `null`"),
        Wrong::UnexpectedCloseBrace | Wrong::UnexpectedComma
            if text
                .get(..span.start)
                .is_some_and(|before| before.trim_end().ends_with(':')) =>
        {
            note("nothing follows the colon").expecting("a value")
        }
        Wrong::UnexpectedComma => note("a comma too many").expecting("a value"),
        Wrong::UnexpectedColon => note("a colon that follows no key").expecting("a value"),
        Wrong::UnexpectedCloseBrace => note("a `}` that closes nothing").expecting("a value"),
        Wrong::UnexpectedCloseBracket => note("a `]` that closes nothing").expecting("a value"),
        Wrong::UnexpectedTokenInObject => {
            note("this is no key").expecting("a key in double quotes, or `}`")
        }
        Wrong::String(_) => note("a backslash that begins no escape")
            .expecting("`\\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` or `\\u0000`")
            .hint("write a backslash in a path twice: `C:\\\\tools`"),
        Wrong::ExpectedDigit
        | Wrong::ExpectedDigitFollowingNegativeSign
        | Wrong::ExpectedPlusMinusOrDigitInNumberLiteral
        | Wrong::BareDecimalPointNumbersNotAllowed
        | Wrong::HexadecimalNumbersNotAllowed
        | Wrong::NonFiniteNumbersNotAllowed
        | Wrong::UnaryPlusNumbersNotAllowed => note("this is no number as JSON writes them")
            .expecting("a number such as `30` or `0.5`"),
        Wrong::NestingDepthExceeded => Note::error(ProblemKind::TooDeep, span, "nested too deeply"),
        Wrong::CommentsNotAllowed | Wrong::TrailingCommasNotAllowed => note("this is no JSON"),
        Wrong::UnexpectedToken => {
            let is_end = text.get(span.start..).is_none_or(str::is_empty);
            note(if is_end {
                "the document ends too early"
            } else {
                "this character begins no value"
            })
            .expecting("a value")
        }
    }
}
