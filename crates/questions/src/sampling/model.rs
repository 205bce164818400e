//! Requests to a model and its answers, independent of any provider's API.

#[cfg(feature = "sampling")]
use serde_json::{Value, json};
use switchboard_wire::Raw;

/// A request to a model: one question, one answer. It never contains context of other servers, even if
/// the server asks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The name of the model.
    pub model: String,
    /// The prompt.
    pub prompt: Prompt,
    /// Maximum length of the answer.
    pub max_tokens: u64,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Words that end the answer.
    pub stop_sequences: Vec<String>,
    /// Tools that it may ask for.
    pub tools: Vec<ModelTool>,
    /// Says if the model may, must or must not ask for tools.
    pub tool_use: ToolUse,
}

/// The prompt: the part of a request that the user can read and change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompt {
    /// The system prompt.
    pub system: Option<String>,
    /// The conversation so far.
    pub turns: Vec<Turn>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The role of the speaker.
    pub role: Role,
    /// The content of the turn.
    pub parts: Vec<Part>,
}

/// The role of a speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Its name, which is the same everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One part of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// The model asks for a tool.
    Use {
        /// The id that the tool's answer names.
        id: String,
        /// The tool.
        name: String,
        /// The arguments: an object.
        input: Raw,
    },
    /// The result of a tool.
    Result {
        /// The id of the use that this answers.
        id: String,
        /// The answer: no part of it is a use or a result.
        parts: Vec<Part>,
        /// Set if the tool failed.
        is_error: bool,
    },
}

/// Bytes of some type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Their type, such as `image/png`.
    pub mime_type: String,
    /// The bytes as base64.
    pub data: String,
}

/// A tool that a model may ask for. The server that sent the request runs it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTool {
    /// Its name.
    pub name: String,
    /// The description, in the server's words.
    pub description: Option<String>,
    /// The schema of its arguments: an object.
    pub input_schema: Raw,
}

#[cfg(feature = "sampling")]
impl ModelTool {
    /// Writes it for an API that has the schema in this field.
    pub(super) fn to_json(&self, schema_field: &str) -> Value {
        let mut written = json!({"name": self.name, schema_field: self.input_schema});
        if let (Some(description), Some(written)) = (&self.description, written.as_object_mut()) {
            written.insert("description".to_owned(), description.as_str().into());
        }
        written
    }
}

/// Permission for a model to ask for tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolUse {
    /// It may.
    #[default]
    Auto,
    /// It must.
    Required,
    /// It must not.
    None,
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// The model that answered.
    pub model: String,
    /// The content: text, and tools that it asks for.
    pub parts: Vec<Part>,
    /// The reason why it stopped.
    pub stop: Stop,
    /// The number of tokens used, if the provider reports it.
    pub tokens: Option<u64>,
}

/// The reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The answer is complete.
    EndTurn,
    /// It came to a word that ends the answer.
    StopSequence,
    /// The answer got as long as it may.
    MaxTokens,
    /// It wants a tool called.
    ToolUse,
    /// For a reason that only its provider has a word for.
    Other(String),
}

impl Stop {
    /// The protocol's word for it.
    pub fn word(&self) -> &str {
        match self {
            Self::EndTurn => "endTurn",
            Self::StopSequence => "stopSequence",
            Self::MaxTokens => "maxTokens",
            Self::ToolUse => "toolUse",
            Self::Other(word) => word,
        }
    }
}
