//! `/mcp roots`: the folders that a server is told that it may use.

use std::path::PathBuf;

use switchboard::text::sanitise_line;

use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::report::{Failure, Report};
use crate::screen::talk;

/// Tells a server of folders, where some are named, and shows those that it is told of.
pub(super) fn roots(
    hosting: &Hosting<'_>,
    server: &str,
    folders: &[PathBuf],
) -> Result<Exit, Failure> {
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        let report = Report::usage("there is no such folder");
        return Err(report.fact("folder", missing.display().to_string()));
    }
    if !folders.is_empty() {
        hosting.host.set_roots(server, folders)?;
    }
    let roots = hosting.host.roots(server)?;
    if roots.is_empty() {
        talk(&format!(
            "{server} is told of no folders; `/mcp roots {server} DIR` tells it of one\n"
        ));
    }
    for root in roots {
        let line = hosting.screen.redact(&root.uri).into_owned();
        hosting
            .screen
            .result(&format!("{}\n", sanitise_line(&line)))?;
    }
    let is_told = hosting.host.may_ask_for_roots(server)?;
    if !folders.is_empty() && is_told == Some(false) {
        talk(&format!(
            "{server} was connected without any, and can ask after `/mcp retry {server}`\n"
        ));
    }
    Ok(Exit::Ok)
}
