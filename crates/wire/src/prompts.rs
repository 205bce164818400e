//! Prompts: listing them, and filling in their arguments.

use serde::{Deserialize, Serialize};

use crate::object::{Field, each_member};
use crate::{
    Content, FromRaw, Icon, Misfit, PageParams, Pairs, Raw, RawError, TextContent, UnknownContent,
};

wire_object! {
    /// An argument of a prompt.
    pub struct PromptArgument {
        /// Its name for programs.
        name: [str] = "name",
        /// Its name for people.
        title: [opt str] = "title",
        /// A description of the expected value.
        description: [opt str] = "description",
        /// The flag `required`, as sent.
        required_flag: [opt copy bool] = "required",
    }
}

impl PromptArgument {
    /// Returns true if the argument is required; arguments are optional unless the server says so.
    pub fn required(&self) -> bool {
        self.required_flag.unwrap_or(false)
    }
}

wire_object! {
    /// A prompt as its server lists it.
    pub struct Prompt {
        /// The name to request it by.
        name: [str] = "name",
        /// A name for people.
        title: [opt str] = "title",
        /// Its purpose, in the server's words.
        description: [opt str] = "description",
        /// Its arguments.
        arguments: [list PromptArgument] = "arguments",
        /// Icons to show with it.
        icons: [list Icon] = "icons",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

page! {
    /// One page of `prompts/list`.
    PromptPage, "prompts"
}

method! {
    /// Lists a server's prompts.
    ListPrompts = "prompts/list", PageParams => PromptPage
}

/// Parameters of `prompts/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetPromptParams {
    /// The prompt's name, as its server lists it.
    pub name: String,
    /// Values of the arguments: always strings.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub arguments: Pairs<String>,
}

impl GetPromptParams {
    /// Makes the parameters of JSON values: an object such as a struct, a map or `json!({...})`.
    ///
    /// The specification takes strings alone. Those are sent as they are, and other values as their
    /// compact JSON text: `3` as `"3"`, `["a"]` as `"[\"a\"]"`. A `null` is an argument that is not
    /// given.
    ///
    /// # Errors
    /// Fails if the arguments have no JSON form or are no object, or a string is no valid text.
    pub fn of(
        name: impl Into<String>,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Self, RawError> {
        let object = Raw::of(arguments)?;
        if !object.is_object() {
            return Err(refuse("the arguments of a prompt must be an object"));
        }
        let mut texts = Pairs::new();
        for (argument, value) in object.members() {
            if value.is_null() {
                continue;
            }
            let text = if value.is_string() {
                value
                    .as_text()
                    .ok_or_else(|| refuse("a string is no valid text"))?
            } else {
                value.as_str().to_owned()
            };
            texts.insert(argument, text);
        }
        Ok(Self {
            name: name.into(),
            arguments: texts,
        })
    }
}

fn refuse(why: &str) -> RawError {
    RawError::from(<serde_json::Error as serde::ser::Error>::custom(why))
}

/// One message of a prompt.
///
/// The specification wants one block as content. A plain string and a list of blocks, which some servers
/// send, are accepted too, and [`PromptMessage::deviation`] says so.
///
/// A message that does not fit leaves the others readable: its content is then
/// [`Content::Unknown`], which holds the reason and the original text.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptMessage {
    raw: Raw,
    role: Option<String>,
    content: Vec<Content>,
    deviation: Option<&'static str>,
}

impl PromptMessage {
    /// The speaker: `user` or `assistant`; `None` if it cannot be read.
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// The content: one block, or as many as the server sent.
    pub fn content(&self) -> &[Content] {
        &self.content
    }

    /// Describes how the content departs from the specification, if it is not one block.
    pub fn deviation(&self) -> Option<&'static str> {
        self.deviation
    }

    /// The whole message as it was sent, unknown members included.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }
}

impl FromRaw for PromptMessage {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        let (mut role, mut content) = (None, None);
        let object = each_member(raw.as_str(), |key, value| match key {
            "role" => role = Some(value),
            "content" => content = Some(value),
            _ => {}
        });
        // Keep the part that does not fit, or the whole message if it has no content.
        let part = content.map_or_else(|| raw.clone(), |text| raw.part(text));
        let deviation = content.and_then(|_| match &part {
            part if part.is_string() => Some("the content of a message is a plain string"),
            part if part.is_array() => Some("the content of a message is a list of blocks"),
            _ => None,
        });
        let content = object.and_then(|()| match content {
            Some(_) if part.is_array() => part.items().iter().map(block).collect(),
            Some(_) => Ok(vec![block(&part)?]),
            None => Ok(vec![Content::read(raw, None, "content")?]),
        });
        let content = content.unwrap_or_else(|misfit| {
            vec![Content::Unknown(UnknownContent {
                kind: None,
                misfit: Some(misfit),
                raw: part,
            })]
        });
        Ok(Self {
            raw: raw.clone(),
            role: Option::read(raw, role, "role").unwrap_or_default(),
            content,
            deviation,
        })
    }
}

