//! `switchboard tools`.

use std::io::IsTerminal as _;

use serde::Serialize;
use switchboard::protocol::{Raw, Tool};
use switchboard::session::CancelReason;
use switchboard::transport::Environment;
use switchboard::{Listing, Server};

use crate::args::Tools;
use crate::attend::attend;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::servers;
use crate::table::table;

/// Lists the tools of a server.
pub(crate) fn run(args: &Tools) -> Exit {
    let host = Environment::of_process();
    let screen = Screen::new(&args.connection, &host);
    let server = match servers::find(args.server.as_deref(), &args.connection, &host) {
        Ok(server) => server,
        Err(report) => return screen.fail(&report),
    };
    attend(
        &server,
        &screen,
        &CancelReason::default(),
        list(&server, &screen),
    )
}

async fn list(server: &Server, screen: &Screen) -> Result<Exit, Failure> {
    let listing = server.list_tools().await?;
    if screen.is_json() {
        screen.result(&format!(
            "{}\n",
            screen.safe_json(&document(server, &listing)?)
        ))?;
        return Ok(Exit::Ok);
    }
    let columns = columns();
    screen.result(&table(&listing.items, columns, screen))?;
    warn(server, &listing, screen);
    if listing.items.is_empty() {
        screen.warn(&format!("{} offers no tools", server.name()));
    }
    Ok(Exit::Ok)
}

/// How wide the terminal is; `None` where there is none.
fn columns() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(stdout);
    // A terminal that does not say is taken for the usual one.
    Some(size.map_or(80, |(width, _)| usize::from(width.0)))
}

/// Says what is not in the list, and why.
pub(crate) fn warn(server: &Server, listing: &Listing<Tool>, screen: &Screen) {
    let name = server.name();
    for item in &listing.set_aside {
        let tool = match &item.name {
            Some(tool) => format!("the tool {tool:?}"),
            None => format!("item {} of the list", item.index),
        };
        screen.warn(&format!("{name}: {tool} was set aside: {}", item.reason));
    }
    if let Some(cut) = &listing.cut {
        screen.warn(&format!("{name}: the list is not complete: {cut}"));
    }
}

/// The document of `tools --json`: see `docs/cli.md`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    server: &'a str,
    tools: Vec<&'a Raw>,
    set_aside: Vec<SetAside<'a>>,
    cut: Option<String>,
}

#[derive(Serialize)]
struct SetAside<'a> {
    index: usize,
    name: Option<&'a str>,
    reason: &'a str,
}

fn document(server: &Server, listing: &Listing<Tool>) -> Result<Raw, Failure> {
    let document = Document {
        server: server.name().as_str(),
        tools: listing.items.iter().map(Tool::raw).collect(),
        set_aside: listing
            .set_aside
            .iter()
            .map(|item| SetAside {
                index: item.index,
                name: item.name.as_deref(),
                reason: &item.reason,
            })
            .collect(),
        cut: listing.cut.map(|cut| cut.to_string()),
    };
    Raw::of(&document).map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))
}
