//! Grants: patterns for the tools, resources and prompts that an agent may use.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::request::{Kind, Target};
use crate::spec::{Glob, ServerName};

/// The prefix of every grant.
const SCHEME: &str = "mcp:";

/// The verb that may follow the item of a grant.
const VERB: &str = "execute";

/// One thing, or a family of things, that an agent may use.
///
/// | text | what it grants |
/// |---|---|
/// | `mcp:SERVER:TOOL` | a tool |
/// | `mcp:SERVER:resource/URI` | a resource: to read it, and to be told of its changes |
/// | `mcp:SERVER:prompt/NAME` | a prompt |
/// | `mcp:SERVER:tool/NAME` | a tool as well, for one whose name begins like the others |
///
/// The verb `execute` may follow, after a space or, for a tool, after a colon: `mcp:github:search execute`
/// and `mcp:github:search:execute` are the grant `mcp:github:search`. A tool whose own name ends in that is
/// written with `\:execute` or `?execute`.
///
/// Both parts are patterns as in [`Glob`]: `mcp:github:get_*`. The server part ends at the first colon
/// without a backslash, so a `*` in it never matches beyond that colon; colons in the second part are
/// ordinary characters. A grant is for one kind: `mcp:github:*` grants all tools of a server, but none of
/// its resources and prompts. To list a resource template, a pattern has to match the text of the
/// template; to read a resource, it has to match the URI itself.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    text: Arc<str>,
    server: Glob,
    kind: Kind,
    item: Glob,
}

/// The error for a text that is not a grant, with the position of the mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad grant {text:?}: {why}, at character {at}")]
pub struct ParseGrantError {
    text: String,
    at: usize,
    why: &'static str,
}

impl ParseGrantError {
    /// The character that is wrong, from 1; one more than there are where something is missing.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the mistake, without the text.
    pub fn why(&self) -> &'static str {
        self.why
    }
}

