//! The way from a claim to a yes or a no.

use super::{Answer, Claim, Question, Standing, Store, StoreError, Vouch};

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
