//! Errors of authorization and logins.
//!
//! Built without the feature `auth` too: the fault of an exchange and the error of a server name them,
//! so that their shape does not depend on features.

use std::fmt;

use crate::error::ErrorKind;

/// The reason that a request could not be authorized, or a login failed.
///
/// No variant contains a code, a verifier, a token or another secret; texts of servers are
/// shortened, and known secrets are redacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A person has to log in.
    #[error("{0}")]
    NeedsLogin(NeedsLogin),
    /// The server demands scopes that were already requested, or demands more too often.
    #[error("the server demands scopes that were requested and not granted: {}", scopes.join(" "))]
    ScopeNotGranted {
        /// The scopes that the server demands.
        scopes: Vec<String>,
    },
    /// An address may not be used.
    #[error("the {purpose} is not used: {why}")]
    Forbidden {
        /// The purpose of the address.
        purpose: Purpose,
        /// The address, secrets redacted.
        url: String,
        /// The reason.
        why: String,
    },
    /// There was no answer.
    #[error("no answer from the {purpose} at {url}: {why}")]
    Unreachable {
        /// The endpoint.
        purpose: Purpose,
        /// The address, secrets redacted.
        url: String,
        /// The problem.
        why: String,
        /// The request may have been processed.
        maybe_processed: bool,
    },
    /// An answer has an error status without further information.
    #[error("the {purpose} at {url} answered with status {status}")]
    Status {
        /// The endpoint.
        purpose: Purpose,
        /// The address, secrets redacted.
        url: String,
        /// The status.
        status: u16,
    },
    /// An answer violates the specification.
    #[error("the {purpose} at {url} is not usable: {problem}")]
    Metadata {
        /// The endpoint.
        purpose: Purpose,
        /// The address, secrets redacted.
        url: String,
        /// The problem.
        problem: String,
    },
    /// The metadata of an authorization server is about another issuer.
    #[error("the metadata of {expected} is that of another issuer, {found}")]
    IssuerMismatch {
        /// The issuer that was looked for.
        expected: String,
        /// The issuer that the document names.
        found: String,
    },
    /// The server names another authorization server than the one that the configured client belongs to.
    #[error("the server now names the issuer {now}; the configured client id was used with {was}")]
    IssuerChanged {
        /// The issuer that the client was used with.
        was: String,
        /// The issuer that the server names now.
        now: String,
    },
    /// The server's metadata is about another resource.
    #[error("the metadata of {server} is about another resource, {found}")]
    ResourceMismatch {
        /// The server.
        server: String,
        /// The resource in the metadata.
        found: String,
    },
    /// The authorization server does not list the PKCE method S256.
    #[error("{issuer} does not list the PKCE method S256, without which a code can be stolen")]
    NoPkce {
        /// The issuer.
        issuer: String,
    },
    /// There is no client id, and no way to get one.
    #[error(
        "no client id for {issuer}: set `oauth.clientId` to one that was registered there, set \
         `oauth.clientMetadataUrl` if the issuer takes client id metadata documents, or use an issuer \
         that offers dynamic registration"
    )]
    NoClientId {
        /// The issuer.
        issuer: String,
        /// The issuer supports client id metadata documents.
        takes_documents: bool,
        /// The issuer offers dynamic registration.
        offers_registration: bool,
    },
    /// The authorization server does not offer a feature.
    #[error("{issuer} does not offer {what}")]
    NotOffered {
        /// The issuer.
        issuer: String,
        /// The missing feature.
        what: &'static str,
    },
    /// A setting cannot be used.
    #[error("`oauth.{key}` {problem}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// The problem.
        problem: String,
    },
    /// The address that the browser ended at is not an answer to the login.
    #[error("{0}")]
    Callback(#[from] CallbackProblem),
    /// The authorization server refused.
    #[error("the {purpose} refused: {code}{}", in_parentheses(description.as_deref()))]
    Refused {
        /// The endpoint.
        purpose: Purpose,
        /// The error code of OAuth.
        code: String,
        /// The description of the error, shortened and redacted.
        description: Option<String>,
    },
    /// A person did not finish in time.
    #[error("the login was not finished in time")]
    Expired,
    /// The stored tokens cannot be used.
    #[error("{0}")]
    Store(#[from] TokenStoreError),
    /// A key or an assertion cannot be used.
    #[error("{what} cannot be used: {problem}")]
    Key {
        /// The key or assertion.
        what: &'static str,
        /// The problem.
        problem: String,
    },
}

impl AuthError {
    /// The category of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NeedsLogin(_)
            | Self::ScopeNotGranted { .. }
            | Self::Callback(_)
            | Self::Refused { .. }
            | Self::IssuerChanged { .. }
            | Self::Expired => ErrorKind::Authorization,
            Self::Unreachable { .. } | Self::Forbidden { .. } => ErrorKind::Connect,
            Self::NoClientId { .. } | Self::Setting { .. } | Self::Key { .. } | Self::Store(_) => {
                ErrorKind::Configuration
            }
            Self::Status { .. }
            | Self::Metadata { .. }
            | Self::IssuerMismatch { .. }
            | Self::ResourceMismatch { .. }
            | Self::NoPkce { .. }
            | Self::NotOffered { .. } => ErrorKind::Protocol,
        }
    }

    /// The login that is needed, if that is the error.
    pub fn needs_login(&self) -> Option<&NeedsLogin> {
        match self {
            Self::NeedsLogin(needed) => Some(needed),
            _ => None,
        }
    }
}

