//! An operator behind a pointer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use switchboard_wire::ElicitResult;

#[cfg(feature = "config")]
use super::InputPrompt;
use super::{
    ChangeApproval, ChangeRequest, ElicitRequest, ElicitSupport, LoginDecision, LoginRequest,
    Operator, Unattended,
};
use crate::policy::{UseApproval, UseRequest};
#[cfg(feature = "config")]
use crate::secret::Secret;
use crate::session::Refusal;
use crate::spec::ServerName;
use crate::talk::elicit::ElicitLimits;
use crate::talk::sampling::{ModelAnswer, ProviderError, SamplingApproval, SamplingRequest};
use crate::trust::{Question, ServerApproval};

/// An answer being made.
type Asked<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any operator, shared by all who ask it. Clones are the same operator.
#[derive(Clone)]
#[doc(hidden)]
pub struct SharedOperator(Arc<dyn ErasedOperator>);

impl SharedOperator {
    /// Shares an operator.
    pub fn new(operator: impl Operator + 'static) -> Self {
        Self(Arc::new(operator))
    }
}

impl Default for SharedOperator {
    /// Refuses everything.
    fn default() -> Self {
        Self::new(Unattended)
    }
}

impl fmt::Debug for SharedOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedOperator").finish_non_exhaustive()
    }
}

/// Declares [`ErasedOperator`], whose futures are boxed so that it can be a trait object, and passes
/// every method of it on: from an operator, and from the two pointers to one.
macro_rules! pass_on {
    (
        async { $( $(#[$cfg:meta])* $name:ident($($argument:ident: $given:ty),*) -> $answer:ty; )* }
        plain { $( $plain:ident($($value:ident: $type:ty),*) -> $result:ty; )* }
    ) => {
        trait ErasedOperator: Send + Sync {
            $( $(#[$cfg])* fn $name(&self, $($argument: $given),*) -> Asked<'_, $answer>; )*
            $( fn $plain(&self, $($value: $type),*) -> $result; )*
        }

        impl<O: Operator> ErasedOperator for O {
            $( $(#[$cfg])* fn $name(&self, $($argument: $given),*) -> Asked<'_, $answer> {
                Box::pin(Operator::$name(self, $($argument),*))
            } )*
            $( fn $plain(&self, $($value: $type),*) -> $result {
                Operator::$plain(self, $($value),*)
            } )*
        }

        impl Operator for SharedOperator {
            $( $(#[$cfg])* fn $name(
                &self,
                $($argument: $given),*
            ) -> impl Future<Output = $answer> + Send {
                ErasedOperator::$name(&*self.0, $($argument),*)
            } )*
            $( fn $plain(&self, $($value: $type),*) -> $result {
                ErasedOperator::$plain(&*self.0, $($value),*)
            } )*
        }

        impl<O: Operator> Operator for Arc<O> {
            $( $(#[$cfg])* fn $name(
                &self,
                $($argument: $given),*
            ) -> impl Future<Output = $answer> + Send {
                Operator::$name(&**self, $($argument),*)
            } )*
            $( fn $plain(&self, $($value: $type),*) -> $result {
                Operator::$plain(&**self, $($value),*)
            } )*
        }
    };
}

pass_on! {
    async {
        approve_server(request: Question) -> ServerApproval;
        approve_use(request: UseRequest) -> UseApproval;
        approve_change(request: ChangeRequest) -> ChangeApproval;
        approve_sampling(request: SamplingRequest) -> SamplingApproval;
        approve_sampled(request: SamplingRequest, answer: ModelAnswer) -> bool;
        elicit(request: ElicitRequest) -> Result<ElicitResult, Refusal>;
        finish_visit(request: ElicitRequest) -> Result<bool, Refusal>;
        #[cfg(feature = "config")]
        input(prompt: InputPrompt) -> Option<Secret<String>>;
        login(request: LoginRequest) -> LoginDecision;
    }
    plain {
        sampling_failed(server: &ServerName, provider: &str, error: &ProviderError) -> ();
        elicit_support() -> ElicitSupport;
        offers_login() -> bool;
        elicit_limits() -> ElicitLimits;
        visit_completed(server: &ServerName, elicitation: &str) -> ();
        elicit_refused(server: &ServerName, why: &str) -> ();
    }
}
