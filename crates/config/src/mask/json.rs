//! A rough tokenizer for JSON that also works on broken files.

use std::ops::Range;

use jsonc_parser::{CollectOptions, parse_to_ast};

use super::{ValuePlace, is_number};
use crate::limits::LIMITS;
use crate::tree::JSONC;
use crate::{fields, report};

/// Faults of a text that the parser would report badly or could not survive.
#[derive(Default)]
pub(crate) struct Outline {
    /// The first string that is not closed on its line.
    pub(crate) open_string: Option<Range<usize>>,
    /// The first bracket beyond the maximum depth.
    pub(crate) too_deep: Option<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// A text in double quotes; true if it is closed.
    Text(bool),
    /// Anything else but a bracket, comma, colon or space.
    Word,
    Comment,
    Open(u8),
    Close,
    Comma,
    Colon,
}

/// An open bracket.
#[derive(Clone, Copy, Default)]
struct Frame<'t> {
    is_list: bool,
    /// The map that it is, or is in: `env`, `headers`.
    map: Option<&'t str>,
    /// The key of a list.
    key: &'t str,
    /// The last item of a list.
    item: &'t str,
    /// True if it is a section beside the servers, or in one.
    is_section: bool,
    /// True if its keys must not be shown either: an object in an unexpected place.
    is_opaque: bool,
}

