//! How one server is logged in to.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_core::secret::Secret;

use super::jose::SigningKey;

/// How one server is logged in to: the `oauth` block of its entry.
///
/// The default discovers everything and registers where that is possible.
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
    /// The key of that client, where it proves itself by signatures (`private_key_jwt`).
    pub client_key: Option<Arc<SigningKey>>,
    /// The URL of our client id metadata document, for issuers that take one as a client id.
    pub client_metadata_url: Option<String>,
    /// The name that dynamic registration gives; a default where it is not set.
    pub client_name: Option<String>,
    /// The scopes to ask for, in place of those that the server names.
    pub scopes: Option<Vec<String>>,
    /// The port of the callback on this machine; any free one where it is not set.
    pub callback_port: Option<u16>,
    /// The address that the browser is sent to after the login, where it is not our own callback.
    pub redirect_uri: Option<String>,
    /// The resource that tokens are asked for (RFC 8707).
    pub resource: ResourceSetting,
    /// The issuer, in place of discovery.
    pub issuer: Option<String>,
    /// The authorization endpoint, in place of discovery.
    pub authorization_endpoint: Option<String>,
    /// The token endpoint, in place of discovery.
    pub token_endpoint: Option<String>,
    /// The device authorization endpoint, in place of discovery.
    pub device_authorization_endpoint: Option<String>,
    /// How tokens are got.
    pub grant: Grant,
    /// Who wrote the addresses above.
    pub named_by: NamedBy,
    /// Keeps the tokens of several accounts at one server apart.
    pub profile: String,
    /// When tokens are bound to a key (RFC 9449).
    pub dpop: DpopSetting,
}

/// The resource that tokens are asked for (RFC 8707).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ResourceSetting {
    /// As the server's metadata says, or its URL.
    #[default]
    Discovered,
    /// None is sent: some issuers refuse requests that name one.
    Omit,
    /// This one.
    Value(String),
}

/// How tokens are got.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Grant {
    /// A person logs in, in a browser or with a device's code.
    #[default]
    Person,
    /// The client itself has access (`client_credentials`), by its secret or its key.
    ClientCredentials,
    /// A workload proves who it is by a token of its platform (RFC 7523). A refusal is final for that token.
    Workload {
        /// The platform's token.
        assertion: Assertion,
    },
    /// An enterprise's identity provider grants access (token exchange to an ID-JAG, then RFC 7523).
    Enterprise(Arc<Enterprise>),
}

impl Grant {
    /// Whether tokens are got without a person.
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

/// A signed statement that stands for an identity.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Assertion {
    /// This one.
    Fixed(Secret<String>),
    /// The content of a file, read each time: platforms renew it there.
    File(PathBuf),
}

/// Who wrote the addresses in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamedBy {
    /// The person, in their own file: the addresses may be private.
    #[default]
    Person,
    /// A project's file, or an import of one: the addresses have to be public, as if a server had named them.
    Project,
}

/// When tokens are bound to a key (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DpopSetting {
    /// Where the server demands it and the issuer supports it.
    #[default]
    Demanded,
    /// Where the issuer supports it.
    Supported,
    /// Never.
    Never,
}
