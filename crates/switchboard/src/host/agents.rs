//! Agent policies, pins and approvals as the person's own config file sets them.
//!
//! [`HostBuilder::config`](super::HostBuilder::config) uses it, unless the program sets a policy itself.
//!
//! An agent with a level and no `grants` key may use what its level says: YOLO everything, TRUSTED
//! everything after asking, SANDBOXED nothing. A `grants` list narrows that, an empty one to nothing.
//!
//! A setting that cannot be understood allows less, never more: an invalid grant grants nothing, an
//! agent whose section is unclear reaches nothing, and a server whose audience is unclear is open
//! to no agent.

#[cfg(test)]
mod tests;

use super::sections;
use crate::config::{AgentSection, AudienceSection, Config, Placed, Problem, ProblemKind};
use crate::pins::Mode;
use crate::policy::{AgentPolicy, Audience, CallerId, Grant, Grants, Level, Policy, Scope};
use crate::spec::{ServerName, ToolFilter};
use crate::text::closest;
use crate::trust::Bind;

/// The id that stands for all agents without a section of their own.
pub const OTHERS: &str = "*";

/// Makes the policy that the person's own file describes, with the problems found in it.
///
/// The allow and block lists of all servers are in it, so that it can explain them too.
pub fn policy(config: &Config) -> (Policy, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut policy = Policy::none();
    for section in config.agents() {
        let is_others = section.id.text() == OTHERS;
        let id = match CallerId::parse(section.id.text()) {
            Ok(id) => id,
            Err(error) => {
                let expected = "1 to 128 characters without a space, and not `owner`";
                let message = error.to_string();
                let bad = section.id.problem(ProblemKind::BadName, &message, expected);
                problems.push(bad);
                continue;
            }
        };
        let agent = agent(section, &mut problems);
        policy = if is_others {
            policy.others(agent)
        } else {
            policy.agent(id, agent)
        };
    }
    for section in config.audience() {
        if let Some((server, audience)) = audience(section, config, &mut problems) {
            policy = policy.audience(server, audience);
        }
    }
    for entry in config.entries() {
        let tools = &entry.settings().tools;
        if *tools != ToolFilter::default() {
            policy = policy.filter(entry.name().clone(), tools);
        }
    }
    if config.is_access_unclear() {
        policy = Policy::none();
    }
    (policy, problems)
}

/// Reads the pin mode, which decides about definitions that have changed since they were approved.
/// `None` if the person's own file does not set it.
pub fn pin_mode(config: &Config) -> (Option<Mode>, Vec<Problem>) {
    let Some(written) = config.pins() else {
        return (None, Vec::new());
    };
    match written.text().parse() {
        Ok(mode) => (Some(mode), Vec::new()),
        Err(_) => {
            let expected = "\"ask\", \"block\", \"warn\" or \"off\"";
            let message = "unknown mode in `pins`; `ask` is used";
            let problem = written.problem(ProblemKind::WrongType, message, expected);
            (None, vec![problem])
        }
    }
}

/// Reads from the person's own file what approvals are bound to, with the problems found.
///
/// An unknown word binds the most: a person who writes this section wants more than the default.
pub fn approval_bind(config: &Config) -> (Option<Bind>, Vec<Problem>) {
    let Some(written) = config.approvals() else {
        return (None, Vec::new());
    };
    match written.text().parse() {
        Ok(bind) => (Some(bind), Vec::new()),
        Err(_) => {
            let message = "`approvals` names nothing that can be bound; `content` is used";
            let expected = "\"entry\" or \"content\"";
            let problem = written.problem(ProblemKind::WrongType, message, expected);
            (Some(Bind::Content), vec![problem])
        }
    }
}

/// Lists the problems with the person's own file that take more than parsing to find: in agents, in
/// pins, and in the files that it names.
pub fn problems(config: &Config) -> Vec<Problem> {
    let (_, mut problems) = policy(config);
    problems.extend(pin_mode(config).1);
    problems.extend(approval_bind(config).1);
    problems.extend(sections::problems(config));
    problems
}

fn agent(section: &AgentSection, problems: &mut Vec<Problem>) -> AgentPolicy {
    let level = level(section, problems);
    let grants = match &section.grants {
        Some(grants) => {
            let grants = grants.iter();
            grants
                .filter_map(|written| grant(written, problems))
                .collect()
        }
        // Not for a sandboxed agent: a level that the command line sets for one run must grant nothing.
        None if level != Level::Sandboxed => Grants::everything(),
        None => Grants::none(),
    };
    let policy = AgentPolicy::new(level)
        .grants(grants)
        .ask(ask(section, problems))
        .conceal_denials(section.conceal_denials);
    let withheld: Vec<_> = section.withhold.iter().collect();
    let withheld = withheld.into_iter().map(|written| grant(written, problems));
    // A `withhold` entry that cannot be understood withholds everything.
    let policy = match withheld.collect::<Option<Vec<Grant>>>() {
        Some(withheld) => policy.withhold(withheld.into_iter().collect()),
        None => policy.level(Level::Sandboxed),
    };
    let texts = |all: &Vec<Placed>| all.iter().map(|one| one.text().to_owned()).collect();
    policy.tools(&ToolFilter {
        allow: section.allowed_tools.as_ref().map(texts),
        block: texts(&section.blocked_tools),
    })
}

