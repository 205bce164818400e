//! A tool's answer for people.

use switchboard::formats::{decoded_bytes, size};
use switchboard::protocol::{
    CallToolResult, Content, GetPromptResult, ReadResourceResult, ResourceContents,
};
use switchboard::text::{sanitise, sanitise_line};

use crate::pretty::pretty;
use crate::screen::Screen;

/// Writes what a tool answered: texts as they are, a line for everything else.
pub(crate) fn answer(result: &CallToolResult, screen: &Screen) -> String {
    let mut out = String::new();
    for block in result.content() {
        push_block(&mut out, block, screen);
    }
    let has_text = result
        .content()
        .iter()
        .any(|block| block.as_text().is_some());
    if let Some(data) = result.structured_content().filter(|_| !has_text) {
        out.push_str(&pretty(&screen.safe_json(data)));
        out.push('\n');
    }
    out
}

/// Writes what a resource holds: texts as they are, a line for everything else.
pub(crate) fn contents(result: &ReadResourceResult, screen: &Screen) -> String {
    let mut out = String::new();
    for part in result.contents() {
        push_resource(&mut out, part, screen);
    }
    out
}

/// Writes the messages of a prompt, each under its role.
pub(crate) fn messages(result: &GetPromptResult, screen: &Screen) -> String {
    let mut out = String::new();
    for message in result.messages() {
        let role = message.role().unwrap_or("nobody");
        out.push_str(&format!("{}:\n", sanitise_line(&screen.redact(role))));
        push_block(&mut out, message.content(), screen);
    }
    out
}

fn push_block(out: &mut String, block: &Content, screen: &Screen) {
    let described = match block {
        Content::Text(text) => return push_text(out, text.text(), screen),
        Content::Resource(resource) => return push_resource(out, resource.resource(), screen),
        Content::Image(image) => media("image", image.mime_type(), image.data()),
        Content::Audio(audio) => media("audio", audio.mime_type(), audio.data()),
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
    };
    push_described(out, &described, screen);
}

fn push_resource(out: &mut String, contents: &ResourceContents, screen: &Screen) {
    match contents.text() {
        Some(text) => push_text(out, text, screen),
        None => push_described(out, &described_resource(contents), screen),
    }
}

fn push_described(out: &mut String, described: &str, screen: &Screen) {
    out.push_str(&format!("[{}]\n", sanitise_line(&screen.redact(described))));
}

/// Adds a text, which ends with a newline whether the server wrote one or not.
fn push_text(out: &mut String, text: &str, screen: &Screen) {
    out.push_str(&sanitise(&screen.redact(text)));
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

fn media(kind: &str, mime_type: &str, data: &str) -> String {
    format!("{kind} {mime_type} {}", size(decoded_bytes(data)))
}

fn described_resource(contents: &ResourceContents) -> String {
    let mut words = vec!["resource".to_owned(), contents.uri().to_owned()];
    words.extend(contents.mime_type().map(str::to_owned));
    words.extend(contents.blob().map(|blob| size(decoded_bytes(blob))));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::{FromRaw as _, Raw};

    use super::*;

    fn shown(result: &str) -> String {
        let result = CallToolResult::from_raw(&Raw::parse(result).unwrap()).unwrap();
        answer(&result, &Screen::plain(false))
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
}
