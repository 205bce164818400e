//! What a model is asked and what it answers, in nobody's dialect.

#[cfg(feature = "sampling")]
use serde_json::{Value, json};
use switchboard_wire::Raw;

/// A request to a model: one question, one answer. There is no context of other servers in it, whatever
/// the server that asks would like to have.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Which model.
    pub model: String,
    /// What it is told and asked.
    pub prompt: Prompt,
    /// How long the answer may get.
    pub max_tokens: u64,
    /// How freely it chooses words.
    pub temperature: Option<f64>,
    /// Words that end the answer.
    pub stop_sequences: Vec<String>,
    /// Tools that it may ask for.
    pub tools: Vec<ModelTool>,
    /// Whether it may, must or must not ask for them.
    pub tool_use: ToolUse,
}

/// What a model is told and asked: the part of a request that a person can read and change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompt {
    /// What it is told first.
    pub system: Option<String>,
    /// The conversation so far.
    pub turns: Vec<Turn>,
}

/// What one side says in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub parts: Vec<Part>,
}

/// Who says something.
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

/// One part of what is said.
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
    /// What a tool answered.
    Result {
        /// The id of the use that this answers.
        id: String,
        /// The answer: no part of it is a use or a result.
        parts: Vec<Part>,
        /// Whether the tool failed.
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

/// A tool that a model may ask for. Whoever sent the question runs it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTool {
    /// Its name.
    pub name: String,
    /// What it does, in the server's words.
    pub description: Option<String>,
    /// What its arguments must look like: an object.
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

/// Whether a model may, must or must not ask for tools.
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

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// The model that answered.
    pub model: String,
    /// What it says: text, and tools that it asks for.
    pub parts: Vec<Part>,
    /// Why it stopped.
    pub stop: Stop,
    /// How many tokens that took, where the provider says.
    pub tokens: Option<u64>,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// It had said it all.
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
