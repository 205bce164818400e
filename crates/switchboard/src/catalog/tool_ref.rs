//! The names that people and models give to tools.

use std::borrow::Cow;
use std::fmt;

use super::entry::ToolKey;
use crate::spec::ServerName;

/// The name of a tool as it was given: `server/tool`, or its name for models.
///
/// Names for models have no slash, and names of servers neither, so that the first slash tells which of
/// the two it is. A name is taken apart once, here; [`Catalog::get`](super::Catalog::get) looks it up.
///
/// ```
/// use switchboard::catalog::ToolRef;
///
/// let tool = ToolRef::parse("github/search");
/// assert_eq!((tool.server(), tool.name()), (Some("github"), "search"));
/// let tool = ToolRef::parse("mcp__github__search");
/// assert_eq!((tool.server(), tool.name()), (None, "mcp__github__search"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolRef<'a> {
    text: Cow<'a, str>,
    /// The position of the slash.
    slash: Option<usize>,
}

impl<'a> ToolRef<'a> {
    /// Reads a name: `server/tool`, or one for models.
    pub fn parse(text: &'a str) -> Self {
        Self {
            slash: text.find('/'),
            text: Cow::Borrowed(text),
        }
    }

    /// Names a tool of a server by the name that the server gave it.
    pub fn new(server: &ServerName, tool: &str) -> Self {
        Self {
            slash: Some(server.as_str().len()),
            text: Cow::Owned(format!("{server}/{tool}")),
        }
    }

    /// The server, where it is named.
    pub fn server(&self) -> Option<&str> {
        self.text.get(..self.slash?)
    }

    /// The name that the server gave the tool, or the one for models where no server is named.
    pub fn name(&self) -> &str {
        let name = self.slash.and_then(|slash| self.text.get(slash + 1..));
        name.unwrap_or(&self.text)
    }

    /// The whole name, as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same name, which borrows nothing.
    pub fn into_owned(self) -> ToolRef<'static> {
        ToolRef {
            text: Cow::Owned(self.text.into_owned()),
            slash: self.slash,
        }
    }
}

impl<'a> From<&'a str> for ToolRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::parse(text)
    }
}

impl<'a> From<&'a String> for ToolRef<'a> {
    fn from(text: &'a String) -> Self {
        Self::parse(text)
    }
}

impl From<&ToolKey> for ToolRef<'static> {
    fn from(key: &ToolKey) -> Self {
        Self::new(key.server(), key.name())
    }
}

impl<'a> From<&'a ToolRef<'_>> for ToolRef<'a> {
    fn from(tool: &'a ToolRef<'_>) -> Self {
        Self {
            text: Cow::Borrowed(&tool.text),
            slash: tool.slash,
        }
    }
}

/// `server/tool`, verbatim: it is to be made safe where it meets a terminal.
impl fmt::Display for ToolRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_slash_of_a_tool_name_ends_the_name_of_its_server() {
        for (text, server, name) in [
            ("demo/echo", Some("demo"), "echo"),
            ("demo/a/b", Some("demo"), "a/b"),
            ("demo/", Some("demo"), ""),
            ("/echo", Some(""), "echo"),
            ("mcp__demo__echo", None, "mcp__demo__echo"),
            ("", None, ""),
        ] {
            let tool = ToolRef::parse(text);
            assert_eq!((tool.server(), tool.name()), (server, name), "{text}");
            assert_eq!(tool.to_string(), text);
        }
    }

    #[test]
    fn a_tool_named_by_its_server_is_the_one_that_was_parsed() {
        let server = ServerName::parse("demo").unwrap();
        assert_eq!(ToolRef::new(&server, "a/b"), ToolRef::parse("demo/a/b"));
    }
}
