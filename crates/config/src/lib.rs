//! Config files: layers of `mcp.json` and what other clients write.
//!
//! [`Places`] says where to look, [`Config::load`] reads what is there, and an [`Entry`] is one
//! server as a file describes it. Reading never fails as a whole: what is wrong is a [`Problem`] with
//! its place, and costs no more than the entry that it is in.
//!
//! Loading looks nothing up. A variable, a file or an answer that an entry refers to is read in
//! [`Entry::expand`], so that approval can be asked for before anything of a project's file has had an
//! effect. What the approval itself has to know is read for it, without an effect: the variables of the
//! command ([`Entry::filled_command`]), the file of variables ([`Entry::variables_file`]) and, where content is
//! bound, the files that arguments name ([`Entry::files_of_arguments`]).
//!
//! No value of a file is ever in a problem: neither in its text, nor in its excerpt, nor in `Debug`.
//! Keys, names of servers, names of variables and paths are.

mod bounds;
mod client;
mod dotenv;
mod duration;
pub mod edit;
mod entry;
mod excerpt;
mod expand;
mod fields;
mod file;
mod layered;
mod mask;
mod normalise;
mod open;
mod paths;
mod places;
mod problem;
mod read;
mod report;
mod sections;
mod shape;
mod size;
mod source;
mod template;
mod tree;
mod variables;

pub use client::{BadClient, Client};
pub use entry::Entry;
pub use expand::{Expansion, Input, Inputs, NoInputs};
pub use file::read_file;
pub use layered::{Config, FileRead, read_client};
pub use places::Places;
pub use problem::{Problem, ProblemKind, Severity};
pub use sections::{
    AgentSection, AudienceSection, CertificateFile, KeySection, LimitsSection, NetworkSection,
    Placed, ProviderKind, ProviderSection, ProvidersSection, ProxySection,
};
pub use template::Reference;
pub use variables::VariablesFile;
