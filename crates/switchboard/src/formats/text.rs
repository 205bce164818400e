//! One text of a result.

use switchboard_wire::{
    CallToolResult, Content, FromRaw as _, GetPromptResult, Raw, ReadResourceResult,
    ResourceContents,
};

use super::adapt::Notes;
use super::size::{decoded_bytes, size};

/// Limits on the length of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct TextLimits {
    /// Bytes that are kept; what says that there was more comes on top.
    pub bytes: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self {
            bytes: 10 * 1024 * 1024,
        }
    }
}

/// A result as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text; its last line says so where it was cut.
    pub text: String,
    /// True if it was cut.
    pub is_cut: bool,
    /// Blocks that are only described in it, such as images.
    pub described: usize,
}

/// Makes one text of what a tool answered.
///
/// Blocks stand on lines of their own; what is no text is described: `[image image/png 12 KiB]`.
/// Without content blocks the structured content is used: its text where it is a text or
/// only wraps one, else its JSON.
pub fn text(result: &CallToolResult, limits: &TextLimits) -> Text {
    let mut page = Page::new(limits);
    // Blocks first: structured content repeats them for programs.
    if !result.content().is_empty() {
        page.blocks(result.content());
    } else if let Some(data) = result.structured_content() {
        page.data(data);
    } else if let Some(carried) = carried(result.raw()) {
        page.carried(&carried);
    }
    page.finish()
}

/// Makes one text of a prompt: what is said, with who says it.
pub fn prompt_text(result: &GetPromptResult, limits: &TextLimits) -> Text {
    let mut page = Page::new(limits);
    for message in result.messages() {
        if let Some(role) = message.role() {
            page.line(&format!("{role}:"));
        }
        page.blocks(message.content());
    }
    page.finish()
}

/// Makes one text of a resource that was read.
pub fn resource_text(result: &ReadResourceResult, limits: &TextLimits) -> Text {
    let mut page = Page::new(limits);
    for contents in result.contents() {
        page.contents(contents);
    }
    page.finish()
}

/// Describes a block that is no text.
pub(super) fn describe_block(block: &Content) -> String {
    match block {
        Content::Image(image) => media("image", image.mime_type(), image.data()),
        Content::Audio(audio) => media("audio", audio.mime_type(), audio.data()),
        Content::ResourceLink(link) => {
            let mut words = vec!["resource link".to_owned(), link.uri().to_owned()];
            words.extend(link.mime_type().map(str::to_owned));
            words.extend(link.size().map(size));
            format!("[{}]", words.join(" "))
        }
        Content::Resource(block) => described_contents(block.resource()),
        Content::Unknown(block) => match (&block.kind, &block.misfit) {
            (Some(kind), None) => format!("[block of the unknown type {kind}]"),
            (Some(kind), Some(_)) => format!("[{kind} block that cannot be read]"),
            (None, _) => "[block without a type]".to_owned(),
        },
        _ => "[block of an unknown type]".to_owned(),
    }
}

/// Describes a resource that is no text.
pub(super) fn described_contents(contents: &ResourceContents) -> String {
    let mut words = vec!["resource".to_owned(), contents.uri().to_owned()];
    words.extend(contents.mime_type().map(str::to_owned));
    words.extend(contents.blob().map(|blob| size(decoded_bytes(blob))));
    format!("[{}]", words.join(" "))
}

fn media(kind: &str, mime_type: &str, data: &str) -> String {
    format!("[{kind} {mime_type} {}]", size(decoded_bytes(data)))
}

/// One block as text, with a note where it is only described.
pub(super) fn block_text(block: &Content, notes: &mut Notes) -> String {
    let text = match block {
        Content::Text(block) => Some(block.text()),
        Content::Resource(block) => block.resource().text(),
        _ => None,
    };
    text.map_or_else(
        || {
            notes.add("content", "a block described: the API does not take it");
            describe_block(block)
        },
        str::to_owned,
    )
}

/// The single thing that an object wraps.
enum Carried {
    Text(String),
    Blocks(Vec<Content>),
    Data(Raw),
}

/// Looks for the one member that an object is there for.
fn carried(data: &Raw) -> Option<Carried> {
    // These say how, not what.
    const ASIDE: [&str; 5] = ["isError", "_meta", "type", "role", "resultType"];
    let mut members = data.members();
    members.retain(|(name, _)| !ASIDE.contains(&name.as_str()));
    // Only an object with one member of that kind: anything else is data of the server's own.
    let [(name, value)] = members.as_slice() else {
        return None;
    };
    match (name.as_str(), value.as_text()) {
        ("text" | "result" | "content", Some(text)) => Some(Carried::Text(text)),
        ("result", None) => Some(Carried::Data(value.clone())),
        ("content", None) if value.is_array() => {
            let items = value.items();
            let read = items.iter().map(Content::from_raw);
            read.collect::<Result<_, _>>().ok().map(Carried::Blocks)
        }
        _ => None,
    }
}

/// A text that grows up to a bound.
struct Page {
    text: String,
    most: usize,
    /// Bytes that had no room.
    over: usize,
    described: usize,
    is_empty: bool,
}

impl Page {
    fn new(limits: &TextLimits) -> Self {
        Self {
            text: String::new(),
            most: limits.bytes,
            over: 0,
            described: 0,
            is_empty: true,
        }
    }

    fn push(&mut self, text: &str) {
        let room = self.most.saturating_sub(self.text.len());
        // Once something is left out everything behind it is.
        let fits = if self.over > 0 {
            0
        } else {
            room.min(text.len())
        };
        // On a boundary of characters.
        let end = (0..=fits)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or_default();
        let (kept, rest) = text.split_at(end);
        self.text.push_str(kept);
        self.over += rest.len();
    }

    fn line(&mut self, text: &str) {
        if !self.is_empty {
            self.push("\n");
        }
        self.is_empty = false;
        self.push(text);
    }

    fn blocks(&mut self, blocks: &[Content]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Content) {
        match block {
            Content::Text(block) => self.line(block.text()),
            Content::Resource(block) => self.contents(block.resource()),
            other => self.describe(&describe_block(other)),
        }
    }

    fn contents(&mut self, contents: &ResourceContents) {
        match contents.text() {
            Some(text) => self.line(text),
            None => self.describe(&described_contents(contents)),
        }
    }

    fn describe(&mut self, description: &str) {
        self.described += 1;
        self.line(description);
    }

    fn data(&mut self, data: &Raw) {
        match (data.as_text(), carried(data)) {
            (Some(text), _) => self.line(&text),
            (None, Some(carried)) => self.carried(&carried),
            (None, None) => self.line(data.as_str()),
        }
    }

    fn carried(&mut self, carried: &Carried) {
        match carried {
            Carried::Text(text) => self.line(text),
            Carried::Blocks(blocks) => self.blocks(blocks),
            Carried::Data(data) => self.line(data.as_str()),
        }
    }

    fn finish(mut self) -> Text {
        let is_cut = self.over > 0;
        if is_cut {
            let note = format!(
                "\n[cut here: {} more]",
                size(self.over.try_into().unwrap_or(u64::MAX))
            );
            self.text.push_str(&note);
        }
        Text {
            text: self.text,
            is_cut,
            described: self.described,
        }
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
