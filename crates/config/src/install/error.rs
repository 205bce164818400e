//! Errors of installing into a client's config file.

use std::path::PathBuf;

use switchboard_core::private_store::StoreError;
use switchboard_core::spec::ServerName;

use super::InstallScope;
use crate::edit::EditError;
use crate::{Client, Problem};

/// A failed install or undo. In every case the client's file is unchanged.
///
/// No message quotes a value of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// Nothing can be installed into this client.
    #[error("cannot install into {0}")]
    Client(Client),
    /// The client has no file in this scope, or its place is unknown.
    #[error("{client} has no config file for this scope")]
    NoFile {
        /// The client.
        client: Client,
        /// The scope.
        scope: InstallScope,
    },
    /// A link of a project leads out of its folder.
    #[error("the project's file is a link out of its folder")]
    Outside {
        /// The file of the project.
        file: PathBuf,
        /// The file that would be written.
        leads_to: PathBuf,
    },
    /// The client's file cannot be parsed.
    #[error("{}", .0.message())]
    Broken(Problem),
    /// Another server has the name.
    #[error("there is another server {:?} in this file", .0.as_str())]
    NameTaken(ServerName),
    /// The entry is not the one that was installed.
    #[error("the entry {:?} is not the one that was installed", .0.as_str())]
    NotOurs(ServerName),
    /// A path cannot be written down.
    #[error("the path of {0} is not Unicode")]
    NotUnicode(&'static str),
    /// The record of the edit cannot be read or written.
    #[error("the record of the install cannot be used")]
    Record(#[source] StoreError),
    /// The file cannot be read, edited or written.
    #[error(transparent)]
    Edit(#[from] EditError),
}
