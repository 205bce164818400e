//! The changes that can be made to a config file.

use std::fmt;

use serde_json::Value;

use switchboard_core::secret::MASK;
use switchboard_core::spec::ServerName;

/// One change to a config file.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Adds a server.
    Add {
        /// Its name.
        name: ServerName,
        /// Its entry, an object in the form that the file will contain.
        entry: Value,
        /// True if it may replace a server of the same name.
        replace: bool,
    },
    /// Removes a server, with the comments that belong to it: those on its own lines, and those directly
    /// above it.
    Remove {
        /// Its name.
        name: ServerName,
    },
    /// Enables a server.
    Enable {
        /// Its name.
        name: ServerName,
    },
    /// Disables a server but keeps its entry.
    Disable {
        /// Its name.
        name: ServerName,
    },
}

impl Change {
    /// The name of the server.
    pub fn name(&self) -> &ServerName {
        match self {
            Self::Add { name, .. }
            | Self::Remove { name }
            | Self::Enable { name }
            | Self::Disable { name } => name,
        }
    }
}

// `Debug` by hand: an entry may contain secrets in clear.
impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Add { name, replace, .. } => {
                let mut shown = f.debug_struct("Add");
                shown.field("name", name).field("entry", &MASK);
                return shown.field("replace", replace).finish();
            }
            Self::Remove { .. } => "Remove",
            Self::Enable { .. } => "Enable",
            Self::Disable { .. } => "Disable",
        };
        f.debug_struct(kind).field("name", self.name()).finish()
    }
}
