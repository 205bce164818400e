//! The operator: one trait for every question to the user of a host.

mod closures;
mod ready;
mod requests;
mod shared;
#[cfg(test)]
mod tests;

use std::future::{self, Future};

use switchboard_wire::ElicitResult;

pub(crate) use closures::{ClosureOperator, boxed};
pub use ready::{Decline, Unasked, Unattended};
#[cfg(feature = "config")]
pub use requests::InputPrompt;
pub use requests::{
    ChangeApproval, ChangeRequest, ElicitRequest, ElicitSupport, LoginDecision, LoginRequest,
};
pub use shared::SharedOperator;

use super::elicit::ElicitLimits;
use super::sampling::{ModelAnswer, ProviderError, SamplingApproval, SamplingRequest};
use crate::policy::{UseApproval, UseRequest};
#[cfg(feature = "config")]
use crate::secret::Secret;
use crate::session::Refusal;
use crate::spec::ServerName;
use crate::trust::{Question, ServerApproval};

/// Answers for the user of a program.
///
/// A host asks its operator before it starts a server that came with a folder, before an agent does
/// something that its policy wants the user asked about, and when a server sends an elicitation request.
/// Every method refuses unless a program implements it, so a program implements exactly the questions
/// that it can show. A future may take as long as the user does. Dropping it withdraws the question,
/// which counts as a refusal.
///
/// ```
/// use switchboard::talk::{ElicitRequest, ElicitSupport, Operator};
/// use switchboard::policy::{UseApproval, UseRequest};
/// use switchboard::protocol::ElicitResult;
/// use switchboard::session::Refusal;
/// use switchboard::Host;
///
/// /// Lets agents use everything once, and declines forms.
/// struct Careful;
///
/// impl Operator for Careful {
///     async fn approve_use(&self, request: UseRequest) -> UseApproval {
///         println!("{request}");
///         UseApproval::Once
///     }
///
///     fn elicit_support(&self) -> ElicitSupport {
///         ElicitSupport::Forms
///     }
///
///     async fn elicit(&self, _request: ElicitRequest) -> Result<ElicitResult, Refusal> {
///         Ok(ElicitResult::decline())
///     }
/// }
///
/// let host = Host::builder().operator(Careful).build()?;
/// // Where one question is enough, a closure answers it.
/// let host = Host::builder()
///     .on_approve_use(|request| async move {
///         println!("{request}");
///         UseApproval::Refuse
///     })
///     .build()?;
/// # Ok::<_, switchboard::Error>(())
/// ```
pub trait Operator: Send + Sync {
    /// Decides about a server that a project's file describes and that is not approved yet. Programs
    /// show [`Question::lines`].
    fn approve_server(&self, _request: Question) -> impl Future<Output = ServerApproval> + Send {
        future::ready(ServerApproval::Refuse)
    }

    /// Decides about a use that the policy of an agent wants asked about.
    fn approve_use(&self, _request: UseRequest) -> impl Future<Output = UseApproval> + Send {
        future::ready(UseApproval::Refuse)
    }

    /// Decides about definitions that have changed since their server was approved.
    fn approve_change(
        &self,
        _request: ChangeRequest,
    ) -> impl Future<Output = ChangeApproval> + Send {
        future::ready(ChangeApproval::Refuse)
    }

    /// Decides whether a server's prompt is sent to a model. The request has everything that would
    /// be sent. The [`Sampler`](super::sampling::Sampler) asks this that was made with the operator.
    fn approve_sampling(
        &self,
        _request: SamplingRequest,
    ) -> impl Future<Output = SamplingApproval> + Send {
        future::ready(SamplingApproval::No)
    }

    /// Decides whether a server gets the answer of the model. Asked only after
    /// [`Operator::approve_sampling`] has approved the prompt, and not for servers that were approved
    /// for the whole session; approves unless implemented.
    fn approve_sampled(
        &self,
        _request: SamplingRequest,
        _answer: ModelAnswer,
    ) -> impl Future<Output = bool> + Send {
        future::ready(true)
    }

    /// Receives the reason why a model did not answer. The server gets less of it.
    fn sampling_failed(&self, _server: &ServerName, _provider: &str, _error: &ProviderError) {}

    /// Returns the kinds of questions that [`Operator::elicit`] answers. It is declared to servers, so
    /// that they ask only such questions.
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::None
    }

    /// Returns the limits on questions; a question over a limit is refused.
    fn elicit_limits(&self) -> ElicitLimits {
        ElicitLimits::default()
    }

    /// Answers a question of a server. Its [`Form`](super::Form) was readable and asks for no secret, or
    /// its [`Link`](super::Link) is safe to open.
    fn elicit(
        &self,
        _request: ElicitRequest,
    ) -> impl Future<Output = Result<ElicitResult, Refusal>> + Send {
        future::ready(Err(Refusal::NotAvailable))
    }

    /// Waits until the user has finished at the URL that a server sent them to, and returns whether to go
    /// on. Unless implemented it waits for ever: the server reports the end, or time runs out.
    fn finish_visit(
        &self,
        _request: ElicitRequest,
    ) -> impl Future<Output = Result<bool, Refusal>> + Send {
        future::pending()
    }

    /// Receives the report of a server that a visit to an address is done.
    fn visit_completed(&self, _server: &ServerName, _elicitation: &str) {}

    /// Receives the reason why a question was answered without the operator: it asked for a secret, or
    /// cannot be read. For servers that ask many of these, see [`ElicitLimits::refusals`].
    fn elicit_refused(&self, _server: &ServerName, _why: &str) {}

    /// Answers `${input:ID}` of a config file, for a server that is approved.
    #[cfg(feature = "config")]
    fn input(&self, _prompt: InputPrompt) -> impl Future<Output = Option<Secret<String>>> + Send {
        future::ready(None)
    }

    /// Returns true if [`Operator::login`] can be asked. Unless it is, no login is begun, and a server that needs one
    /// fails with [`Error::needs_login`](crate::Error::needs_login).
    fn offers_login(&self) -> bool {
        false
    }

    /// Opens the page of a login in a browser, or shows its address to the person.
    ///
    /// Asked by [`Host::log_in`](crate::Host::log_in) and [`Host::connect`](crate::Host::connect), never for an agent.
    fn login(&self, _request: LoginRequest) -> impl Future<Output = LoginDecision> + Send {
        future::ready(LoginDecision::Refuse)
    }
}
