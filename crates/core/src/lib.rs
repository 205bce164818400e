//! The foundations that Switchboard's crates share.
//!
//! - [`spec`]: what a server is: its name, its transport, its settings, and the file that describes it;
//! - [`limits`]: every number that bounds anything;
//! - [`secret`]: values that are never shown, and texts without them;
//! - [`mask`]: entries of config files with their secrets masked, by who reads them;
//! - [`text`]: texts of others made safe for a terminal, and names that are nearly the same;
//! - [`files`]: files opened in one place, judged on the descriptor that they are read from;
//! - [`private_store`]: private files that several processes change;
//! - [`environment`]: the variables of the host as a value, and those that a server gets.
//!
//! The features `suggest` (`text::closest`) and `private-store` are on by default; a client alone needs neither.
//!
//! Programs use the crate `switchboard`, which offers all of this under the same names.

pub mod environment;
pub mod files;
pub mod limits;
pub mod mask;
#[cfg(feature = "private-store")]
pub mod private_store;
pub mod secret;
pub mod spec;
pub mod text;
