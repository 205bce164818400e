//! The gateway as an OAuth resource server: which tokens count, and what clients are told about it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{StatusCode, Uri};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use switchboard::auth::AuthFetch;
use switchboard::policy::CallerId;

use super::issuer::IssuerKeys;
use super::jwt::Unverified;
use super::keys::Key;
use super::options::{OAuthOptions, has_scopes};
use crate::caller::ClientIdentity;
use crate::error::GatewayError;
use crate::http::auth::AuthRefusal;
use crate::http::digest::Digest;
use crate::validity::Validity;

/// Difference of clocks that is forgiven.
const LEEWAY: Duration = Duration::from_secs(30);
/// Time after the end of a token in which its client may renew it and keep its session.
const RENEWAL: Duration = Duration::from_secs(60);
/// Most tokens that are not checked again with each request.
const MOST_CHECKED: usize = 1024;
/// The path of the metadata of a protected resource (RFC 9728).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Takes tokens that an issuer has made for this gateway, for
/// [`HttpAuth::OAuth`](crate::http::HttpAuth::OAuth).
///
/// A token is a JWT that a key of the issuer has signed with RS256, ES256 or EdDSA. Its `iss`, `aud`, `exp`,
/// `nbf` and scopes are checked, and its claims lead to an agent by the rules of the options. The keys are
/// fetched when they are first needed, and again for a key that is not known, at most once a minute.
pub struct OAuth {
    options: OAuthOptions,
    /// The URL that tokens are made for.
    resource: String,
    /// Further values of `aud` that mean this gateway.
    other_audiences: Vec<String>,
    keys: Arc<IssuerKeys>,
    metadata_path: String,
    metadata_url: String,
    checked: Mutex<FxHashMap<Digest, Checked>>,
}

/// A token that was found to be right.
struct Checked {
    identity: ClientIdentity,
    /// The time from which requests with it are refused.
    until: SystemTime,
    key: Key,
}

impl OAuth {
    /// Makes a resource server. Nothing is fetched yet.
    ///
    /// # Errors
    /// Fails if the issuer, the address of its keys or the resource is no https URL, and is not on this
    /// machine either.
    pub fn new(
        options: OAuthOptions,
        fetch: Arc<dyn AuthFetch>,
    ) -> Result<Arc<Self>, GatewayError> {
        let urls = [
            ("issuer", Some(&options.issuer)),
            ("jwks_uri", options.jwks_uri.as_ref()),
            ("resource", Some(&options.resource)),
        ];
        for (option, url) in urls {
            if let Some(url) = url
                && !is_safe(url)
            {
                let why = format!("{url} is not an https URL, or one on this machine");
                return Err(GatewayError::Option { option, why });
            }
        }
        let given = options.resource.trim_end_matches('/');
        let (base, other_audiences) = match given.strip_suffix("/mcp") {
            // That URL and no other: another service may be at the rest of the host.
            Some(base) => (base, Vec::new()),
            None => (given, vec![given.to_owned(), format!("{given}/")]),
        };
        let (origin, path) = split_origin(base);
        let metadata_path = format!("{WELL_KNOWN}{path}/mcp");
        Ok(Arc::new(Self {
            resource: format!("{base}/mcp"),
            other_audiences,
            metadata_url: format!("{origin}{metadata_path}"),
            metadata_path,
            keys: Arc::new(IssuerKeys::new(&options, fetch)),
            checked: Mutex::default(),
            options,
        }))
    }

    /// Returns true for a path at which the metadata is served.
    pub(in crate::http) fn serves(&self, path: &str) -> bool {
        path == WELL_KNOWN
            || path == self.metadata_path
            || path.strip_prefix(WELL_KNOWN) == Some("/mcp")
    }

