//! Results of servers, split into pieces and formatted for people.

use std::borrow::Cow;

use switchboard::formats::{TextLimits, decoded_bytes, size};
use switchboard::protocol::{
    CallToolResult, Content, GetPromptResult, Raw, ReadResourceResult, ResourceContents,
};
use switchboard::secret::Redactor;
use switchboard::text::{sanitise, sanitise_line};

use crate::pretty::pretty;
use crate::tabular::Records;
use switchboard_terminal::json::safe_json;

/// A piece of a result, as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece<'r> {
    /// Text.
    Text(Cow<'r, str>),
    /// An image, a sound or other bytes.
    Media {
        /// A description in words.
        what: String,
        mime_type: &'r str,
        /// Base64 data.
        data: &'r str,
    },
    /// Structured data, shown if there is no text.
    Data(&'r Raw),
    /// The role of the message that follows.
    Role(&'r str),
    /// Anything else, as a description.
    Other(String),
}

/// Splits the result of a tool. Structured data is used if there is no text. With `is_wide`, tabular data
/// replaces a text that says the same.
pub(crate) fn answer(result: &CallToolResult, is_wide: bool) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = result.content().iter().map(block).collect();
    let is_text = |piece: &Piece<'_>| matches!(piece, Piece::Text(_));
    let Some(data) = result.structured_content() else {
        // Some servers answer `{"text": ..}` or `{"result": ..}`, which the library's renderer reads.
        if pieces.is_empty() {
            let text = switchboard::formats::text(result, &TextLimits::default()).text;
            let text = Some(text).filter(|text| !text.is_empty());
            pieces.extend(text.map(|text| Piece::Text(text.into())));
        }
        return pieces;
    };
    let has_text = result.content().iter().any(|one| one.as_text().is_some());
    if !has_text {
        pieces.push(Piece::Data(data));
    } else if is_wide
        && let [Piece::Text(text)] = pieces.as_slice()
        && is_same(text, data)
        && Records::of(data).is_some()
    {
        pieces.retain(|piece| !is_text(piece));
        pieces.push(Piece::Data(data));
    }
    pieces
}

/// Splits the contents of a resource.
pub(crate) fn contents(result: &ReadResourceResult) -> Vec<Piece<'_>> {
    result.contents().iter().map(resource).collect()
}

/// Splits the messages of a prompt, each behind its role.
pub(crate) fn messages(result: &GetPromptResult) -> Vec<Piece<'_>> {
    let messages = result.messages().iter();
    let pieces = messages.flat_map(|message| {
        let role = Piece::Role(message.role().unwrap_or("unknown role"));
        std::iter::once(role).chain(message.content().iter().map(block))
    });
    pieces.collect()
}

/// Returns true if a text is the same JSON value as the data, however it is spelled.
fn is_same(text: &str, data: &Raw) -> bool {
    let text: Option<serde_json::Value> = serde_json::from_str(text).ok();
    text.is_some() && text == serde_json::from_str(data.as_str()).ok()
}

fn block(block: &Content) -> Piece<'_> {
    Piece::Other(match block {
        Content::Text(text) => return Piece::Text(text.text().into()),
        Content::Resource(embedded) => return resource(embedded.resource()),
        Content::Image(image) => return media("image", image.mime_type(), image.data()),
        Content::Audio(audio) => return media("audio", audio.mime_type(), audio.data()),
        Content::ResourceLink(link) => {
            let mut words = vec!["resource link".to_owned(), link.uri().to_owned()];
            words.extend(link.mime_type().map(str::to_owned));
            words.extend(link.size().map(size));
            words.join(" ")
        }
        Content::Unknown(block) => {
            let kind = block.kind.as_deref().unwrap_or("a block without a type");
            format!("{kind} not shown; see --json")
        }
        _ => "a block not shown; see --json".to_owned(),
    })
}

fn resource(contents: &ResourceContents) -> Piece<'_> {
    if let Some(text) = contents.text() {
        return Piece::Text(text.into());
    }
    let mut words = vec!["resource".to_owned(), contents.uri().to_owned()];
    words.extend(contents.mime_type().map(str::to_owned));
    words.extend(contents.blob().map(|blob| size(decoded_bytes(blob))));
    let what = words.join(" ");
    match contents.blob() {
        Some(data) => Piece::Media {
            what,
            mime_type: contents.mime_type().unwrap_or_default(),
            data,
        },
        None => Piece::Other(what),
    }
}

