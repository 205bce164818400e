//! The client id at an issuer: configured, a client id metadata document, or a registration.

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_core::secret::Secret;

use super::fetch::{AuthBody, AuthRequest};
use super::metadata::{self, IssuerMetadata};
use super::scope;
use super::settings::OAuthSettings;
use super::token::{self, TokenClient};
use crate::auth_error::{AuthError, Purpose};

/// The default client name in registrations.
const CLIENT_NAME: &str = "Switchboard";
/// The grant of a login on another device (RFC 8628).
pub(super) const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Maximum length of a client id.
const CLIENT_ID_BYTES: usize = 2048;

/// The client authentication at a token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientAuth {
    None,
    Basic,
    Post,
    /// Basic, and the form if the issuer refuses the client so: it advertises both, and accepts the one that the client
    /// was registered for, which nothing tells us.
    BasicOrPost,
    PrivateKeyJwt,
}

impl ClientAuth {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "basic",
            Self::Post => "post",
            Self::BasicOrPost => "basic_or_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    fn of_method(method: &str) -> Option<Self> {
        match method {
            "none" => Some(Self::None),
            "client_secret_basic" => Some(Self::Basic),
            "client_secret_post" => Some(Self::Post),
            "private_key_jwt" => Some(Self::PrivateKeyJwt),
            _ => None,
        }
    }
}

/// The origin of a client id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientSource {
    /// The settings, which also contain its secret or key.
    Configured,
    /// A client id metadata document.
    Document,
    /// A dynamic registration.
    Registered,
}

impl ClientSource {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Document => "document",
            Self::Registered => "registered",
        }
    }
}

/// The client identity at one issuer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ClientIdentity {
    pub(crate) client_id: String,
    /// Set for registrations only: a configured secret stays in the settings.
    pub(crate) client_secret: Option<Secret<String>>,
    pub(crate) auth: ClientAuth,
    pub(crate) source: ClientSource,
}

/// A client that was registered at an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Registration {
    pub(crate) issuer: String,
    pub(crate) redirect_uri: String,
    pub(crate) identity: ClientIdentity,
    /// Seconds since 1970; `None` if the secret does not expire.
    pub(crate) expires_at: Option<u64>,
    /// The scopes that it was registered for; `None` where none were named.
    #[serde(default)]
    pub(crate) scopes: Option<Vec<String>>,
}

impl Registration {
    /// The issuer.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The client id.
    pub fn client_id(&self) -> &str {
        &self.identity.client_id
    }

    /// Tells whether the client may ask for scopes: some issuers hold it to those that it was registered for.
    pub(crate) fn covers(&self, scopes: &[String]) -> bool {
        let registered = self.scopes.as_ref();
        registered.is_none_or(|registered| scope::contains_all(registered, scopes))
    }
}

impl ClientIdentity {
    /// The configured client, if there is one.
    ///
    /// # Errors
    /// Fails when the issuer supports none of the authentication methods that the settings allow.
    pub(crate) fn configured(
        settings: &OAuthSettings,
        issuer: &IssuerMetadata,
    ) -> Result<Option<Self>, AuthError> {
        let Some(client_id) = settings.client_id.clone() else {
            return Ok(None);
        };
        let auth = if settings.client_key.is_some() {
            ClientAuth::PrivateKeyJwt
        } else {
            choose_auth(settings.client_secret.is_some(), None, issuer)?
        };
        Ok(Some(Self {
            client_id,
            client_secret: None,
            auth,
            source: ClientSource::Configured,
        }))
    }

    /// The client of a metadata document, if one is configured and the issuer supports it.
    ///
    /// # Errors
    /// Fails when the setting is not a usable URL.
    pub(crate) fn document(
        settings: &OAuthSettings,
        issuer: &IssuerMetadata,
    ) -> Result<Option<Self>, AuthError> {
        let (Some(url), true) = (&settings.client_metadata_url, issuer.takes_documents) else {
            return Ok(None);
        };
        let is_fine = url::Url::parse(url).is_ok_and(|url| {
            url.scheme() == "https" && url.path() != "/" && url.fragment().is_none()
        });
        if !is_fine {
            return Err(AuthError::Setting {
                key: "clientMetadataUrl",
                problem: "is not an https URL with a path".to_owned(),
            });
        }
        Ok(Some(Self {
            client_id: url.clone(),
            client_secret: None,
            auth: ClientAuth::None,
            source: ClientSource::Document,
        }))
    }
}