/// Lists the agents whose level means more than it did up to release 0.1.0, where an agent without a
/// `grants` key had no access: one warning for each, at its place.
pub fn agents_with_level_alone(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for section in config.agents() {
        let Some(level) = level_alone(section) else {
            continue;
        };
        let when = match level {
            Level::Trusted => ", after asking once for each server",
            _ => "",
        };
        let message = format!(
            "agent {:?} has the level {level} and no `grants`: it may use everything{when}; before, \
             it had no access",
            section.id.text()
        );
        let hint = "write `\"grants\": []` for no access, or a list that narrows it";
        let kind = ProblemKind::Suspicious;
        problems.push(section.id.warning(kind, &message, hint));
    }
    problems
}

/// Returns the level if it alone gives the agent access.
fn level_alone(section: &AgentSection) -> Option<Level> {
    if section.grants.is_some() || section.is_unclear {
        return None;
    }
    let level: Level = section.level.as_ref()?.text().parse().ok()?;
    (level != Level::Sandboxed).then_some(level)
}

fn ask(section: &AgentSection, problems: &mut Vec<Problem>) -> Scope {
    let Some(written) = &section.ask else {
        return Scope::Server;
    };
    match written.text() {
        "server" => Scope::Server,
        "tool" => Scope::Item,
        _ => {
            let message = "this is no scope of a question, so each tool is asked about";
            let expected = "\"server\" or \"tool\"";
            problems.push(written.problem(ProblemKind::WrongType, message, expected));
            Scope::Item
        }
    }
}

fn level(section: &AgentSection, problems: &mut Vec<Problem>) -> Level {
    let expected = "\"yolo\", \"trusted\" or \"sandboxed\"";
    let level = match &section.level {
        None if section.is_unclear => Level::Sandboxed,
        None => {
            let message = "the agent has no level, so it reaches nothing";
            let hint = format!("add `\"level\"`: {expected}");
            let kind = ProblemKind::Suspicious;
            problems.push(section.id.warning(kind, message, &hint));
            Level::Sandboxed
        }
        Some(written) => written.text().parse().unwrap_or_else(|_| {
            let message = "this is no level, so the agent reaches nothing";
            let kind = ProblemKind::WrongType;
            problems.push(written.problem(kind, message, expected));
            Level::Sandboxed
        }),
    };
    if section.is_unclear {
        Level::Sandboxed
    } else {
        level
    }
}

fn grant(written: &Placed, problems: &mut Vec<Problem>) -> Option<Grant> {
    match Grant::parse(written.text()) {
        Ok(grant) => Some(grant),
        Err(error) => {
            let message = format!("this is no grant: {}", error.why());
            let expected =
                "`mcp:SERVER:TOOL`, `mcp:SERVER:resource/URI` or `mcp:SERVER:prompt/NAME`";
            let kind = ProblemKind::WrongType;
            problems.push(written.problem_at(error.at(), kind, &message, expected));
            None
        }
    }
}

/// Lists the first servers of a config, for a message about an unknown server name.
fn known_servers<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let names: Vec<&str> = names.collect();
    let first = names.get(..MOST).unwrap_or(&names).join(", ");
    match names.len().saturating_sub(MOST) {
        _ if names.is_empty() => "there are no servers".to_owned(),
        0 => format!("known servers: {first}"),
        more => format!("known servers: {first}, and {more} more"),
    }
}

fn audience(
    section: &AudienceSection,
    config: &Config,
    problems: &mut Vec<Problem>,
) -> Option<(ServerName, Audience)> {
    let written = &section.server;
    let Ok(server) = ServerName::parse(written.text()) else {
        let expected = "1 to 128 characters without a space or a slash";
        let message = "this cannot be the name of a server";
        problems.push(written.problem(ProblemKind::BadName, message, expected));
        return None;
    };
    let names = || config.entries().iter().map(|entry| entry.name().as_str());
    if config.bad(server.as_str()).is_none() && !names().any(|name| name == server.as_str()) {
        // Not an error: the server may be described in another folder.
        let hint = match closest(server.as_str(), names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => known_servers(names()),
        };
        let message = "no file that counts here describes this server";
        problems.push(written.warning(ProblemKind::Suspicious, message, &hint));
    }
    let mut agents = Vec::new();
    for written in &section.agents {
        match CallerId::parse(written.text()) {
            Ok(id) => agents.push(id),
            Err(_) => {
                let expected = "1 to 128 characters without a space, and not `owner`";
                let message = "this cannot be the id of an agent";
                problems.push(written.problem(ProblemKind::BadName, message, expected));
            }
        }
    }
    Some((server, Audience::Only(agents)))
}