/// Reads a block; a plain string is the text of one.
fn block(raw: &Raw) -> Result<Content, Misfit> {
    if raw.is_string() {
        TextContent::from_string(raw).map(Content::Text)
    } else {
        Content::from_raw(raw)
    }
}

impl Serialize for PromptMessage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

wire_object! {
    /// A prompt with its arguments filled in.
    pub struct GetPromptResult {
        /// Its purpose.
        description: [opt str] = "description",
        /// The messages, in order.
        messages: [list PromptMessage] = "messages",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

method! {
    /// Requests a prompt with its arguments filled in.
    GetPrompt = "prompts/get", GetPromptParams => GetPromptResult, rounds = true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_required_only_if_the_server_says_so() {
        let text = r#"{"name":"p","arguments":[{"name":"a"},{"name":"b","required":true}]}"#;
        let prompt = Prompt::from_raw(&Raw::parse(text).unwrap()).unwrap();
        let required: Vec<_> = prompt.arguments().iter().map(|a| a.required()).collect();
        assert_eq!(required, [false, true]);
    }

    #[test]
    fn arguments_are_written_in_order_and_left_out_when_there_are_none() {
        let mut params = GetPromptParams {
            name: "p".to_owned(),
            arguments: Pairs::new(),
        };
        assert_eq!(serde_json::to_string(&params).unwrap(), r#"{"name":"p"}"#);
        params.arguments.insert("z", "1".to_owned());
        params.arguments.insert("a", "2".to_owned());
        assert_eq!(
            serde_json::to_string(&params).unwrap(),
            r#"{"name":"p","arguments":{"z":"1","a":"2"}}"#
        );
    }

    fn messages(text: &str) -> Vec<PromptMessage> {
        let result = GetPromptResult::from_raw(&Raw::parse(text).unwrap()).unwrap();
        // Lossless, whatever the shape of the content.
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
        result.messages().to_vec()
    }

    #[test]
    fn a_message_that_does_not_fit_does_not_cost_the_others() {
        let text = r#"{"messages":[5,{"role":"user","content":7},
            {"role":7},{"role":"user","content":{"type":"text","text":"b"}}]}"#;
        let messages = messages(text);
        let read: Vec<_> = messages
            .iter()
            .map(|message| match message.content() {
                [Content::Unknown(block)] => (
                    message.role(),
                    block.misfit.as_ref().unwrap().to_string(),
                    block.raw.as_str(),
                ),
                [block] => (
                    message.role(),
                    block.as_text().unwrap().to_owned(),
                    block.raw().as_str(),
                ),
                blocks => panic!("{blocks:?}"),
            })
            .collect();
        assert_eq!(
            read,
            [
                (None, "expected an object, found 5".to_owned(), "5"),
                (Some("user"), "expected an object, found 7".to_owned(), "7"),
                (None, "content: missing".to_owned(), r#"{"role":7}"#),
                (
                    Some("user"),
                    "b".to_owned(),
                    r#"{"type":"text","text":"b"}"#
                ),
            ]
        );
        assert!(messages.iter().all(|message| message.deviation().is_none()));
    }

    #[test]
    fn content_as_a_string_or_a_list_is_read_and_said_to_deviate() {
        let text = r#"{"messages":[{"role":"user","content":"a\u0062\n"},
            {"role":"user","content":[{"type":"text","text":"c"},"d",{"type":"later"}]},
            {"content":[]},{"role":"user","content":"\ud800"}]}"#;
        let messages = messages(text);
        let texts: Vec<Vec<_>> = messages
            .iter()
            .map(|message| message.content().iter().map(Content::as_text).collect())
            .collect();
        assert_eq!(
            texts,
            [
                vec![Some("ab\n")],
                vec![Some("c"), Some("d"), None],
                vec![],
                // Half a character is no text, and kept as it was sent.
                vec![None],
            ]
        );
        let first = messages[0].content()[0].raw();
        assert_eq!(first.as_str(), r#""a\u0062\n""#);
        assert_eq!(messages[3].content()[0].raw().as_str(), r#""\ud800""#);
        let said: Vec<_> = messages.iter().map(PromptMessage::deviation).collect();
        let (string, list) = (
            Some("the content of a message is a plain string"),
            Some("the content of a message is a list of blocks"),
        );
        assert_eq!(said, [string, list, list, string]);
    }
}
