//! Agents at the command line: the caller that a command acts as, the questions to the person about its
//! permissions, and the report if the answer is no.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard::config::Config;
use switchboard::host::{Caller, HostBuilder, agents};
use switchboard::pins::{Drift, Mode};
use switchboard::policy::{
    CallerId, Decision, Kind, Level, Policy, Request, Scope, Target, UseApproval, UseRequest,
};
use switchboard::spec::ServerName;
use switchboard::talk::{ChangeApproval, ChangeRequest};
use switchboard::text::{excerpt, sanitise_line};
use switchboard::{Error, ErrorKind};
use switchboard_terminal::path::shorten;

use crate::args::Acting;
use crate::ask::{Dialogue, Terminal, is_yes_in};
use crate::elicit::safe_line;
use crate::exit::Exit;
use crate::hosting::{HostSource, Hosting};
use crate::report::{Failure, Report};
use crate::state;

/// Maximum number of arguments that a question shows.
const MOST_ARGUMENTS: usize = 20;

/// Maximum length of an argument in a question, in bytes.
const LONGEST_ARGUMENT: usize = 500;

/// The caller of a command, with a note if the person has refused it something.
#[derive(Clone)]
pub(crate) struct Actor {
    pub(crate) caller: Caller,
    was_refused: Arc<AtomicBool>,
}

impl Actor {
    pub(crate) fn of(acting: &Acting) -> Self {
        let agent = acting.agent.clone().map(Caller::from);
        Self {
            caller: agent.unwrap_or_else(Caller::owner),
            was_refused: Arc::default(),
        }
    }

    /// Returns another actor for the same person at the same terminal.
    pub(crate) fn become_one(&self, acting: &Acting) -> Self {
        Self {
            was_refused: Arc::clone(&self.was_refused),
            ..Self::of(acting)
        }
    }

    /// Returns true if the caller is an agent.
    pub(crate) fn is_agent(&self) -> bool {
        !self.caller.is_owner()
    }

    /// Configures a host with the policy, the stored approvals and pins, and the questions to the person.
    pub(crate) fn introduce(
        &self,
        builder: HostBuilder,
        config: &Config,
        source: HostSource<'_>,
    ) -> HostBuilder {
        let HostSource {
            connection,
            environment,
            ..
        } = source;
        let acting = &connection.acting;
        let builder = builder.approvals(state::approvals(environment));
        if acting.level.is_none() && !connection.describes_server() {
            // The host takes the policy from the files with their servers, and follows its changes.
            return builder.pin_store(state::pins(environment));
        }
        // The person's files decide; an option can only set the level of an agent that they
        // mention.
        let mut policy = agents::policy(config).0;
        if let (Some(agent), Some(level)) = (&acting.agent, acting.level) {
            policy = at_level(policy, agent, level);
        }
        // Without a setting, changed definitions are shown to the person.
        let mode = agents::pin_mode(config).0;
        builder
            .policy(policy)
            .pins(state::pins(environment), mode.unwrap_or(Mode::Ask))
    }

    /// Returns the flag that is set once a use was refused.
    pub(crate) fn was_refused(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.was_refused)
    }
}

/// Returns the policy with another level for an agent. An agent without grants stays without.
pub(crate) fn at_level(policy: Policy, agent: &CallerId, level: Level) -> Policy {
    match policy.of(agent).cloned() {
        Some(own) => policy.agent(agent.clone(), own.level(level)),
        None => policy,
    }
}

/// Asks the person about a use of an agent.
pub(crate) async fn approve_use(request: &UseRequest) -> UseApproval {
    // One dialogue at a time: another question waits until this one is answered.
    let mut dialogue = Dialogue::begin().await;
    dialogue.say(&format!("\n{}\n", sanitise_line(&request.to_string())));
    // The origin tells servers of the same name apart.
    dialogue.show(&[format!("config: {}", shorten(&request.origin))]);
    dialogue.show(&arguments(request));
    let scope = request.scope;
    let answer = dialogue.ask(&question(scope, &request.server)).await;
    answer.map_or(UseApproval::Refuse, |line| meaning(&line, scope))
}

/// Formats the arguments of a call, one line each, without known secrets.
fn arguments(request: &UseRequest) -> Vec<String> {
    let Some(arguments) = &request.arguments else {
        return Vec::new();
    };
    let members = arguments.members();
    if members.is_empty() {
        return vec!["arguments: none".to_owned()];
    }
    let mut lines = vec!["arguments:".to_owned()];
    lines.extend(members.iter().take(MOST_ARGUMENTS).map(|(name, value)| {
        // Redacted before it is cut: half of a secret is not recognised.
        let value = safe_line(value.as_str());
        format!(
            "  {}: {}",
            safe_line(name),
            excerpt(&value, LONGEST_ARGUMENT)
        )
    }));
    let more = members.len().saturating_sub(MOST_ARGUMENTS);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines
}

/// Words the question: by default about the whole server, or about the one item if the agent's policy says so.
fn question(scope: Scope, server: &ServerName) -> String {
    match scope {
        Scope::Item => {
            format!("Allow? [o]nce, [s]ession, server (session, all of {server}), always, [N]o: ")
        }
        _ => {
            format!("Allow? [o]nce, [s]ession (all of {server}), [t]ool (session), always, [N]o: ")
        }
    }
}

