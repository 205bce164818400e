//! `switchboard tools`: lists tools, grouped by server.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use switchboard::catalog::{ItemKind, ServerCatalog, ToolEntry};
use switchboard::protocol::Raw;
use switchboard::schema::parameters::Parameters;
use switchboard::text::sanitise_line;
use switchboard_terminal::count::{count, thousands};
use switchboard_terminal::grid::{Align, grid_aligned};
use switchboard_terminal::table::one_line;
use switchboard_terminal::wrap::wrap;

use super::call::needs_task;
use super::listing::{Listing, NoticeItem, collect_listing, exposed_names};
use crate::args::Tools;
use crate::ask;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::report::Failure;
use crate::screen::Screen;
use crate::style::Style;
use crate::table::{columns, table};
use crate::tokens;

const KINDS: &[ItemKind] = &[ItemKind::Tool];

/// Lists the tools of a server, or of all.
pub(crate) async fn run_on(args: &Tools, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let selector = Selector::from_name(args.list.server.as_deref());
    let listing = collect_listing(selector, KINDS, hosting).await?;
    show(&listing, args, hosting)?;
    Ok(Exit::Ok)
}

fn show(listing: &Listing, args: &Tools, hosting: &Hosting<'_>) -> Result<(), Failure> {
    let screen = hosting.screen;
    if screen.is_json() {
        return listing.print(hosting, |part| document(part, listing, args, screen));
    }
    // A program that reads the list gets one line for each tool, with its server.
    let text = match columns() {
        Some(columns) => groups(listing, args, columns, hosting),
        None => lines(listing, args, screen),
    };
    screen.page(&text)?;
    listing.warn(KINDS, hosting);
    if listing.parts.is_empty() && hosting.is_agent() && ask::has_prompt() {
        let agent = &hosting.actor.caller;
        screen.warn(&format!("agent {agent} may not use any server"));
    }
    // A server without tools is named, with the reason if filters hide them.
    let is_bare = |part: &&Arc<ServerCatalog>| listing.tools(part).is_empty();
    for part in listing.parts.iter().filter(is_bare) {
        let hidden = match part.hidden() {
            _ if hosting.is_agent() => String::new(),
            0 => String::new(),
            hidden => format!(": its allow and block lists hide {hidden}"),
        };
        let name = part.name();
        screen.warn(&format!("{name} offers no tools{hidden}"));
    }
    Ok(())
}

fn words(entry: &ToolEntry) -> Cow<'_, str> {
    let words = entry.description().or(entry.title()).unwrap_or_default();
    if needs_task(entry) {
        return format!("(needs tasks) {}", words.trim_start()).into();
    }
    words.into()
}

/// Formats the name of a tool, with its arguments if they are wanted.
fn name(entry: &ToolEntry, args: &Tools, is_one: bool) -> String {
    let name = if is_one {
        entry.name().to_owned()
    } else {
        entry.key().to_string()
    };
    if args.long {
        Parameters::read(entry.tool().input_schema().raw()).signature(&name)
    } else {
        name
    }
}

/// Formats one line for each tool.
fn lines(listing: &Listing, args: &Tools, screen: &Screen) -> String {
    let rows = listing.parts.iter().flat_map(|part| {
        listing.tools(part).into_iter().map(|entry| {
            let words = if args.tokens {
                format!("{}  {}", tokens::of_tool(entry), words(entry).trim_start())
            } else {
                words(entry).into_owned()
            };
            (name(entry, args, listing.is_one), words)
        })
    });
    table(&rows.collect::<Vec<_>>(), None, &screen.secrets())
}

