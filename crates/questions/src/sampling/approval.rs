//! The question to the user about a server's prompt for their model.

use super::model::{ModelRequest, Prompt};
use switchboard_core::spec::ServerName;

/// A prompt of a server for a model, with everything that would be sent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The server, by the name that the user gave it.
    pub server: ServerName,
    /// The provider, by the name that the user gave it.
    pub provider: String,
    /// The model, the whole prompt, the tools and the limits.
    pub request: ModelRequest,
}

impl SamplingRequest {
    /// Describes a request of a server to a provider.
    #[doc(hidden)]
    pub fn new(server: &ServerName, provider: &str, request: &ModelRequest) -> Self {
        Self {
            server: server.clone(),
            provider: provider.to_owned(),
            request: request.clone(),
        }
    }
}

/// The answer to a [`SamplingRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SamplingApproval {
    /// Nothing is sent.
    No,
    /// The prompt is sent.
    Yes,
    /// This prompt is sent in place of the server's own.
    Edited(Prompt),
    /// The prompt is sent, and so are later ones of this server, as long as the
    /// `Sampler` lives.
    Session,
}
