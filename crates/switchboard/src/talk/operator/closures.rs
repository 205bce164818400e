//! Closures that answer one question each, in front of an operator that answers the others.

use std::future::Future;
use std::pin::Pin;

use switchboard_wire::ElicitResult;

#[cfg(feature = "config")]
use super::InputPrompt;
use super::{
    ChangeApproval, ChangeRequest, ElicitRequest, ElicitSupport, LoginDecision, LoginRequest,
    Operator, SharedOperator,
};
use crate::policy::{UseApproval, UseRequest};
#[cfg(feature = "config")]
use crate::secret::Secret;
use crate::session::Refusal;
use crate::spec::ServerName;
use crate::talk::elicit::ElicitLimits;
use crate::talk::sampling::{ModelAnswer, ProviderError, SamplingApproval, SamplingRequest};
use crate::trust::{Question, ServerApproval};

/// A closure that answers a question.
type Closure<Q, A> =
    Box<dyn Fn(Q) -> Pin<Box<dyn Future<Output = A> + Send>> + Send + Sync + 'static>;

/// An operator whose questions can be answered by closures, each in place of the operator's method.
#[derive(Default)]
pub(crate) struct ClosureOperator {
    pub(crate) operator: SharedOperator,
    pub(crate) approve_server: Option<Closure<Question, ServerApproval>>,
    pub(crate) approve_use: Option<Closure<UseRequest, UseApproval>>,
    pub(crate) approve_change: Option<Closure<ChangeRequest, ChangeApproval>>,
    pub(crate) elicit: Option<Closure<ElicitRequest, Result<ElicitResult, Refusal>>>,
    pub(crate) login: Option<Closure<LoginRequest, LoginDecision>>,
    #[cfg(feature = "config")]
    pub(crate) input: Option<Closure<InputPrompt, Option<Secret<String>>>>,
}

/// Boxes a closure and its futures.
pub(crate) fn boxed<Q, A, F>(ask: impl Fn(Q) -> F + Send + Sync + 'static) -> Option<Closure<Q, A>>
where
    F: Future<Output = A> + Send + 'static,
{
    Some(Box::new(move |question| Box::pin(ask(question))))
}

impl Operator for ClosureOperator {
    async fn approve_server(&self, request: Question) -> ServerApproval {
        match &self.approve_server {
            Some(ask) => ask(request).await,
            None => self.operator.approve_server(request).await,
        }
    }

    async fn approve_use(&self, request: UseRequest) -> UseApproval {
        match &self.approve_use {
            Some(ask) => ask(request).await,
            None => self.operator.approve_use(request).await,
        }
    }

    async fn approve_change(&self, request: ChangeRequest) -> ChangeApproval {
        match &self.approve_change {
            Some(ask) => ask(request).await,
            None => self.operator.approve_change(request).await,
        }
    }

    async fn approve_sampling(&self, request: SamplingRequest) -> SamplingApproval {
        self.operator.approve_sampling(request).await
    }

    async fn approve_sampled(&self, request: SamplingRequest, answer: ModelAnswer) -> bool {
        self.operator.approve_sampled(request, answer).await
    }

    fn sampling_failed(&self, server: &ServerName, provider: &str, error: &ProviderError) {
        self.operator.sampling_failed(server, provider, error);
    }

    fn elicit_support(&self) -> ElicitSupport {
        let support = self.operator.elicit_support();
        // A closure answers forms even where the operator answers nothing.
        match &self.elicit {
            Some(_) => support.max(ElicitSupport::Forms),
            None => support,
        }
    }

    fn elicit_limits(&self) -> ElicitLimits {
        self.operator.elicit_limits()
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        match &self.elicit {
            Some(ask) => ask(request).await,
            None => self.operator.elicit(request).await,
        }
    }

    async fn finish_visit(&self, request: ElicitRequest) -> Result<bool, Refusal> {
        self.operator.finish_visit(request).await
    }

    fn visit_completed(&self, server: &ServerName, elicitation: &str) {
        self.operator.visit_completed(server, elicitation);
    }

    fn elicit_refused(&self, server: &ServerName, why: &str) {
        self.operator.elicit_refused(server, why);
    }

    #[cfg(feature = "config")]
    async fn input(&self, prompt: InputPrompt) -> Option<Secret<String>> {
        match &self.input {
            Some(ask) => ask(prompt).await,
            None => self.operator.input(prompt).await,
        }
    }

    fn offers_login(&self) -> bool {
        self.login.is_some() || self.operator.offers_login()
    }

    async fn login(&self, request: LoginRequest) -> LoginDecision {
        match &self.login {
            Some(ask) => ask(request).await,
            None => self.operator.login(request).await,
        }
    }
}
