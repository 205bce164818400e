//! `switchboard servers`.

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

use document::{Document, document};
pub(super) use full::Page;
use full::full;
use overview::{lines, overview};

use super::reach::connect;
use crate::args::List;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::live::{Waiting, waiting};
use crate::report::Failure;
use crate::screen::Screen;
use crate::table::columns;

/// A server that takes longer to answer has no latency worth showing.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// Connects to servers that are there, and shows how they are.
pub(crate) async fn on(args: &List, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let one = hosting.one(args.server.as_deref());
    let mut statuses = match (connect(one, hosting).await, one) {
        (Ok(statuses), _) => statuses,
        (Err(report), Some(name)) if !hosting.is_agent() => {
            return unusable(name, report, hosting);
        }
        (Err(report), _) => return Err(report),
    };
    hosting.learn();
    if hosting.is_agent() {
        statuses.iter_mut().for_each(|status| seen(status, hosting));
    }
    let screen = hosting.screen;
    let columns = columns();
    let is_full = one.is_some() && !screen.is_json();
    let latencies = match screen.is_json() || is_full || columns.is_some() {
        true => {
            waiting(
                hosting,
                Waiting::to("asking for an answer"),
                latencies(&statuses, hosting),
            )
            .await
        }
        // A line for a program has how long the connection took.
        false => BTreeMap::new(),
    };
    let latency = |status: &Status| latencies.get(&status.name).copied();
    if screen.is_json() {
        let documents = statuses
            .iter()
            .map(|status| document(status, latency(status)));
        let documents: Vec<Document> = documents.collect();
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

/// Shows the state of a server that cannot be used, and fails for the reason. One that is switched off is shown, and
/// no failure.
fn unusable(name: &str, report: Failure, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let Ok(status) = hosting.host.server(name) else {
        return Err(report);
    };
    hosting.learn();
    let screen = hosting.screen;
    screen.result(&match screen.is_json() {
        true => screen.json_line(&document(&status, None))?,
        false => full(&status, None, hosting),
    })?;
    match status.is_disabled() {
        true => Ok(Exit::Ok),
        false => Err(report),
    }
}

/// How long each server that is there takes to answer; nothing of one that does not in time.
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

/// Shows how servers are that nobody asks for an answer.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn table_of(statuses: &[Status], screen: &Screen) -> Result<(), Failure> {
    let servers: Vec<_> = statuses
        .iter()
        .map(|status| (status.clone(), None))
        .collect();
    // One that was just connected to needs no heads over it.
    screen.result(&match servers.as_slice() {
        [_] => lines(&servers, columns(), screen),
        _ => overview(&servers, columns(), screen),
    })
}

/// Leaves of a status what an agent sees.
fn seen(status: &mut Status, hosting: &Hosting<'_>) {
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

/// All went well where one server works; where none does, it is the code of the cause.
fn exit(statuses: &[Status]) -> Exit {
    let is_used = |status: &Status| matches!(status.state, State::Connected | State::Offline);
    let works = |status: &Status| is_used(status) && status.problem().is_none();
    match statuses.iter().any(works) {
        true => Exit::Ok,
        false => Exit::of_all(statuses.iter().filter_map(Status::problem)),
    }
}

fn many(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Where a server is described.
fn place(status: &Status) -> String {
    let origin = &status.origin;
    match (&origin.file, origin.line) {
        (Some(file), Some(line)) => format!("{}:{line}", file.display()),
        (Some(file), None) => file.display().to_string(),
        (None, _) => String::new(),
    }
}

/// A word for the era of a version.
fn era(version: Version) -> &'static str {
    match version.era() {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

/// A time in milliseconds, with a fraction where it would be nothing without.
fn milliseconds(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        whole => format!("{whole} ms"),
    }
}

/// How a server is reached, also where only its identity says it.
fn transport(status: &Status) -> Option<String> {
    let known = status.transport.map(|transport| transport.to_string());
    known.or_else(|| {
        let (scheme, _) = status.identity.as_deref()?.split_once(':')?;
        matches!(scheme, "stdio" | "http" | "sse").then(|| scheme.to_owned())
    })
}
