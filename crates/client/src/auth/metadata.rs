//! The two documents of discovery, resource metadata and issuer metadata, with the checks that make
//! them trustworthy.

use serde_json::{Map, Value};
use switchboard_core::secret::SafeUrl;
use switchboard_core::spec::AddressRange;
use url::Url;

use super::fetch::Endpoint;
use super::scope;
use crate::auth_error::{AuthError, Purpose};
use crate::transport::guard::{Origin, Reach};

/// Maximum number of issuers of one resource.
const ISSUERS: usize = 32;
/// Maximum number of items of any other list.
const ITEMS: usize = 1024;
/// Maximum length of an issuer.
const ISSUER_BYTES: usize = 2048;

/// The metadata of a protected resource (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceMetadata {
    /// Verbatim from the document.
    pub(crate) resource: String,
    pub(crate) issuers: Vec<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// The resource accepts only DPoP tokens.
    pub(crate) demands_dpop: bool,
}

impl ResourceMetadata {
    /// Parses the metadata of the server at a URL.
    ///
    /// # Errors
    /// Fails when it is invalid, or describes another resource.
    pub(crate) fn parse(body: &[u8], from: &SafeUrl, server: &Url) -> Result<Self, AuthError> {
        let purpose = Purpose::ResourceMetadata;
        let document = object(body).map_err(|problem| bad(purpose, from, &problem))?;
        let resource = text(&document, "resource")
            .ok_or_else(|| bad(purpose, from, "it names no `resource`"))?;
        // A document about another resource could make us request tokens for that one.
        if !covers(&resource, server) {
            return Err(AuthError::ResourceMismatch {
                server: SafeUrl::from(server.clone()).to_string(),
                found: shorten(&resource),
            });
        }
        // Without an issuer there is nothing to log in to.
        let issuers = texts(&document, "authorization_servers").unwrap_or_default();
        if issuers.is_empty() {
            let problem = "it names no `authorization_servers`";
            return Err(bad(purpose, from, problem));
        }
        Ok(Self {
            resource,
            issuers: issuers.into_iter().take(ISSUERS).collect(),
            scopes: texts(&document, "scopes_supported")
                .map(|scopes| scope::collect(scopes.iter().map(String::as_str))),
            demands_dpop: flag(&document, "dpop_bound_access_tokens_required"),
        })
    }
}

/// Returns true if a resource is the server at a URL, or a part of the origin that contains it.
pub(crate) fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let same_origin = match (Origin::of(&resource), Origin::of(server)) {
        (Ok(resource), Ok(server)) => resource == server,
        _ => false,
    };
    // RFC 8707: a resource has no fragment.
    if !same_origin || resource.fragment().is_some() {
        return false;
    }
    let query_fits = resource.query().is_none() || resource.query() == server.query();
    let (resource, server) = (
        resource.path().trim_end_matches('/'),
        server.path().trim_end_matches('/'),
    );
    let rest = server.strip_prefix(resource);
    query_fits && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The metadata of an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IssuerMetadata {
    pub(crate) issuer: String,
    pub(crate) authorization: Option<Endpoint>,
    pub(crate) token: Option<Endpoint>,
    pub(crate) registration: Option<Endpoint>,
    pub(crate) device: Option<Endpoint>,
    pub(crate) revocation: Option<Endpoint>,
    pub(crate) scopes: Vec<String>,
    /// The client authentication methods of the token endpoint; `None` if they are not listed.
    pub(crate) auth_methods: Option<Vec<String>>,
    /// The PKCE method S256 is listed, or the person vouches for the issuer.
    pub(crate) has_pkce: bool,
    /// Answers of the issuer contain its name (RFC 9207).
    pub(crate) names_itself: bool,
    pub(crate) takes_documents: bool,
    pub(crate) supports_dpop: bool,
}

/// The expectations for an issuer's metadata.
pub(crate) struct IssuerExpectations<'a> {
    /// The issuer that was requested.
    pub(crate) issuer: &'a str,
    /// The issuers that the document may name; only that one, except for 2025-03-26 servers.
    pub(crate) accepted: &'a [String],
    /// Determines the party that named an address in the document.
    pub(crate) reach: &'a (dyn Fn(&Url) -> Reach + Sync),
    pub(crate) allowed: &'a [AddressRange],
    /// The person vouches for the issuer, so it need not list PKCE.
    pub(crate) is_vouched_for: bool,
}

