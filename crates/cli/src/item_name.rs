//! The name of a tool or a prompt, as it is written on a command line.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// The name of a tool or a prompt, parsed once: when the command line is.
///
/// Beside `--stdio` and `--url`, all of a name may be the tool's own, slash and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ItemName {
    /// `SERVER/NAME`; either part may be empty.
    Qualified {
        /// What stands before the first slash.
        server: String,
        /// What stands behind it.
        name: String,
    },
    /// A name without a slash: the item's own, or a tool's name for models.
    Bare(String),
}

impl ItemName {
    /// The server that it names.
    pub(crate) fn server(&self) -> Option<&str> {
        match self {
            Self::Qualified { server, .. } => Some(server),
            Self::Bare(_) => None,
        }
    }

    /// The name without its server.
    pub(crate) fn name(&self) -> &str {
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
