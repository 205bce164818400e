//! Approvals of config entries: reads which entries of project files are approved, gives and revokes
//! approvals.

use switchboard::config::{Config, Entry};
use switchboard::host::Host;
use switchboard::transport::Environment;
use switchboard::trust::{Claim, Prefix, Question, Standing, Store, StoreError, Which};

use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::scope::places;
use crate::state;

/// The entries of a loaded config, held against the approval store. Never starts a server.
pub(crate) struct Approvals {
    /// A host with no approvals of its own, so that it has a question for every entry that needs one.
    host: Host,
    store: Store,
    /// True if approvals outlive this run, that is, if there is a state folder.
    is_kept: bool,
}

/// The approval status of a config entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    /// The entry is in the person's own file, or in a file that they named with `--config`.
    NotNeeded,
    Given,
    /// The entry was never approved.
    New,
    /// Another version of the entry was approved, or the approval bound less than it would now.
    Changed,
    /// The approval store cannot be read. Counts as not approved.
    Unknown,
}

impl Approvals {
    pub(crate) fn of(config: &Config, environment: &Environment) -> Result<Self, Failure> {
        let mut builder = Host::builder().environment(environment).config(config);
        // The same home as when servers are started: the program that a command resolves to depends on it.
        if let Some(home) = places(None, environment)?.home() {
            builder = builder.home(home);
        }
        let host = builder.build()?;
        Ok(Self {
            host,
            store: state::trust(environment),
            is_kept: state::running(environment).is_some(),
        })
    }

    /// Returns the claim to approve for an entry, or `None` if it needs no approval.
    pub(crate) fn claim(&self, entry: &Entry) -> Result<Option<Claim>, Failure> {
        let question = self.host.question(entry.name().as_str())?;
        Ok(question.map(|question| question.claim))
    }

    /// Returns the approval status of an entry, and the question about it if it needs approval.
    pub(crate) fn look(&self, entry: &Entry) -> Result<(Approval, Option<Question>), Failure> {
        let Some(claim) = self.claim(entry)? else {
            return Ok((Approval::NotNeeded, None));
        };
        // An approval that bound less than it would now counts as changed: the person has not seen the rest.
        let (approval, standing) = match self.store.standing(&claim)? {
            standing @ Standing::Approved => (Approval::Given, standing),
            standing @ Standing::New => (Approval::New, standing),
            standing @ (Standing::Changed(_) | Standing::BoundLess(_)) => {
                (Approval::Changed, standing)
            }
        };
        Ok((approval, Some(Question::with_standing(claim, standing))))
    }

    /// Approves exactly this claim, permanently.
    pub(crate) fn approve(&self, claim: &Claim) -> Result<(), Failure> {
        self.must_be_kept()?;
        Ok(self.store.approve(claim)?)
    }

    /// Revokes the approval of exactly this claim.
    pub(crate) fn forget(&self, claim: &Claim) -> Result<(), Failure> {
        // The whole fingerprint as a prefix selects exactly this approval.
        let whole: Result<Prefix, _> = claim.fingerprint().to_string().parse();
        if let Ok(whole) = whole {
            self.store.revoke(&Which::Fingerprint(whole))?;
        }
        Ok(())
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Fails if there is no folder to keep approvals in.
    pub(crate) fn must_be_kept(&self) -> Result<(), Failure> {
        if self.is_kept {
            return Ok(());
        }
        let report = Report::new(
            Exit::Configuration,
            "configuration",
            "there is no folder to keep approvals in",
        );
        Err(report.hint("set HOME, or XDG_STATE_HOME to an absolute path"))
    }
}

impl Approval {
    /// The status as a stable word for JSON output.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::NotNeeded => "not-needed",
            Self::Given => "approved",
            Self::New => "new",
            Self::Changed => "changed",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if the entry may be used.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Given)
    }
}

impl From<StoreError> for Failure {
    /// Approvals that cannot be read count as not given, hence `Denied`.
    fn from(error: StoreError) -> Self {
        let report = Report::new(Exit::Denied, "untrusted", error.to_string());
        match std::error::Error::source(&error) {
            Some(source) => report.fact("the system says", source.to_string()),
            None => report,
        }
    }
}
