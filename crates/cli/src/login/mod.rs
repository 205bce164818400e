//! Logins at servers that want OAuth.
//!
//! `flow` is a login with a person at the terminal, in a browser or on another device; `offer` has a command that
//! needs one go on after it; `forget` asks what becomes of the login of a server that is removed; `words` writes the command that logs in, for people to paste; `failure` says what went
//! wrong and what to do; `shown` is a login as it is shown. Tokens are in the store of `state::tokens`, and no one
//! here sees them.

mod failure;
mod flow;
mod forget;
mod offer;
mod shown;
mod words;

pub(crate) use failure::{explained, failure};
pub(crate) use flow::{
    Asking, Consent, NoLogin, begin_elsewhere, device_lines, finish, log_in, log_in_by_device,
};
pub(crate) use forget::LeftLogin;
pub(crate) use offer::with_login;
pub(crate) use shown::{LoginDocument, LoginState};
pub(crate) use words::LoginWords;
