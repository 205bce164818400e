//! Sampling: requests of servers to the user's model.
//!
//! A [`Sampler`] answers sampling requests. It sends them to a model with a [`Provider`]: [`OpenAi`] for
//! every API like OpenAI's chat completions, [`Anthropic`] for Anthropic's messages, or one of the
//! program's own. It enforces [`SamplingLimits`], and asks an [`Operator`](crate::Operator), who sees
//! everything that would be sent.
//!
//! `read` turns a server's question into a request and `balance` checks its tool uses; `choice` selects
//! the model, `meter` counts. The server drives a loop of tools: each of its requests is answered
//! independently.

#[cfg(feature = "sampling")]
mod anthropic;
#[cfg(feature = "sampling")]
mod api;
mod approval;
mod balance;
mod choice;
mod limits;
mod meter;
mod model;
#[cfg(feature = "sampling")]
mod openai;
mod provider;
mod read;
mod sampler;

#[cfg(feature = "sampling")]
pub use anthropic::Anthropic;
#[cfg(feature = "sampling")]
pub use api::ApiError;
pub use approval::{SamplingApproval, SamplingRequest};
pub use choice::ModelScores;
pub use limits::SamplingLimits;
pub use model::{
    Media, ModelAnswer, ModelRequest, ModelTool, Part, Prompt, Role, Stop, ToolUse, Turn,
};
#[cfg(feature = "sampling")]
pub use openai::{OpenAi, TokensField};
pub use provider::{Completing, Provider, ProviderError};
pub use sampler::Sampler;
