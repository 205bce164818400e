//! The description of a server, known before connecting to it.
//!
//! A [`ServerSpec`] holds all of it: the endpoint, the origin of the description, and the settings.
//! Config files are read into specs; programs without files build them.

mod address;
mod glob;
mod identity;
mod name;
mod oauth;
mod origin;
pub mod packages;
mod protocol;
mod server;
mod settings;
mod transport;

pub use address::{AddressRange, BadAddressRange};
pub use glob::Glob;
pub use identity::{BadIdentity, Identity};
pub use name::{BadServerName, ServerName};
pub use oauth::{OAuth, OAuthGrant, OAuthResource, ParseOAuthGrantError};
pub use origin::{Layer, Origin};
pub use protocol::{BadProtocol, Protocol};
pub use server::{BadSpec, Endpoint, Process, Remote, ServerSpec};
pub use settings::{BadNameStyle, FilterRule, NameStyle, Settings, ToolFilter};
pub use transport::{BadTransportKind, TransportKind};
