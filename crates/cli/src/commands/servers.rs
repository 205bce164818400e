//! `switchboard servers`.

use serde::Serialize;
use switchboard::host::{State, Status};
use switchboard::protocol::Raw;
use switchboard::spec::ServerName;
use switchboard::{ErrorKind, explain};

use super::reach::connect;
use crate::args::List;
use crate::exit::Exit;
use crate::hosting::{About, Hosting, with_host};
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::table::{columns, table};

/// Connects to all servers, or to one, and shows how they are.
pub(crate) fn run(args: &List) -> Exit {
    let about = About::named(args.server.as_deref());
    with_host(Ok(about), &args.connection, async |hosting| {
        on(args, hosting).await
    })
}

/// Connects to servers that are there, and shows how they are.
pub(crate) async fn on(args: &List, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let about = About::named(args.server.as_deref());
    let described = hosting.described.as_ref().map(|name| name.as_str());
    let one = match about {
        About::Server(name) => Some(described.unwrap_or(name)),
        About::All | About::Any => described,
    };
    let mut statuses = connect(one, hosting).await?;
    hosting.learn();
    if hosting.is_agent() {
        statuses.iter_mut().for_each(|status| seen(status, hosting));
    }
    let screen = hosting.screen;
    if screen.is_json() {
        let documents: Vec<Document> = statuses.iter().map(document).collect();
        let written = match (one, documents.as_slice()) {
            (Some(_), [one]) => Raw::of(one),
            _ => Raw::of(&serde_json::json!({"servers": documents})),
        };
        let written =
            written.map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))?;
        screen.result(&format!("{}\n", screen.safe_json(&written)))?;
        return Ok(exit(&statuses));
    }
    table_of(&statuses, screen)?;
    for status in &statuses {
        for notice in &status.notices {
            screen.warn(&format!("{}: {notice}", status.name));
        }
    }
    Ok(exit(&statuses))
}

/// Shows how servers are, a line for each.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn table_of(statuses: &[Status], screen: &Screen) -> Result<(), Failure> {
    let rows = statuses
        .iter()
        .map(|status| (status.name.to_string(), line(status)));
    screen.result(&table(&rows.collect::<Vec<_>>(), columns(), screen))
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

/// All went well where one works; where none does, it is what the first failed for.
fn exit(statuses: &[Status]) -> Exit {
    let works = |status: &Status| matches!(status.state, State::Ready | State::Offline);
    if statuses.iter().any(works) {
        return Exit::Ok;
    }
    let errors = || statuses.iter().filter_map(Status::error);
    match errors().any(|error| error.kind() == ErrorKind::Untrusted) {
        true => Exit::Denied,
        false => errors().next().map_or(Exit::Ok, |_| Exit::Connect),
    }
}

/// How a server is, in one line.
fn line(status: &Status) -> String {
    let mut words = vec![status.state.word().to_owned()];
    match &status.state {
        State::Failed(error) => words.push(explain(error).title),
        State::Closed(reason) => words.push(reason.clone()),
        State::Ready | State::Offline => {
            let offers = status.offers;
            words.extend(status.version.map(|version| version.to_string()));
            words.push(many(offers.tools, "tool"));
            words.push(many(offers.resources, "resource"));
            words.push(many(offers.prompts, "prompt"));
            words.extend(status.took.map(|took| format!("{} ms", took.as_millis())));
        }
        _ => {}
    }
    words.extend(status.transport.map(|transport| transport.to_string()));
    words.push(place(status));
    words.retain(|word| !word.is_empty());
    words.join("  ")
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

/// The document of `servers --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct Document {
    server: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
    transport: Option<String>,
    identity: Option<String>,
    version: Option<String>,
    info: Option<Raw>,
    tools: usize,
    resources: usize,
    templates: usize,
    prompts: usize,
    took_ms: Option<u128>,
    source: Option<Source>,
    notices: Vec<String>,
}

#[derive(Serialize)]
struct Problem {
    exit: u8,
    message: String,
    hints: Vec<String>,
}

#[derive(Serialize)]
struct Source {
    file: String,
    layer: String,
    line: Option<usize>,
    column: Option<usize>,
}

fn document(status: &Status) -> Document {
    let origin = &status.origin;
    Document {
        server: status.name.to_string(),
        state: status.state.word(),
        error: status.error().map(|error| {
            let diagnosis = explain(error);
            Problem {
                exit: Exit::of(error).number(),
                message: diagnosis.title,
                hints: diagnosis.steps,
            }
        }),
        transport: status.transport.map(|transport| transport.to_string()),
        identity: status.identity.clone(),
        version: status.version.map(|version| version.to_string()),
        info: status.server.as_ref().map(|server| server.raw().clone()),
        tools: status.offers.tools,
        resources: status.offers.resources,
        templates: status.offers.templates,
        prompts: status.offers.prompts,
        took_ms: status.took.map(|took| took.as_millis()),
        source: origin.file.as_ref().map(|file| Source {
            file: file.display().to_string(),
            layer: origin.layer.to_string(),
            line: origin.line,
            column: origin.column,
        }),
        notices: status.notices.clone(),
    }
}