/// Scans a text before it is parsed.
pub(crate) fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut depth = 0_usize;
    for (token, span) in (Tokens { text, at: 0 }) {
        match token {
            // Only the first fault is reported; the others mostly follow from it.
            Token::Text(false) if outline.open_string.is_none() => {
                outline.open_string = Some(span);
            }
            Token::Open(_) => {
                depth += 1;
                if depth > LIMITS.depth && outline.too_deep.is_none() {
                    outline.too_deep = Some(span);
                }
            }
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    outline
}

/// Returns true if a key of the file names one of our own sections beside the servers.
fn is_section(key: &str) -> bool {
    let sections = [
        "agents",
        "audience",
        "pins",
        "approvals",
        "limits",
        "network",
        "providers",
        "profiles",
    ];
    sections.contains(&key)
}

/// Returns the ranges of a JSON text that must not be shown.
pub(crate) fn mask(text: &str) -> Vec<Range<usize>> {
    let tokens: Vec<(Token, Range<usize>)> = Tokens { text, at: 0 }.collect();
    // The depth first: the parser recurses.
    let is_broken = outline(text).too_deep.is_some()
        || parse_to_ast(text, &CollectOptions::default(), &JSONC).is_err();
    let mut masks = Vec::new();
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut key: Option<&str> = None;
    let mut before = Token::Comma;
    for (index, (token, span)) in tokens.iter().enumerate() {
        let frame = frames.last().copied().unwrap_or_default();
        match token {
            Token::Comment => {
                // Keep the two characters that begin it.
                masks.push(span.start + 2..span.end);
                continue;
            }
            Token::Text(is_closed) => {
                let inside = span.start + 1..span.end - usize::from(*is_closed);
                let content = text.get(inside.clone()).unwrap_or_default();
                let is_key = is_key(&tokens, index, before) && !frame.is_list;
                if is_key {
                    key = Some(content);
                    if frame.is_opaque || report::is_secret(content) {
                        masks.push(inside);
                    }
                } else {
                    let place = ValuePlace {
                        map: frame.map,
                        key: key.unwrap_or(frame.key),
                        before: frame.item,
                        is_in_section: frame.is_section
                            || (frames.len() == 1 && key.is_some_and(is_section)),
                    };
                    // A value without a key is out of place, and may be anything; so is a list of variables.
                    let is_placed = (frame.is_list && frame.map.is_none()) || key.is_some();
                    if is_broken || !is_placed || frame.is_opaque || !place.shows(content) {
                        masks.push(inside);
                    }
                    if let Some(list) = frames.last_mut() {
                        list.item = content;
                    }
                    // A string before a bracket was meant as its key, even without a colon.
                    if matches!(next(&tokens, index), Some(Token::Open(_))) {
                        key = Some(content);
                    }
                }
            }
            Token::Word => {
                let word = text.get(span.clone()).unwrap_or_default();
                let is_plain = matches!(word, "true" | "false" | "null");
                let is_said =
                    frame.map.is_none() && !frame.is_opaque && key.is_some() && is_number(word);
                // A key without quotes, if it is a known name.
                let is_key = is_key(&tokens, index, before)
                    && !(frame.is_list || frame.is_opaque)
                    && fields::is_known(word);
                if is_key {
                    key = Some(word);
                } else if !is_plain && !is_said {
                    masks.push(span.clone());
                }
            }
            Token::Open(bracket) => {
                // Inside an object, a bracket without a key may contain anything.
                let is_lost = !frames.is_empty() && !frame.is_list && key.is_none();
                let is_list = *bracket == b'[';
                let is_in_args =
                    (key == Some("args") && !is_list) || (frame.is_list && frame.key == "args");
                frames.push(Frame {
                    is_list,
                    map: frame.map.or(key.filter(|key| fields::is_map(key))),
                    key: key.unwrap_or_default(),
                    item: "",
                    is_section: frame.is_section
                        || (frames.len() == 1 && key.is_some_and(is_section)),
                    is_opaque: frame.map.is_some() || frame.is_opaque || is_lost || is_in_args,
                });
                key = None;
            }
            Token::Close => {
                frames.pop();
                key = None;
            }
            Token::Comma => key = None,
            Token::Colon => {}
        }
        before = *token;
    }
    masks.retain(|mask| !mask.is_empty());
    masks
}

/// Returns true if a colon follows a token, and no colon precedes it.
fn is_key(tokens: &[(Token, Range<usize>)], index: usize, before: Token) -> bool {
    next(tokens, index) == Some(Token::Colon) && before != Token::Colon
}

/// The next token that is not a comment.
fn next(tokens: &[(Token, Range<usize>)], index: usize) -> Option<Token> {
    let mut after = tokens.get(index + 1..).unwrap_or_default().iter();
    let next = after.find(|(token, _)| *token != Token::Comment);
    next.map(|(token, _)| *token)
}

struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = (Token, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..)?;
        let blank = rest.len() - rest.trim_start().len();
        let rest = rest.get(blank..)?;
        let start = self.at + blank;
        let bytes = rest.as_bytes();
        let (token, length) = match *bytes.first()? {
            bracket @ (b'{' | b'[') => (Token::Open(bracket), 1),
            b'}' | b']' => (Token::Close, 1),
            b',' => (Token::Comma, 1),
            b':' => (Token::Colon, 1),
            b'"' => string(bytes),
            b'/' if bytes.get(1) == Some(&b'/') => (
                Token::Comment,
                rest.find(['\n', '\r']).unwrap_or(rest.len()),
            ),
            b'/' if bytes.get(1) == Some(&b'*') => {
                let end = rest.get(2..).and_then(|rest| rest.find("*/"));
                (Token::Comment, end.map_or(rest.len(), |end| end + 4))
            }
            // JSON has no single quotes, but people write them.
            b'\'' if is_single_quoted(rest) => (Token::Text(true), single_quoted_length(rest)),
            _ => (Token::Word, word(rest)),
        };
        self.at = start + length;
        Some((token, start..self.at))
    }
}

/// Reads a string in double quotes. An unclosed one ends with its line.
fn string(bytes: &[u8]) -> (Token, usize) {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'\n' | b'\r' => return (Token::Text(false), at),
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return (Token::Text(true), at + 1),
            _ => {}
        }
    }
    (Token::Text(false), bytes.len())
}

/// Returns true if a text in single quotes is closed on its line, and nothing follows that tells otherwise.
fn is_single_quoted(rest: &str) -> bool {
    let after = rest.get(single_quoted_length(rest)..).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || ",:]}".contains(c);
    rest.get(1..).is_some_and(|inner| inner.contains('\'')) && after.starts_with(ends)
}

/// Returns the length of a text in single quotes.
fn single_quoted_length(rest: &str) -> usize {
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let end = line.get(1..).and_then(|line| line.find('\''));
    end.map_or_else(|| word(rest), |end| end + 2)
}

fn word(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    let end = chars.find(|(at, c)| {
        let is_comment = *c == '/'
            && rest
                .get(at + 1..)
                .is_some_and(|r| r.starts_with(['/', '*']));
        c.is_whitespace() || "{}[],:\"".contains(*c) || is_comment
    });
    end.map_or(rest.len(), |(at, _)| at)
}