/// Formats a heading for each server and its tools below, for a terminal.
fn groups(listing: &Listing, args: &Tools, columns: usize, hosting: &Hosting<'_>) -> String {
    let (screen, style) = (hosting.screen, Style::of_stdout());
    let mut out = String::new();
    let mut first_tool = None;
    for part in &listing.parts {
        let tools = listing.tools(part);
        let Some(first) = tools.first() else { continue };
        first_tool.get_or_insert_with(|| first.key().to_string());
        if !out.is_empty() {
            out.push('\n');
        }
        let cost = tokens::format_estimate(tokens::of_tools(tools.iter().copied()));
        let facts = format!("({}, {cost})", count(tools.len(), "tool"));
        let server = sanitise_line(part.name().as_str());
        let head = format!("{}  {}\n", style.strong(&server), style.dim(&facts));
        out.push_str(&wrap(&head, Some(columns)));
        for line in group(&tools, args, columns.saturating_sub(2), screen).lines() {
            out.push_str(&format!("  {line}\n"));
        }
    }
    if let Some(tool) = first_tool.filter(|_| !screen.is_quiet()) {
        let footer = footer(&tool, args, hosting);
        out.push_str(&format!("\n{}", wrap(&footer, Some(columns))));
    }
    out
}

/// Formats the tools of one server.
fn group(tools: &[&Arc<ToolEntry>], args: &Tools, columns: usize, screen: &Screen) -> String {
    let secrets = screen.secrets();
    if !args.long {
        let rows = tools.iter().map(|entry| {
            let mut cells = vec![one_line(&name(entry, args, true), &secrets)];
            cells.extend(args.tokens.then(|| thousands(tokens::of_tool(entry))));
            cells.push(one_line(&words(entry), &secrets));
            cells
        });
        let aligned: &[Align] = if args.tokens {
            &[Align::Left, Align::Right]
        } else {
            &[]
        };
        let rows: Vec<_> = rows.collect();
        if let Some(text) = grid_aligned(&rows, aligned, Some(columns)) {
            return text;
        }
    }
    // Signatures, and everything on a narrow terminal, get as many lines as they need.
    let rows = tools.iter().map(|entry| {
        let words = if args.tokens {
            let cost = thousands(tokens::of_tool(entry));
            format!("{cost} tokens. {}", words(entry).trim_start())
        } else {
            words(entry).into_owned()
        };
        (name(entry, args, true), words)
    });
    table(&rows.collect::<Vec<_>>(), Some(columns), &secrets)
}

/// Says what else there is to see.
fn footer(tool: &str, args: &Tools, hosting: &Hosting<'_>) -> String {
    let program = if ask::has_prompt() {
        ""
    } else {
        "switchboard "
    };
    let mut out = String::new();
    if args.tokens {
        out.push_str(&format!("{}\n", tokens::METHOD));
    }
    // A name that a terminal cannot show, or a server of the command line, makes no command to paste.
    let is_plain = sanitise_line(tool) == tool && !tool.contains(|c: char| c.is_whitespace());
    if is_plain && hosting.described.is_none() {
        out.push_str(&format!(
            "`{program}tool {tool}` shows arguments and an example.\n"
        ));
    }
    if !args.long {
        out.push_str("`--long` shows signatures.\n");
    }
    out
}

/// The document of `tools --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ToolsDocument<'a> {
    server: &'a str,
    tools: Vec<&'a Raw>,
    /// Model-facing names, by the server's own names.
    exposed: BTreeMap<&'a str, &'a str>,
    notices: Vec<NoticeItem<'a>>,
    /// Estimated tokens of each definition, with `--tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<BTreeMap<&'a str, usize>>,
}

fn document<'p>(
    part: &'p ServerCatalog,
    listing: &Listing,
    args: &Tools,
    screen: &Screen,
) -> ToolsDocument<'p> {
    let tools = listing.tools(part);
    ToolsDocument {
        server: part.name().as_str(),
        tools: tools.iter().map(|entry| entry.tool().raw()).collect(),
        exposed: exposed_names(
            tools.iter().map(|entry| (entry.name(), entry.exposed())),
            screen,
        ),
        notices: listing.notice_items(part, KINDS),
        tokens: args.tokens.then(|| {
            let costs = tools.iter();
            costs
                .map(|entry| (entry.name(), tokens::of_tool(entry)))
                .collect()
        }),
    }
}
