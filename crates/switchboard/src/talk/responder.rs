//! The handlers as one server meets them.

use std::sync::Arc;

use switchboard_wire::{
    ClientCapabilities, ElicitParams, ElicitationCapability, InputRequest, ListRootsResult, Raw,
    RootsCapability, SamplingCapability,
};

use super::operator::{ElicitRequest, ElicitSupport, Operator as _, SharedOperator};
use super::refusals::Refusals;
use super::screen::ask_operator;
use super::{Answering, Handlers};
use crate::session::{Refusal, Respond, Responding};
use crate::spec::ServerName;

/// Receives notices about odd questions of a server.
type Tell = Arc<dyn Fn(String) + Send + Sync>;

/// Answers the requests of one server, if it may send them. A host makes one for each of its servers; for
/// a single [`Server`](crate::Server) or [`Session`](crate::Session) it goes to
/// [`SessionOptions::respond`](crate::SessionOptions::respond).
#[doc(hidden)]
pub struct Responder {
    server: ServerName,
    handlers: Handlers,
    tell: Tell,
    refusals: Refusals,
}

impl Responder {
    /// Creates the handlers for one server; it may use the model only if `may_sample` is set.
    pub fn new(server: ServerName, mut handlers: Handlers, may_sample: bool) -> Self {
        // Removed here rather than refused later: the capability is then not declared either.
        if !may_sample {
            handlers.sample = None;
        }
        Self {
            server,
            handlers,
            tell: Arc::new(|_| {}),
            refusals: Refusals::default(),
        }
    }

    /// Returns the operator, if it answers questions of servers.
    fn elicit_operator(&self) -> Option<&SharedOperator> {
        let operator = self.handlers.operator.as_ref();
        operator.filter(|operator| operator.elicit_support() > ElicitSupport::None)
    }

    /// Passes notices about odd questions to `tell`.
    pub(crate) fn telling(mut self, tell: impl Fn(String) + Send + Sync + 'static) -> Self {
        self.tell = Arc::new(tell);
        self
    }
}

impl Respond for Responder {
    fn capabilities(&self) -> ClientCapabilities {
        let Handlers { sample, roots, .. } = &self.handlers;
        ClientCapabilities {
            elicitation: self
                .elicit_operator()
                .map(|operator| ElicitationCapability {
                    form: true,
                    url: operator.elicit_support() == ElicitSupport::FormsAndUrls,
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
            let Handlers { sample, roots, .. } = &self.handlers;
            // A question of a kind that was not declared is answered as if the method did not
            // exist.
            match (request, self.elicit_operator(), sample, roots) {
                (InputRequest::Elicit(question), Some(operator), ..) => {
                    let (refusals, tell) = (&self.refusals, &*self.tell);
                    let put = ask_operator(operator, &self.server, question, refusals, tell);
                    to_raw(&put.await?)
                }
                (InputRequest::Sample(question), _, Some(sample), _) => {
                    to_raw(&sample.sample(&self.server, question).await?)
                }
                (InputRequest::Roots, .., Some(roots)) => to_raw(&ListRootsResult {
                    roots: roots.list(),
                }),
                _ => Err(Refusal::NotAvailable),
            }
        })
    }

    fn finished<'a>(&'a self, question: &'a ElicitParams) -> Answering<'a, bool> {
        match self.elicit_operator() {
            Some(operator) => {
                let request = ElicitRequest::new(self.server.clone(), question.clone());
                Box::pin(operator.finish_visit(request))
            }
            // Without an operator the visit ends when the server says so.
            None => Box::pin(std::future::pending()),
        }
    }

    fn completed(&self, elicitation: &str) {
        if let Some(operator) = self.elicit_operator() {
            operator.visit_completed(&self.server, elicitation);
        }
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder")
            .field("server", &self.server)
            .field("handlers", &self.handlers)
            .finish_non_exhaustive()
    }
}

fn to_raw(answer: &impl serde::Serialize) -> Result<Raw, Refusal> {
    Raw::of(answer).map_err(|error| Refusal::Invalid(error.to_string()))
}
