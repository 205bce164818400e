//! `switchboard lock`, and `switchboard verify`.

mod now;
mod verify;

use std::io::Write as _;
use std::path::Path;

use serde::Serialize;
use switchboard::text::sanitise_line;

use super::pins::{own, quiet};
use crate::args::{self, Connection};
use crate::editing::result;
use crate::exit::Exit;
use crate::hosting::{About, Hosting, with_host};
use crate::report::{Failure, Report};
use crate::screen::Screen;

use now::{Locked, Unpinned};
pub(crate) use verify::verify;

/// What the file is called.
const NAME: &str = "mcp.lock";

/// Writes down what the servers of a project are and offer.
pub(crate) fn run(args: &args::Lock) -> Exit {
    #[derive(Serialize)]
    struct Document<'a> {
        file: String,
        servers: Vec<String>,
        changed: bool,
        unpinned: Vec<Unpinned<'a>>,
    }
    attended(&args.connection, async |hosting| {
        let (locked, screen) = (
            Locked::of(&hosting.files.config, &args.connection)?,
            hosting.screen,
        );
        let now = locked.now(hosting).await?;
        if let Some(failed) = now.unreached.first() {
            let message = format!("{} cannot be asked what it offers", failed.server);
            let report = Report::new(failed.why, "connect", message);
            return Err(report
                .server(failed.server.clone())
                .fact("reason", failed.message.clone())
                .fact("written", "no: the lock is as it was")
                .hint("mend, approve or disable the server, and lock again"));
        }
        now.warn(screen);
        // A server may repeat what it was given, and the file is for others to read.
        let text = now.lock.clone().without(&hosting.host.secrets()).to_text();
        // A file that cannot be read, or is a link, is replaced by one that can.
        let is_changed = locked.text().ok().as_deref() != Some(text.as_bytes());
        if is_changed {
            write(&locked.file, &text).map_err(|error| unwritable(&locked.file, &error))?;
        }
        let shown = locked.file.display().to_string();
        let servers: Vec<String> = now.lock.servers().map(ToString::to_string).collect();
        if screen.is_json() {
            let document = Document {
                file: shown,
                servers,
                changed: is_changed,
                unpinned: now.unpinned,
            };
            result(&document, screen)?;
            return Ok(Exit::Ok);
        }
        let verb = match is_changed {
            true => "locked",
            false => "as before:",
        };
        let line = format!("{verb} {} in {shown}", servers.join(", "));
        screen.result(&format!("{}\n", sanitise_line(&line)))?;
        Ok(Exit::Ok)
    })
}

fn attended(
    connection: &Connection,
    work: impl AsyncFnOnce(&Hosting<'_>) -> Result<Exit, Failure>,
) -> Exit {
    if let Err(exit) = own(connection) {
        return exit;
    }
    if connection.describes_server() {
        let report = Report::usage("a lock is about the servers of a file, not --stdio or --url");
        return Screen::plain(connection.json).fail(&report);
    }
    with_host(Ok(About::All), connection, work)
}

/// Writes a file whole or not at all.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let new = folder.join(format!(".{NAME}.{}", std::process::id()));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&new)
        .and_then(|mut made| {
            made.write_all(text.as_bytes())?;
            made.sync_all()
        })
        .and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        // It may never have been made.
        std::fs::remove_file(&new).ok();
    }
    written
}

fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    Report::new(Exit::Internal, "internal", "the lock could not be written")
        .fact("file", file.display().to_string())
        .fact("the system says", error.to_string())
}
