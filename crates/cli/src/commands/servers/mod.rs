//! `switchboard servers`: connects to servers and shows their states: a table of all, or one in full.

mod document;
mod full;
mod overview;

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard::host::{State, Status};
use switchboard::protocol::{Era, Version};
use switchboard::spec::ServerName;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub(super) use switchboard_terminal::count::count as many;

use document::{ServerDocument, document};
use full::full;
use overview::{Measured, lines, overview};

use super::listing::connect;
use crate::args::List;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::live::{Waiting, waiting};
use crate::report::Failure;
use crate::table::columns;
use crate::tokens;

/// Longest wait for a ping: a server that takes longer is shown without a latency.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// Connects to servers and shows their states.
pub(crate) async fn run_on(args: &List, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let one = hosting.one(args.server.as_deref());
    // A server that fails is still shown with its state, and then fails the command.
    let mut statuses = match (connect(one, hosting).await, one) {
        (Ok(statuses), _) => statuses,
        (Err(report), Some(name)) if !hosting.is_agent() => {
            return unusable(name, report, hosting);
        }
        (Err(report), _) => return Err(report),
    };
    hosting.learn();
    if hosting.is_agent() {
        statuses
            .iter_mut()
            .for_each(|status| hide_from_agent(status, hosting));
    }
    let screen = hosting.screen;
    let columns = columns();
    let is_full = one.is_some() && !screen.is_json();
    let latencies = if screen.is_json() || is_full || columns.is_some() {
        waiting(
            hosting,
            Waiting::to("waiting for pings"),
            latencies(&statuses, hosting),
        )
        .await
    } else {
        // Output for a program shows the connection time instead of a ping.
        BTreeMap::new()
    };
    let latency = |status: &Status| latencies.get(&status.name).copied();
    if screen.is_json() {
        let documents = statuses
            .iter()
            .map(|status| document(status, latency(status), tokens_of(status, hosting)));
        let documents: Vec<ServerDocument> = documents.collect();
        let line = match (one, documents.as_slice()) {
            (Some(_), [one]) => screen.json_line(one),
            _ => screen.json_line(&serde_json::json!({"servers": documents})),
        };
        screen.result(&line?)?;
        return Ok(exit(&statuses));
    }
    if let (true, [status]) = (is_full, statuses.as_slice()) {
        screen.page(&full(status, latency(status), hosting))?;
        return Ok(exit(&statuses));
    }
    let servers: Vec<_> = statuses
        .into_iter()
        .map(|status| Measured {
            latency: latencies.get(&status.name).copied(),
            tokens: tokens_of(&status, hosting),
            status,
        })
        .collect();
    screen.page(&overview(&servers, columns, screen))?;
    let statuses: Vec<Status> = servers.into_iter().map(|server| server.status).collect();
    // The row of a server that failed has its error.
    for status in statuses.iter().filter(|status| status.error().is_none()) {
        for notice in &status.notices {
            screen.warn(&format!("{}: {notice}", status.name));
        }
    }
    Ok(exit(&statuses))
}

/// Shows the state of a server that cannot be used, and fails with the report. A disabled server is shown
/// without failing.
fn unusable(name: &str, report: Failure, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let Ok(status) = hosting.host.server(name) else {
        return Err(report);
    };
    hosting.learn();
    let screen = hosting.screen;
    screen.result(&if screen.is_json() {
        screen.json_line(&document(&status, None, 0))?
    } else {
        full(&status, None, hosting)
    })?;
    if status.is_disabled() {
        Ok(Exit::Ok)
    } else {
        Err(report)
    }
}

/// Pings the servers that are up. Those that do not answer in time are left out.
async fn latencies(statuses: &[Status], hosting: &Hosting<'_>) -> BTreeMap<ServerName, Duration> {
    let mut asking = JoinSet::new();
    for status in statuses.iter().filter(|status| status.is_ready()) {
        let (host, name) = (hosting.host.clone(), status.name.clone());
        asking.spawn(async move {
            let asked = timeout(LONGEST_ANSWER, host.check(name.as_str())).await;
            Some((name, asked.ok()?.ok()?))
        });
    }
    asking.join_all().await.into_iter().flatten().collect()
}

/// Shows the states of servers without pinging them.
///
/// # Errors
/// Fails if the output cannot be written.
pub(crate) fn table_of(statuses: &[Status], hosting: &Hosting<'_>) -> Result<(), Failure> {
    let screen = hosting.screen;
    let servers = statuses.iter().map(|status| {
        let mut status = status.clone();
        // An agent sees how many items it may use, and not how many there are.
        if hosting.is_agent() {
            hide_from_agent(&mut status, hosting);
        }
        Measured {
            latency: None,
            tokens: tokens_of(&status, hosting),
            status,
        }
    });
    let servers: Vec<_> = servers.collect();
    // A single server, just connected, needs no heading.
    screen.result(&match servers.as_slice() {
        [_] => lines(&servers, columns(), screen),
        _ => overview(&servers, columns(), screen),
    })
}

/// Estimates what the definitions of a server cost of a model's context, as far as the caller sees them.
fn tokens_of(status: &Status, hosting: &Hosting<'_>) -> usize {
    if hosting.is_agent() {
        let tools = hosting.view().tools();
        let its = tools.iter().filter(|tool| *tool.server() == status.name);
        return its.map(|tool| tokens::of_tool(tool.entry())).sum();
    }
    let catalog = hosting.host.catalog();
    let part = catalog.server(status.name.as_str());
    part.map_or(0, |part| tokens::of_tools(part.tools()))
}

/// Reduces a status to the items that the acting agent may see.
fn hide_from_agent(status: &mut Status, hosting: &Hosting<'_>) {
    let (view, name) = (hosting.view(), &status.name);
    let is_its = |server: &ServerName| server == name;
    let tools = view.tools();
    let offers = &mut status.offers;
    offers.tools = tools.iter().filter(|tool| is_its(tool.server())).count();
    let (prompts, resources, templates) = (view.prompts(), view.resources(), view.templates());
    offers.prompts = prompts.iter().filter(|one| is_its(one.server())).count();
    offers.resources = resources.iter().filter(|one| is_its(one.server())).count();
    offers.templates = templates.iter().filter(|one| is_its(one.server())).count();
    status.notices.clear();
}

/// Returns success if at least one server works, otherwise the code of the common cause.
fn exit(statuses: &[Status]) -> Exit {
    let is_used = |status: &Status| matches!(status.state, State::Connected | State::Offline);
    let works = |status: &Status| is_used(status) && status.problem().is_none();
    if statuses.iter().any(works) {
        Exit::Ok
    } else {
        Exit::of_all(statuses.iter().filter_map(Status::problem))
    }
}

/// Returns the word for the era of a protocol version.
fn era(version: Version) -> &'static str {
    match version.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

/// Returns the transport of a server, taken from its identity if it is not connected.
fn transport(status: &Status) -> Option<String> {
    let known = status.transport.map(|transport| transport.to_string());
    known.or_else(|| {
        let (scheme, _) = status.identity.as_deref()?.split_once(':')?;
        matches!(scheme, "stdio" | "http" | "sse").then(|| scheme.to_owned())
    })
}
