//! Tools, calls and results in the formats of models' APIs, and what to give a model to read.

use serde_json::Value;

use super::handle::ToolHandle;
use super::result::ToolResult;
use super::view::View;
use crate::error::Error;
use crate::formats::context::{LeftOut, Room, choose};
use crate::formats::{self, Adapted, TextBounds, anthropic, openai};
use crate::session::CallOptions;
use crate::spec::ServerName;

impl ToolHandle {
    /// The definition as OpenAI's Chat Completions take it, with what had to be adapted.
    pub fn openai_chat(&self) -> Adapted<Value> {
        openai::chat(self.name(), self.tool())
    }

    /// The definition as OpenAI's Responses take it, with what had to be adapted.
    pub fn openai_responses(&self) -> Adapted<Value> {
        openai::responses(self.name(), self.tool())
    }

    /// The definition as Anthropic's Messages take it, with what had to be adapted.
    pub fn anthropic(&self) -> Adapted<Value> {
        anthropic::definition(self.name(), self.tool())
    }
}

impl ToolResult {
    /// The result as a message for OpenAI's Chat Completions; `id` is that of the call.
    pub fn openai_chat(&self, id: &str) -> Adapted<Value> {
        openai::chat_result(id, self.whole(), &TextBounds::default())
    }

    /// The result as an item for OpenAI's Responses; `id` is that of the call.
    pub fn openai_responses(&self, id: &str) -> Adapted<Value> {
        openai::responses_result(id, self.whole(), &TextBounds::default())
    }

    /// The result as a block for Anthropic's Messages; `id` is that of the call.
    pub fn anthropic(&self, id: &str) -> Adapted<Value> {
        anthropic::result(id, self.whole(), &TextBounds::default())
    }
}

/// What was chosen for a model to read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Reading {
    /// The texts, the most important one first.
    pub texts: Vec<Passage>,
    /// What was left out, and why.
    pub left_out: Vec<(ServerName, String, String)>,
    /// Bytes of all texts together.
    pub bytes: usize,
}

/// One resource that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The server that has it.
    pub server: ServerName,
    /// Its address.
    pub uri: String,
    /// What it holds, as a text.
    pub text: String,
}

impl View {
    /// Makes the call that a model asked for: see [`formats::openai::chat_call`] and its sisters.
    ///
    /// # Errors
    /// When there is no such tool, the arguments do not fit, or there is no result.
    pub async fn call(&self, call: &formats::Call) -> Result<ToolResult, Error> {
        let arguments = call.arguments.clone();
        let tool = self.find_for(&call.name, Some(&arguments)).await?;
        tool.call_with(arguments, CallOptions::default()).await
    }

    /// Reads the resources of all known servers that are worth a model's attention, as long as they
    /// fit into a budget of bytes: those for models, the important ones first, of these the newer.
    ///
    /// A resource that cannot be read, or turns out to be longer than its server said and does not
    /// fit any more, is left out and named.
    pub async fn context(&self, budget: u64) -> Reading {
        let entries = self.resources();
        let resources: Vec<_> = entries.iter().map(|entry| entry.resource()).collect();
        let choice = choose(&resources, &Room::of(budget));
        let mut reading = Reading::default();
        let mut left = usize::try_from(budget).unwrap_or(usize::MAX);
        for entry in choice.picked.iter().filter_map(|at| entries.get(*at)) {
            let (server, uri) = (entry.server().clone(), entry.uri().to_owned());
            let text = match self.read(server.as_str(), &uri).await {
                Ok(read) => formats::resource_text(&read, &TextBounds::default()).text,
                Err(error) => {
                    reading.left_out.push((server, uri, error.to_string()));
                    continue;
                }
            };
            if text.len() > left {
                let why = format!("it has {} bytes, and {left} are left", text.len());
                reading.left_out.push((server, uri, why));
                continue;
            }
            left -= text.len();
            reading.bytes += text.len();
            reading.texts.push(Passage { server, uri, text });
        }
        for (at, why) in &choice.left_out {
            if let Some(entry) = entries.get(*at) {
                let (server, uri) = (entry.server().clone(), entry.uri().to_owned());
                reading.left_out.push((server, uri, words(why)));
            }
        }
        reading
    }
}

fn words(why: &LeftOut) -> String {
    match why {
        LeftOut::NotForModels => "it is for people".to_owned(),
        LeftOut::NoRoom { bytes, left } => format!("it has {bytes} bytes, and {left} are left"),
    }
}
