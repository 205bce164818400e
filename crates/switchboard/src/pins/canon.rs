//! The canonical text of a definition, however it was written, and its hash.

pub use switchboard_wire::canonical::{canonical, quote};
use switchboard_wire::{Prompt, ResourceTemplate, Tool};

use super::Hash;

/// The hash of a tool's whole definition, from its name to its `_meta`.
#[doc(hidden)]
pub fn of_tool(tool: &Tool) -> Hash {
    Hash::of(&canonical(tool.raw()))
}

/// The hash of a prompt's whole definition.
#[doc(hidden)]
pub fn of_prompt(prompt: &Prompt) -> Hash {
    Hash::of(&canonical(prompt.raw()))
}

/// The hash of the whole definition of a family of resources.
#[doc(hidden)]
pub fn of_template(template: &ResourceTemplate) -> Hash {
    Hash::of(&canonical(template.raw()))
}

/// The hash of a server's instructions.
#[doc(hidden)]
pub fn of_instructions(text: &str) -> Hash {
    Hash::of(&quote(text))
}
