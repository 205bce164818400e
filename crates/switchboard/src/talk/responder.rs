//! The handlers as one server meets them.

use switchboard_protocol::{
    ClientCapabilities, ElicitationCapability, InputRequest, ListRootsResult, Raw, RootsCapability,
    SamplingCapability,
};

use super::Handlers;
use crate::session::{Refusal, Respond, Responding};
use crate::spec::ServerName;

/// Answers the questions of one server, as far as it may ask them.
pub(crate) struct Responder {
    server: ServerName,
    handlers: Handlers,
}

impl Responder {
    /// The handlers for one server; it asks a model only where `may_sample`.
    pub(crate) fn new(server: ServerName, mut handlers: Handlers, may_sample: bool) -> Self {
        if !may_sample {
            handlers.sample = None;
        }
        Self { server, handlers }
    }
}

impl Respond for Responder {
    fn capabilities(&self) -> ClientCapabilities {
        let Handlers {
            elicit,
            sample,
            roots,
        } = &self.handlers;
        ClientCapabilities {
            elicitation: elicit.as_ref().map(|elicit| ElicitationCapability {
                form: true,
                url: elicit.takes_urls(),
            }),
            sampling: sample.as_ref().map(|sample| SamplingCapability {
                context: false,
                tools: sample.takes_tools(),
            }),
            roots: roots
                .as_ref()
                .filter(|roots| roots.is_declared())
                .map(|_| RootsCapability { list_changed: true }),
            ..ClientCapabilities::default()
        }
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let Handlers {
                elicit,
                sample,
                roots,
            } = &self.handlers;
            match (request, elicit, sample, roots) {
                (InputRequest::Elicit(question), Some(elicit), ..) => {
                    written(&elicit.elicit(&self.server, question).await?)
                }
                (InputRequest::Sample(question), _, Some(sample), _) => {
                    written(&sample.sample(&self.server, question).await?)
                }
                (InputRequest::Roots, .., Some(roots)) => written(&ListRootsResult {
                    roots: roots.list(),
                }),
                _ => Err(Refusal::NotAvailable),
            }
        })
    }
}

fn written(answer: &impl serde::Serialize) -> Result<Raw, Refusal> {
    Raw::of(answer).map_err(|error| Refusal::Invalid(error.to_string()))
}
