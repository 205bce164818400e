//! Parts of JSON texts replaced in place: names in definitions, addresses in results.
//!
//! Everything else stays as the server wrote it: the order of members, unknown ones, the spelling of
//! numbers, white space.

use std::ops::Range;

use switchboard::protocol::Raw;

/// Parts of one text to replace.
pub(super) struct Edits<'a> {
    whole: &'a Raw,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    pub(super) fn of(whole: &'a Raw) -> Self {
        let edits = Vec::new();
        Self { whole, edits }
    }

    /// Replaces a text value, which is a part of the whole, by another text.
    fn set(&mut self, value: &Raw, text: &str) {
        let Some(range) = place(self.whole.as_str(), value.as_str()) else {
            return;
        };
        self.edits.push((range, quote_json(text)));
    }

    /// Replaces the member of that name in an object, a part of the whole, by another text. A member
    /// that is repeated is replaced each time: readers differ in which of them they take.
    pub(super) fn set_member(&mut self, object: &Raw, member: &str, text: &str) {
        for (name, value) in object.members() {
            if name == member {
                self.set(&value, text);
            }
        }
    }

    /// Replaces a text member of an object by what `change` makes of it.
    fn change_member(
        &mut self,
        object: &Raw,
        member: &str,
        change: &impl Fn(&str) -> Option<String>,
    ) {
        for (name, value) in object.members() {
            if name == member
                && let Some(changed) = value.as_text().and_then(|text| change(&text))
            {
                self.set(&value, &changed);
            }
        }
    }

    /// Replaces the address of a tool's page: `_meta.ui.resourceUri`, and the name that it had before.
    pub(super) fn change_page(&mut self, object: &Raw, change: &impl Fn(&str) -> Option<String>) {
        for (name, meta) in object.members() {
            if name != "_meta" {
                continue;
            }
            for (name, ui) in meta.members() {
                if name == "ui" {
                    self.change_member(&ui, "resourceUri", change);
                }
            }
            self.change_member(&meta, "ui/resourceUri", change);
        }
    }

    /// Replaces the addresses in one block of content: a link, or an embedded resource.
    fn change_block(&mut self, block: &Raw, change: &impl Fn(&str) -> Option<String>) {
        let kind = block.member("type").and_then(|kind| kind.as_text());
        match kind.as_deref() {
            Some("resource_link") => self.change_member(block, "uri", change),
            Some("resource") => {
                for (name, resource) in block.members() {
                    if name == "resource" {
                        self.change_member(&resource, "uri", change);
                    }
                }
            }
            _ => {}
        }
    }

    fn change_blocks(&mut self, blocks: &Raw, change: &impl Fn(&str) -> Option<String>) {
        if blocks.is_object() {
            self.change_block(blocks, change);
        }
        for block in blocks.items() {
            self.change_block(&block, change);
        }
    }

    /// Replaces all addresses in a result: of a call, a read, or a prompt.
    pub(super) fn change_result(&mut self, change: &impl Fn(&str) -> Option<String>) {
        for (name, value) in self.whole.members() {
            match name.as_str() {
                "content" => self.change_blocks(&value, change),
                "contents" => {
                    for content in value.items() {
                        self.change_member(&content, "uri", change);
                    }
                }
                "messages" => {
                    for message in value.items() {
                        for (name, content) in message.members() {
                            if name == "content" {
                                self.change_blocks(&content, change);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        self.change_page(self.whole, change);
    }

    /// Returns true if there is nothing to replace.
    pub(super) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The text with all parts replaced.
    pub(super) fn text(mut self) -> String {
        let text = self.whole.as_str();
        // Sorted by place: edits are collected in another order than the text has.
        self.edits.sort_by_key(|(range, _)| range.start);
        let (mut out, mut at) = (String::with_capacity(text.len() + 64), 0);
        for (range, new) in &self.edits {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(new);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

/// The text as a JSON string.
fn quote_json(text: &str) -> String {
    // A text always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}

/// The place of a part within the text that it is a slice of.
fn place(whole: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let range = start..start.checked_add(part.len())?;
    // Checked by address: an equal text elsewhere is not the part.
    let found = whole.get(range.clone())?;
    std::ptr::eq(found, part).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outward(uri: &str) -> Option<String> {
        uri.starts_with("f://").then(|| format!("out:{uri}"))
    }

    fn rewritten(result: &str) -> String {
        let result = Raw::parse(result).unwrap();
        let mut edits = Edits::of(&result);
        edits.change_result(&outward);
        edits.text()
    }

    #[test]
    fn a_name_is_replaced_and_the_rest_stays_as_written() {
        let tool =
            r#"{ "x": 1.10, "n\u0061me" : "a\"b", "inputSchema":{"name":"n","m":1e400},"z":[ ] }"#;
        let raw = Raw::parse(tool).unwrap();
        let mut edits = Edits::of(&raw);
        edits.set_member(&raw, "name", "s__é\n");
        let expected = tool.replace(r#""a\"b""#, r#""s__é\n""#);
        assert_eq!(edits.text(), expected);
    }

    #[test]
    fn addresses_in_results_are_replaced_and_nothing_else_is() {
        for (result, expected) in [
            (
                r#"{"content":[{"type":"text","text":"f://x"},{"uri":"f://x","type":"resource_link","name":"f://x"}],"structuredContent":{"uri":"f://x"}}"#,
                r#"{"content":[{"type":"text","text":"f://x"},{"uri":"out:f://x","type":"resource_link","name":"f://x"}],"structuredContent":{"uri":"f://x"}}"#,
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"text":"f://x","uri":"f:\/\/x"}}]}"#,
                r#"{"content":[{"type":"resource","resource":{"text":"f://x","uri":"out:f://x"}}]}"#,
            ),
            (
                r#"{"contents":[{"uri":"f://x","blob":""},{"uri":"g://x"},{"uri":5}]}"#,
                r#"{"contents":[{"uri":"out:f://x","blob":""},{"uri":"g://x"},{"uri":5}]}"#,
            ),
            (
                r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"f://x"}}]}"#,
                r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"out:f://x"}}]}"#,
            ),
            (
                r#"{"_meta":{"ui":{"resourceUri":"f://x"},"ui/resourceUri":"f://y"},"content":7}"#,
                r#"{"_meta":{"ui":{"resourceUri":"out:f://x"},"ui/resourceUri":"out:f://y"},"content":7}"#,
            ),
            ("[1,2]", "[1,2]"),
        ] {
            assert_eq!(rewritten(result), expected);
        }
    }

    #[test]
    fn a_member_that_is_repeated_is_replaced_each_time() {
        let link = r#"{"content":[{"type":"resource_link","uri":"f://a","uri":"f://b"}]}"#;
        assert_eq!(
            rewritten(link),
            r#"{"content":[{"type":"resource_link","uri":"out:f://a","uri":"out:f://b"}]}"#
        );
    }
}
