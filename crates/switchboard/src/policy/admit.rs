//! Predicates of the program's own.

use std::borrow::Cow;

use super::request::Request;

/// Says whether an agent may use something, with all that is known of the agent and its run.
///
/// A predicate can only take away: what it allows still needs a grant, and is still asked about where
/// the level says so. It is asked about things, not about verbs, so that what can be seen and what
/// can be used are always the same: [`Request::verb`] is the target's
/// [own use](super::Target::usual_verb) whatever was wanted. For the same reason it should answer alike
/// when asked alike. It is asked in the middle of a call and must not block.
///
/// A function of a request is one.
pub trait Admit: Send + Sync {
    /// Says whether this may be used.
    fn admit(&self, request: &Request<'_>) -> Verdict;
}

/// What a predicate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It has nothing against it.
    Allow,
    /// It may not be, and why, in words for the person.
    Deny(Cow<'static, str>),
}

impl Verdict {
    /// It may not be.
    pub fn deny(words: impl Into<Cow<'static, str>>) -> Self {
        Self::Deny(words.into())
    }
}

impl<F: Fn(&Request<'_>) -> Verdict + Send + Sync> Admit for F {
    fn admit(&self, request: &Request<'_>) -> Verdict {
        self(request)
    }
}
