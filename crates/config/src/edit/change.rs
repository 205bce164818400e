//! What can be done to a file.

use std::fmt;

use serde_json::Value;

use switchboard_core::secret::MASK;
use switchboard_core::spec::ServerName;

/// One thing to do to a config file.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Writes a server.
    Add {
        /// Its name.
        name: ServerName,
        /// Its entry, an object, as it is to stand in the file.
        entry: Value,
        /// Whether it may take the place of a server of the same name.
        replace: bool,
    },
    /// Takes a server out, with the comments that belong to it: those on its own lines, and those
    /// directly above it.
    Remove {
        /// Its name.
        name: ServerName,
    },
    /// Lets a server be used.
    Enable {
        /// Its name.
        name: ServerName,
    },
    /// Keeps a server in the file and out of use.
    Disable {
        /// Its name.
        name: ServerName,
    },
}

impl Change {
    /// The name of the server that it is about.
    pub fn name(&self) -> &ServerName {
        match self {
            Self::Add { name, .. }
            | Self::Remove { name }
            | Self::Enable { name }
            | Self::Disable { name } => name,
        }
    }
}

// An entry may hold secrets in clear.
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
