//! The foundations that Switchboard's crates share.
//!
//! - [`spec`]: the description of a server: its name, transport and settings, and the file it came from;
//! - [`limits`]: every number that bounds anything;
//! - [`secret`]: values that are never shown, and redaction of texts that contain them;
//! - [`mask`]: entries of config files with their secrets masked, depending on the reader;
//! - [`text`]: untrusted text made safe for a terminal, and names that are nearly the same;
//! - [`files`]: one place that opens files and checks them on the open descriptor;
//! - [`private_store`]: private files that several processes change;
//! - [`environment`]: the variables of the host as a value, and those that a server receives.
//!
//! The features `suggest` (`text::closest`) and `private-store` are on by default; a client alone needs
//! neither. Programs use the crate `switchboard`, which re-exports all of this under the same names.

pub mod environment;
pub mod files;
pub mod limits;
pub mod mask;
#[cfg(feature = "private-store")]
pub mod private_store;
pub mod secret;
pub mod spec;
pub mod text;
pub mod uri_template;