    /// The metadata of the protected resource (RFC 9728).
    pub(in crate::http) fn metadata(&self) -> Bytes {
        let mut metadata = json!({
            "resource": self.resource,
            "authorization_servers": [self.options.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Switchboard",
        });
        // RFC 9728, 3.2: a list without elements is left out.
        if let Some(metadata) = metadata.as_object_mut()
            && !self.options.scopes.is_empty()
        {
            let scopes = json!(self.options.scopes);
            metadata.insert("scopes_supported".to_owned(), scopes);
        }
        Bytes::from(metadata.to_string())
    }

    /// Names the client that comes with a token; see [`CredentialBounds`](crate::caller::CredentialBounds) for
    /// `usual`.
    pub(in crate::http) async fn identify(
        &self,
        text: Option<&[u8]>,
        usual: &CallerId,
    ) -> Result<ClientIdentity, AuthRefusal> {
        let Some(text) = text else {
            return Err(self.refusal(StatusCode::UNAUTHORIZED, None, "a token is needed"));
        };
        let digest = Digest::of(text);
        if let Some(identity) = self.checked_before(&digest, usual) {
            return Ok(identity);
        }
        let token = Unverified::parse(text).map_err(|why| self.invalid(why))?;
        let Ok(key) = self.keys.find(&token).await else {
            let why = "the keys of the issuer cannot be fetched now";
            return Err(AuthRefusal {
                status: StatusCode::SERVICE_UNAVAILABLE,
                challenge: None,
                why: why.to_owned(),
            });
        };
        let key = key.ok_or_else(|| self.invalid("no key of the issuer has signed the token"))?;
        // The claims only after the signature: nothing of a forged token is looked at.
        let is_signed = key.verifies(&token);
        let claims = token.claims().filter(|_| is_signed);
        let claims = claims.ok_or_else(|| self.invalid("the signature of the token is wrong"))?;
        let ends = self.check(&claims).map_err(|why| self.invalid(why))?;
        let (identity, until) = self.admit(&claims, ends, usual)?;
        let made = identity.clone();
        self.keep(
            digest,
            Checked {
                identity,
                until,
                key,
            },
        );
        Ok(made)
    }

    /// Checks for whom and for how long a token was made; returns the time of its end.
    fn check(&self, claims: &Map<String, Value>) -> Result<SystemTime, &'static str> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if text("iss") != Some(self.options.issuer.as_str()) {
            return Err("the token is of another issuer");
        }
        let is_for_us = |one: &Value| {
            one.as_str().is_some_and(|one| {
                one == self.resource || self.other_audiences.iter().any(|known| known == one)
            })
        };
        let is_meant = match claims.get("aud") {
            Some(Value::Array(all)) => all.iter().any(is_for_us),
            Some(one) => is_for_us(one),
            None => false,
        };
        if !is_meant {
            return Err("the token was not issued for this gateway");
        }
        if text("sub").is_none_or(str::is_empty) {
            return Err("the token names no subject");
        }
        let now = SystemTime::now();
        let ends = time(claims.get("exp")).ok_or("the token has no end")?;
        if ends.checked_add(LEEWAY).is_none_or(|until| until <= now) {
            return Err("the token has expired");
        }
        if let Some(begins) = claims.get("nbf") {
            let begins = time(Some(begins)).ok_or("the token has no usable beginning")?;
            if now.checked_add(LEEWAY).is_none_or(|latest| latest < begins) {
                return Err("the token does not count yet");
            }
        }
        Ok(ends)
    }

    /// Finds the agent that a token stands for.
    fn admit(
        &self,
        claims: &Map<String, Value>,
        ends: SystemTime,
        usual: &CallerId,
    ) -> Result<(ClientIdentity, SystemTime), AuthRefusal> {
        let forbidden = |why| self.refusal(StatusCode::FORBIDDEN, Some("insufficient_scope"), why);
        if !has_scopes(claims, &self.options.scopes) {
            return Err(forbidden("the token lacks a scope"));
        }
        let mut rules = self.options.rules.iter();
        let rule = rules.find(|rule| rule.matches(claims));
        let rule = rule.ok_or_else(|| forbidden("the token stands for no agent here"))?;
        let subject = claims
            .get("sub")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let principal = format!("{}\0{subject}", self.options.issuer);
        let principal = Digest::of(principal.as_bytes()).short();
        let validity = Validity::until(ends.checked_add(RENEWAL).unwrap_or(ends));
        let identity = ClientIdentity::remote(rule.caller(usual), principal).valid(validity);
        Ok((identity, ends.checked_add(LEEWAY).unwrap_or(ends)))
    }

    fn checked(&self) -> MutexGuard<'_, FxHashMap<Digest, Checked>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of a token that was checked before, as long as it and its key count.
    fn checked_before(&self, digest: &Digest, usual: &CallerId) -> Option<ClientIdentity> {
        let mut all = self.checked();
        let known = all.get(digest)?;
        if known.until <= SystemTime::now() {
            all.remove(digest);
            return None;
        }
        // A key that the issuer has withdrawn takes its tokens with it.
        if !self.keys.has(&known.key)? {
            known.identity.validity().end();
            all.remove(digest);
            return None;
        }
        let stand_in = known.identity.caller().stand_in();
        let is_same = stand_in.is_none_or(|stand_in| stand_in == usual);
        is_same.then(|| known.identity.clone())
    }

    fn keep(&self, digest: Digest, checked: Checked) {
        let mut all = self.checked();
        if all.len() >= MOST_CHECKED {
            let now = SystemTime::now();
            all.retain(|_, known| known.until > now);
        }
        if all.len() >= MOST_CHECKED {
            all.clear();
        }
        all.insert(digest, checked);
    }

    fn invalid(&self, why: &str) -> AuthRefusal {
        self.refusal(StatusCode::UNAUTHORIZED, Some("invalid_token"), why)
    }

    /// The refusal of a token that does not count any more.
    pub(in crate::http) fn no_longer_valid(&self) -> AuthRefusal {
        self.invalid("the token does not count any more")
    }

    /// A refusal that tells the client where it gets a token (RFC 9728, 5.1).
    fn refusal(&self, status: StatusCode, error: Option<&str>, why: &str) -> AuthRefusal {
        let mut challenge = format!(
            "Bearer realm=\"switchboard\", resource_metadata=\"{}\"",
            self.metadata_url
        );
        if let Some(error) = error {
            challenge.push_str(&format!(", error=\"{error}\""));
        }
        if !self.options.scopes.is_empty() {
            challenge.push_str(&format!(", scope=\"{}\"", self.options.scopes.join(" ")));
        }
        AuthRefusal {
            status,
            challenge: HeaderValue::try_from(challenge).ok(),
            why: why.to_owned(),
        }
    }
}