/// A demand for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NeedsLogin {
    /// The issuer, if it is known.
    pub issuer: Option<String>,
    /// The scopes to request; empty if the server names none.
    pub scopes: Vec<String>,
    /// The reason.
    pub reason: LoginReason,
}

impl fmt::Display for NeedsLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            LoginReason::NoToken => "a login is needed",
            LoginReason::Rejected => "a new login is needed: the server rejects the token",
            LoginReason::Revoked => "a new login is needed: the issuer no longer renews the token",
            LoginReason::InsufficientScope => "a login with more scopes is needed",
        };
        f.write_str(why)?;
        if !self.scopes.is_empty() {
            write!(f, " (scopes: {})", self.scopes.join(" "))?;
        }
        Ok(())
    }
}

/// The reason that a login is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginReason {
    /// There is no token for the server.
    NoToken,
    /// The server rejects the token, and it cannot be renewed.
    Rejected,
    /// The issuer refuses to renew the token.
    Revoked,
    /// The token lacks scopes.
    InsufficientScope,
}

impl LoginReason {
    /// Returns the word for it in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoToken => "no_token",
            Self::Rejected => "rejected",
            Self::Revoked => "revoked",
            Self::InsufficientScope => "insufficient_scope",
        }
    }
}

/// The purpose of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// The MCP server itself.
    Server,
    /// The metadata of the protected resource (RFC 9728).
    ResourceMetadata,
    /// The metadata of the authorization server (RFC 8414, OpenID Connect Discovery).
    IssuerMetadata,
    /// The page where a person logs in.
    Authorization,
    /// The token endpoint.
    Token,
    /// The keys of an issuer (RFC 7517).
    Keys,
    /// The endpoint of dynamic registration (RFC 7591).
    Registration,
    /// The endpoint of the device grant (RFC 8628).
    Device,
    /// The page where a person enters a device's code.
    Verification,
    /// The token endpoint of an enterprise's identity provider.
    IdentityProvider,
    /// The revocation endpoint (RFC 7009).
    Revocation,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::ResourceMetadata => "resource metadata",
            Self::IssuerMetadata => "issuer metadata",
            Self::Authorization => "authorization endpoint",
            Self::Token => "token endpoint",
            Self::Keys => "keys of the issuer",
            Self::Registration => "registration endpoint",
            Self::Device => "device authorization endpoint",
            Self::Verification => "verification page",
            Self::IdentityProvider => "identity provider",
            Self::Revocation => "revocation endpoint",
        })
    }
}

/// The reason that the address where a browser ended is not an answer to a login.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackProblem {
    /// It is not a URL, or one of somewhere else.
    #[error("this is not the address that the browser is sent to after the login")]
    OtherAddress,
    /// It has no state, a wrong one, or one that was used already.
    #[error("the address belongs to no login that was begun here, or to one that is finished")]
    UnknownState,
    /// The login was begun too long ago.
    #[error("the login was begun too long ago; begin it again")]
    TooLate,
    /// It does not name its issuer, although that issuer always does (RFC 9207).
    #[error("the answer does not name its issuer, {expected}")]
    NoIssuer {
        /// The issuer that was asked.
        expected: String,
    },
    /// It is from a different issuer than the one that was asked (RFC 9207).
    #[error("the answer is from another issuer than {expected}")]
    OtherIssuer {
        /// The issuer that was asked.
        expected: String,
    },
    /// It has neither a code nor an error.
    #[error("the answer has neither a code nor an error")]
    NoCode,
    /// A parameter occurs twice.
    #[error("the answer has the parameter `{0}` twice")]
    Twice(&'static str),
}

/// The reason that stored tokens cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenStoreError {
    /// A file cannot be read or written.
    #[error("the stored tokens cannot be used: {0}")]
    File(String),
    /// The key that the tokens are sealed with exists, but is locked.
    #[error("the tokens are stored, but their key is locked: {0}")]
    Locked(String),
    /// The key that the tokens are sealed with is missing.
    #[error("the key of the stored tokens cannot be read: {0}")]
    Key(String),
    /// The file was sealed with another key, or changed by another program.
    #[error("{path} cannot be opened with its key: it was sealed with another one, or changed")]
    Sealed {
        /// The file.
        path: String,
    },
    /// Another process holds the lock for too long.
    #[error("another process has been renewing the token for too long")]
    Busy,
}

fn in_parentheses(description: Option<&str>) -> String {
    description
        .map(|text| format!(" ({text})"))
        .unwrap_or_default()
}
