//! `switchboard doctor`: probes every approved server and collects findings about it, its config and its
//! surroundings. The types and texts of findings are in `crate::doctor`.

use std::collections::HashMap;
use std::time::Duration;

use switchboard::config::Problem;
use switchboard::host::{Host, Status};
use switchboard::spec::ServerName;
use switchboard::text::shell_word;
use switchboard::transport::Environment;
use switchboard::trust::Reason;
use switchboard::{Error, ErrorKind};
use tokio::task::JoinSet;

use super::config::unpinned;
use crate::args::Doctor;
use crate::daemon::Starter;
use crate::doctor::{
    Check, Examination, Examined, Finding, Standing, checks, render, surroundings,
};
use crate::editing::result;
use crate::exit::Exit;
use crate::hosting::{HostSource, Hosting, Opened, Selector};
use crate::journal::Journal;
use crate::lifecycle::run_until_signal;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::table::columns;
use crate::tokens;

/// Checks config files, approvals, programs and every server.
pub(crate) fn run(args: &Doctor) -> Exit {
    let connection = &args.connection;
    let environment = Environment::of_process();
    let screen = Screen::new(connection, &environment);
    // Opened with a quiet screen: problems of files become findings later, and the person is not asked for
    // approvals.
    let quiet = Screen::plain(true);
    let selector = Selector::from_name(args.server.as_deref());
    let opened = refuse_agent(args.connection.acting.agent.is_some()).and_then(|()| {
        let source = HostSource {
            connection,
            environment: &environment,
            screen: &quiet,
            adjust: None,
            starter: Starter::Command,
        };
        let Opened { hosting, trace } = source.open(selector)?;
        let journal = Journal::open(connection.events.as_deref(), trace, &hosting)?;
        Ok((hosting, journal))
    });
    match opened {
        Ok((hosting, journal)) => {
            let mut hosting = hosting.shown_on(&screen);
            // Unusable files are findings here, not a failure of the command.
            hosting.files.forget_broken();
            run_until_signal(&hosting, journal, run_on(args, &hosting))
        }
        Err(report) => screen.fail(&report),
    }
}

/// Refuses to run as an agent: agents may not see the problems of servers.
fn refuse_agent(is_agent: bool) -> Result<(), Failure> {
    if is_agent {
        Err(
            Report::usage("doctor is for the owner of the servers, not for agents")
                .hint("`switchboard policy why AGENT SERVER/TOOL` shows what an agent may do"),
        )
    } else {
        Ok(())
    }
}

/// Examines the servers of an open host and prints the findings.
pub(crate) async fn run_on(args: &Doctor, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    refuse_agent(hosting.is_agent())?;
    let one = hosting.one(args.server.as_deref());
    let statuses = match one {
        Some(name) => vec![hosting.host.server(name)?],
        None => hosting.host.servers(),
    };
    let environment = Environment::of_process();
    // Decide before connecting: a server that is not approved must not be started.
    let standings: Vec<(Status, Standing, Option<Finding>)> = statuses
        .into_iter()
        .map(|status| {
            let (standing, finding) = standing(&status, args, hosting);
            (status, standing, finding)
        })
        .collect();
    let used = standings
        .iter()
        .filter(|(_, standing, _)| *standing == Standing::Used);
    let used = used.map(|(status, ..)| status.name.clone()).collect();
    // Probe first: connecting fills the statuses, catalogs and secrets that the rest reads.
    let mut probed = probe(&hosting.host, used).await;
    // Learn secrets before anything is rendered.
    hosting.learn();
    let mut all = Examination {
        general: general(one, hosting, &environment),
        servers: Vec::new(),
    };
    for (status, standing, finding) in standings {
        let probed = probed.remove(&status.name);
        let mut examined = examine(&status, standing, probed, hosting, &environment);
        // The approval or the switch comes first: it explains the rest.
        examined.findings.splice(0..0, finding);
        all.servers.push(examined);
    }
    let screen = hosting.screen;
    if screen.is_json() {
        result(&render::document(&all), screen)?;
    } else {
        screen.page(&render::text(&all, columns(), screen))?;
        screen.show_pages().await?;
    }
    Ok(all.exit())
}

/// Returns whether a server may be started, with a finding if it may not.
fn standing(status: &Status, args: &Doctor, hosting: &Hosting<'_>) -> (Standing, Option<Finding>) {
    let name = status.name.as_str();
    let word = shell_word(name);
    if status.is_disabled() {
        let finding = Finding::remark(Check::Config, "disabled, so it was not started");
        let finding = finding.fix(format!("switchboard enable {word}"));
        return (Standing::Off, Some(finding));
    }
    match hosting.host.question(name) {
        Ok(Some(question)) if !args.connection.trust.contains(&question.fingerprint) => {
            let text = match question.reason {
                Reason::Changed => "it has changed since you approved it, so it was not started",
                Reason::BindsMore => {
                    "you approved it with an older version, which did not check its program, env \
                     file or content; it was not started"
                }
                _ => "it is defined by this project and not approved, so it was not started",
            };
            let finding = Finding::remark(Check::Approval, text)
                .fix(format!("switchboard trust show {word}"))
                .fix(format!("switchboard trust approve {word}"));
            (Standing::NotApproved, Some(finding))
        }
        Ok(_) => (Standing::Used, None),
        // An approval store that cannot be read counts as not approved.
        Err(error) => (
            Standing::NotApproved,
            Some(Finding::from_error(Check::Approval, &error)),
        ),
    }
}

