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

use document::{ServerDocument, document};
pub(super) use full::Page;
use full::full;
use overview::{lines, overview};

use super::listing::connect;
use crate::args::List;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::live::{Waiting, waiting};
use crate::report::Failure;
use crate::screen::Screen;
use crate::table::columns;

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
            Waiting::to("asking for an answer"),
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
            .map(|status| document(status, latency(status)));
        let documents: Vec<ServerDocument> = documents.collect();
        let line = match (one, documents.as_slice()) {
            (Some(_), [one]) => screen.json_line(one),
            _ => screen.json_line(&serde_json::json!({"servers": documents})),
        };
        screen.result(&line?)?;
        return Ok(exit(&statuses));
    }
    if let (true, [status]) = (is_full, statuses.as_slice()) {
        screen.result(&full(status, latency(status), hosting))?;
        return Ok(exit(&statuses));
    }
    let servers: Vec<_> = statuses
        .into_iter()
        .map(|status| {
            let latency = latencies.get(&status.name).copied();
            (status, latency)
        })
        .collect();
    screen.result(&overview(&servers, columns, screen))?;
    let statuses: Vec<Status> = servers.into_iter().map(|(status, _)| status).collect();
    for status in &statuses {
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
        screen.json_line(&document(&status, None))?
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
pub(crate) fn table_of(statuses: &[Status], screen: &Screen) -> Result<(), Failure> {
    let servers: Vec<_> = statuses
        .iter()
        .map(|status| (status.clone(), None))
        .collect();
    // A single server, just connected, needs no heading.
    screen.result(&match servers.as_slice() {
        [_] => lines(&servers, columns(), screen),
        _ => overview(&servers, columns(), screen),
    })
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

fn many(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Formats the file and line of a server's entry; empty if it has none.
fn place(status: &Status) -> String {
    let origin = &status.origin;
    match (&origin.file, origin.line) {
        (Some(file), Some(line)) => format!("{}:{line}", file.display()),
        (Some(file), None) => file.display().to_string(),
        (None, _) => String::new(),
    }
}

/// Returns the word for the era of a protocol version.
fn era(version: Version) -> &'static str {
    match version.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

/// Formats a time in milliseconds, with a fraction below 1 ms.
fn milliseconds(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        whole => format!("{whole} ms"),
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
