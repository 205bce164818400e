//! `switchboard tools`: lists tools by their signatures.

use std::collections::BTreeMap;

use serde::Serialize;
use switchboard::catalog::{ItemKind, ServerCatalog};
use switchboard::protocol::Raw;
use switchboard::schema::parameters::Parameters;

use super::listing::{Lister, Listing, NoticeItem, exposed_names};
use crate::hosting::Hosting;
use crate::report::Failure;
use crate::screen::Screen;
use crate::table::{columns, table};

const KINDS: &[ItemKind] = &[ItemKind::Tool];

/// Lists the tools of a server, or of all.
pub(crate) const TOOLS: Lister = Lister { kinds: KINDS, show };

fn show(listing: &Listing, hosting: &Hosting<'_>) -> Result<(), Failure> {
    if hosting.screen.is_json() {
        return listing.print(hosting, |part| document(part, listing, hosting.screen));
    }
    let rows = listing.parts.iter().flat_map(|part| {
        let is_one = listing.is_one;
        listing.tools(part).into_iter().map(move |entry| {
            let parameters = Parameters::read(entry.tool().input_schema().raw());
            let name = if is_one {
                entry.name().to_owned()
            } else {
                entry.key().to_string()
            };
            let words = entry.description().or(entry.title()).unwrap_or_default();
            (parameters.signature(&name), words.to_owned())
        })
    });
    let rows: Vec<_> = rows.collect();
    hosting
        .screen
        .result(&table(&rows, columns(), hosting.screen))?;
    listing.warn(KINDS, hosting);
    // A server without tools is named, with the reason if filters hide them.
    let is_bare = |part: &&std::sync::Arc<ServerCatalog>| listing.tools(part).is_empty();
    for part in listing.parts.iter().filter(is_bare) {
        let hidden = match part.hidden() {
            _ if hosting.is_agent() => String::new(),
            0 => String::new(),
            hidden => format!(": its allow and block lists hide {hidden}"),
        };
        let name = part.name();
        hosting
            .screen
            .warn(&format!("{name} offers no tools{hidden}"));
    }
    Ok(())
}

/// The document of `tools --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ToolsDocument<'a> {
    server: &'a str,
    tools: Vec<&'a Raw>,
    /// Model-facing names, by the server's own names.
    exposed: BTreeMap<&'a str, &'a str>,
    notices: Vec<NoticeItem<'a>>,
}

fn document<'p>(part: &'p ServerCatalog, listing: &Listing, screen: &Screen) -> ToolsDocument<'p> {
    let tools = listing.tools(part);
    ToolsDocument {
        server: part.name().as_str(),
        tools: tools.iter().map(|entry| entry.tool().raw()).collect(),
        exposed: exposed_names(
            tools.iter().map(|entry| (entry.name(), entry.exposed())),
            screen,
        ),
        notices: listing.notice_items(part, KINDS),
    }
}
