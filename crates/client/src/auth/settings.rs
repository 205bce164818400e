//! The OAuth settings of one server.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_core::secret::Secret;

use super::jose::SigningKey;

/// The OAuth settings of one server: the `oauth` block of its entry.
///
/// The default discovers everything and registers a client if possible.
///
/// ```
/// use switchboard_client::auth::OAuthSettings;
///
/// let mut settings = OAuthSettings::default();
/// settings.client_id = Some("a-registered-client".to_owned());
/// settings.scopes = Some(vec!["read".to_owned()]);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OAuthSettings {
    /// A client id that was registered at the issuer.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<Secret<String>>,
    /// The key of that client, for `private_key_jwt`.
    pub client_key: Option<Arc<SigningKey>>,
    /// The URL of our client id metadata document, for issuers that support those.
    pub client_metadata_url: Option<String>,
    /// The client name in dynamic registration; a default if `None`.
    pub client_name: Option<String>,
    /// The scopes to request, in place of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The port of the callback on this machine; any free one if `None`.
    pub callback_port: Option<u16>,
    /// The redirect URI, if it is not our own callback.
    pub redirect_uri: Option<String>,
    /// The resource that tokens are requested for (RFC 8707).
    pub resource: ResourceSetting,
    /// The issuer, in place of discovery.
    pub issuer: Option<String>,
    /// The authorization endpoint, in place of discovery.
    pub authorization_endpoint: Option<String>,
    /// The token endpoint, in place of discovery.
    pub token_endpoint: Option<String>,
    /// The device authorization endpoint, in place of discovery.
    pub device_authorization_endpoint: Option<String>,
    /// The grant that tokens are obtained with.
    pub grant: Grant,
    /// True if a person is to log in on another device, with a code, rather than in a browser here.
    pub prefers_device: bool,
    /// The author of the addresses above.
    pub named_by: NamedBy,
    /// Keeps the tokens of several accounts at one server apart.
    pub profile: String,
    /// The use of DPoP, which binds tokens to a key (RFC 9449).
    pub dpop: DpopSetting,
}

/// The resource that tokens are requested for (RFC 8707).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ResourceSetting {
    /// That of the server's metadata, or the server's URL.
    #[default]
    Discovered,
    /// None: some issuers refuse requests that name one.
    Omit,
    /// This one.
    Value(String),
}

/// The grant that tokens are obtained with.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Grant {
    /// A person logs in, in a browser or with a device code.
    #[default]
    Person,
    /// The client itself has access (`client_credentials`), with its secret or its key.
    ClientCredentials,
    /// A workload authenticates with a token of its platform (RFC 7523). A refusal is final for
    /// that token.
    Workload {
        /// The platform's token.
        assertion: Assertion,
    },
    /// An enterprise's identity provider grants access (token exchange to an ID-JAG, then RFC 7523).
    Enterprise(Arc<Enterprise>),
}

impl Grant {
    /// Returns true if tokens are obtained without a person.
    pub fn is_unattended(&self) -> bool {
        !matches!(self, Self::Person)
    }
}

/// The identity provider of an enterprise.
#[derive(Debug, Clone)]
pub struct Enterprise {
    /// The token endpoint of the identity provider.
    pub token_endpoint: String,
    /// Our client id there.
    pub client_id: String,
    /// The secret of that client.
    pub client_secret: Option<Secret<String>>,
    /// The person's ID token.
    pub id_token: Assertion,
}

/// A signed statement of an identity.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Assertion {
    /// This one.
    Fixed(Secret<String>),
    /// The content of a file, read each time because platforms renew it there.
    File(PathBuf),
}

/// The author of the addresses in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamedBy {
    /// The person, in their own file: the addresses may be private.
    #[default]
    Person,
    /// A project's file or an import: the addresses must be public, as if a server had named them.
    Project,
}

/// The use of DPoP, which binds tokens to a key (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DpopSetting {
    /// If the server demands it and the issuer supports it.
    #[default]
    Demanded,
    /// If the issuer supports it.
    Supported,
    /// Never.
    Never,
}
