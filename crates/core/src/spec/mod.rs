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
mod serialise;
mod server;
mod settings;
mod spec_builder;
mod tool_predicate;
mod transport;
mod variables;
pub mod write;

pub use address::{AddressRange, ParseAddressRangeError};
pub use glob::Glob;
pub use identity::{Identity, ParseIdentityError};
pub use name::{ParseServerNameError, ServerName};
pub use oauth::{OAuth, OAuthGrant, OAuthResource, ParseOAuthGrantError};
pub use origin::{Layer, Origin};
pub use protocol::{ParseProtocolError, Protocol};
pub use serialise::InClear;
pub use server::{Endpoint, Process, Remote, ServerSpec, SpecError};
pub use settings::{FilterRule, NameStyle, ParseNameStyleError, Settings, ToolFilter};
pub use tool_predicate::ToolPredicate;
pub use transport::{ParseTransportKindError, TransportKind};
pub use variables::MissingVariable;