impl IssuerMetadata {
    /// Parses the metadata of an issuer.
    ///
    /// # Errors
    /// Fails when it is invalid, describes another issuer, or names an address that may not be
    /// used.
    pub(crate) fn parse(
        body: &[u8],
        from: &SafeUrl,
        reading: &IssuerExpectations<'_>,
    ) -> Result<Self, AuthError> {
        let purpose = Purpose::IssuerMetadata;
        let document = object(body).map_err(|problem| bad(purpose, from, &problem))?;
        let issuer =
            text(&document, "issuer").ok_or_else(|| bad(purpose, from, "it names no `issuer`"))?;
        // RFC 8414, 3.3: it must be identical, or the document must not be used.
        if !reading.accepted.contains(&issuer) {
            return Err(AuthError::IssuerMismatch {
                expected: reading.issuer.to_owned(),
                found: shorten(&issuer),
            });
        }
        let endpoint = |name: &str, purpose: Purpose| match document.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => {
                Endpoint::parse(purpose, text, reading.reach, reading.allowed).map(Some)
            }
            Some(_) => Err(bad(
                Purpose::IssuerMetadata,
                from,
                &format!("`{name}` is not a text"),
            )),
        };
        // An address that a login does not need is left out if it may not be used.
        let optional = |name: &str, purpose: Purpose| endpoint(name, purpose).ok().flatten();
        let methods = texts(&document, "code_challenge_methods_supported").unwrap_or_default();
        let algorithms = texts(&document, "dpop_signing_alg_values_supported").unwrap_or_default();
        Ok(Self {
            authorization: endpoint("authorization_endpoint", Purpose::Authorization)?,
            token: endpoint("token_endpoint", Purpose::Token)?,
            registration: endpoint("registration_endpoint", Purpose::Registration)?,
            device: endpoint("device_authorization_endpoint", Purpose::Device)?,
            revocation: optional("revocation_endpoint", Purpose::Revocation),
            scopes: texts(&document, "scopes_supported").unwrap_or_default(),
            auth_methods: texts(&document, "token_endpoint_auth_methods_supported"),
            has_pkce: reading.is_vouched_for || methods.iter().any(|method| method == "S256"),
            names_itself: flag(&document, "authorization_response_iss_parameter_supported"),
            takes_documents: flag(&document, "client_id_metadata_document_supported"),
            supports_dpop: algorithms.iter().any(|algorithm| algorithm == "ES256"),
            issuer,
        })
    }
}

/// Validates an issuer, and returns the URLs where its metadata may be, in order.
///
/// # Errors
/// Fails when it is not a valid issuer, or may not be used.
pub(crate) fn metadata_urls(
    issuer: &str,
    reach: impl FnOnce(&Url) -> Reach,
    allowed: &[AddressRange],
) -> Result<(Reach, Vec<Url>), AuthError> {
    let purpose = Purpose::IssuerMetadata;
    let refuse = |why: &str| AuthError::Forbidden {
        purpose,
        url: shorten(issuer),
        why: why.to_owned(),
    };
    if issuer.len() > ISSUER_BYTES {
        return Err(refuse("the issuer's name is too long"));
    }
    let Endpoint { url, reach } = Endpoint::parse(purpose, issuer, reach, allowed)?;
    let url = url.expose();
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("an issuer has neither a query nor a fragment"));
    }
    // RFC 8414, 3.1: a slash at the end is removed first.
    let path = url.path().trim_end_matches('/');
    let at = |path: &str| {
        let mut url = url.clone();
        url.set_path(path);
        url
    };
    let mut urls = vec![
        at(&format!("/.well-known/oauth-authorization-server{path}")),
        at(&format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        urls.push(at(&format!("{path}/.well-known/openid-configuration")));
    }
    Ok((reach, urls))
}

/// The URLs where the metadata of an issuer that the person has named may be, in order. `allowed` are addresses that
/// the person allowed besides the permitted ones.
///
/// # Errors
/// Fails if the issuer may not be used as one.
pub fn issuer_metadata_urls(
    issuer: &str,
    allowed: &[AddressRange],
) -> Result<Vec<String>, AuthError> {
    let (_, urls) = metadata_urls(issuer, |_| Reach::Person, allowed)?;
    Ok(urls.into_iter().map(String::from).collect())
}

/// The URLs where a server's metadata may be, in order, if its challenge names none.
pub(crate) fn resource_metadata_urls(server: &Url) -> Vec<Url> {
    let at = |path: &str| {
        let mut url = server.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(path);
        url
    };
    let path = server.path().trim_end_matches('/');
    let root = "/.well-known/oauth-protected-resource";
    let mut urls = vec![at(&format!("{root}{path}"))];
    if !path.is_empty() {
        urls.push(at(root));
    }
    urls
}

fn bad(purpose: Purpose, from: &SafeUrl, problem: &str) -> AuthError {
    AuthError::Metadata {
        purpose,
        url: from.to_string(),
        problem: problem.to_owned(),
    }
}

/// Shortens a text of a third party, so that it can be shown.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 200;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// Parses a JSON object.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        // The parser's message may quote the input, so it is not used.
        Err(_) => Err("it is not JSON".to_owned()),
    }
}

pub(crate) fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

fn texts(object: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let items = object.get(name)?.as_array()?;
    let texts = items.iter().take(ITEMS).filter_map(Value::as_str);
    Some(texts.map(str::to_owned).collect())
}

fn flag(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).and_then(Value::as_bool).unwrap_or(false)
}
