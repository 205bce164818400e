//! Tools and results as the APIs of models want them.
//!
//! [`text()`] makes one text of a result. [`openai`] and [`anthropic`] write tool definitions and
//! results in the shapes of those APIs, and read the calls that their models make; whatever had
//! to be changed for it is said in the [`Note`]s beside the value.
//!
//! Everything here is pure: nothing is sent, and what a server wrote is passed on as it wrote it.
//! Whoever shows it on a terminal sanitises it (see [`crate::text`]).

mod adapt;
pub mod anthropic;
mod call;
pub(crate) mod context;
pub mod openai;
mod size;
mod strict;
mod text;

pub use adapt::{Adapted, Note};
pub use call::{Call, ParseCallError};
pub use size::{decoded_bytes, size};
pub use text::{Text, TextLimits, prompt_text, resource_text, text};
