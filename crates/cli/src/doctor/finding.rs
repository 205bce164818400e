//! Findings, and what they amount to.

use std::path::PathBuf;
use std::time::Duration;

use switchboard::host::Offers;
use switchboard::spec::{Origin, ServerName};
use switchboard::{Error, explain};

use crate::exit::Exit;

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// What config files say.
    Config,
    /// Whether the person has approved it.
    Approval,
    /// Whether the command is there.
    Program,
    /// Whether it can be started or reached, and agreed with.
    Start,
    /// Whether its lists can be read.
    Listing,
    /// Whether it answers.
    Answer,
    /// Items of its lists that cannot be used.
    Definitions,
    /// Whether values can be held against its schemas.
    Schemas,
    /// Names that models cannot be given as they are.
    Names,
    /// Whether it is what was approved.
    Changes,
    /// What of its messages had to be passed over.
    Messages,
    /// Packages that may be others tomorrow.
    Packages,
    /// Processes of earlier runs.
    Leftovers,
    /// The folder of what outlives a run.
    State,
}

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    /// What a command would return for it; nothing where all works in spite of it.
    pub(crate) exit: Option<Exit>,
    /// What it is, in one line.
    pub(crate) text: String,
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) evidence: Vec<(String, Vec<String>)>,
    pub(crate) causes: Vec<String>,
    /// What to do about it, the best first; commands as they can be pasted.
    pub(crate) fixes: Vec<String>,
}

impl Finding {
    /// Something odd, in spite of which all works.
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

    /// Something that does not work.
    pub(crate) fn broken(check: Check, exit: Exit, text: impl Into<String>) -> Self {
        Self {
            exit: Some(exit),
            ..Self::remark(check, text)
        }
    }

    /// What an error says, in words.
    pub(crate) fn failed(check: Check, error: &Error) -> Self {
        let diagnosis = explain(error);
        let owned = |name: &'static str| name.to_owned();
        let facts = diagnosis.facts.into_iter();
        let evidence = diagnosis.evidence.into_iter();
        Self {
            facts: facts.map(|(name, value)| (owned(name), value)).collect(),
            evidence: evidence.map(|(name, lines)| (owned(name), lines)).collect(),
            causes: diagnosis.causes,
            fixes: diagnosis.steps,
            ..Self::broken(check, Exit::of(error), diagnosis.title)
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

/// Whether a server is one that may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is.
    Used,
    /// It came with a folder, and nobody has approved it: nothing of it was started.
    NotApproved,
    /// It is switched off: nothing of it was started.
    Off,
}

/// A server that was looked at.
#[derive(Debug, Clone)]
pub(crate) struct Examined {
    pub(crate) name: ServerName,
    pub(crate) origin: Origin,
    pub(crate) transport: Option<String>,
    pub(crate) standing: Standing,
    /// What its state is, in a word: see [`switchboard::host::State::word`].
    pub(crate) state: &'static str,
    /// The program that its command was found to be.
    pub(crate) program: Option<PathBuf>,
    pub(crate) version: Option<String>,
    /// How long it took to connect.
    pub(crate) took: Option<Duration>,
    /// How long it took to answer.
    pub(crate) answered: Option<Duration>,
    pub(crate) offers: Offers,
    pub(crate) findings: Vec<Finding>,
}

impl Examined {
    /// Its state, and how it works where it is connected.
    pub(crate) fn words(&self) -> String {
        let is_broken = |found: &Finding| found.exit.is_some();
        let manner = match self.state {
            "connected" if self.findings.iter().any(is_broken) => " with errors",
            "connected" if !self.findings.is_empty() => " with remarks",
            _ => "",
        };
        format!("{}{manner}", self.state)
    }

    fn exit(&self) -> Exit {
        let own = match self.standing {
            // Nobody expects it to work.
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

/// All that was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Examination {
    /// What is about no server, or about all of them.
    pub(crate) general: Vec<Finding>,
    pub(crate) servers: Vec<Examined>,
}

impl Examination {
    /// What the process returns: the worst that was found.
    pub(crate) fn exit(&self) -> Exit {
        let general = self.general.iter().filter_map(|found| found.exit);
        worst(general.chain(self.servers.iter().map(Examined::exit)))
    }
}

/// The worst first: what keeps most from working. `docs/cli.md` promises the order.
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
            findings,
        }
    }

    fn remark() -> Finding {
        Finding::remark(Check::Names, "odd")
    }

    fn broken(exit: Exit) -> Finding {
        Finding::broken(Check::Start, exit, "bad")
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
                vec![remark(), broken(Exit::Tool)],
                "connected with errors",
                Exit::Tool,
            ),
            (
                (Standing::Used, "failed"),
                vec![broken(Exit::Connect)],
                "failed",
                Exit::Connect,
            ),
            (NOT_APPROVED, vec![remark()], "needs_approval", Exit::Denied),
            (
                (Standing::Off, "disabled"),
                vec![broken(Exit::Configuration)],
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
        let server = |exit| examined((Standing::Used, "failed"), vec![broken(exit)]);
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
            general: vec![broken(Exit::Configuration)],
            ..all
        };
        assert_eq!(all.exit(), Exit::Configuration);
    }
}
