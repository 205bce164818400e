//! The keys of an issuer: fetched when they are needed, kept, and fetched again when they may have changed.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Deserialize;
use switchboard::auth::{AuthFetch, Purpose, fetch_published};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::jwt::Unverified;
use super::keys::{Key, key_for, parse_keys};
use super::options::OAuthOptions;

/// Longest document of an issuer.
const DOCUMENT_BYTES: usize = 256 << 10;
/// Longest wait for one document.
const FETCH_TIME: Duration = Duration::from_secs(10);
/// Time between two fetches that an unknown key asks for: anybody can name one.
const REFETCH: Duration = Duration::from_secs(60);
/// Time between two fetches while there are no keys at all.
const RETRY: Duration = Duration::from_secs(5);
/// Age at which keys are fetched again, so that one that the issuer has withdrawn does not count for ever.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// The keys cannot be fetched, and none are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unavailable;

/// The keys of one issuer.
pub(super) struct IssuerKeys {
    issuer: String,
    jwks_uri: Option<String>,
    fetch: Arc<dyn AuthFetch>,
    known: RwLock<Known>,
    /// The time of the last fetch. Held during one, so that requests wait for it together.
    tried: Mutex<Option<Instant>>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Arc<[Key]>,
    fetched: Option<Instant>,
}

#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    jwks_uri: String,
}

impl IssuerKeys {
    pub(super) fn new(options: &OAuthOptions, fetch: Arc<dyn AuthFetch>) -> Self {
        Self {
            issuer: options.issuer.clone(),
            jwks_uri: options.jwks_uri.clone(),
            fetch,
            known: RwLock::default(),
            tried: Mutex::default(),
        }
    }

    fn known_keys(&self) -> Known {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Returns true if a key that verified something is one of the issuer's still; `None` if that has to be
    /// found out again.
    pub(super) fn has(&self, key: &Key) -> Option<bool> {
        let known = self.known_keys();
        let is_fresh = known.fetched.is_some_and(|at| at.elapsed() < MAX_AGE);
        is_fresh.then(|| known.keys.contains(key))
    }

    /// The key that a token is to be checked with, if the issuer has it.
    pub(super) async fn find(&self, token: &Unverified<'_>) -> Result<Option<Key>, Unavailable> {
        let known = self.known_keys();
        let is_fresh = known.fetched.is_some_and(|at| at.elapsed() < MAX_AGE);
        let found = key_for(&known.keys, token).cloned();
        if is_fresh && found.is_some() {
            return Ok(found);
        }
        let mut tried = self.tried.lock().await;
        // Looked up again: another request may have fetched them meanwhile.
        let known = self.known_keys();
        let is_due = tried.is_none_or(|last| {
            let pause = if known.fetched.is_some() {
                REFETCH
            } else {
                RETRY
            };
            last.elapsed() >= pause
        });
        if is_due {
            // Before the fetch, which may be cancelled: its cost counts all the same.
            *tried = Some(Instant::now());
            if let Some(keys) = self.fetch().await {
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                *known = Known {
                    keys: keys.into(),
                    fetched: Some(Instant::now()),
                };
            }
        }
        drop(tried);
        let known = self.known_keys();
        // Old keys are better than none while the issuer cannot be reached.
        match known.fetched {
            Some(_) => Ok(key_for(&known.keys, token).cloned()),
            None => Err(Unavailable),
        }
    }

    async fn fetch(&self) -> Option<Vec<Key>> {
        let address = match &self.jwks_uri {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        parse_keys(&self.get(Purpose::Keys, &address).await?)
    }

    /// Finds the address of the keys in the issuer's metadata (RFC 8414, OpenID Connect Discovery).
    async fn discover(&self) -> Option<String> {
        for address in metadata_addresses(&self.issuer) {
            let Some(text) = self.get(Purpose::IssuerMetadata, &address).await else {
                continue;
            };
            // RFC 8414, 3.3: metadata of another issuer must not be used.
            let metadata = serde_json::from_slice::<IssuerMetadata>(&text).ok();
            if let Some(metadata) = metadata.filter(|metadata| metadata.issuer == self.issuer) {
                return Some(metadata.jwks_uri);
            }
        }
        None
    }

    async fn get(&self, purpose: Purpose, address: &str) -> Option<Vec<u8>> {
        let got = fetch_published(&*self.fetch, purpose, address, DOCUMENT_BYTES, FETCH_TIME).await;
        got.ok()
    }
}

/// The addresses of an issuer's metadata, in the order in which they are tried.
fn metadata_addresses(issuer: &str) -> Vec<String> {
    let authority_at = issuer.find("://").map_or(0, |at| at.saturating_add(3));
    let rest = issuer.get(authority_at..).unwrap_or_default();
    let path_at = rest
        .find('/')
        .map_or(issuer.len(), |at| authority_at.saturating_add(at));
    let (origin, path) = issuer.split_at_checked(path_at).unwrap_or((issuer, ""));
    let path = path.trim_end_matches('/');
    let mut addresses = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}{path}/.well-known/openid-configuration"),
    ];
    if !path.is_empty() {
        addresses.push(format!("{origin}/.well-known/openid-configuration{path}"));
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_both_standards_have_it() {
        assert_eq!(
            metadata_addresses("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            metadata_addresses("https://a.example/t/one/"),
            [
                "https://a.example/.well-known/oauth-authorization-server/t/one",
                "https://a.example/t/one/.well-known/openid-configuration",
                "https://a.example/.well-known/openid-configuration/t/one",
            ]
        );
    }
}
