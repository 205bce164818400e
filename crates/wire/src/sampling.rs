//! A server asks our model.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::{Content, FromRaw, Misfit, Raw, Tool};

wire_object! {
    /// The model wants a tool called.
    pub struct ToolUseContent {
        /// The id that the tool's answer will name.
        id: [str] = "id",
        /// The tool's name.
        name: [str] = "name",
        /// The arguments.
        input: [of Raw] = "input",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

wire_object! {
    /// What a tool answered to the model.
    pub struct ToolResultContent {
        /// The id of the use that this answers.
        tool_use_id: [str] = "toolUseId",
        /// The blocks of the answer.
        content: [list Content] = "content",
        /// The answer as data.
        structured_content: [opt of Raw] = "structuredContent",
        /// Whether the tool failed.
        is_error: [opt copy bool] = "isError",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

/// One block of a message for a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Since 2025-11-25: the model wants a tool called.
    ToolUse(ToolUseContent),
    /// Since 2025-11-25: what the tool answered.
    ToolResult(ToolResultContent),
    /// Text, an image, a sound, or what nobody understands.
    Block(Content),
}

impl SamplingContent {
    /// The block as it was sent.
    pub fn raw(&self) -> &Raw {
        match self {
            Self::ToolUse(block) => block.raw(),
            Self::ToolResult(block) => block.raw(),
            Self::Block(block) => block.raw(),
        }
    }
}

impl FromRaw for SamplingContent {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        let kind = raw.member("type").and_then(|kind| kind.as_text());
        match kind.as_deref() {
            Some("tool_use") => FromRaw::from_raw(raw).map(Self::ToolUse),
            Some("tool_result") => FromRaw::from_raw(raw).map(Self::ToolResult),
            _ => FromRaw::from_raw(raw).map(Self::Block),
        }
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

/// What a message says: one block, or since 2025-11-25 an array of them.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingBlocks(Vec<SamplingContent>);

impl Deref for SamplingBlocks {
    type Target = [SamplingContent];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromRaw for SamplingBlocks {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        if !raw.is_array() {
            return Ok(Self(vec![SamplingContent::from_raw(raw)?]));
        }
        let read = |(index, item): (usize, Raw)| {
            SamplingContent::from_raw(&item)
                .map_err(|misfit| misfit.under(format_args!("[{index}]")))
        };
        let blocks: Result<Vec<_>, _> = raw.items().into_iter().enumerate().map(read).collect();
        blocks.map(Self)
    }
}

wire_object! {
    /// One message of the conversation.
    pub struct SamplingMessage {
        /// Who says it: `user` or `assistant`.
        role: [str] = "role",
        /// What is said.
        content: [of SamplingBlocks] = "content",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

wire_object! {
    /// A wish for a model.
    pub struct ModelHint {
        /// A part of a model's name.
        name: [opt str] = "name",
    }
}

wire_object! {
    /// What matters in the choice of the model. Advice only.
    pub struct ModelPreferences {
        /// Wishes, the first one that fits first.
        hints: [list ModelHint] = "hints",
        /// How much a low price matters, from 0 to 1.
        cost_priority: [opt copy f64] = "costPriority",
        /// How much speed matters, from 0 to 1.
        speed_priority: [opt copy f64] = "speedPriority",
        /// How much cleverness matters, from 0 to 1.
        intelligence_priority: [opt copy f64] = "intelligencePriority",
    }
}

wire_object! {
    /// Whether the model may, must or must not use tools.
    pub struct ToolChoice {
        /// `auto`, `required` or `none`; absent is `auto`.
        mode: [opt str] = "mode",
    }
}

wire_object! {
    /// What a server asks our model.
    pub struct CreateMessageParams {
        /// The conversation so far.
        messages: [list SamplingMessage] = "messages",
        /// What matters in the choice of the model.
        model_preferences: [opt of ModelPreferences] = "modelPreferences",
        /// What to tell the model first. Untrusted.
        system_prompt: [opt str] = "systemPrompt",
        /// Context to add: `none`, `thisServer` or `allServers`; absent is `none`.
        include_context: [opt str] = "includeContext",
        /// How freely to choose words.
        temperature: [opt copy f64] = "temperature",
        /// How long the answer may get.
        max_tokens: [copy u64] = "maxTokens",
        /// Words that end the answer.
        stop_sequences: [list String] = "stopSequences",
        /// For the model's provider.
        metadata: [opt of Raw] = "metadata",
        /// Since 2025-11-25: tools for the model to use.
        tools: [list Tool] = "tools",
        /// Since 2025-11-25: whether it may use them.
        tool_choice: [opt of ToolChoice] = "toolChoice",
        /// 2025-11-25: the server wants a task.
        task: [opt of Raw] = "task",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

/// What our model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// Who says it: `assistant`.
    pub role: String,
    /// One block, or an array of them: see [`SamplingContent`].
    pub content: Raw,
    /// The model's name.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or its own word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop_reason: Option<String>,
}

impl CreateMessageResult {
    /// An answer of one text.
    pub fn text(model: impl Into<String>, text: &str) -> Self {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'a str,
            text: &'a str,
        }
        let block = Text {
            r#type: "text",
            text,
        };
        Self {
            role: "assistant".to_owned(),
            // Two strings always have a JSON form.
            content: Raw::of(&block).unwrap_or_else(|_| Raw::empty_object()),
            model: model.into(),
            stop_reason: Some("endTurn".to_owned()),
        }
    }
}

ask! {
    /// A server asks our model.
    CreateMessage = "sampling/createMessage", CreateMessageParams => CreateMessageResult
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_may_be_one_block_or_several() {
        let text = r#"{"maxTokens":5,"messages":[
            {"role":"user","content":{"type":"text","text":"a"}},
            {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]},
                                      {"type":"later"}]}]}"#;
        let params = CreateMessageParams::from_raw(&Raw::parse(text).unwrap()).unwrap();
        let kinds: Vec<Vec<_>> = params
            .messages()
            .iter()
            .map(|message| {
                let kind = |block: &SamplingContent| match block {
                    SamplingContent::ToolUse(block) => format!("use {}", block.id()),
                    SamplingContent::ToolResult(block) => format!("result {}", block.tool_use_id()),
                    SamplingContent::Block(Content::Unknown(_)) => "unknown".to_owned(),
                    SamplingContent::Block(block) => block.as_text().unwrap().to_owned(),
                };
                message.content().iter().map(kind).collect()
            })
            .collect();
        assert_eq!(
            kinds,
            [vec!["a"], vec!["use 1"], vec!["result 1", "unknown"]]
        );
    }

    #[test]
    fn a_text_answer_is_written_as_one_block() {
        assert_eq!(
            serde_json::to_string(&CreateMessageResult::text("m", "hi")).unwrap(),
            r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}"#
        );
    }
}
