//! The paths that are served.

use std::sync::Arc;

use hyper::Method;
use switchboard::ServerName;

use crate::scope::Scope;

/// Longest name of a profile in a path.
const NAME_BYTES: usize = 512;

/// One of the paths that are served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// The protocol, in one scope.
    Protocol(Scope),
    /// The stream of the transport of 2024-11-05.
    OlderStream,
    /// The messages of the transport of 2024-11-05.
    OlderMessages,
    /// The metadata of the protected resource (RFC 9728), with OAuth.
    ResourceMetadata,
    /// The process serves.
    Health,
    /// The process serves, and is not about to end.
    Ready,
}

impl Route {
    /// Finds the route of a path. Paths are compared as they are: dots and encoded slashes lead nowhere.
    pub(super) fn find(path: &str, has_older: bool) -> Option<Self> {
        match path {
            "/mcp" => return Some(Self::Protocol(Scope::All)),
            "/healthz" => return Some(Self::Health),
            "/readyz" => return Some(Self::Ready),
            "/sse" if has_older => return Some(Self::OlderStream),
            "/messages" if has_older => return Some(Self::OlderMessages),
            _ => {}
        }
        let rest = path.strip_prefix("/mcp/")?;
        let (kind, name) = rest.split_once('/')?;
        let name = decode(name)?;
        match kind {
            "p" => Some(Self::Protocol(Scope::Profile(Arc::from(name)))),
            "s" => {
                let server = ServerName::parse(&name).ok()?;
                Some(Self::Protocol(Scope::Server(server)))
            }
            _ => None,
        }
    }

    /// The methods of the route, as `Allow` lists them.
    pub(super) fn methods(&self) -> &'static str {
        match self {
            Self::Protocol(_) => "POST, GET, DELETE, OPTIONS",
            Self::OlderStream => "GET, OPTIONS",
            Self::OlderMessages => "POST, OPTIONS",
            Self::ResourceMetadata | Self::Health | Self::Ready => "GET, HEAD, OPTIONS",
        }
    }

    /// Returns true if the route has that method.
    pub(super) fn has(&self, method: &Method) -> bool {
        let mut methods = self.methods().split(", ");
        methods.any(|known| known == method.as_str())
    }
}

/// Decodes one segment of a path. What cannot be a name, encoded or not, is refused.
fn decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let (high, low) = (rest.next()?, rest.next()?);
            let digit = |byte: u8| char::from(byte).to_digit(16);
            u8::try_from(digit(high)? * 16 + digit(low)?).ok()?
        } else {
            byte
        });
    }
    let name = String::from_utf8(bytes).ok()?;
    let is_usable = !name.is_empty()
        && name.len() <= NAME_BYTES
        && name != "."
        && name != ".."
        && !name
            .chars()
            .any(|c| c == '/' || c == '\\' || c.is_control());
    is_usable.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_servers_are_found_by_their_names() {
        let server = |name: &str| {
            Some(Route::Protocol(Scope::Server(
                ServerName::parse(name).unwrap(),
            )))
        };
        assert_eq!(Route::find("/mcp/s/git", false), server("git"));
        assert_eq!(Route::find("/mcp/s/a%2Bb", false), server("a+b"));
        assert_eq!(Route::find("/mcp/s/%C3%A9", false), server("é"));
        let profile = Route::Protocol(Scope::Profile(Arc::from("my work")));
        assert_eq!(Route::find("/mcp/p/my%20work", false), Some(profile));
    }

    #[test]
    fn paths_that_only_look_like_ours_are_none() {
        let odd = [
            "",
            "/",
            "*",
            "mcp",
            "/mcp/",
            "//mcp",
            "/MCP",
            "/mcp/.",
            "/./mcp",
            "/x/../mcp",
            "/%6dcp",
            "/mcp%2Fs%2Fgit",
            "/mcp/s",
            "/mcp/s/",
            "/mcp/s/git/",
            "/mcp/s/git/x",
            "/mcp/s/..",
            "/mcp/s/%2e%2e",
            "/mcp/s/a%2Fb",
            "/mcp/s/a%5Cb",
            "/mcp/s/a%",
            "/mcp/s/a%2",
            "/mcp/s/a%zz",
            "/mcp/s/a%00",
            "/mcp/s/%ff",
            "/mcp/s/a%20b",
            "/mcp/x/git",
            "/mcp/p/",
            "/mcp//git",
            "/sse",
            "/messages",
            "/healthz/",
            "/readyz/x",
            "/metrics",
        ];
        for path in odd {
            assert_eq!(Route::find(path, false), None, "{path}");
        }
        assert_eq!(Route::find("/sse", true), Some(Route::OlderStream));
        assert_eq!(Route::find("/messages", true), Some(Route::OlderMessages));
    }
}