impl Grant {
    /// Reads a grant.
    ///
    /// # Errors
    /// Fails if the text is not a grant; the error has the position.
    pub fn parse(text: &str) -> Result<Self, ParseGrantError> {
        let bad = |byte: usize, why| ParseGrantError {
            text: text.to_owned(),
            at: text.get(..byte).unwrap_or(text).chars().count() + 1,
            why,
        };
        // First, because the text is repeated in every other error.
        if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(bad(at, "there is a control character"));
        }
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return Err(bad(0, "it does not begin with `mcp:`"));
        };
        let start = SCHEME.len();
        // The first colon that is not escaped: names of items may have colons of their own.
        let end = separator(rest).map(|end| start + end);
        let server = text.get(start..end.unwrap_or(text.len()));
        let server = server.unwrap_or_default();
        if server.is_empty() {
            return Err(bad(start, "the server is missing"));
        }
        let wrong = |c: char| c == '/' || c.is_whitespace();
        if let Some((at, _)) = server.char_indices().find(|(_, c)| wrong(*c)) {
            let why = "no server's name has a slash or a space in it";
            return Err(bad(start + at, why));
        }
        let Some(end) = end else {
            let why = "the tool is missing: `mcp:SERVER:TOOL`, or `mcp:SERVER:*` for all";
            return Err(bad(text.len(), why));
        };
        let item = text.get(end + 1..).unwrap_or_default();
        for (plural, why) in [
            ("resources/", "`resource/` is meant, or `tool/resources/`"),
            ("prompts/", "`prompt/` is meant, or `tool/prompts/`"),
            ("tools/", "`tool/` is meant, or `tool/tools/`"),
        ] {
            // Reject it here: read as the name of a tool, it would silently grant nothing.
            if item.starts_with(plural) {
                return Err(bad(end + 1, why));
            }
        }
        let (kind, written) = split_kind(item);
        let name = without_verb(kind, written);
        if name.is_empty() {
            return Err(bad(text.len(), "a name is missing; `*` is all of them"));
        }
        // Almost always a slip, and it would match nothing.
        if name.trim() != name {
            let spaces = name.len() - name.trim_start().len();
            let at = match spaces {
                0 => name.trim_end().len(),
                _ => 0,
            };
            let start = text.len() - written.len();
            return Err(bad(start + at, "there is a space around the name"));
        }
        Ok(Self {
            text: Arc::from(text),
            server: Glob::new(server),
            kind,
            item: Glob::new(name),
        })
    }

    /// The grant of one tool, whatever characters are in the names.
    pub fn tool(server: &ServerName, name: &str) -> Self {
        Self::exactly(server, Kind::Tool, name)
    }

    /// The grant of one resource.
    pub fn resource(server: &ServerName, uri: &str) -> Self {
        Self::exactly(server, Kind::Resource, uri)
    }

    /// The grant of one prompt.
    pub fn prompt(server: &ServerName, name: &str) -> Self {
        Self::exactly(server, Kind::Prompt, name)
    }

    fn exactly(server: &ServerName, kind: Kind, name: &str) -> Self {
        let (server, item) = (Glob::exactly(server.as_str()), Glob::exactly(name));
        let text = match kind {
            // Without `tool/`, a tool called `prompt/x` would be read back as a prompt.
            Kind::Tool if is_plain(item.as_str()) => format!("{SCHEME}{server}:{item}"),
            _ => format!("{SCHEME}{server}:{kind}/{item}"),
        };
        // A name that ends like a grant with its verb gets the verb once more, to be read back as a name.
        let is_clear = without_verb(kind, item.as_str()) == item.as_str();
        let text = if is_clear {
            text
        } else {
            format!("{text} {VERB}")
        };
        Self {
            text: Arc::from(text),
            server,
            kind,
            item,
        }
    }

    /// Returns `true` if the grant covers the target. Any grant for an item of a server also covers the
    /// server.
    pub fn covers(&self, target: &Target<'_>) -> bool {
        self.server.matches(target.server().as_str())
            && match target.item() {
                None => true,
                Some((kind, name)) => self.kind == kind && self.item.matches(name),
            }
    }

    /// The pattern for servers.
    pub fn server(&self) -> &Glob {
        &self.server
    }

    /// The kind of things that it is about.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The pattern for their names or addresses.
    pub fn item(&self) -> &Glob {
        &self.item
    }

    /// The grant as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Returns the position of the first colon that is not escaped with a backslash.
fn separator(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b':' => return Some(at),
            // Skip the escaped character: a backslash takes away its special meaning.
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    None
}

fn split_kind(item: &str) -> (Kind, &str) {
    for kind in [Kind::Tool, Kind::Resource, Kind::Prompt] {
        let name = item.strip_prefix(kind.as_str());
        if let Some(name) = name.and_then(|name| name.strip_prefix('/')) {
            return (kind, name);
        }
    }
    (Kind::Tool, item)
}

/// The name without the verb `execute` after it, the one verb that grants know.
fn without_verb(kind: Kind, name: &str) -> &str {
    let Some(rest) = name.strip_suffix(VERB) else {
        return name;
    };
    match rest.strip_suffix(' ') {
        Some(plain) => plain,
        // Addresses may have colons of their own, and so may names that escape them.
        None if kind == Kind::Tool && !rest.ends_with("\\:") => {
            rest.strip_suffix(':').unwrap_or(name)
        }
        None => name,
    }
}

/// Returns `true` if a pattern for tools is unambiguous without `tool/` before it.
fn is_plain(item: &str) -> bool {
    let first = item.split_once('/').map(|(first, _)| first);
    // The plurals count too, since `parse` refuses them.
    let first = first.map(|first| first.trim_end_matches('s'));
    first.is_none_or(|first| !["tool", "resource", "prompt"].contains(&first))
}

impl FromStr for Grant {
    type Err = ParseGrantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}
