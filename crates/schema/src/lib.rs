//! Whether a value fits a JSON schema, within bounds.
//!
//! Schemas come from servers and are as hostile as anything else that does: one can refer to hosts
//! and files, hold patterns that take forever, or be small and describe more than there are atoms.
//! So nothing is ever fetched, patterns are matched in linear time or not at all, a schema is
//! measured before it is compiled, and a check stops when its time is up. What cannot be checked
//! within the [`Bounds`] is [`Verdict::NotChecked`], with the [`Reason`]: what to do then is for
//! the caller to decide.
//!
//! Schemas are of draft 2020-12 where `$schema` does not name an older one; `format` is a remark,
//! not a rule.
//!
//! The feature `validation` (on by default) has the validator. Without it every verdict is
//! [`Verdict::NotChecked`] with [`Reason::NotBuilt`], and programs need not differ.
//!
#![cfg_attr(feature = "validation", doc = "```")]
#![cfg_attr(not(feature = "validation"), doc = "```ignore")]
//! use switchboard_schema::{Bounds, Checker, Verdict};
//! use switchboard_wire::Raw;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Raw::parse(r#"{"type": "object", "properties": {"count": {"type": "integer"}}}"#)?;
//! let checker = Checker::compile(&schema, &Bounds::default());
//! let Verdict::Misfits(found) = checker.check_text_now(&Raw::parse(r#"{"count": "three"}"#)?) else {
//!     panic!("a word is no integer");
//! };
//! assert_eq!(found[0].message, "`/count` must be an integer");
//! # Ok(())
//! # }
//! ```

mod bounds;
#[cfg(feature = "validation")]
mod census;
#[cfg(feature = "validation")]
mod checker;
pub mod clean;
#[cfg(feature = "validation")]
mod compile;
#[cfg(feature = "validation")]
mod meter;
#[cfg(feature = "validation")]
mod pool;
#[cfg(test)]
#[cfg(feature = "validation")]
mod tests;
#[cfg(not(feature = "validation"))]
mod unchecked;
mod verdict;
#[cfg(feature = "validation")]
mod words;

pub use bounds::Bounds;
#[cfg(feature = "validation")]
pub use checker::Checker;
#[cfg(not(feature = "validation"))]
pub use unchecked::Checker;
pub use verdict::{Cost, Reason, Verdict, Violation};
