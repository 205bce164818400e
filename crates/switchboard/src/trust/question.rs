//! The question about a claim, with everything that the user needs to see to answer it.

use switchboard_core::mask::MaskPolicy;

use super::careful;
use super::lines;
use super::{Claim, Difference, Fingerprint, Standing};

/// The question about a claim that is not approved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The claim.
    pub claim: Claim,
    /// The fingerprint that a yes is for.
    pub fingerprint: Fingerprint,
    /// The reason for asking.
    pub reason: Reason,
    /// The differences from the approved version; empty for a new claim.
    pub changes: Vec<Difference>,
    /// The variables, set or passed through, with an effect beyond their program: they change which code
    /// runs, where traffic goes, which certificates are trusted or where settings are found.
    pub hooks: Vec<String>,
}

/// The reason for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Reason {
    /// Nothing of this name in this file was ever approved.
    New,
    /// The entry differs from the approved version.
    Changed,
    /// The same entry was approved when less was bound with it.
    BindsMore,
}

impl Question {
    /// Creates the question about a claim with these differences from the approved version.
    pub fn new(claim: Claim, changes: Vec<Difference>) -> Self {
        let standing = if changes.is_empty() {
            Standing::New
        } else {
            Standing::Changed(changes)
        };
        Self::with_standing(claim, standing)
    }

    /// Creates the question about a claim in this state.
    pub fn with_standing(claim: Claim, standing: Standing) -> Self {
        let (reason, changes) = match standing {
            Standing::Approved | Standing::New => (Reason::New, Vec::new()),
            Standing::Changed(changes) => (Reason::Changed, changes),
            Standing::BoundLess(changes) => (Reason::BindsMore, changes),
        };
        Self {
            fingerprint: claim.fingerprint(),
            reason,
            hooks: careful::variables(&claim).map(|(name, _)| name).collect(),
            claim,
            changes,
        }
    }

    /// Returns everything that the user has to see to decide: one fact a line, safe for a terminal,
    /// nothing cut.
    ///
    /// Every literal of the entry is shown whole, secrets too: a mask would be a place to hide code in.
    /// Values from the user's own variables and files are shown by their reference, `${TOKEN}`, and never
    /// in clear. For text that others may read, such as a log, use [`Question::masked_lines`].
    pub fn lines(&self) -> Vec<String> {
        lines::of(self, MaskPolicy::Terminal)
    }

    /// Returns the same lines with everything masked that looks like a secret and cannot be code; one
    /// line says how much was masked.
    pub fn masked_lines(&self) -> Vec<String> {
        lines::of(self, MaskPolicy::Report)
    }

    /// Returns the first warnings and the command or URL in a few short lines, to be repeated right above
    /// the prompt: an entry can be longer than a screen. Parts that are cut here are whole in
    /// [`Question::lines`].
    pub fn summary(&self) -> Vec<String> {
        lines::summary(self, MaskPolicy::Terminal)
    }
}
