//! How a connection begins: the legacy handshake, and the modern question.

use serde::{Deserialize, Serialize};

use crate::{ClientCapabilities, Empty, FromRaw, Icon, NoParams, Raw, ServerCapabilities, meta};

/// Who we are.
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
    /// What we are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub website_url: Option<String>,
    /// Icons to show for us.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub icons: Vec<Icon>,
}

impl Implementation {
    /// A name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }
}

wire_object! {
    /// Who a server says it is. Untrusted: never a reason to allow anything.
    pub struct ServerInfo {
        /// A name for programs.
        name: [str] = "name",
        /// Its version; required by the specification, missed by some servers.
        version: [opt str] = "version",
        /// A name for people.
        title: [opt str] = "title",
        /// What it is.
        description: [opt str] = "description",
        /// Where to read more.
        website_url: [opt str] = "websiteUrl",
        /// Icons to show for it.
        icons: [list Icon] = "icons",
    }
}

/// What a legacy connection begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The newest version that we speak.
    pub protocol_version: String,
    /// What we can do.
    pub capabilities: ClientCapabilities,
    /// Who we are.
    pub client_info: Implementation,
}

wire_object! {
    /// What a legacy server answers to `initialize`.
    pub struct InitializeResult {
        /// The version that the connection will speak, if we do too.
        protocol_version: [str] = "protocolVersion",
        /// What the server can do.
        capabilities: [of ServerCapabilities] = "capabilities",
        /// Who the server is, as sent.
        server_info_raw: [opt of Raw] = "serverInfo",
        /// How to use the server, for the model. Untrusted.
        instructions: [opt str] = "instructions",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

impl InitializeResult {
    /// Who the server says it is.
    ///
    /// Read apart from the rest, because a server with a malformed name still works.
    pub fn server_info(&self) -> Option<ServerInfo> {
        ServerInfo::from_raw(self.server_info_raw()?).ok()
    }
}

method! {
    /// Opens a legacy connection.
    Initialize = "initialize", InitializeParams => InitializeResult
}

notice! {
    /// Ends the legacy handshake.
    Initialized = "notifications/initialized", NoParams
}

method! {
    /// Legacy: asks whether the peer is there.
    Ping = "ping", NoParams => Empty
}

wire_object! {
    /// What a modern server says about itself.
    pub struct DiscoverResult {
        /// The versions that it speaks.
        supported_versions: [list String] = "supportedVersions",
        /// What it can do.
        capabilities: [of ServerCapabilities] = "capabilities",
        /// How to use the server, for the model. Untrusted.
        instructions: [opt str] = "instructions",
        /// For how long the answer may be kept.
        ttl_ms: [opt copy f64] = "ttlMs",
        /// Who may share it, `public` or `private`.
        cache_scope: [opt str] = "cacheScope",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

impl DiscoverResult {
    /// Who the server says it is, if it does.
    ///
    /// Its place is `_meta`; servers written after earlier drafts have it beside the rest.
    pub fn server_info(&self) -> Option<ServerInfo> {
        let in_meta = self.meta().and_then(|meta| meta.member(meta::SERVER_INFO));
        let info = in_meta.or_else(|| self.raw().member("serverInfo"))?;
        ServerInfo::from_raw(&info).ok()
    }
}

method! {
    /// Asks a modern server what it speaks and what it can do.
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
