//! Findings, the servers that they are about, and the exit code that follows from them.

use std::path::PathBuf;
use std::time::Duration;

use switchboard::Error;
use switchboard::host::Offers;
use switchboard::spec::{Origin, ServerName};

use crate::exit::Exit;
use crate::login::explained;
use crate::report::steps;
use crate::status_table::{Mark, state_words};

/// The area that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Content of config files.
    Config,
    /// Approval by the person.
    Approval,
    /// Existence of the command's program.
    Program,
    /// Start or connection, and handshake.
    Start,
    /// Listing of tools, resources, templates and prompts.
    Listing,
    /// Response to a ping.
    Answer,
    /// Definitions that cannot be used.
    Definitions,
    /// Schemas that values cannot be checked against.
    Schemas,
    /// Names that had to be changed for models.
    Names,
    /// Definitions that take much of a model's context.
    Context,
    /// Differences from the approved definitions.
    Changes,
    /// Messages that were dropped or refused.
    Messages,
    /// Packages without a version.
    Packages,
    /// Processes of earlier runs.
    Leftovers,
    /// The folder of state that outlives a run.
    State,
}

/// A finding: something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    /// Exit code that a command would return for it; `None` for a remark, in spite of which everything works.
    pub(crate) exit: Option<Exit>,
    /// The finding in one line.
    pub(crate) text: String,
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) evidence: Vec<(String, Vec<String>)>,
    pub(crate) causes: Vec<String>,
    /// Steps to fix it, the best first; commands can be pasted.
    pub(crate) fixes: Vec<String>,
}

