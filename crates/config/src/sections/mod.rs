//! The sections that only the person's own file may have: what agents may do, who servers are for,
//! what is done about definitions that have changed, what servers may use up, which ways lead to
//! them, and who has models.
//!
//! They are plain data here. What is about agents is texts with their places: what these mean is for
//! those to say who know grants and levels, and what is wrong with one becomes a [`Problem`] by
//! [`Placed::problem`]. Nothing is looked up: a file that is named is read by whoever uses it.

mod agents;
mod limits;
mod measure;
mod network;
mod placed;
mod provider_key;
mod providers;
impl super::Config {
    /// What the person's own file says about agents, in its order. Whoever enforces it turns it into a
    /// policy: see `host::agents`.
    pub fn agents(&self) -> &[AgentSection] {
        &self.sections.agents
    }

    /// Whom the person's own file says that servers are for.
    pub fn audience(&self) -> &[AudienceSection] {
        &self.sections.audience
    }

    /// What the person's own file says is to be done about definitions that have changed.
    pub fn pins(&self) -> Option<&Placed> {
        self.sections.pins.as_ref()
    }

    /// What the person's own file says that approvals are bound to.
    pub fn approvals(&self) -> Option<&Placed> {
        self.sections.approvals.as_ref()
    }

    /// What the person's own file says about bounds.
    pub fn limits(&self) -> &LimitsSection {
        &self.sections.limits
    }

    /// What the person's own file says about servers at URLs.
    pub fn network(&self) -> &NetworkSection {
        &self.sections.network
    }

    /// Who has models, as the person's own file says it: see `host::providers`.
    pub fn providers(&self) -> &ProvidersSection {
        &self.sections.providers
    }

    /// Whether a section about agents could not be read at all, so that none of them may do anything.
    pub fn is_access_unclear(&self) -> bool {
        self.sections.is_unclear
    }
}

#[cfg(test)]
mod providers_tests;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use agents::{AgentSection, AudienceSection};
pub use limits::LimitsSection;
pub use network::{CertificateFile, NetworkSection, ProxySection};
pub use placed::Placed;
pub use provider_key::KeySection;
pub use providers::{ProviderKind, ProviderSection, ProvidersSection};

use super::client::Client;
use super::fields::{Shown, is_called};
use super::problem::{Problem, ProblemKind};
use super::report::{Note, Report, shown};
use super::shape::duplicates;
use super::tree::{Kind, Node, latest};

/// What the person's own sections say.
#[derive(Debug, Clone, Default)]
pub(super) struct Sections {
    pub(super) agents: Vec<AgentSection>,
    pub(super) audience: Vec<AudienceSection>,
    pub(super) pins: Option<Placed>,
    pub(super) approvals: Option<Placed>,
    pub(super) limits: LimitsSection,
    pub(super) network: NetworkSection,
    pub(super) providers: ProvidersSection,
    /// Whether it cannot be told who may do what.
    pub(super) is_unclear: bool,
}

/// Reads the sections of a file, unless it is one that must not have any.
pub(super) fn read(
    root: &Node,
    (client, folder): (Client, &Path),
    report: &mut Report,
) -> Sections {
    let mut sections = Sections::default();
    // What a project's file has of them was refused when its top was looked over.
    if !client.is_ours() || report.source.layer.needs_approval() {
        return sections;
    }
    for member in latest(root.object().unwrap_or_default()) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "agents" => match object(
                key,
                value,
                "an object with a section for each agent",
                report,
            ) {
                Some(_) => sections.agents = agents::agents(value, report),
                None => sections.is_unclear = true,
            },
            "audience" => match object(key, value, "`{ \"SERVER\": [\"AGENT\"] }`", report) {
                Some(_) => sections.audience = agents::audience(value, report),
                None => sections.is_unclear = true,
            },
            "pins" => sections.pins = word(value, ("pins", "mode"), PIN_MODES, report),
            "approvals" => {
                sections.approvals = word(value, ("approvals", "bind"), BINDS, report);
            }
            "limits" => {
                let expected = "an object such as `{ \"in_flight\": 16 }`";
                if object(key, value, expected, report).is_some() {
                    sections.limits = limits::limits(member, report);
                }
            }
            "network" => {
                duplicates(value.object().unwrap_or_default(), report);
                sections.network = network::network(member, folder, report);
            }
            "providers" => {
                let expected = "an object with a section for each provider of models";
                if object(key, value, expected, report).is_some() {
                    sections.providers = providers::providers(value, folder, report);
                }
            }
            _ => {}
        }
    }
    sections
}

const PIN_MODES: &str = "\"ask\", \"block\", \"warn\" or \"off\"";
const BINDS: &str = "\"entry\" or \"content\"";

/// `"ask"`, or `{ "mode": "ask" }`: a section that is one word.
fn word(
    value: &Node,
    (section, key): (&str, &str),
    expected: &str,
    report: &mut Report,
) -> Option<Placed> {
    let word = match &value.kind {
        Kind::Text(_) => value,
        Kind::Object(members) => {
            duplicates(members, report);
            unknown_keys(value, section, &[key], report);
            value.get(key)?
        }
        _ => value,
    };
    let text = word.text();
    if text.is_none() {
        wrong(&format!("`{section}`"), word, expected, report);
    }
    text.map(|_| Placed::of(word, report))
}

/// What an excerpt may show of the value of a key.
pub(super) fn shown_of(key: &str) -> Shown {
    limits::shown(key, is_called)
}

/// The value of a key, which may be written in `camelCase`; the last one where there are several.
fn get<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let mut members = node.object()?.iter();
    let found = members.rfind(|member| is_called(&member.key, name))?;
    Some(&found.value)
}

fn object<'n>(
    key: &str,
    value: &'n Node,
    expected: &str,
    report: &mut Report,
) -> Option<&'n [super::tree::Member]> {
    let members = value.object();
    match members {
        Some(members) => duplicates(members, report),
        None => wrong(&format!("`{key}`"), value, expected, report),
    }
    members
}

fn wrong(what: &str, value: &Node, expected: &str, report: &mut Report) {
    let message = format!("{what} is {}", value.is_a());
    let note = Note::error(ProblemKind::WrongType, value.span.clone(), message);
    report.add(note.expected(expected));
}

/// Says which keys nobody reads, and gives whether there are any.
fn unknown_keys(value: &Node, of: &str, known: &[&str], report: &mut Report) -> bool {
    let mut is_any = false;
    for member in value.object().unwrap_or_default() {
        if known.iter().any(|name| is_called(&member.key, name)) {
            continue;
        }
        is_any = true;
        let message = format!("unknown key {} in {of}", shown(&member.key));
        let note = Note::error(ProblemKind::UnknownKey, member.key_span.clone(), message);
        let note = note.did_you_mean(&member.key, known);
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        report.add(note.expected(known.join(", ")));
    }
    is_any
}

impl super::Entry {
    /// A remark about this entry that something else than its file shows, at the place where it begins:
    /// it can be used, and perhaps not as it was meant.
    pub fn warning(&self, kind: ProblemKind, message: &str, hint: &str) -> Problem {
        placed::milder(self.problem(kind, message)).with_hint(hint)
    }
}
