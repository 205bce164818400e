//! The options of a gateway.

use std::collections::BTreeMap;

use switchboard::ServerName;

use crate::limits::GatewayLimits;

/// A named part of the host, served at a path of its own: `/mcp/p/NAME`.
///
/// It narrows what a caller sees and uses, and never grants anything.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Profile {
    /// The servers that it has; all of them if `None`.
    pub servers: Option<Vec<ServerName>>,
    /// Patterns of tools that it has, `server/tool` with `*`; all of them if `None`.
    pub tools: Option<Vec<String>>,
    /// Patterns of tools that it has not, whatever `tools` says.
    pub without_tools: Vec<String>,
}

/// Options of a [`Gateway`](crate::Gateway).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The name and title that the gateway has for its clients.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The profiles, by name.
    pub profiles: BTreeMap<String, Profile>,
    /// The limits.
    pub limits: GatewayLimits,
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            name: "switchboard".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            profiles: BTreeMap::new(),
            limits: GatewayLimits::default(),
        }
    }
}