impl Finding {
    /// Creates a remark: something odd that keeps nothing from working.
    pub(crate) fn remark(check: Check, text: impl Into<String>) -> Self {
        Self {
            check,
            exit: None,
            text: text.into(),
            facts: Vec::new(),
            evidence: Vec::new(),
            causes: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Creates a finding about something that does not work.
    pub(crate) fn failure(check: Check, exit: Exit, text: impl Into<String>) -> Self {
        Self {
            exit: Some(exit),
            ..Self::remark(check, text)
        }
    }

    /// Creates a finding from the diagnosis of an error.
    pub(crate) fn from_error(check: Check, error: &Error) -> Self {
        let diagnosis = explained(error);
        let owned = |name: &'static str| name.to_owned();
        let facts = diagnosis.facts.into_iter();
        let evidence = diagnosis.evidence.into_iter();
        Self {
            facts: facts.map(|(name, value)| (owned(name), value)).collect(),
            evidence: evidence.map(|(name, lines)| (owned(name), lines)).collect(),
            causes: diagnosis.causes,
            fixes: steps::word_all(&diagnosis.steps),
            ..Self::failure(check, Exit::of(error), diagnosis.title)
        }
    }

    pub(crate) fn fact(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    pub(crate) fn evidence(mut self, title: impl Into<String>, lines: Vec<String>) -> Self {
        self.evidence.push((title.into(), lines));
        self
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fixes.push(fix.into());
        self
    }
}

/// Decides if a server may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It may.
    Used,
    /// It came with a project and is not approved, so it was not started.
    NotApproved,
    /// It is disabled, so it was not started.
    Off,
}

/// A server that was examined.
#[derive(Debug, Clone)]
pub(crate) struct Examined {
    pub(crate) name: ServerName,
    pub(crate) origin: Origin,
    pub(crate) transport: Option<String>,
    pub(crate) standing: Standing,
    /// The state in a word: see [`switchboard::host::State::word`].
    pub(crate) state: &'static str,
    /// The program that its command resolves to.
    pub(crate) program: Option<PathBuf>,
    pub(crate) version: Option<String>,
    /// Time to connect.
    pub(crate) took: Option<Duration>,
    /// Time to answer a ping.
    pub(crate) answered: Option<Duration>,
    pub(crate) offers: Offers,
    /// Estimated tokens of its definitions.
    pub(crate) tokens: usize,
    pub(crate) findings: Vec<Finding>,
}

impl Examined {
    /// Returns the state in words, with "errors" or "remarks" for a connected server that has some.
    pub(crate) fn words(&self) -> String {
        let is_broken = |found: &Finding| found.exit.is_some();
        // Only a connected server needs the distinction; another state says enough.
        let manner = match self.state {
            "connected" if self.findings.iter().any(is_broken) => " with errors",
            "connected" if !self.findings.is_empty() => " with remarks",
            _ => "",
        };
        format!("{}{manner}", state_words(self.state))
    }

    /// Returns the mark of the server in the table.
    pub(crate) fn mark(&self) -> Mark {
        match self.state {
            "connected" | "offline" => {
                if self.findings.is_empty() {
                    Mark::Good
                } else if self.exit() == Exit::Ok {
                    Mark::Remark
                } else {
                    Mark::Broken
                }
            }
            "needs_approval" | "needs_login" => Mark::Waiting,
            "failed" => Mark::Broken,
            _ => Mark::Off,
        }
    }

    fn exit(&self) -> Exit {
        let own = match self.standing {
            // It is not expected to work.
            Standing::Off => return Exit::Ok,
            Standing::NotApproved => Exit::Denied,
            Standing::Used => Exit::Ok,
        };
        worst(
            self.findings
                .iter()
                .filter_map(|found| found.exit)
                .chain([own]),
        )
    }
}

/// The result of an examination.
#[derive(Debug, Clone, Default)]
pub(crate) struct Examination {
    /// Findings about no server, or about all of them.
    pub(crate) general: Vec<Finding>,
    pub(crate) servers: Vec<Examined>,
}

impl Examination {
    /// Returns the exit code of the worst finding.
    pub(crate) fn exit(&self) -> Exit {
        let general = self.general.iter().filter_map(|found| found.exit);
        worst(general.chain(self.servers.iter().map(Examined::exit)))
    }
}

/// Exit codes from worst to best: first what keeps most from working. `docs/cli.md` promises the order.
const WORST: [Exit; 12] = [
    Exit::Internal,
    Exit::Configuration,
    Exit::Connect,
    Exit::Authorization,
    Exit::Protocol,
    Exit::Died,
    Exit::Timeout,
    Exit::Tool,
    Exit::Usage,
    Exit::Changed,
    Exit::Denied,
    Exit::Ok,
];

fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    let place = |exit: &Exit| WORST.iter().position(|known| known == exit);
    exits.min_by_key(place).unwrap_or(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined((standing, state): (Standing, &'static str), findings: Vec<Finding>) -> Examined {
        Examined {
            name: ServerName::parse("x").unwrap(),
            origin: Origin::program(),
            transport: None,
            standing,
            state,
            program: None,
            version: None,
            took: None,
            answered: None,
            offers: Offers::default(),
            tokens: 0,
            findings,
        }
    }

    fn remark() -> Finding {
        Finding::remark(Check::Names, "odd")
    }

    fn failure(exit: Exit) -> Finding {
        Finding::failure(Check::Start, exit, "bad")
    }

    const CONNECTED: (Standing, &str) = (Standing::Used, "connected");
    const NOT_APPROVED: (Standing, &str) = (Standing::NotApproved, "needs_approval");

    #[test]
    fn a_server_is_shown_by_its_state_and_what_was_found() {
        for (state, findings, words, exit) in [
            (CONNECTED, vec![], "connected", Exit::Ok),
            (
                CONNECTED,
                vec![remark()],
                "connected with remarks",
                Exit::Ok,
            ),
            (
                CONNECTED,
                vec![remark(), failure(Exit::Tool)],
                "connected with errors",
                Exit::Tool,
            ),
            (
                (Standing::Used, "failed"),
                vec![failure(Exit::Connect)],
                "failed",
                Exit::Connect,
            ),
            (NOT_APPROVED, vec![remark()], "needs approval", Exit::Denied),
            (
                (Standing::Off, "disabled"),
                vec![failure(Exit::Configuration)],
                "disabled",
                Exit::Ok,
            ),
        ] {
            let examined = examined(state, findings);
            assert_eq!((examined.words().as_str(), examined.exit()), (words, exit));
        }
    }

    #[test]
    fn the_exit_is_that_of_the_worst() {
        assert_eq!(Examination::default().exit(), Exit::Ok);
        let server = |exit| examined((Standing::Used, "failed"), vec![failure(exit)]);
        let all = Examination {
            general: vec![remark()],
            servers: vec![
                server(Exit::Timeout),
                server(Exit::Connect),
                examined(NOT_APPROVED, vec![]),
            ],
        };
        assert_eq!(all.exit(), Exit::Connect);
        let all = Examination {
            general: vec![failure(Exit::Configuration)],
            ..all
        };
        assert_eq!(all.exit(), Exit::Configuration);
    }
}
