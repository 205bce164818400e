//! What is known about a server before it is connected to.
//!
//! A [`ServerSpec`] says all of it: what the server is, where that was written, and how it is to be
//! used. Config files are read into specs, and programs without files build them.

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