fn meaning(line: &str, scope: Scope) -> UseApproval {
    match line.trim().to_ascii_lowercase().as_str() {
        "o" | "once" => UseApproval::Once,
        "s" | "session" if scope == Scope::Item => UseApproval::Session,
        "s" | "session" | "server" => UseApproval::Server,
        "t" | "tool" => UseApproval::Session,
        "always" => UseApproval::Always,
        // Anything else is a no, an empty line included.
        _ => UseApproval::Refuse,
    }
}

/// Asks the person about definitions that have changed since their server was approved.
pub(crate) async fn approve_change(request: &ChangeRequest) -> ChangeApproval {
    let mut dialogue = Dialogue::begin().await;
    let server = &request.server;
    dialogue.say(&format!(
        "\nThe definitions of {server:?} have changed since they were approved:\n"
    ));
    for drift in &request.drifts {
        dialogue.show(&lines(drift));
    }
    let answer = dialogue.ask("Approve the changes? [y/N] ").await;
    if is_yes_in(&answer.unwrap_or_default()) {
        ChangeApproval::Approve
    } else {
        ChangeApproval::Refuse
    }
}

/// Formats a drift and its diff, line by line.
pub(crate) fn lines(drift: &Drift) -> Vec<String> {
    let mut lines = vec![drift.to_string()];
    lines.extend(drift.diff.iter().map(|line| format!("  {line}")));
    lines
}

impl Hosting<'_> {
    /// Returns true if the command acts for an agent.
    pub(crate) fn is_agent(&self) -> bool {
        self.actor.is_agent()
    }

    /// Returns true if the caller may know of a server.
    pub(crate) fn knows(&self, server: &ServerName) -> bool {
        let request = Request::list(&self.actor.caller, Target::Server(server));
        !self.host.why(&request).is_denied()
    }

    /// Builds the report for an item that could not be used. If the agent's denials are concealed, it is the
    /// same as for an item that does not exist.
    pub(crate) fn use_failure(&self, error: Error, target: Target<'_>) -> Failure {
        let is_about_access = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied);
        if !self.is_agent() || !is_about_access {
            return Failure::from(error).look_at(target);
        }
        let decision = self.host.why(&Request::usual(&self.actor.caller, target));
        // The library's error names the rule, or conceals it.
        if decision.is_denied() {
            return error.into();
        }
        // Granted, but changed since: the agent knew the item before, so the reason may be told.
        if let Some(drift) = self.drift(target) {
            return self.drift_failure(target, &drift);
        }
        let was_refused = self.actor.was_refused.load(Ordering::Relaxed);
        // Granted on request, and the person has refused: say so, because the agent knows the item.
        if matches!(decision, Decision::Ask(..))
            && was_refused
            && Terminal::is_available(self.screen)
        {
            let message = format!(
                "the call was denied: you did not allow agent {} to use {target}",
                self.actor.caller
            );
            let report = Report::new(Exit::Denied, "denied", message);
            return report
                .server(target.server().to_string())
                .fact("sent", "no, nothing was called");
        }
        if matches!(decision, Decision::Ask(..)) && was_refused {
            let message = format!(
                "agent {} may use {target} only after asking",
                self.actor.caller
            );
            let report = Report::new(Exit::Denied, "denied", message);
            return report
                .server(target.server().to_string())
                .fact("rule", decision.reason().to_string())
                .fact("sent", "no, nothing was called")
                .hint("run it at a terminal, without --json, and allow it there")
                .hint(
                    "or give the agent the level `\"yolo\"` under `agents` in your own config file",
                );
        }
        error.into()
    }

    fn drift_failure(&self, target: Target<'_>, drift: &Drift) -> Failure {
        let server = target.server().to_string();
        let message = format!("{drift} since it was approved");
        Report::new(Exit::Changed, "changed", message)
            .server(server.clone())
            .fact("sent", "no, nothing was called")
            .evidence(
                "changes",
                drift.diff.iter().map(ToString::to_string).collect(),
            )
            .hint(format!(
                "if this is what you expect: `switchboard pins approve {server}`"
            ))
    }

    /// Returns the difference of an item from its approved definition.
    fn drift(&self, target: Target<'_>) -> Option<Drift> {
        use switchboard::pins::Kind as Pinned;
        let (kind, name) = target.item()?;
        let kind = match kind {
            Kind::Tool => Pinned::Tool,
            Kind::Prompt => Pinned::Prompt,
            _ => return None,
        };
        let drifts = self.host.drifts(target.server().as_str()).ok()?;
        let mut drifts = drifts.into_iter();
        drifts.find(|drift| drift.kind == kind && drift.name == name)
    }

    /// Warns the person that an item differs from its approved definition. They may still use it.
    pub(crate) fn warn_of_drift(&self, target: Target<'_>) {
        if let (false, Some(drift)) = (self.is_agent(), self.drift(target)) {
            let server = target.server();
            self.screen.warn(&format!(
                "{server}: {drift} since it was approved (`switchboard pins diff {server}` shows it)"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_a_plain_yes_is_a_no() {
        for (scope, session) in [
            (Scope::Server, UseApproval::Server),
            (Scope::Item, UseApproval::Session),
        ] {
            assert_eq!(meaning("once\n", scope), UseApproval::Once);
            assert_eq!(meaning(" S ", scope), session);
            assert_eq!(meaning("t", scope), UseApproval::Session);
            assert_eq!(meaning("Server", scope), UseApproval::Server);
            assert_eq!(meaning("always\n", scope), UseApproval::Always);
            for no in ["", "\n", "n", "y", "yes", "alway", "a", "all"] {
                assert_eq!(meaning(no, scope), UseApproval::Refuse, "{no:?}");
            }
        }
    }
}
