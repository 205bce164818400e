//! What is known about a server before it is connected to.

mod name;
mod protocol;
mod transport;

pub use name::{BadServerName, ServerName};
pub use protocol::{BadProtocol, Protocol};
pub use transport::{BadTransportKind, TransportKind};
