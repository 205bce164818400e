//! Checks values against JSON schemas, within limits.
//!
//! Schemas come from servers and are as hostile as all their data: they can refer to hosts and files,
//! contain patterns that take forever, or be small and describe more than there are atoms. So nothing is
//! ever fetched, patterns are matched in linear time or refused, a schema is measured before it is
//! compiled, and a check stops when its time is up. A value that cannot be checked within the [`SchemaLimits`]
//! gets [`Verdict::NotChecked`] with the [`Reason`]; the caller decides what to do then.
//!
//! The dialect is draft 2020-12 unless `$schema` names an older one; `format` is an annotation and not
//! checked.
//!
//! [`parameters`] reads a tool's schema for people: its signature, examples, and the argument that a
//! violation is about.
//!
//! The feature `validation` (on by default) includes the validator. Without it every verdict is
//! [`Verdict::NotChecked`] with [`Reason::NotBuilt`], and callers need not differ.
//!
#![cfg_attr(feature = "validation", doc = "```")]
#![cfg_attr(not(feature = "validation"), doc = "```ignore")]
//! use switchboard_schema::{SchemaLimits, Checker, Verdict};
//! use switchboard_wire::Raw;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Raw::parse(r#"{"type": "object", "properties": {"count": {"type": "integer"}}}"#)?;
//! let checker = Checker::compile(&schema, &SchemaLimits::default());
//! let Verdict::Misfits(found) = checker.check_text_now(&Raw::parse(r#"{"count": "three"}"#)?) else {
//!     panic!("a word is no integer");
//! };
//! assert_eq!(found[0].message, "`/count` must be an integer");
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "validation")]
mod checker;
pub mod clean;
#[cfg(feature = "validation")]
mod compile;
mod limits;
#[cfg(feature = "validation")]
mod measure;
#[cfg(feature = "validation")]
mod meter;
pub mod parameters;
#[cfg(feature = "validation")]
mod pool;
#[cfg(not(feature = "validation"))]
mod stub;
#[cfg(test)]
#[cfg(feature = "validation")]
mod tests;
mod verdict;
#[cfg(feature = "validation")]
mod words;

#[cfg(feature = "validation")]
pub use checker::Checker;
pub use limits::SchemaLimits;
#[cfg(not(feature = "validation"))]
pub use stub::StubChecker as Checker;
pub use verdict::{Cost, Reason, Verdict, Violation};
