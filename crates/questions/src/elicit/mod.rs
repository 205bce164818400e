//! Elicitation: questions of servers to the user.
//!
//! A [`Form`] holds the fields that a server asks for, read from its schema within [`ElicitLimits`]; a [`Link`]
//! is an address that it asks the user to open. [`Form::asks_for_secret`] finds a field that asks for a
//! secret; an unsafe address is a [`ParseLinkError`].
//! The program that shows a question still has to sanitise the server's words for its display.

mod choices;
mod field;
mod form;
mod formats;
mod limits;
mod link;
mod problem;
mod ready;
mod schema;
mod secrets;

pub use choices::Choice;
pub use field::{Field, Kind, TextFormat};
pub use form::Form;
pub use limits::ElicitLimits;
pub use link::{Link, ParseLinkError, Warning};
pub use problem::{Misread, Problem};
pub use ready::Answers;
