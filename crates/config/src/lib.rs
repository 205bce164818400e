//! Config files: layers of `mcp.json`, and the files of other clients.
//!
//! [`Places`] are the locations to search, [`Config::load`] reads the files there, and an [`Entry`] is one
//! server as a file describes it. Loading never fails as a whole: every error is a [`Problem`] with its
//! position, and invalidates no more than the entry that it is in.
//!
//! Loading looks nothing up. The variables, files and inputs that an entry refers to are read by
//! [`Entry::expand`], so that approval can be asked for before a project's file has any effect. The
//! approval itself needs some of them, and reads them without side effects: the variables of the command
//! ([`Entry::filled_command`]), the file of variables ([`Entry::variables_file`]) and, if their content is
//! part of the approval, the files that arguments name ([`Entry::files_of_arguments`]).
//!
//! [`import`] converts servers of other clients' files to our format, [`export`] does the opposite, and
//! [`edit`] changes files, and [`install`] puts a gateway into the files of other clients.
//!
//! No secret of a file ever appears in a problem: neither in its text, nor in its excerpt, nor in `Debug`.
//! The excerpt shows other values as they are written.

mod canonical;
mod client;
mod dotenv;
mod duration;
pub mod edit;
mod entry;
mod excerpt;
mod expand;
pub mod export;
mod fields;
mod file;
pub mod import;
pub mod install;
mod json_schema;
mod keys;
mod layered;
mod limits;
mod mask;
mod normalise;
mod open;
mod paths;
mod places;
mod problem;
mod read;
mod read_options;
mod report;
mod secret_variables;
mod sections;
mod shape;
mod size;
mod source;
mod template;
mod tree;
mod variables;

#[doc(hidden)]
pub use canonical::secrets_in_clear;
pub use client::{Client, ParseClientError};
pub use entry::Entry;
pub use expand::{Expansion, Input, Inputs, NoInputs};
pub use file::read_file;
pub use json_schema::json_schema;
pub use layered::{Config, FileRead, read_client};
pub use places::Places;
pub use problem::{Problem, ProblemKind, Severity};
pub use read_options::ReadOptions;
#[doc(hidden)]
pub use secret_variables::{SecretVariables, secrets_as_variables};
pub use sections::{
    AgentSection, AudienceSection, CertificateFile, KeySection, LimitsSection, NetworkSection,
    Placed, ProfileSection, ProviderKind, ProviderSection, ProvidersSection, ProxySection,
    ScoresSection,
};
pub use template::Reference;
pub use variables::VariablesFile;
