//! The `oauth` block of an entry.

use crate::spec::{OAuth, OAuthGrant, OAuthResource};
use serde_json::{Map, Value};

use super::WriteError;
use super::values::ValueWriter;

/// Writes the members that are set; a secret as the others of the entry.
pub(super) fn write(oauth: &OAuth, values: &mut ValueWriter<'_>) -> Result<Value, WriteError> {
    let mut out = Map::new();
    let resource = match &oauth.resource {
        OAuthResource::Discovered => None,
        OAuthResource::Omit => Some("omit"),
        OAuthResource::Value(value) => Some(value.as_str()),
    };
    let grant = (oauth.grant != OAuthGrant::default()).then(|| oauth.grant.name());
    for (name, text) in [
        ("clientId", oauth.client_id.as_deref()),
        ("clientMetadataUrl", oauth.client_metadata_url.as_deref()),
        ("redirectUri", oauth.redirect_uri.as_deref()),
        ("resource", resource),
        ("issuer", oauth.issuer.as_deref()),
        (
            "authorizationEndpoint",
            oauth.authorization_endpoint.as_deref(),
        ),
        ("tokenEndpoint", oauth.token_endpoint.as_deref()),
        (
            "deviceAuthorizationEndpoint",
            oauth.device_authorization_endpoint.as_deref(),
        ),
        ("grant", grant),
    ] {
        if let Some(text) = text {
            let value = values.plain(&format!("oauth.{name}"), text)?;
            out.insert(name.to_owned(), value);
        }
    }
    for (name, hint, secret) in [
        ("clientSecret", "OAUTH_CLIENT_SECRET", &oauth.client_secret),
        ("clientKey", "OAUTH_CLIENT_KEY", &oauth.client_key),
    ] {
        if let Some(secret) = secret {
            let value = values.secret(&format!("oauth.{name}"), hint, secret.expose())?;
            out.insert(name.to_owned(), value.into());
        }
    }
    if let Some(scopes) = &oauth.scopes {
        out.insert("scopes".to_owned(), values.list("oauth.scopes", scopes)?);
    }
    if let Some(port) = oauth.callback_port {
        out.insert("callbackPort".to_owned(), port.into());
    }
    if let Some(file) = &oauth.assertion_file {
        let file = values.path("oauth.assertionFile", file)?;
        out.insert("assertionFile".to_owned(), file);
    }
    Ok(out.into())
}