/// Outcome of connecting to a server and pinging it.
struct Probed {
    connected: Result<Status, Error>,
    answered: Option<Result<Duration, Error>>,
}

/// Connects to servers, which reads their lists, and pings each once. All run concurrently, so that a server
/// that hangs does not delay the others.
async fn probe(host: &Host, servers: Vec<ServerName>) -> HashMap<ServerName, Probed> {
    let mut probing = JoinSet::new();
    for server in servers {
        let host = host.clone();
        probing.spawn(async move {
            let name = server.as_str();
            let connected = host.connect(name).await;
            // Ping only a server that is up: a ping would restart one that has exited.
            let answered = match &connected {
                Ok(status) if status.is_ready() => Some(host.check(name).await),
                _ => None,
            };
            // Read the status again, for the message counts of the meantime.
            let connected = connected.and_then(|_| host.server(name));
            let probed = Probed {
                connected,
                answered,
            };
            (server, probed)
        });
    }
    probing.join_all().await.into_iter().collect()
}

/// Collects the findings about one server.
fn examine(
    status: &Status,
    standing: Standing,
    probed: Option<Probed>,
    hosting: &Hosting<'_>,
    environment: &Environment,
) -> Examined {
    let name = status.name.as_str();
    let entry = hosting.files.config.get(name);
    let program = entry.and_then(|entry| surroundings::program(entry, environment));
    let mut findings = Vec::new();
    let (mut latest, mut answered) = (status.clone(), None);
    match probed {
        Some(Probed {
            connected: Ok(status),
            answered: answer,
        }) => {
            latest = status;
            match answer {
                Some(Ok(time)) => answered = Some(time),
                Some(Err(error)) => findings.push(Finding::from_error(Check::Answer, &error)),
                None => {}
            }
            // A listing that failed is reported by `lists`; only another error is a failed start.
            let ended = latest.error().filter(|_| latest.unlisted.is_empty());
            findings.extend(ended.map(|error| Finding::from_error(Check::Start, error)));
            let catalog = hosting.host.catalog();
            let part = catalog.server(name).map(|part| &**part);
            findings.extend(checks::lists(&latest, part));
            let drifts = hosting.host.drifts(name).unwrap_or_default();
            findings.extend(checks::changes(name, &drifts));
            findings.extend(latest.counts.as_ref().and_then(checks::messages));
        }
        Some(Probed {
            connected: Err(error),
            ..
        }) => {
            let check = match error.kind() {
                ErrorKind::Configuration => Check::Config,
                ErrorKind::Untrusted => Check::Approval,
                _ => Check::Start,
            };
            findings.push(Finding::from_error(check, &error));
        }
        // It was not started, so a missing program shows up only here.
        None if standing == Standing::NotApproved => {
            findings.extend(program.clone().and_then(Result::err));
        }
        None => {}
    }
    findings.extend(config_findings(name, standing, hosting));
    let state = match (standing, hosting.host.server(name)) {
        (Standing::NotApproved, _) => "needs_approval",
        (_, Ok(now)) => now.state.word(),
        (_, Err(_)) => latest.state.word(),
    };
    findings
        .iter_mut()
        .for_each(|found| suggest_fix(found, name));
    Examined {
        transport: latest.transport.map(|transport| transport.to_string()),
        version: latest.version.map(|version| version.to_string()),
        took: latest.took.filter(|_| latest.is_ready()),
        offers: latest.offers,
        tokens: hosting
            .host
            .catalog()
            .server(name)
            .map_or(0, |part| tokens::of_tools(part.tools())),
        name: latest.name,
        origin: latest.origin,
        standing,
        state,
        program: program.and_then(Result::ok),
        answered,
        findings,
    }
}

/// Adds a fix to start from to a broken finding that has none.
fn suggest_fix(found: &mut Finding, name: &str) {
    if found.exit.is_some() && found.fixes.is_empty() {
        let word = shell_word(name);
        found.fixes.push(match found.check {
            Check::Config => format!("fix its entry, then run `switchboard doctor {word}`"),
            _ => format!("switchboard servers {word}"),
        });
    }
}

/// Returns the config problems of a server, apart from the error that made its entry unusable: the host
/// reports that.
fn config_findings(name: &str, standing: Standing, hosting: &Hosting<'_>) -> Vec<Finding> {
    let config = &hosting.files.config;
    let is_its = |problem: &&Problem| problem.server() == Some(name);
    let is_said = |problem: &Problem| config.get(name).is_none() && problem.is_error();
    let problems = hosting.files.problems.iter().filter(is_its);
    let problems = problems.filter(|problem| !is_said(problem));
    let mut findings: Vec<Finding> = problems
        .map(|problem| surroundings::problem(Check::Config, problem))
        .collect();
    if standing != Standing::Off {
        let packages = unpinned(config);
        let packages = packages.iter().filter(is_its);
        findings.extend(packages.map(surroundings::package));
    }
    findings
}

/// Returns the findings that belong to no server, or to entries that did not become a server.
fn general(one: Option<&str>, hosting: &Hosting<'_>, environment: &Environment) -> Vec<Finding> {
    let is_host = |name: &str| hosting.host.server(name).is_ok();
    let is_general = |problem: &&Problem| match problem.server() {
        None => true,
        Some(name) => one.is_none() && !is_host(name),
    };
    let problems = hosting.files.problems.iter().filter(is_general);
    let mut findings: Vec<Finding> = problems
        .map(|problem| surroundings::problem(Check::Config, problem))
        .collect();
    findings.extend(surroundings::folders(environment));
    findings.extend(surroundings::leftover_servers(environment, one));
    findings
}
