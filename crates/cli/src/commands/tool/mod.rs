//! `switchboard tool`: one tool in full, with an example call.

mod example;

use serde::Serialize;
use switchboard::catalog::ToolEntry;
use switchboard::host::ToolHandle;
use switchboard::policy::Target;
use switchboard::protocol::{Raw, ToolAnnotations};
use switchboard::schema::parameters::{Detail, Parameters, details};
use switchboard_terminal::card::Card;

use super::call::needs_task;
use super::find_tool::{self, find};
use crate::args::ShowTool;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::report::Failure;
use crate::screen::Screen;
use crate::style::Style;
use crate::table::columns;

/// Returns the server whose tool the command names.
pub(crate) fn selector(args: &ShowTool) -> Result<Selector<'_>, Failure> {
    find_tool::selector(&args.tool, args.connection.describes_server())
}

/// Shows a tool: signature, description, arguments, result and an example call.
pub(crate) async fn run_on(args: &ShowTool, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let tool = find(&args.tool, hosting).await?;
    let screen = hosting.screen;
    hosting.warn_of_drift(Target::from(tool.entry()));
    let example = example::command(&tool, args, hosting);
    if !screen.is_json() {
        screen.page(&card(&tool, example.as_deref(), screen))?;
        return Ok(Exit::Ok);
    }
    let document = ToolDocument {
        server: tool.server().as_str(),
        tool: tool.tool().raw(),
        exposed: exposed_name(tool.entry(), screen),
        signature: signature(&tool),
        example,
    };
    screen.result(&screen.json_line(&document)?)?;
    Ok(Exit::Ok)
}

/// The document of `tool --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ToolDocument<'a> {
    server: &'a str,
    tool: &'a Raw,
    exposed: Option<&'a str>,
    signature: String,
    example: Option<String>,
}

fn signature(tool: &ToolHandle) -> String {
    let parameters = Parameters::read(tool.tool().input_schema().raw());
    parameters.signature(&tool.key().to_string())
}

/// Returns the model-facing name. `None` if the tool's name contains a secret, which this form would reveal
/// unmasked.
fn exposed_name<'e>(entry: &'e ToolEntry, screen: &Screen) -> Option<&'e str> {
    (screen.redact(entry.name()) == entry.name()).then(|| entry.exposed())
}

/// Formats the card of a tool.
fn card(tool: &ToolHandle, example: Option<&str>, screen: &Screen) -> String {
    let (entry, definition) = (tool.entry(), tool.tool());
    let secrets = screen.secrets();
    let mut card = Card::new(&secrets, Style::of_stdout(), columns());
    card.title(&signature(tool));
    card.text("", entry.description());
    let arguments = details(definition.input_schema().raw());
    if arguments.is_empty() {
        card.fact("arguments", Some("none"));
    }
    card.rows("arguments", &members(&arguments));
    if let Some(output) = definition.output_schema() {
        card.rows("result", &members(&details(output.raw())));
    }
    card.code("example", example);
    let tasks = "it runs only as a task, and tasks are not supported yet";
    card.fact("tasks", Some(tasks).filter(|_| needs_task(entry)));
    card.fact("title", entry.title());
    card.fact("model name", exposed_name(entry, screen));
    // Annotations are the server's claims, and labelled so.
    let hints = definition.annotations().map(hints).unwrap_or_default();
    let hints = Some(hints.join(", ")).filter(|hints| !hints.is_empty());
    card.fact("server's hints (unverified)", hints.as_deref());
    card.write()
}

/// Returns each member of an object schema with its type and description.
fn members(details: &[Detail]) -> Vec<(String, String)> {
    let rows = details.iter().map(|detail| {
        let description = detail.description.as_deref().unwrap_or_default();
        let words: Vec<&str> = description.split_whitespace().collect();
        let words = match words.as_slice() {
            [] => detail.words(),
            words => format!("{}: {}", detail.words(), words.join(" ")),
        };
        (detail.name.clone(), words)
    });
    rows.collect()
}

/// Returns the annotations of a tool in words. They are the server's claims, not facts.
fn hints(annotations: &ToolAnnotations) -> Vec<&'static str> {
    let claims = [
        (annotations.read_only_hint(), "read-only", "not read-only"),
        (
            annotations.destructive_hint(),
            "destructive",
            "non-destructive",
        ),
        (
            annotations.idempotent_hint(),
            "idempotent",
            "not idempotent",
        ),
        (annotations.open_world_hint(), "open-world", "closed-world"),
    ];
    let claims = claims.into_iter();
    claims
        .filter_map(|(claim, yes, no)| claim.map(|claim| if claim { yes } else { no }))
        .collect()
}
