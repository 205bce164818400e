//! The sections that only the user's own file may contain: permissions of agents, audiences of servers,
//! the treatment of changed definitions, limits, network settings, model providers and profiles.
//!
//! They are plain data here. The sections about agents contain texts with their positions: the modules
//! that know grants and levels interpret them, and report errors as a [`Problem`] with
//! [`Placed::problem`]. Nothing is looked up: files that are named are read by the modules that use them.

pub(super) mod agents;
pub(super) mod limits;
mod measure;
pub(super) mod network;
mod placed;
pub(super) mod profiles;
mod provider_key;
pub(super) mod providers;

impl super::Config {
    /// The sections of agents in the user's own file, in order. `host::agents` turns them into a policy.
    pub fn agents(&self) -> &[AgentSection] {
        &self.sections.agents
    }

    /// The audiences of servers, from the user's own file.
    pub fn audience(&self) -> &[AudienceSection] {
        &self.sections.audience
    }

    /// The treatment of changed definitions, from the user's own file.
    pub fn pins(&self) -> Option<&Placed> {
        self.sections.pins.as_ref()
    }

    /// The data that approvals are bound to, from the user's own file.
    pub fn approvals(&self) -> Option<&Placed> {
        self.sections.approvals.as_ref()
    }

    /// The limits in the user's own file.
    pub fn limits(&self) -> &LimitsSection {
        &self.sections.limits
    }

    /// The network settings for servers at URLs, from the user's own file.
    pub fn network(&self) -> &NetworkSection {
        &self.sections.network
    }

    /// The model providers in the user's own file; `host::providers` turns them into clients.
    pub fn providers(&self) -> &ProvidersSection {
        &self.sections.providers
    }

    /// The profiles for `switchboard serve`, from the user's own file, in order.
    pub fn profiles(&self) -> &[ProfileSection] {
        &self.sections.profiles
    }

    /// Returns true if a section about agents could not be read at all, so that no agent may do anything.
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
pub use profiles::ProfileSection;
pub use provider_key::KeySection;
pub use providers::{ProviderKind, ProviderSection, ProvidersSection, ScoresSection};

use super::client::Client;
use super::fields::is_called;
use super::problem::{Problem, ProblemKind};
use super::report::{Note, Report, quote_name};
use super::shape::duplicates;
use super::tree::{Node, NodeKind, latest};

/// The sections of the user's own file.
#[derive(Debug, Clone, Default)]
pub(super) struct Sections {
    pub(super) agents: Vec<AgentSection>,
    pub(super) audience: Vec<AudienceSection>,
    pub(super) pins: Option<Placed>,
    pub(super) approvals: Option<Placed>,
    pub(super) limits: LimitsSection,
    pub(super) network: NetworkSection,
    pub(super) providers: ProvidersSection,
    pub(super) profiles: Vec<ProfileSection>,
    /// True if the permissions of agents are unknown.
    pub(super) is_unclear: bool,
}

/// Reads the sections of a file, unless it must not contain any.
pub(super) fn read(root: &Node, client: Client, folder: &Path, report: &mut Report) -> Sections {
    let mut sections = Sections::default();
    // In a project's file they have been refused when its top-level keys were checked.
    if !client.is_ours() || report.source.layer.needs_approval() {
        return sections;
    }
    for member in latest(root.object().unwrap_or_default()) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            // An unreadable section about agents grants nothing.
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
            "pins" => sections.pins = word(value, &PINS, report),
            "approvals" => {
                sections.approvals = word(value, &APPROVALS, report);
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
            "profiles" => {
                let expected = "an object with a section for each profile";
                if object(key, value, expected, report).is_some() {
                    sections.profiles = profiles::profiles(value, report);
                }
            }
            _ => {}
        }
    }
    sections
}

/// A section that is one word, alone or under a key.
pub(super) struct WordSection {
    name: &'static str,
    pub(super) key: &'static str,
    pub(super) words: &'static [&'static str],
    expected: &'static str,
}

pub(super) const PINS: WordSection = WordSection {
    name: "pins",
    key: "mode",
    words: &["ask", "block", "warn", "off"],
    expected: "\"ask\", \"block\", \"warn\" or \"off\"",
};
pub(super) const APPROVALS: WordSection = WordSection {
    name: "approvals",
    key: "bind",
    words: &["entry", "content"],
    expected: "\"entry\" or \"content\"",
};

/// Reads a section that is one word: `"ask"`, or `{ "mode": "ask" }`.
fn word(value: &Node, section: &WordSection, report: &mut Report) -> Option<Placed> {
    let word = match &value.kind {
        NodeKind::Text(_) => value,
        NodeKind::Object(members) => {
            duplicates(members, report);
            unknown_keys(value, section.name, &[section.key], report);
            value.get(section.key)?
        }
        _ => value,
    };
    let text = word.text();
    if text.is_none() {
        let name = format!("`{}`", section.name);
        wrong(&name, word, section.expected, report);
    }
    text.map(|_| Placed::of(word, report))
}

/// The value of a key, which may be written in `camelCase`; the last one if it is repeated.
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
    report.add(note.expecting(expected));
}

/// Reports unknown keys; returns true if there are any.
fn unknown_keys(value: &Node, of: &str, known: &[&str], report: &mut Report) -> bool {
    let mut is_any = false;
    for member in value.object().unwrap_or_default() {
        if known.iter().any(|name| is_called(&member.key, name)) {
            continue;
        }
        is_any = true;
        let message = format!("unknown key {} in {of}", quote_name(&member.key));
        let note = Note::error(ProblemKind::UnknownKey, member.key_span.clone(), message);
        let note = note.did_you_mean(&member.key, known);
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        report.add(note.expecting(known.join(", ")));
    }
    is_any
}

impl super::Entry {
    /// Creates a warning about this entry that was found outside of its file, at the beginning of the entry:
    /// it can be used, but perhaps not as intended.
    pub fn warning(&self, kind: ProblemKind, message: &str, hint: &str) -> Problem {
        placed::milder(self.problem(kind, message)).with_hint(hint)
    }
}
