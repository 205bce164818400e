//! One thing that a server offers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use switchboard_wire::{Prompt, Resource, ResourceTemplate, Tool};

use super::definition::ItemDefinition;
use crate::schema::{Checker, SchemaLimits};
use crate::spec::ServerName;

/// Identifies a tool: the server, and the server's own name for it. Only this name is sent to a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(hidden)]
pub struct ToolKey {
    server: ServerName,
    name: Arc<str>,
}

impl ToolKey {
    /// The tool of that name, whether there is one or not.
    pub fn new(server: ServerName, name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        Self { server, name }
    }

    /// The server.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The name that the server gave the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }
}

/// `server/tool`, verbatim: it is to be made safe where it meets a terminal.
impl fmt::Display for ToolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.name)
    }
}

/// The parts of an entry.
pub(super) struct Parts<D> {
    pub(super) key: ToolKey,
    pub(super) exposed: Arc<str>,
    pub(super) definition: D,
    pub(super) words: Words,
}

/// Shortened texts, shown in place of those that are too long.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
}

/// An entry of whatever kind.
pub(super) trait Entry: Sized {
    type Definition: ItemDefinition;

    /// True for kinds whose entries have names for models.
    const IS_NAMED: bool;

    fn of(parts: Parts<Self::Definition>) -> Self;
    /// The server, and what no other of its list has.
    fn id(&self) -> &ToolKey;
    /// The name for models; empty where it has none.
    fn exposed(&self) -> &Arc<str>;
    fn definition(&self) -> &Self::Definition;
}

/// Makes an entry. `slots` are more fields, which begin empty: places for what is worked out once
/// for a definition and lives as long as it stays the same.
macro_rules! entry {
    (
        $(#[$doc:meta])* $name:ident of $definition:ident as $getter:ident, named: $named:literal,
        slots: { $($slot:ident: $type:ty),* },
        $($extra:item)*
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            key: ToolKey,
            exposed: Arc<str>,
            definition: $definition,
            words: Words,
            $($slot: $type,)*
        }

        impl $name {
            /// The server that offers it.
            pub fn server(&self) -> &ServerName {
                &self.key.server
            }

            /// Returns the definition exactly as the server sent it, texts of any length included.
            pub fn $getter(&self) -> &$definition {
                &self.definition
            }

            /// Its name for people, if it has one; cut where it is too long.
            pub fn title(&self) -> Option<&str> {
                let cut = self.words.title.as_deref();
                cut.or_else(|| ItemDefinition::title(&self.definition))
            }

            /// Returns the server's description, cut where it is too long.
            pub fn description(&self) -> Option<&str> {
                let cut = self.words.description.as_deref();
                cut.or_else(|| self.definition.description())
            }

            $($extra)*
        }

        impl Entry for $name {
            type Definition = $definition;

            const IS_NAMED: bool = $named;

            fn of(parts: Parts<$definition>) -> Self {
                let Parts { key, exposed, definition, words } = parts;
                Self { key, exposed, definition, words, $($slot: <$type>::default(),)* }
            }

            fn id(&self) -> &ToolKey {
                &self.key
            }

            fn exposed(&self) -> &Arc<str> {
                &self.exposed
            }

            fn definition(&self) -> &$definition {
                &self.definition
            }
        }
    };
}

entry! {
    /// A tool that a server offers.
    ToolEntry of Tool as tool, named: true, slots: { checks: Checks, mark: OnceLock<[u8; 32]>, json: OnceLock<Value> },

    /// Returns the server and the tool's own name: the address of a call.
    pub fn key(&self) -> &ToolKey {
        &self.key
    }

    /// The name that the server gave it.
    pub fn name(&self) -> &str {
        self.key.name()
    }

    /// Its name for models.
    pub fn exposed(&self) -> &str {
        &self.exposed
    }

    /// The definition as a JSON value, read on first use; numbers and repeated keys may lose their
    /// spelling, which [`ToolEntry::tool`] keeps.
    pub fn json(&self) -> &Value {
        // What was read as a tool is valid JSON.
        self.json
            .get_or_init(|| self.definition.raw().decode().unwrap_or_default())
    }

    /// Returns the checker for arguments, compiled on first use.
    pub fn input(&self, limits: &SchemaLimits) -> &Checker {
        self.checks.input(&self.definition, limits)
    }

    /// Returns the checker for structured results if the tool has an output schema, compiled on first use.
    pub fn output(&self, limits: &SchemaLimits) -> Option<&Checker> {
        self.checks.output(&self.definition, limits)
    }

    /// A number that stands for the definition, worked out once. What it is, is for the one module
    /// that asks for it to say.
    pub(crate) fn mark(&self, make: impl FnOnce(&Tool) -> [u8; 32]) -> &[u8; 32] {
        self.mark.get_or_init(|| make(&self.definition))
    }
}

entry! {
    /// A prompt that a server offers.
    PromptEntry of Prompt as prompt, named: true, slots: { mark: OnceLock<[u8; 32]> },

    /// The name that the server gave it.
    pub fn name(&self) -> &str {
        self.key.name()
    }

    /// Its name for models.
    pub fn exposed(&self) -> &str {
        &self.exposed
    }

    /// A number that stands for the definition, worked out once. What it is, is for the one module
    /// that asks for it to say.
    pub(crate) fn mark(&self, make: impl FnOnce(&Prompt) -> [u8; 32]) -> &[u8; 32] {
        self.mark.get_or_init(|| make(&self.definition))
    }
}

entry! {
    /// A resource that a server offers.
    ResourceEntry of Resource as resource, named: false, slots: {},

    /// Its address; another server may have one like it.
    pub fn uri(&self) -> &str {
        self.key.name()
    }
}

entry! {
    /// A family of resources that a server offers.
    TemplateEntry of ResourceTemplate as template, named: false, slots: { mark: OnceLock<[u8; 32]> },

    /// The template of their addresses.
    pub fn uri_template(&self) -> &str {
        self.key.name()
    }

    /// A number that stands for the definition, worked out once. What it is, is for the one module
    /// that asks for it to say.
    pub(crate) fn mark(&self, make: impl FnOnce(&ResourceTemplate) -> [u8; 32]) -> &[u8; 32] {
        self.mark.get_or_init(|| make(&self.definition))
    }
}

/// The checks of a tool's arguments and results, compiled when they are first wanted.
#[derive(Debug, Default)]
pub(super) struct Checks {
    input: OnceLock<Checker>,
    output: OnceLock<Option<Checker>>,
}

impl Checks {
    fn input(&self, tool: &Tool, limits: &SchemaLimits) -> &Checker {
        self.input
            .get_or_init(|| Checker::compile(tool.input_schema().raw(), limits))
    }

    fn output(&self, tool: &Tool, limits: &SchemaLimits) -> Option<&Checker> {
        let compiled = self.output.get_or_init(|| {
            let schema = tool.output_schema()?;
            Some(Checker::compile(schema.raw(), limits))
        });
        compiled.as_ref()
    }
}
