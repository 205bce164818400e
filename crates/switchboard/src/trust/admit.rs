//! Admits a claim: by the store of approvals, or by asking.

use std::future::Future;

use super::{Claim, Fingerprint, Question, Standing, Store, StoreError};

/// The outcome of [`admit`].
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[doc(hidden)]
pub enum Admission {
    /// The claim may be acted on, as long as the store has its approval.
    Admitted,
    /// The claim may be acted on in this run.
    AdmittedOnce,
    /// The claim was refused; this is the question that was asked.
    Refused(Box<Question>),
}

impl Admission {
    /// Returns `true` if the claim may be acted on.
    pub fn is_admitted(&self) -> bool {
        matches!(self, Self::Admitted | Self::AdmittedOnce)
    }
}

/// Decides whether a claim may be acted on: by the store, or else by asking.
///
/// A permanent answer is written to the store before it counts. Dropping the future while it asks
/// approves nothing.
///
/// # Errors
/// Fails if the store cannot be read or written. Then nothing is approved.
#[doc(hidden)]
pub async fn admit<F>(
    store: &Store,
    claim: &Claim,
    ask: impl FnOnce(Question) -> F,
) -> Result<Admission, StoreError>
where
    F: Future<Output = ServerApproval>,
{
    // An unreadable store is an error, not a question: asking again would hide the loss.
    let standing = store.standing(claim)?;
    if standing == Standing::Approved {
        return Ok(Admission::Admitted);
    }
    let question = Question::with_standing(claim.clone(), standing);
    match ask(question.clone()).await {
        ServerApproval::Approve => {
            // Wait for other processes without blocking the executor, then write before admitting.
            store.is_free().await;
            store.approve(claim)?;
        }
        // Nothing is stored, so the next start asks again.
        ServerApproval::ApproveOnce => return Ok(Admission::AdmittedOnce),
        ServerApproval::Refuse => return Ok(Admission::Refused(Box::new(question))),
    }
    Ok(Admission::Admitted)
}

/// The answer to a [`Question`] about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerApproval {
    /// Approves it, now and as long as it does not change.
    Approve,
    /// Approves it for this run; nothing is stored.
    ApproveOnce,
    /// Refuses it.
    Refuse,
}

/// Approves claims with one of these fingerprints for this run, and refuses everything else.
#[derive(Debug, Clone, Default)]
#[doc(hidden)]
pub struct Only(pub Vec<Fingerprint>);

impl Only {
    /// Decides about a question.
    pub fn answer(&self, question: &Question) -> ServerApproval {
        // Compute the fingerprint again: the field of the question is public and can be set to anything.
        if self.0.contains(&question.claim.fingerprint()) {
            ServerApproval::ApproveOnce
        } else {
            ServerApproval::Refuse
        }
    }
}
