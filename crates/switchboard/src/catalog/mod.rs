//! The tools, prompts and resources of all servers, under names that models can use.
//!
//! A [`ServerCatalog`] is one server's part: its tools, prompts, resources, templates and
//! instructions, within [`CatalogLimits`], with a [`Notice`] for whatever was left out or cut. A [`Catalog`]
//! is the parts of all servers put together. Both never change: what is new makes a new one, which
//! shares everything that stayed the same, so that a snapshot remains usable for as long as it is held.
//!
//! # What it promises
//! - A name leads to one tool, whatever order the servers were connected in, and is the same in every
//!   run: [`exposed`] looks at nothing but the server's name, the tool's and the style.
//! - A tool is found by looking its name up, never by taking the name apart. What is sent to a
//!   server is the name that the server gave it, a [`ToolKey`].
//! - What a server sent stays as it was sent: cut texts stand beside it.
//! - A tool whose definition stayed the same is the same `Arc` in the next snapshot, so that what was
//!   worked out for it once need not be again.
//!
//! Connecting, refreshing and who may use what are matters of others.

mod build;
mod definition;
mod diff;
mod entry;
mod limits;
mod names;
mod notice;
mod server;
mod snapshot;
mod tool_ref;
mod unknown;

pub use build::Builder;
pub use diff::{Change, Delta};
pub use entry::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry, ToolKey};
pub use limits::CatalogLimits;
pub use names::{ExposedNames, SplitNameError, exposed, split_exposed};
pub(crate) use names::{NameForm, split_as};
pub use notice::{ItemKind, Notice, Problem};
pub use server::{Freshness, ServerCatalog};
pub use snapshot::Catalog;
#[doc(hidden)]
pub use switchboard_core::uri_template::{Fill, TemplateError, UriTemplate};
pub use tool_ref::ToolRef;
pub use unknown::Unknown;

#[cfg(test)]
mod tests;
