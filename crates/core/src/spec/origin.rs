//! The origin of a server's description: the file, the position, and the configuration layer.

use std::fmt;
use std::path::{Path, PathBuf};

/// The origin of a server's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The layer that the file belongs to.
    pub layer: Layer,
    /// The file.
    pub file: Option<PathBuf>,
    /// The line of its beginning, from 1.
    pub line: Option<usize>,
    /// The column of its beginning, in characters from 1.
    pub column: Option<usize>,
    /// Its position inside the file, as a JSON pointer: `/mcpServers/github`.
    pub pointer: String,
}

/// The configuration layer of a description, which decides how far it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The program that uses the library.
    Program,
    /// A file that the user named.
    Named,
    /// The user's own file.
    User,
    /// A file in a folder above the current one.
    Ancestor(PathBuf),
    /// A file in the current folder.
    Project,
}

impl Origin {
    /// Creates the origin of a description that the program built.
    pub fn program() -> Self {
        Self {
            layer: Layer::Program,
            file: None,
            line: None,
            column: None,
            pointer: String::new(),
        }
    }

    /// Creates the origin of a description in a file.
    pub fn of_file(layer: Layer, file: &Path, pointer: impl Into<String>) -> Self {
        Self {
            layer,
            file: Some(file.to_owned()),
            line: None,
            column: None,
            pointer: pointer.into(),
        }
    }

    /// Sets the line and column of its beginning, both from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }
}

impl Layer {
    /// Returns true if the description came with a folder, so that it must be approved before anything in
    /// it is run.
    pub fn needs_approval(&self) -> bool {
        match self {
            Self::Program | Self::Named | Self::User => false,
            Self::Ancestor(_) | Self::Project => true,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program => f.write_str("program"),
            Self::Named => f.write_str("named"),
            Self::User => f.write_str("user"),
            Self::Ancestor(folder) => write!(f, "ancestor:{}", folder.display()),
            Self::Project => f.write_str("project"),
        }
    }
}
