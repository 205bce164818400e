//! What is known about a server before it is connected to.

mod name;
mod protocol;

pub use name::{BadServerName, ServerName};
pub use protocol::{BadProtocol, Protocol};
