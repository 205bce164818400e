//! The way from a claim to a yes or a no, and who answers where nothing was approved.

use std::future::Future;
use std::pin::Pin;

use super::{Claim, Fingerprint, Question, Standing, Store, StoreError};

/// What came of asking.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Admission {
    /// The claim may be acted on.
    Admitted,
    /// It may not; this is what was asked.
    Refused(Box<Question>),
}

impl Admission {
    /// Whether the claim may be acted on.
    pub fn is_admitted(&self) -> bool {
        matches!(self, Self::Admitted)
    }
}

/// Finds out whether a claim may be acted on: by the store, or else by asking.
///
/// An answer that is for good is written to the store before it counts. Dropping the future
/// while it asks approves nothing.
///
/// # Errors
/// When the store cannot be read or written. Then nothing is approved.
pub async fn admit(
    store: &Store,
    claim: &Claim,
    voucher: &dyn Vouch,
) -> Result<Admission, StoreError> {
    let standing = store.standing(claim)?;
    if standing == Standing::Approved {
        return Ok(Admission::Admitted);
    }
    let question = Question::about(claim.clone(), standing);
    match voucher.vouch(&question).await {
        Answer::Approve => {
            store.is_free().await;
            store.approve(claim)?;
        }
        Answer::ApproveOnce => {}
        Answer::Refuse => return Ok(Admission::Refused(Box::new(question))),
    }
    Ok(Admission::Admitted)
}

/// Answers for a server that a project's file describes and that nobody has approved yet.
///
/// A program that has a person at hand shows [`Question::lines`] and asks. The future may take as long
/// as the person does, and may be dropped at any time, which is a refusal.
pub trait Vouch: Send + Sync {
    /// Says whether what is asked about may be done.
    fn vouch<'a>(
        &'a self,
        question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;
}

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It may be done, now and as long as it stays as it is.
    Approve,
    /// It may be done in this run; nothing is remembered.
    ApproveOnce,
    /// It may not be done.
    Refuse,
}

/// Refuses everything: the answer where there is nobody to ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

/// Approves what has one of these fingerprints, for this run, and refuses everything else.
#[derive(Debug, Clone, Default)]
pub struct Only(pub Vec<Fingerprint>);

impl Vouch for Nobody {
    fn vouch<'a>(
        &'a self,
        _question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(std::future::ready(Answer::Refuse))
    }
}

impl Vouch for Only {
    fn vouch<'a>(
        &'a self,
        question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        // Taken anew, because the field of a question can be set to anything.
        let answer = if self.0.contains(&question.claim.fingerprint()) {
            Answer::ApproveOnce
        } else {
            Answer::Refuse
        };
        Box::pin(std::future::ready(answer))
    }
}
