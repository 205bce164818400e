//! The name of a tool or a prompt on a command line.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// The name of a tool or a prompt, parsed together with the command line.
///
/// With `--stdio` or `--url`, the whole text may be the tool's own name, including the slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemName {
    /// `SERVER/NAME`; either part may be empty.
    Qualified {
        /// The part before the first slash.
        server: String,
        /// The part after it.
        name: String,
    },
    /// A name without a slash: the item's own name, or a model-facing name.
    Bare(String),
}

impl ItemName {
    /// Returns the server, if the name has one.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Qualified { server, .. } => Some(server),
            Self::Bare(_) => None,
        }
    }

    /// Returns the name without its server.
    pub fn name(&self) -> &str {
        match self {
            Self::Qualified { name, .. } | Self::Bare(name) => name,
        }
    }
}

impl FromStr for ItemName {
    type Err = Infallible;

    fn from_str(written: &str) -> Result<Self, Infallible> {
        Ok(match written.split_once('/') {
            Some((server, name)) => Self::Qualified {
                server: server.to_owned(),
                name: name.to_owned(),
            },
            None => Self::Bare(written.to_owned()),
        })
    }
}

impl fmt::Display for ItemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Qualified { server, name } => write!(f, "{server}/{name}"),
            Self::Bare(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_at_its_first_slash_and_written_as_it_was() {
        for (written, server, name) in [
            ("demo/echo", Some("demo"), "echo"),
            ("demo/a/b", Some("demo"), "a/b"),
            ("/echo", Some(""), "echo"),
            ("demo/", Some("demo"), ""),
            ("mcp__demo__echo", None, "mcp__demo__echo"),
            ("", None, ""),
        ] {
            let Ok(parsed) = written.parse::<ItemName>();
            assert_eq!((parsed.server(), parsed.name()), (server, name));
            assert_eq!(parsed.to_string(), written);
        }
    }
}
