//! Questions for a person.
//!
//! A [`Form`] is what a server may ask for, read off its schema within [`Bounds`]; a [`Link`] is where it may send
//! somebody. Before an operator gets a question it is screened: a form that asks for a secret is declined, one that
//! cannot be read and an address that leads nowhere good are refused. Whoever shows a question still has to make the
//! server's words safe for where they are shown.

mod bounds;
mod choices;
mod field;
mod form;
mod formats;
mod letters;
mod link;
mod problem;
mod ready;
mod refusals;
mod schema;
mod screen;
mod secrets;

pub use bounds::Bounds;
pub use choices::Choice;
pub use field::{Field, Kind, TextFormat};
pub use form::Form;
pub use link::{BadLink, Link, Warning};
pub use problem::{Misread, Problem};
pub use ready::Answers;

pub(super) use refusals::Refusals;
pub(super) use screen::put;