/// Chooses a client authentication that the issuer supports.
///
/// # Errors
/// Fails when none of them works.
pub(crate) fn choose_auth(
    has_secret: bool,
    registered: Option<&str>,
    issuer: &IssuerMetadata,
) -> Result<ClientAuth, AuthError> {
    // The method that the issuer itself chose counts most, then the list in its metadata.
    if let Some(auth) = registered.and_then(ClientAuth::of_method) {
        // The issuer chose it in its answer to the registration.
        match auth {
            ClientAuth::None => return Ok(auth),
            ClientAuth::Basic | ClientAuth::Post if has_secret => return Ok(auth),
            _ => {}
        }
    }
    let Some(methods) = issuer
        .auth_methods
        .as_deref()
        .filter(|list| !list.is_empty())
    else {
        // RFC 8414, 2: the default is `client_secret_basic`.
        return Ok(if has_secret {
            ClientAuth::Basic
        } else {
            ClientAuth::None
        });
    };
    let takes = |method: &str| methods.iter().any(|known| known == method);
    if has_secret && takes("client_secret_basic") && takes("client_secret_post") {
        Ok(ClientAuth::BasicOrPost)
    } else if has_secret && takes("client_secret_basic") {
        Ok(ClientAuth::Basic)
    } else if has_secret && takes("client_secret_post") {
        Ok(ClientAuth::Post)
    } else if takes("none") || !has_secret {
        // Some issuers do not list `none` although they accept it.
        Ok(ClientAuth::None)
    } else {
        Err(AuthError::NotOffered {
            issuer: issuer.issuer.clone(),
            what: "a way to authenticate a client by its secret",
        })
    }
}

/// Registers a client for some scopes (RFC 7591).
///
/// # Errors
/// Fails when the issuer refuses, or its answer is invalid.
pub(crate) async fn register(
    exchange: &TokenClient<'_>,
    issuer: &IssuerMetadata,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<Registration, AuthError> {
    let purpose = Purpose::Registration;
    let settings = exchange.settings;
    let Some(endpoint) = &issuer.registration else {
        return Err(AuthError::NoClientId {
            issuer: issuer.issuer.clone(),
            takes_documents: issuer.takes_documents,
            offers_registration: false,
        });
    };
    // A public client if the issuer allows it: a secret on a person's machine protects nothing. Else the secret in the
    // form: issuers on the Python SDK look there for the client id, also where the secret is in the header.
    let methods = issuer.auth_methods.as_deref().unwrap_or_default();
    let wanted = ["none", "client_secret_post", "client_secret_basic"];
    let method = wanted
        .into_iter()
        .find(|method| methods.iter().any(|known| known == method))
        .unwrap_or("none");
    let mut grants = vec!["authorization_code", "refresh_token"];
    if issuer.device.is_some() {
        grants.push(DEVICE_GRANT);
    }
    let mut request = json!({
        "client_name": settings.client_name.as_deref().unwrap_or(CLIENT_NAME),
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        // 2026-07-28: a client on a person's machine is a native one.
        "application_type": "native",
    });
    // Some issuers grant no scope that the registration does not name.
    if let (false, Some(members)) = (scopes.is_empty(), request.as_object_mut()) {
        members.insert("scope".to_owned(), scopes.join(" ").into());
    }
    let answer = super::fetch::send(
        exchange.fetch,
        AuthRequest {
            purpose,
            url: endpoint.url.clone(),
            reach: endpoint.reach,
            body: Some(AuthBody {
                content_type: "application/json",
                content: Secret::new(request.to_string().into_bytes()),
            }),
            headers: vec![("accept", "application/json".into())],
            limit_bytes: exchange.limits.auth_metadata_bytes,
            timeout: exchange.limits.auth_request,
        },
    )
    .await?;
    let bad = |problem: &str| AuthError::Metadata {
        purpose,
        url: endpoint.url.to_string(),
        problem: problem.to_owned(),
    };
    if !answer.is_success() {
        return Err(token::refusal(purpose, &endpoint.url, &answer, &[]));
    }
    let document = metadata::object(answer.body.expose()).map_err(|problem| bad(&problem))?;
    let client_id = metadata::text(&document, "client_id").unwrap_or_default();
    // Bounded, because it is stored and sent with every request.
    if client_id.is_empty() || client_id.len() > CLIENT_ID_BYTES {
        return Err(bad("it has no usable `client_id`"));
    }
    let secret = metadata::text(&document, "client_secret").filter(|secret| !secret.is_empty());
    let given = metadata::text(&document, "token_endpoint_auth_method");
    let expires = document.get("client_secret_expires_at");
    let expires = expires.and_then(Value::as_u64).filter(|at| *at > 0);
    Ok(Registration {
        issuer: issuer.issuer.clone(),
        redirect_uri: redirect_uri.to_owned(),
        identity: ClientIdentity {
            auth: choose_auth(secret.is_some(), given.as_deref(), issuer)?,
            client_id,
            client_secret: secret.map(Secret::new),
            source: ClientSource::Registered,
        },
        expires_at: expires,
        scopes: (!scopes.is_empty()).then(|| scopes.to_vec()),
    })
}
