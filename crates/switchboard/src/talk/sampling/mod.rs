//! Questions for a model.
//!
//! A [`Sampler`] answers what servers ask of a model. It has a [`Provider`], which asks one: [`OpenAi`] for
//! every API like OpenAI's chat completions, [`Anthropic`] for Anthropic's messages, or one of the program's
//! own. It keeps to [`SamplingBounds`], and asks an [`Operator`](crate::Operator), who sees all that would be sent.
//!
//! `read` makes a request of a server's question and `balance` holds its tools to the rules; `choice` finds
//! the model, `meter` counts. The server drives a loop of tools: each of its requests is answered by itself.

#[cfg(feature = "sampling")]
mod anthropic;
#[cfg(feature = "sampling")]
mod api;
mod approval;
mod balance;
mod bounds;
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
pub use bounds::SamplingBounds;
pub use model::{
    Media, ModelAnswer, ModelRequest, ModelTool, Part, Prompt, Role, Stop, ToolUse, Turn,
};
#[cfg(feature = "sampling")]
pub use openai::{OpenAi, TokensField};
pub use provider::{Completing, Provider, ProviderError};
pub use sampler::Sampler;
