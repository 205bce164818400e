//! `switchboard tool`: one tool in full, with an example call.

mod example;

use serde::Serialize;
use switchboard::catalog::ToolEntry;
use switchboard::host::ToolHandle;
use switchboard::policy::Target;
use switchboard::protocol::{Raw, ToolAnnotations};
use switchboard::schema::parameters::{Detail, Parameters, details};

use super::find_tool::{self, find};
use super::servers::Page;
use crate::args::ShowTool;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::report::Failure;
use crate::screen::Screen;

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
        screen.result(&page(&tool, example.as_deref(), screen))?;
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

/// Formats the page about a tool.
fn page(tool: &ToolHandle, example: Option<&str>, screen: &Screen) -> String {
    let (entry, definition) = (tool.entry(), tool.tool());
    let mut page = Page::new(screen);
    page.title(&signature(tool));
    page.fact("title", entry.title());
    page.fact("name for models", exposed_name(entry, screen));
    page.text("description", entry.description());
    let arguments = details(definition.input_schema().raw());
    if arguments.is_empty() {
        page.fact("arguments", Some("none"));
    } else {
        members(&mut page, "arguments", &arguments);
    }
    if let Some(output) = definition.output_schema() {
        members(&mut page, "result", &details(output.raw()));
    }
    // Annotations are the server's claims, and labelled so.
    let hints = definition.annotations().map(hints).unwrap_or_default();
    if !hints.is_empty() {
        let claims = "the server claims (nothing relies on it)";
        page.fact(claims, Some(&hints.join(", ")));
    }
    page.text("example", example);
    page.0
}

/// Adds each member of an object schema with its type and description.
fn members(page: &mut Page<'_>, name: &str, details: &[Detail]) {
    page.title(&format!("  {name}:"));
    for detail in details {
        page.title(&format!("    {}: {}", detail.name, detail.words()));
        for line in detail.description.iter().flat_map(|text| text.lines()) {
            page.title(&format!("      {}", line.trim()));
        }
    }
}

/// Returns the annotations of a tool in words. They are the server's claims, not facts.
fn hints(annotations: &ToolAnnotations) -> Vec<&'static str> {
    let claims = [
        (
            annotations.read_only_hint(),
            "changes nothing",
            "changes something",
        ),
        (
            annotations.destructive_hint(),
            "may destroy something",
            "destroys nothing",
        ),
        (
            annotations.idempotent_hint(),
            "twice is once",
            "twice is not once",
        ),
        (
            annotations.open_world_hint(),
            "reaches beyond itself",
            "stays within itself",
        ),
    ];
    let claims = claims.into_iter();
    claims
        .filter_map(|(claim, yes, no)| claim.map(|claim| if claim { yes } else { no }))
        .collect()
}
