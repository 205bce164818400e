//! Connects agents to Model Context Protocol servers.

pub mod limits;
pub mod secret;
pub mod session;
pub mod spec;
pub mod text;
pub mod transport;

pub use limits::{Deadline, Limits, Timeouts};
pub use session::{CallError, CallOptions, Listing, OpenError, Session, SessionOptions};
pub use switchboard_protocol as protocol;
