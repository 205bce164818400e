//! `switchboard export`: prints entries in another client's format (see `switchboard::config::export`), with
//! warnings about missing approvals.

use serde::Serialize;
use switchboard::config::edit::Secrets;
use switchboard::config::export::{self, Exported};
use switchboard::config::{Client, Entry};

use crate::approvals::Approvals;
use crate::args::Export;
use crate::editing::result;
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::scope::Files;
use crate::screen::Screen;

/// Prints servers in the form of another client's config file.
pub(crate) fn run(args: &Export) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(print(args, &screen))
}

fn print(args: &Export, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(args.config.as_deref())?;
    let entries: Vec<&Entry> = if args.names.is_empty() {
        files.config.entries().iter().collect()
    } else {
        let named = args.names.iter().map(|name| files.entry(name));
        named.collect::<Result<_, _>>()?
    };
    if entries.is_empty() {
        let message = "no servers are configured";
        let report = Report::new(Exit::Configuration, "configuration", message);
        return Err(report.hint("switchboard config path"));
    }
    let secrets = if args.with_secrets {
        Secrets::InClear
    } else {
        Secrets::AsVariables
    };
    let mut exported = export::entries(entries.iter().copied(), args.to, secrets);
    let approvals = Approvals::of(&files.config, &files.environment)?;
    // Warnings about the entries themselves come after those about the other client's format.
    for written in &mut exported.servers {
        let entry = entries.iter().find(|entry| *entry.name() == written.name);
        if let Some(entry) = entry {
            written.warnings.extend(caution(entry, &approvals));
        }
    }
    // A single server that cannot be exported is an error; among others it is a warning.
    if let ([only], []) = (exported.left_out.as_slice(), exported.servers.as_slice()) {
        let message = format!("{} cannot be written for {}", only.name, args.to);
        let report = Report::new(Exit::Configuration, "configuration", message);
        return Err(report
            .server(only.name.as_str())
            .fact("reason", &only.reason));
    }
    if screen.is_json() {
        return result(&document(&exported, args.to), screen);
    }
    if args.names.is_empty() {
        problems::mention(&files.config, screen);
    }
    for left_out in &exported.left_out {
        let (name, reason) = (&left_out.name, &left_out.reason);
        screen.warn(&format!("{name} is left out: {reason}"));
    }
    for written in &exported.servers {
        for warning in &written.warnings {
            screen.warn(&format!("{}: {warning}", written.name));
        }
    }
    screen.result(&exported.text)
}

/// Returns a warning about an entry that is not approved here: another client may not ask.
fn caution(entry: &Entry, approvals: &Approvals) -> Option<String> {
    let is_settled = approvals
        .look(entry)
        .is_ok_and(|(approval, _)| approval.is_settled());
    let text = "it is defined by this project and not approved; the other client may run it without asking";
    (!is_settled).then(|| text.to_owned())
}

/// The document of `export --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct ExportDocument<'a> {
    client: &'static str,
    syntax: &'static str,
    text: &'a str,
    servers: Vec<ExportedServerItem<'a>>,
    left_out: Vec<LeftOut<'a>>,
}

#[derive(Serialize)]
struct ExportedServerItem<'a> {
    server: &'a str,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct LeftOut<'a> {
    server: &'a str,
    reason: &'a str,
}

fn document(exported: &Exported, client: Client) -> ExportDocument<'_> {
    let servers = exported.servers.iter().map(|written| ExportedServerItem {
        server: written.name.as_str(),
        warnings: &written.warnings,
    });
    let left_out = exported.left_out.iter().map(|left_out| LeftOut {
        server: left_out.name.as_str(),
        reason: &left_out.reason,
    });
    ExportDocument {
        client: client.name(),
        syntax: match client {
            Client::Codex => "toml",
            _ => "json",
        },
        text: &exported.text,
        servers: servers.collect(),
        left_out: left_out.collect(),
    }
}
