//! `switchboard watch`: subscribes to a resource and shows its changes, with `--read` its new content too.

use std::pin::pin;
use std::time::SystemTime;

use serde::Serialize;
use switchboard::host::{Update, View, Watching};
use switchboard::protocol::{Raw, ReadResourceResult};
use switchboard::text::sanitise_line;

use super::logs::{print, wait};
use super::resources::{read_failure, server_of, split_words};
use crate::args::Watch;
use crate::delivery::masked_in_results;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::live::{Waiting, waiting};
use crate::login::with_login;
use crate::output;
use crate::render::contents;
use crate::report::Failure;
use crate::screen::unless_gone;
use crate::secrets::json_line;
use crate::timestamp;

/// Returns the server whose resource the command names.
pub(crate) fn selector(args: &Watch) -> Selector<'_> {
    split_words(&args.resource)
        .0
        .map_or(Selector::Any, Selector::Server)
}

/// Shows each change of a resource until the time is up.
pub(crate) async fn run_on(args: &Watch, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let (server, uri, _) = split_words(&args.resource);
    let server = server_of(server, hosting)?;
    // The time includes connecting and subscribing, and no login.
    let mut end = pin!(wait(args.time, hosting));
    let (view, words) = (hosting.view(), format!("watching {uri}"));
    let watching = with_login(hosting, async || {
        waiting(hosting, Waiting::to(&words), view.watch(server, uri)).await
    });
    let watching = tokio::select! {
        watching = watching => watching,
        () = &mut end => return Ok(Exit::Ok),
    };
    hosting.learn();
    let mut watching = watching.map_err(|error| read_failure(error, server, uri, hosting))?;
    let shown = ChangePrinter {
        server,
        view: args.read.then_some(&view),
        is_masked: args.mask,
        hosting,
    };
    loop {
        let update = tokio::select! {
            update = next_readable(&mut watching) => update?,
            () = &mut end => return Ok(Exit::Ok),
        };
        // The reader of the output is gone.
        let Some(update) = update else {
            return Ok(Exit::Ok);
        };
        hosting.learn();
        let shown = shown.show(uri, &update);
        tokio::select! {
            // The reader of the output is gone.
            is_read = shown => {
                if !is_read? {
                    return Ok(Exit::Ok);
                }
            }
            () = &mut end => return Ok(Exit::Ok),
        }
    }
}

/// Returns the next change once the previous output has been read, or `None` if the reader is gone.
async fn next_readable(watching: &mut Watching) -> Result<Option<Update>, Failure> {
    match output::flush().await {
        Ok(()) => Ok(Some(watching.next().await?)),
        gone => unless_gone(gone).map(|()| None),
    }
}

/// Output of changes.
struct ChangePrinter<'a> {
    server: &'a str,
    /// The view that reads the resource after a change, with `--read`.
    view: Option<&'a View>,
    /// True if the server's secrets are masked in what is read.
    is_masked: bool,
    hosting: &'a Hosting<'a>,
}

impl ChangePrinter<'_> {
    /// Shows a change. Returns false once the reader of the output is gone.
    async fn show(&self, watched: &str, update: &Update) -> Result<bool, Failure> {
        let screen = self.hosting.screen;
        let (uri, change, missed) = match update {
            Update::Changed(uri) => (uri.as_str(), "changed", None),
            Update::Missed(missed) => (watched, "missed", Some(*missed)),
            _ => (watched, "again", None),
        };
        if !screen.is_json() {
            match change {
                "again" => {
                    screen.warn("the subscription was interrupted: changes in between are unknown");
                }
                "missed" => screen.warn(&format!(
                    "{} changes were dropped: they came too fast",
                    missed.unwrap_or_default()
                )),
                _ => {}
            }
        }
        // The document of a change contains the new content, so it is read first.
        let result = self.read(uri).await;
        let masked = masked_in_results(self.hosting, self.server, self.is_masked);
        if screen.is_json() {
            let document = ChangeDocument {
                time: timestamp::utc_millis(SystemTime::now()),
                server: self.server,
                uri,
                change,
                missed,
                result: result.as_ref().map(ReadResourceResult::raw),
            };
            return print(&json_line(&masked, &document)?);
        }
        let mut text = format!("{}\n", sanitise_line(&masked.redact(uri)));
        for piece in result.iter().flat_map(contents) {
            text.push_str(&piece.write(None, "", &masked));
        }
        print(&text)
    }

    /// Reads the changed resource, with `--read`. A failed read is a warning and does not end the watch.
    async fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        let (view, options) = (self.view?, self.hosting.options());
        match view.read(self.server, uri).options(options).await {
            Ok(result) => Some(result),
            Err(error) => {
                let title = switchboard::explain(&error).title;
                self.hosting.screen.warn(&format!("{uri}: {title}"));
                None
            }
        }
    }
}

/// The document of one line of `watch --json`.
#[derive(Serialize)]
struct ChangeDocument<'a> {
    time: String,
    server: &'a str,
    uri: &'a str,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Raw>,
}