fn media<'r>(kind: &str, mime_type: &'r str, data: &'r str) -> Piece<'r> {
    Piece::Media {
        what: format!("{kind} {mime_type} {}", size(decoded_bytes(data))),
        mime_type,
        data,
    }
}

impl Piece<'_> {
    /// Formats a piece: a text as it is, one line for media, a table for tabular data if `columns` are given.
    /// `note` is added to a line. The secrets in `masked` are replaced; it is empty if a result is shown as
    /// it was sent.
    pub(crate) fn write(&self, columns: Option<usize>, note: &str, masked: &Redactor) -> String {
        let described = |what: &str| format!("[{}{note}]\n", sanitise_line(&masked.redact(what)));
        match self {
            Self::Text(text) => {
                let end = if text.ends_with('\n') { "" } else { "\n" };
                format!("{}{end}", sanitise(&masked.redact(text)))
            }
            Self::Media { what, .. } | Self::Other(what) => described(what),
            Self::Role(role) => format!("{}:\n", sanitise_line(&masked.redact(role))),
            Self::Data(data) => {
                // Masked before the table is laid out, so that widths fit what is shown.
                let safe = safe_json(masked, data);
                let records = Raw::parse(&safe)
                    .ok()
                    .and_then(|safe| Records::of(&safe))
                    .zip(columns);
                match records {
                    Some((records, columns)) => records.write(columns),
                    None => format!("{}\n", pretty(&safe)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::{FromRaw as _, Raw};

    use super::*;

    fn shown_in(result: &str, columns: Option<usize>) -> String {
        let result = CallToolResult::from_raw(&Raw::parse(result).unwrap()).unwrap();
        let pieces = answer(&result, columns.is_some());
        let nothing = Redactor::new();
        let pieces = pieces
            .iter()
            .map(|piece| piece.write(columns, "", &nothing));
        pieces.collect()
    }

    fn shown(result: &str) -> String {
        shown_in(result, None)
    }

    #[test]
    fn texts_end_with_one_newline_each() {
        let two = r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"}]}"#;
        assert_eq!(shown(two), "a\nb\n");
    }

    #[test]
    fn what_is_no_text_is_described() {
        let all = r#"{"content":[
            {"type":"image","data":"AAAA","mimeType":"image/png"},
            {"type":"audio","data":"AAA=","mimeType":"audio/\u001b[1mwav"},
            {"type":"resource_link","uri":"a:b","name":"n","mimeType":"m","size":12288},
            {"type":"resource","resource":{"uri":"c:d","blob":"AA=="}},
            {"type":"resource","resource":{"uri":"e:f","text":"inside"}},
            {"type":"hologram"},
            {"type":"text","text":5},
            7]}"#;
        assert_eq!(
            shown(all),
            "[image image/png 3 B]\n[audio audio/\\u{1b}[1mwav 2 B]\n[resource link a:b m 12 KiB]\n\
             [resource c:d 1 B]\ninside\n[hologram not shown; see --json]\n\
             [text not shown; see --json]\n[a block without a type not shown; see --json]\n"
        );
    }

    #[test]
    fn data_is_shown_where_there_is_no_text() {
        let data = r#"{"content":[],"structuredContent":{"z":1.10,"a":[]}}"#;
        assert_eq!(shown(data), "{\n  \"z\": 1.10,\n  \"a\": []\n}\n");
        let both = r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}}"#;
        assert_eq!(shown(both), "t\n");
        assert_eq!(
            shown(r#"{"content":[],"structuredContent":null}"#),
            "null\n"
        );
        assert_eq!(shown(r#"{"content":[]}"#), "");
    }

    #[test]
    fn a_text_that_says_the_same_as_data_makes_way_for_a_table_at_a_terminal_alone() {
        let same = r#"{"content":[{"type":"text","text":"{\"rows\": [{\"a\": 1}]}"}],
            "structuredContent":{"rows":[{"a":1}]}}"#;
        assert_eq!(shown(same), "{\"rows\": [{\"a\": 1}]}\n");
        assert_eq!(shown_in(same, Some(40)), "rows:\na\n-\n1\n");
        let other = r#"{"content":[{"type":"text","text":"one row"}],
            "structuredContent":{"rows":[{"a":1}]}}"#;
        assert_eq!(shown_in(other, Some(40)), "one row\n");
    }
}
