//! Named tokens: a credential for each client, with bounds of its own.
//!
//! `record` is one token as it is kept: its name, its digest, its bounds. `store` has all of them, in one
//! file that only the user can read and write ([`NamedTokens`]). `live` is what a gateway that serves
//! compares with ([`LiveTokens`]): it reads the file again when it has changed, so that a token that was
//! added, revoked or rotated counts at once. `error` says what went wrong.

mod error;
mod live;
mod record;
mod store;

pub use error::NamedTokenError;
pub use live::LiveTokens;
pub use record::{NamedToken, NewToken};
pub use store::NamedTokens;
