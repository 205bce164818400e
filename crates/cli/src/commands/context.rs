//! `switchboard context`: reads resources for a model, the most important ones first, within a budget.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use switchboard::catalog::{ItemKind, ResourceEntry};
use switchboard::host::Reading;
use switchboard::text::{sanitise, sanitise_line};

use super::listing::collect_listing;
use crate::args::Context;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::live::{Waiting, waiting};
use crate::report::{Failure, Report};

/// Maximum number of resources that were left out and are named on stderr.
const SHOWN_LEFT_OUT: usize = 10;

/// Returns the servers whose resources the command reads.
pub(crate) fn selector(args: &Context) -> Selector<'_> {
    Selector::from_name(split_words(&args.resources).0)
}

/// Splits the words into the server and the URIs that were picked. A URI has a `:`, which no server name has.
fn split_words(words: &[String]) -> (Option<&str>, &[String]) {
    match words {
        [server, uris @ ..] if !server.contains(':') => (Some(server), uris),
        uris => (None, uris),
    }
}

/// Reads the resources and prints their texts.
pub(crate) async fn run_on(args: &Context, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let (server, picked) = split_words(&args.resources);
    let selector = Selector::from_name(server);
    let listing = collect_listing(selector, &[ItemKind::Resource], hosting).await?;
    let entries = listing
        .parts
        .iter()
        .flat_map(|part| listing.resources(part));
    let is_picked = |entry: &&Arc<ResourceEntry>| {
        picked.is_empty() || picked.iter().any(|uri| uri == entry.uri())
    };
    let entries: Vec<_> = entries.filter(is_picked).cloned().collect();
    let is_known = |uri: &&String| entries.iter().any(|entry| entry.uri() == uri.as_str());
    if let Some(missing) = picked.iter().find(|uri| !is_known(uri)) {
        let report = Report::usage("there is no such resource").fact("resource", missing.clone());
        return Err(report.hint("`switchboard resources` lists them"));
    }
    let view = hosting.view();
    let reading = view.context_of(&entries, args.budget);
    let reading = waiting(hosting, Waiting::to("reading resources"), reading).await;
    hosting.learn();
    let screen = hosting.screen;
    if screen.is_json() {
        screen.result(&screen.json_line(&ContextDocument::of(&reading))?)?;
        return Ok(Exit::Ok);
    }
    screen.result(&texts(&reading))?;
    let left_out = reading.left_out.iter();
    for (server, uri, why) in left_out.take(SHOWN_LEFT_OUT) {
        screen.warn(&format!("{server} {uri} is left out: {why}"));
    }
    let more = reading.left_out.len().saturating_sub(SHOWN_LEFT_OUT);
    if more > 0 {
        screen.warn(&format!("{more} more are left out: see --json"));
    }
    Ok(Exit::Ok)
}

/// Formats the texts, each below the server and the URI that it is from.
fn texts(reading: &Reading) -> String {
    let mut all = String::new();
    for passage in &reading.texts {
        let from = format!("{} {}", passage.server, passage.uri);
        let end = if passage.text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let text = sanitise(&passage.text);
        // Writing to a string cannot fail.
        let _ = write!(all, "[{}]\n{text}{end}\n", sanitise_line(&from));
    }
    all
}

/// The document of `context --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ContextDocument<'a> {
    texts: Vec<ContextText<'a>>,
    left_out: Vec<ContextGap<'a>>,
    bytes: usize,
}

#[derive(Serialize)]
struct ContextText<'a> {
    server: &'a str,
    uri: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct ContextGap<'a> {
    server: &'a str,
    uri: &'a str,
    reason: &'a str,
}

impl<'a> ContextDocument<'a> {
    fn of(reading: &'a Reading) -> Self {
        let texts = reading.texts.iter().map(|passage| ContextText {
            server: passage.server.as_str(),
            uri: &passage.uri,
            text: &passage.text,
        });
        let left_out = reading.left_out.iter();
        let left_out = left_out.map(|(server, uri, reason)| ContextGap {
            server: server.as_str(),
            uri,
            reason,
        });
        Self {
            texts: texts.collect(),
            left_out: left_out.collect(),
            bytes: reading.bytes,
        }
    }
}
