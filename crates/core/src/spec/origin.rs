//! Where the description of a server comes from.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where the description of a server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who wrote it.
    pub layer: Layer,
    /// The file that it is in.
    pub file: Option<PathBuf>,
    /// The line at which it begins, from 1.
    pub line: Option<usize>,
    /// The column at which it begins, in characters from 1.
    pub column: Option<usize>,
    /// The way to it inside the file, as a JSON pointer: `/mcpServers/github`.
    pub pointer: String,
}

/// Who wrote the description of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The program that uses the library.
    Program,
    /// A file that the person named.
    Named,
    /// The person's own file.
    User,
    /// A file in a folder above the current one.
    Ancestor(PathBuf),
    /// A file in the current folder.
    Project,
}

impl Origin {
    /// A description that the program made itself.
    pub fn program() -> Self {
        Self {
            layer: Layer::Program,
            file: None,
            line: None,
            column: None,
            pointer: String::new(),
        }
    }

    /// A description that is in a file.
    pub fn of_file(layer: Layer, file: &Path, pointer: impl Into<String>) -> Self {
        Self {
            layer,
            file: Some(file.to_owned()),
            line: None,
            column: None,
            pointer: pointer.into(),
        }
    }

    /// Says where in the file it begins, both from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }
}

impl Layer {
    /// Whether the description came with a folder, so that nothing of it is done before the person
    /// has approved it.
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
