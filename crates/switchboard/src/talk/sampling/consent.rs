//! What a person says to a server's question for their model.

use std::future::Future;
use std::pin::Pin;

use super::model::{ModelAnswer, ModelRequest, Prompt};
use super::provider::ProviderError;
use crate::spec::ServerName;

/// A decision being made.
pub type Deciding<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a person is asked about: everything that would be sent.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Asking<'a> {
    /// The server, as the person has named it.
    pub server: &'a ServerName,
    /// The provider, as the person has named it.
    pub provider: &'a str,
    /// The model, the whole prompt, the tools and the bounds.
    pub request: &'a ModelRequest,
}

/// What a person says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing is sent.
    No,
    /// It is sent.
    Yes,
    /// This is sent in place of the server's own prompt.
    Edited(Prompt),
    /// It is sent, and so is what this server asks later, as long as the [`Sampler`](super::Sampler) is
    /// there.
    Session,
}

/// Asks a person whether a server may ask their model.
pub trait Consent: Send + Sync {
    /// Shows what would be sent and asks about it. Dropping the future takes the question back.
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Deciding<'a, Verdict>;

    /// Shows what the model said, and gives whether the server gets it. Not asked for servers that are
    /// allowed to ask for the whole session.
    fn review<'a>(&'a self, _: Asking<'a>, _: &'a ModelAnswer) -> Deciding<'a, bool> {
        Box::pin(std::future::ready(true))
    }

    /// Is told why the model did not answer. The server is told less.
    fn failed(&self, _server: &ServerName, _provider: &str, _error: &ProviderError) {}
}

/// Lets every server ask that may ask at all, for programs that decide by the servers' settings. The bounds
/// of the [`Sampler`](super::Sampler) still hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unasked;

impl Consent for Unasked {
    fn ask<'a>(&'a self, _: Asking<'a>) -> Deciding<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Yes))
    }
}
