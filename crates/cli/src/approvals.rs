//! What of the config files is approved.

use switchboard::config::{Config, Entry};
use switchboard::host::Host;
use switchboard::transport::Environment;
use switchboard::trust::{Claim, Prefix, Question, Standing, Store, StoreError, Which};

use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::scope::places;
use crate::state;

/// What of some config files is approved. Starts nothing.
pub(crate) struct Approvals {
    /// A host that has nothing approved, so that it has a question about all that needs it.
    host: Host,
    store: Store,
    /// Whether approvals outlive this run.
    is_kept: bool,
}

/// How an entry stands to approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    /// The person's own, or named by them.
    NotNeeded,
    Given,
    /// Never given.
    New,
    /// Given for something else, or when less was bound with it.
    Changed,
    /// It cannot be looked up, and counts as not given.
    Unknown,
}

impl Approvals {
    pub(crate) fn of(config: &Config, environment: &Environment) -> Result<Self, Failure> {
        let mut builder = Host::builder().environment(environment).config(config);
        // As where servers are started, because the program that a command refers to depends on it.
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

    /// What there is to approve about an entry; nothing where that is not needed.
    pub(crate) fn claim(&self, entry: &Entry) -> Result<Option<Claim>, Failure> {
        let question = self.host.question(entry.name().as_str())?;
        Ok(question.map(|question| question.claim))
    }

    /// How an entry stands, and the question about it where it needs approval.
    pub(crate) fn look(&self, entry: &Entry) -> Result<(Approval, Option<Question>), Failure> {
        let Some(claim) = self.claim(entry)? else {
            return Ok((Approval::NotNeeded, None));
        };
        let (approval, standing) = match self.store.standing(&claim)? {
            standing @ Standing::Approved => (Approval::Given, standing),
            standing @ Standing::New => (Approval::New, standing),
            standing @ (Standing::Changed(_) | Standing::BoundLess(_)) => {
                (Approval::Changed, standing)
            }
        };
        Ok((approval, Some(Question::about(claim, standing))))
    }

    /// Approves exactly this, for good.
    pub(crate) fn approve(&self, claim: &Claim) -> Result<(), Failure> {
        self.must_be_kept()?;
        Ok(self.store.approve(claim)?)
    }

    /// Takes the approval of exactly this back.
    pub(crate) fn forget(&self, claim: &Claim) -> Result<(), Failure> {
        let whole: Result<Prefix, _> = claim.fingerprint().to_string().parse();
        if let Ok(whole) = whole {
            self.store.revoke(&Which::Fingerprint(whole))?;
        }
        Ok(())
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Refuses where approvals would be gone with this run.
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
    /// A word for programs.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::NotNeeded => "not-needed",
            Self::Given => "approved",
            Self::New => "new",
            Self::Changed => "changed",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the entry may be used.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Given)
    }
}

impl From<StoreError> for Failure {
    /// Approvals that cannot be looked up count as none.
    fn from(error: StoreError) -> Self {
        let report = Report::new(Exit::Denied, "untrusted", error.to_string());
        match std::error::Error::source(&error) {
            Some(source) => report.fact("the system says", source.to_string()),
            None => report,
        }
    }
}
