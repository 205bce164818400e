//! What a person is asked, and everything they need to see for it.

use switchboard_core::mask::MaskPolicy;

use super::careful;
use super::lines;
use super::{Claim, Difference, Fingerprint, Standing};

/// What is asked about a claim that is not approved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// What wants to be done.
    pub claim: Claim,
    /// The fingerprint that a yes is for.
    pub fingerprint: Fingerprint,
    /// Why it is asked.
    pub reason: Reason,
    /// How it differs from what was approved before; empty where nothing was.
    pub changes: Vec<Difference>,
    /// The variables, set or let through, that reach beyond their program: they change which code runs,
    /// where traffic goes, which certificates are trusted or where settings are found.
    pub hooks: Vec<String>,
}

/// Why a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Nothing of this name in this file was ever approved.
    New,
    /// What was approved is not the same any more.
    Changed,
    /// The same entry was approved when less was bound with it.
    BindsMore,
}

impl Question {
    /// Asks about a claim that differs like this from what was approved before.
    pub fn new(claim: Claim, changes: Vec<Difference>) -> Self {
        let standing = if changes.is_empty() {
            Standing::New
        } else {
            Standing::Changed(changes)
        };
        Self::about(claim, standing)
    }

    /// Asks about a claim that stands like this to what was approved before.
    pub fn about(claim: Claim, standing: Standing) -> Self {
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

    /// Everything that a person has to see to decide, one fact a line, safe for a terminal and nothing cut.
    ///
    /// Every literal of the entry is shown whole, secrets too: a mask would be a place to hide code in. What
    /// comes from the person's own variables and files is shown by its reference, `${TOKEN}`, and never by its
    /// value. For what others may read, such as a log, there is [`Question::masked_lines`].
    pub fn lines(&self) -> Vec<String> {
        lines::of(self, MaskPolicy::Terminal)
    }

    /// The same lines with everything masked that looks like a secret and cannot be code; a line says how
    /// much that is.
    pub fn masked_lines(&self) -> Vec<String> {
        lines::of(self, MaskPolicy::Report)
    }

    /// The first warnings and what is run or connected to, in a few short lines, to be repeated right above the place where the person
    /// answers: an entry can be longer than a screen. Whatever is cut in them is whole in [`Question::lines`].
    pub fn summary(&self) -> Vec<String> {
        lines::summary(self, MaskPolicy::Terminal)
    }
}
