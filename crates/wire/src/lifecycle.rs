//! Opening a connection: the legacy `initialize` handshake and the modern `server/discover`.

use serde::{Deserialize, Serialize};

use crate::{ClientCapabilities, Empty, FromRaw, Icon, NoParams, Raw, ServerCapabilities, meta};

/// The name and version of this client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Implementation {
    /// A name for programs.
    pub name: String,
    /// Our version.
    pub version: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// A description of the client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// The address of a web page about the client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub website_url: Option<String>,
    /// Icons to show for us.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub icons: Vec<Icon>,
}

impl Implementation {
    /// Creates an implementation with a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }
}

wire_object! {
    /// The name and version that a server claims. Untrusted: never a reason to allow anything.
    pub struct ServerInfo {
        /// A name for programs.
        name: [str] = "name",
        /// Its version; required by the specification, left out by some servers.
        version: [opt str] = "version",
        /// A name for people.
        title: [opt str] = "title",
        /// A description of the server.
        description: [opt str] = "description",
        /// The address of a web page about the server.
        website_url: [opt str] = "websiteUrl",
        /// Icons to show for it.
        icons: [list Icon] = "icons",
    }
}

/// Parameters of `initialize`, the first request of a legacy connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The newest version that we speak.
    pub protocol_version: String,
    /// Our capabilities.
    pub capabilities: ClientCapabilities,
    /// Our name and version.
    pub client_info: Implementation,
}

wire_object! {
    /// The result of `initialize`.
    pub struct InitializeResult {
        /// The version that the connection will use, if we support it.
        protocol_version: [str] = "protocolVersion",
        /// The server's capabilities.
        capabilities: [of ServerCapabilities] = "capabilities",
        /// The server's name and version, as sent.
        server_info_raw: [opt of Raw] = "serverInfo",
        /// Instructions for the model on using the server. Untrusted.
        instructions: [opt str] = "instructions",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl InitializeResult {
    /// The name and version that the server claims.
    ///
    /// Read apart from the rest, because a server with malformed information still works.
    pub fn server_info(&self) -> Option<ServerInfo> {
        ServerInfo::from_raw(self.server_info_raw()?).ok()
    }
}

method! {
    /// Opens a legacy connection.
    Initialize = "initialize", InitializeParams => InitializeResult
}

notice! {
    /// Completes the legacy handshake.
    Initialized = "notifications/initialized", NoParams
}

method! {
    /// Legacy: checks that the peer still answers.
    Ping = "ping", NoParams => Empty
}

wire_object! {
    /// The result of `server/discover`: a modern server's description of itself.
    pub struct DiscoverResult {
        /// The versions that it speaks.
        supported_versions: [list String] = "supportedVersions",
        /// The server's capabilities.
        capabilities: [of ServerCapabilities] = "capabilities",
        /// Instructions for the model on using the server. Untrusted.
        instructions: [opt str] = "instructions",
        /// The time that the answer may be cached, in milliseconds.
        ttl_ms: [opt copy f64] = "ttlMs",
        /// The cache that may hold it: `public` (shared) or `private`.
        cache_scope: [opt str] = "cacheScope",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl DiscoverResult {
    /// The name and version that the server claims, if any.
    ///
    /// They belong in `_meta`; servers written after earlier drafts put them beside the other members.
    pub fn server_info(&self) -> Option<ServerInfo> {
        let in_meta = self.meta().and_then(|meta| meta.member(meta::SERVER_INFO));
        let info = in_meta.or_else(|| self.raw().member("serverInfo"))?;
        ServerInfo::from_raw(&info).ok()
    }
}

method! {
    /// Asks a modern server for its versions and capabilities.
    Discover = "server/discover", NoParams => DiscoverResult
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_usable_name_still_opens() {
        let text = r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":5}}"#;
        let result = InitializeResult::from_raw(&Raw::parse(text).unwrap()).unwrap();
        assert_eq!(result.protocol_version(), "2025-06-18");
        assert_eq!(result.server_info(), None);
    }

    #[test]
    fn a_modern_server_names_itself_in_meta_or_beside_the_rest() {
        let read = |text: &str| DiscoverResult::from_raw(&Raw::parse(text).unwrap()).unwrap();
        let both = read(
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"old"},
                "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"1"}}}"#,
        );
        assert_eq!(both.server_info().unwrap().name(), "new");
        let beside = read(r#"{"capabilities":{},"serverInfo":{"name":"old"}}"#);
        assert_eq!(beside.server_info().unwrap().name(), "old");
        assert_eq!(read(r#"{"capabilities":{}}"#).server_info(), None);
    }

    #[test]
    fn what_we_do_not_say_is_not_written() {
        let text = serde_json::to_string(&Implementation::new("a", "1")).unwrap();
        assert_eq!(text, r#"{"name":"a","version":"1"}"#);
    }
}
