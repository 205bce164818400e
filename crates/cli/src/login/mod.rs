//! Logins at servers that want OAuth.
//!
//! `flow` is a login with a person at the terminal, in a browser or on another device; `offer` lets a command that
//! needs a login go on after it; `forget` asks about the login of a server that is removed; `words` writes the
//! command that logs in, for people to paste; `failure` explains failures; `shown` is a login as it is shown. Tokens
//! stay in the store of `state::tokens`: nothing here reads them.

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
pub(crate) use offer::{LoginTime, with_login};
pub(crate) use shown::{LoginDocument, LoginState};
pub(crate) use words::{LoginWords, needed_words};

use std::sync::Arc;

use switchboard::Limits;
use switchboard::auth::{AuthError, Authorizer, OAuthSettings, TokenStore};
use switchboard::transport::HttpAuthFetch;

/// Makes the authorizer of a server by its URL alone, without an entry in a config file.
///
/// # Errors
/// Fails if the URL cannot be used.
pub(crate) fn authorizer_at(
    url: &str,
    profile: &str,
    fetch: HttpAuthFetch,
    tokens: &Arc<dyn TokenStore>,
) -> Result<Authorizer, AuthError> {
    let mut settings = OAuthSettings::default();
    profile.clone_into(&mut settings.profile);
    let (fetch, tokens) = (Arc::new(fetch), Arc::clone(tokens));
    Authorizer::new(url, settings, fetch, tokens, &Limits::default())
}