impl std::fmt::Debug for OAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuth")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A time in seconds since 1970 (RFC 7519, 2: NumericDate).
fn time(claim: Option<&Value>) -> Option<SystemTime> {
    let seconds = claim?.as_f64().filter(|seconds| *seconds >= 0.0)?;
    let since = Duration::try_from_secs_f64(seconds).ok()?;
    UNIX_EPOCH.checked_add(since)
}

/// Returns true for a URL over TLS, or on this machine.
fn is_safe(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    let has_no_query = uri.query().is_none() && !url.contains('#');
    let host = uri.host().unwrap_or_default();
    let is_here = host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse()
            .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    has_no_query
        && match uri.scheme_str() {
            Some("https") => !host.is_empty(),
            Some("http") => is_here,
            _ => false,
        }
}

/// Splits a URL before its path.
fn split_origin(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at.saturating_add(3));
    let path = url.get(start..).and_then(|rest| rest.find('/'));
    let at = path.map_or(url.len(), |path| start.saturating_add(path));
    url.split_at_checked(at).unwrap_or((url, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_over_tls_or_on_this_machine_are_safe() {
        for good in [
            "https://a.example",
            "https://a.example:8443/x",
            "http://127.0.0.1:9/x",
            "http://[::1]:9",
            "http://localhost",
        ] {
            assert!(is_safe(good), "{good}");
        }
        for bad in [
            "",
            "a.example",
            "http://a.example",
            "http://127.0.0.1.example",
            "ftp://localhost",
            "https://a.example?x",
            "https://a.example#x",
        ] {
            assert!(!is_safe(bad), "{bad}");
        }
    }

    #[test]
    fn times_are_seconds_that_can_be() {
        let at = |value: Value| time(Some(&value));
        assert_eq!(at(json!(5)), Some(UNIX_EPOCH + Duration::from_secs(5)));
        assert_eq!(
            at(json!(0.5)),
            Some(UNIX_EPOCH + Duration::from_millis(500))
        );
        for bad in [json!(-1), json!("5"), json!(null), json!(1e300), json!([5])] {
            assert_eq!(time(Some(&bad)), None, "{bad}");
        }
        assert_eq!(time(None), None);
    }

    #[test]
    fn a_url_is_split_before_its_path() {
        assert_eq!(
            split_origin("https://a.example/x/y"),
            ("https://a.example", "/x/y")
        );
        assert_eq!(split_origin("https://a.example"), ("https://a.example", ""));
    }
}
