//! Sampling: requests of servers to the user's model.
//!
//! A [`Provider`] sends a [`ModelRequest`] to a model: `OpenAi` for every API like OpenAI's chat
//! completions, `Anthropic` for Anthropic's messages, or one of the program's own. The rest are the steps
//! of a sampler: [`choose_model`] by the server's preferences, [`read_request`] within [`SamplingLimits`],
//! a [`Meter`] for the budget of each server, and the question to the user, [`SamplingRequest`].
//!
//! The server drives a loop of tools: each of its requests is answered independently, and
//! [`check_rounds`] checks that uses of tools and their results pair up.

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

#[cfg(feature = "sampling")]
pub use anthropic::Anthropic;
#[cfg(feature = "sampling")]
pub use api::ApiError;
pub use approval::{SamplingApproval, SamplingRequest};
pub use balance::check_rounds;
pub use choice::{ModelScores, choose_model};
pub use limits::SamplingLimits;
pub use meter::{Meter, Ticket};
pub use model::{
    Media, ModelAnswer, ModelRequest, ModelTool, Part, Prompt, Role, Stop, ToolUse, Turn,
};
#[cfg(feature = "sampling")]
pub use openai::{OpenAi, TokensField};
pub use provider::{Completing, Provider, ProviderError};
pub use read::read_request;
