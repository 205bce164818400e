//! Other people's clients for the command line, and the Node that they run on.
//!
//! The tests run them through our gateway, and the benchmark beside our own program.

use std::path::PathBuf;
use std::process::Command;

use super::pins::{self, CLIENTS, CLIENTS_NODE};
use super::suite;
use crate::tool;

/// The oldest Node that all of them run on.
const OLDEST: (u32, u32) = (24, 0);

/// A client from npm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandLineClient {
    /// The official Inspector, whose own command line is one of its modes.
    Inspector,
    Mcporter,
}

impl CommandLineClient {
    fn package(self) -> &'static str {
        match self {
            Self::Inspector => "@modelcontextprotocol/inspector",
            Self::Mcporter => "mcporter",
        }
    }

    /// Returns the program that its package declares.
    fn entry(self) -> &'static str {
        match self {
            Self::Inspector => "clients/launcher/build/index.js",
            Self::Mcporter => "dist/cli.js",
        }
    }

    /// The version that is pinned.
    pub(crate) fn version(self) -> &'static str {
        let mut pins = CLIENTS.pins.iter();
        let pin = pins.find(|pin| pin.package == self.package());
        pin.map_or("?", |pin| pin.version)
    }

    /// Returns the client's own command, to be told what to do.
    ///
    /// # Errors
    ///
    /// Says what is missing.
    pub(crate) fn command(self) -> Result<Command, String> {
        let entry = suite::modules(CLIENTS.name)
            .join(self.package())
            .join(self.entry());
        if !entry.exists() {
            return Err(format!("{} does not exist", entry.display()));
        }
        let mut command = Command::new(node()?);
        command.arg(entry);
        Ok(command)
    }
}

/// Installs the clients, and a Node where the machine's own is too old.
///
/// # Errors
///
/// Says which installation failed and what its package manager said.
pub(crate) fn install() -> Result<(), String> {
    let folders = pins::FOR_BENCH
        .iter()
        .filter(|folder| folder.name != CLIENTS_NODE.name || !runs_on_our_node());
    for folder in folders {
        super::npm::install(*folder).map_err(|error| {
            format!(
                "{}: {error}\nthe clients to compare with come from npm; --rows leaves them out",
                folder.name
            )
        })?;
    }
    Ok(())
}

pub(super) fn runs_on_our_node() -> bool {
    tool::node_version().is_some_and(|version| version >= OLDEST)
}

fn node() -> Result<PathBuf, String> {
    if runs_on_our_node() {
        return Ok(PathBuf::from("node"));
    }
    suite::installed_node(CLIENTS_NODE).ok_or_else(|| {
        format!(
            "no Node is new enough for the clients to compare with; install Node {}.{} or newer \
             and put it into PATH",
            OLDEST.0, OLDEST.1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_pinned() {
        assert_eq!(CommandLineClient::Inspector.version(), "2.12.0");
        assert_eq!(CommandLineClient::Mcporter.version(), "0.12.3");
    }
}
