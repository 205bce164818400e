//! The `oauth` block of a server's entry.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::secret::Secret;

/// How a server is logged in to, as its entry says.
///
/// Everything is optional: without a block, or with an empty one, all of it is discovered.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct OAuth {
    /// A client id that was registered at the issuer.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<Secret<String>>,
    /// The private key of that client in PEM, for clients that sign assertions.
    pub client_key: Option<Secret<String>>,
    /// The URL of a client id metadata document.
    pub client_metadata_url: Option<String>,
    /// The scopes to ask for, in place of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The port of the callback on this machine.
    pub callback_port: Option<u16>,
    /// The address that the browser comes back to, where it is not our own callback.
    pub redirect_uri: Option<String>,
    /// The resource that tokens are asked for.
    pub resource: OAuthResource,
    /// The issuer, in place of discovery.
    pub issuer: Option<String>,
    /// The authorization endpoint, in place of discovery.
    pub authorization_endpoint: Option<String>,
    /// The token endpoint, in place of discovery.
    pub token_endpoint: Option<String>,
    /// The device authorization endpoint, in place of discovery.
    pub device_authorization_endpoint: Option<String>,
    /// The way to get tokens.
    pub grant: OAuthGrant,
    /// The file with the token of the platform, for [`OAuthGrant::Workload`].
    pub assertion_file: Option<PathBuf>,
}

/// The resource that tokens are asked for (RFC 8707).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum OAuthResource {
    /// The one that the server's metadata names, or its URL.
    #[default]
    Discovered,
    /// None: some issuers refuse requests that name one.
    Omit,
    /// This one.
    Value(String),
}

/// The way to get tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OAuthGrant {
    /// A person logs in with a browser.
    #[default]
    AuthorizationCode,
    /// A person logs in on another device.
    DeviceCode,
    /// The client has access itself.
    ClientCredentials,
    /// A workload shows a token of its platform (RFC 7523).
    Workload,
}

impl OAuthGrant {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::AuthorizationCode,
        Self::DeviceCode,
        Self::ClientCredentials,
        Self::Workload,
    ];

    /// Returns the word that config files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::DeviceCode => "device_code",
            Self::ClientCredentials => "client_credentials",
            Self::Workload => "workload",
        }
    }
}

impl fmt::Display for OAuthGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Says that a word is not a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected authorization_code, device_code, client_credentials or workload")]
pub struct ParseOAuthGrantError;

impl FromStr for OAuthGrant {
    type Err = ParseOAuthGrantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.iter();
        let found = all.find(|grant| grant.name() == text);
        found.copied().ok_or(ParseOAuthGrantError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_read_as_they_are_written() {
        for grant in OAuthGrant::ALL {
            assert_eq!(grant.to_string().parse(), Ok(*grant));
        }
        for text in ["", "implicit", "Authorization_Code"] {
            assert_eq!(text.parse::<OAuthGrant>(), Err(ParseOAuthGrantError));
        }
    }
}
