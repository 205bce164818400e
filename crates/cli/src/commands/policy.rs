//! `switchboard policy`: explains decisions of the policy for agents, and manages stored approvals. Nothing
//! here starts a server.

use serde::Serialize;
use switchboard::host::{Caller, Host, agents};
use switchboard::policy::{Approval, Approvals, Covers, Decision, Lasts, Request, Target, Which};
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;

use crate::args::{Policy, PolicyRevoke, PolicyVerb, Why};
use crate::editing::{notes, result};
use crate::exit::Exit;
use crate::permission::at_level;
use crate::report::{Failure, Report};
use crate::scope::Files;
use crate::screen::Screen;
use crate::state;
use crate::timestamp;

/// Runs the subcommands of `policy`.
pub(crate) fn run(args: &Policy) -> Exit {
    let json = match &args.verb {
        PolicyVerb::Why(args) => args.json,
        PolicyVerb::List(args) => args.json,
        PolicyVerb::Revoke(args) => args.json,
    };
    let screen = Screen::plain(json);
    let done = match &args.verb {
        PolicyVerb::Why(args) => why(args, &screen),
        PolicyVerb::List(_) => list(&screen),
        PolicyVerb::Revoke(args) => revoke(args, &screen),
    };
    screen.finish(done)
}

/// The document of `policy why --json`: see `docs/permission.md`.
#[derive(Serialize)]
struct Explained<'a> {
    agent: &'a str,
    server: &'a str,
    kind: &'a str,
    name: &'a str,
    verb: &'a str,
    decision: &'a str,
    rule: &'a str,
    reason: String,
    level: Option<&'a str>,
    /// If the decision is to ask: true if the person has approved permanently.
    approved: Option<bool>,
}

fn why(args: &Why, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(args.config.as_deref())?;
    let (mut policy, _) = agents::policy(&files.config);
    for problem in agents::problems(&files.config) {
        screen.warn(&problem.to_string());
    }
    if let Some(level) = args.level {
        policy = at_level(policy, &args.agent, level);
    }
    let (server, rest) = args
        .target
        .split_once('/')
        .ok_or_else(|| unclear(&args.target))?;
    let server = ServerName::parse(server).map_err(|_| unclear(&args.target))?;
    let target = target(&server, rest).ok_or_else(|| unclear(&args.target))?;
    // An unknown server is only a warning: a policy may name one that is added later.
    let is_known = files.config.get(server.as_str()).is_some();
    if !is_known && server.as_str() != crate::described::DEMO {
        screen.warn(&format!("no server named {server:?} is configured here"));
    }
    let caller = Caller::from(args.agent.clone());
    let request = Request::usual(&caller, target);
    let decision = policy.decide(&request);
    let approved = match decision {
        Decision::Ask(..) if is_known => {
            // Stored approvals are bound to the server's identity, which only a host can compute.
            let host = Host::builder()
                .environment(&files.environment)
                .config(&files.config)
                .build()?;
            let identity = host.identity(server.as_str())?;
            let standing = state::approvals(&files.environment).standing(&request, &identity)?;
            Some(standing == Some(Lasts::Always))
        }
        Decision::Ask(..) => Some(false),
        _ => None,
    };
    let (kind, name) = target
        .item()
        .map_or(("server", ""), |(kind, name)| (kind.as_str(), name));
    if screen.is_json() {
        let level = policy.of(&args.agent).map(|own| own.current_level());
        let document = Explained {
            agent: args.agent.as_str(),
            server: server.as_str(),
            kind,
            name,
            verb: request.verb.as_str(),
            decision: decision.as_str(),
            rule: decision.reason().id(),
            reason: decision.reason().to_string(),
            level: level.map(|level| level.as_str()),
            approved,
        };
        return result(&document, screen);
    }
    let more = match approved {
        Some(true) => "; approved permanently",
        Some(false) => "; not approved yet",
        None => "",
    };
    screen.result(&format!("{}{more}\n", sanitise_line(&decision.to_string())))
}

/// Parses the part after the server: a tool, unless it begins with `resource/` or `prompt/`.
fn target<'a>(server: &'a ServerName, rest: &'a str) -> Option<Target<'a>> {
    let name = match rest.split_once('/') {
        Some(("resource", uri)) => return Some(Target::Resource { server, uri }),
        Some(("prompt", name)) => return Some(Target::Prompt { server, name }),
        Some(("tool", name)) => name,
        _ => rest,
    };
    (!name.is_empty()).then_some(Target::Tool { server, name })
}

fn unclear(written: &str) -> Failure {
    Report::usage(format!("{written:?} is not SERVER/TOOL"))
        .hint("write it like demo/echo, by the name that the server gives the tool")
        .hint("or SERVER/resource/URI, or SERVER/prompt/NAME")
}

/// An approval in JSON: see `docs/permission.md`.
#[derive(Serialize)]
struct ApprovalItem {
    agent: String,
    server: String,
    origin: String,
    identity: String,
    /// `server`, or the verb and the item.
    covers: String,
    approved: String,
}

impl ApprovalItem {
    fn of(approval: &Approval) -> Self {
        Self {
            agent: approval.caller.to_string(),
            server: approval.server.to_string(),
            origin: approval.origin.clone(),
            identity: approval.identity.to_string(),
            covers: match &approval.covers {
                Covers::Server => "server".to_owned(),
                Covers::Item(item) => item.to_string(),
            },
            approved: timestamp::utc_seconds(approval.approved),
        }
    }

    fn line(&self) -> String {
        let Self {
            agent,
            server,
            origin,
            covers,
            approved,
            ..
        } = self;
        let line = format!("{approved}  {agent}  {server}  {covers}  {origin}");
        format!("{}\n", sanitise_line(&line))
    }
}

fn approval_store() -> Approvals {
    state::approvals(&switchboard::transport::Environment::of_process())
}

fn list(screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct ListedApprovals {
        approvals: Vec<ApprovalItem>,
    }
    let approvals: Vec<ApprovalItem> = approval_store()
        .list()?
        .iter()
        .map(ApprovalItem::of)
        .collect();
    if screen.is_json() {
        return result(&ListedApprovals { approvals }, screen);
    }
    screen.result(&approvals.iter().map(ApprovalItem::line).collect::<String>())
}

fn revoke(args: &PolicyRevoke, screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct RevokedApprovals {
        revoked: Vec<ApprovalItem>,
    }
    // Revoking everything must be asked for explicitly.
    if args.agent.is_none() && args.server.is_none() && !args.all {
        let report = Report::usage("no approvals were selected");
        return Err(report.hint("use --agent AGENT, --server SERVER or both, or --all"));
    }
    let which = Which {
        caller: args.agent.clone(),
        server: args.server.clone(),
        identity: None,
    };
    let kept = approval_store();
    let revoked: Vec<ApprovalItem> = kept.revoke(&which)?.iter().map(ApprovalItem::of).collect();
    if args.all {
        kept.forget_lost()?;
    }
    if screen.is_json() {
        return result(&RevokedApprovals { revoked }, screen);
    }
    if revoked.is_empty() {
        notes(&["no matching approvals".to_owned()]);
    }
    let lines = revoked
        .iter()
        .map(|item| format!("revoked {}", item.line()));
    screen.result(&lines.collect::<String>())
}
