//! The paths of the conformance suite and of the Node that it runs on.

use std::path::PathBuf;
use std::process::Command;

use super::pins::{Folder, NODE, SUITE};
use crate::{tool, workspace};

/// The oldest Node that the suite runs on.
const OLDEST: (u32, u32) = (22, 0);

/// Tells whether the machine's own Node is new enough.
pub(super) fn runs_on_our_node() -> bool {
    tool::node_version().is_some_and(|version| version >= OLDEST)
}

/// Returns the suite's own command, to be told what to do.
///
/// # Errors
///
/// Says what to install where no Node is new enough, or what is missing.
pub(crate) fn command() -> Result<Command, String> {
    let node = if runs_on_our_node() {
        PathBuf::from("node")
    } else {
        installed_node(NODE).ok_or_else(|| {
            format!(
                "no Node is new enough for the conformance suite; install Node {}.{} or newer and \
                 put it into PATH",
                OLDEST.0, OLDEST.1
            )
        })?
    };
    let mut entry = modules(SUITE.name);
    for pin in SUITE.pins {
        entry.push(pin.package);
    }
    entry.push("dist/index.js");
    if !entry.exists() {
        return Err(format!(
            "{} does not exist; `cargo xtask partners` installs it",
            entry.display()
        ));
    }
    let mut command = Command::new(node);
    command.arg(entry);
    Ok(command)
}

/// Finds the Node that was installed: npm leaves those of other platforms out.
pub(super) fn installed_node(folder: Folder) -> Option<PathBuf> {
    let name = if cfg!(windows) { "node.exe" } else { "node" };
    let modules = modules(folder.name);
    let mut found = folder
        .pins
        .iter()
        .map(|pin| modules.join(pin.package).join("bin").join(name))
        .filter(|path| path.exists());
    found.next()
}

/// Returns the folder of a folder's packages.
pub(super) fn modules(folder: &str) -> PathBuf {
    workspace::partners().join(folder).join("node_modules")
}
