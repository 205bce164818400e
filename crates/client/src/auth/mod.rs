//! OAuth 2.1 for servers that are reached by URL.
//!
//! [`Authorizer`] does all of it for one server: it adds the token to every request, renews tokens
//! before they expire and when the server rejects them, and reports with a typed [`AuthError`] when
//! a person has to log in, by [`Login`] or [`DeviceLogin`]. Tokens are kept in a [`TokenStore`]: in
//! memory, in a sealed file that several processes share, or in a store of your own.
//!
//! Discovery follows RFC 9728, RFC 8414 and OpenID Connect, with the rules of 2026-07-28: a
//! document counts only for the issuer and the resource that were asked for, answers of a browser
//! are checked for their issuer before anything is sent, PKCE is always used, and tokens and
//! clients are kept by issuer. All requests go through [`AuthFetch`], in production our HTTP client
//! with its guard: https only, no private addresses named by servers, no redirects to another
//! origin, bounded answers.
//!
//! Nothing here opens a browser or prints, and no error or `Debug` output contains a code,
//! verifier, token or key.

mod authorize;
mod authorizer;
mod browser_login;
mod callback;
mod challenge;
mod client_id;
mod device;
mod discovery;
mod fetch;
mod jose;
mod live_token;
mod login;
mod logout;
mod metadata;
mod observe;
mod refusals;
mod renewal;
mod scope;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod token;
mod unattended;

pub use crate::auth_error::{
    AuthError, CallbackProblem, LoginReason, NeedsLogin, Purpose, TokenStoreError,
};

pub use {
    authorize::{
        Authorize, Authorizing, Deciding, Decision, RequestAuthorization, RequestRefusal,
        RequestTarget,
    },
    authorizer::Authorizer,
    callback::CallbackListener,
    challenge::Challenge,
    client_id::Registration,
    device::{DeviceLogin, DeviceRequest},
    fetch::{
        AuthBody, AuthFetch, AuthFetchError, AuthFetching, AuthRequest, AuthResponse,
        PublishedDocument, fetch_published,
    },
    jose::SigningKey,
    login::{AuthorizationRequest, Force, Login, LoginOptions},
    logout::{Logout, logout_all},
    metadata::issuer_metadata_urls,
    observe::ObserveLogins,
    settings::{
        Assertion, DpopSetting, Enterprise, Grant, NamedBy, OAuthSettings, ResourceSetting,
    },
    store::{
        Change, Credential, CredentialKey, CredentialSet, KeyFile, KeySource, MemoryStore,
        RenewalLock, SealedFile, Storing, TokenStore,
    },
};

#[cfg(feature = "keyring")]
pub use store::KeyringKey;
