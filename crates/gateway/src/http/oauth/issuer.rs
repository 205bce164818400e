//! The keys of an issuer: fetched when they are needed, kept, and fetched again when they may have changed.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Deserialize;
use switchboard::auth::{
    AuthFetch, PublishedDocument, Purpose, fetch_published, issuer_metadata_urls,
};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::jwt::Unverified;
use super::keys::{Key, key_for, parse_keys};
use super::options::OAuthOptions;

/// Longest document of an issuer.
const DOCUMENT_BYTES: usize = 256 << 10;
/// Longest wait for the keys, with the documents that lead to them.
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
    tried: Arc<Mutex<Option<Instant>>>,
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
            tried: Arc::default(),
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
    pub(super) async fn find(
        self: &Arc<Self>,
        token: &Unverified<'_>,
    ) -> Result<Option<Key>, Unavailable> {
        let known = self.known_keys();
        let is_fresh = known.fetched.is_some_and(|at| at.elapsed() < MAX_AGE);
        let found = key_for(&known.keys, token).cloned();
        if is_fresh && found.is_some() {
            return Ok(found);
        }
        let mut tried = Arc::clone(&self.tried).lock_owned().await;
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
            *tried = Some(Instant::now());
            let this = Arc::clone(self);
            // In a task, which has the lock until its end: a client that goes away, whoever it is, must not take
            // the keys from all others until the next fetch is due.
            let fetching = tokio::spawn(async move {
                if let Ok(Some(keys)) = timeout(FETCH_TIME, this.fetch()).await {
                    let mut known = this.known.write().unwrap_or_else(PoisonError::into_inner);
                    *known = Known {
                        keys: keys.into(),
                        fetched: Some(Instant::now()),
                    };
                }
                drop(tried);
            });
            fetching.await.ok();
        }
        let known = self.known_keys();
        // Old keys are better than none while the issuer cannot be reached.
        match known.fetched {
            Some(_) => Ok(key_for(&known.keys, token).cloned()),
            None => Err(Unavailable),
        }
    }

    async fn fetch(&self) -> Option<Vec<Key>> {
        let text = match &self.jwks_uri {
            Some(address) => self.get(Purpose::Keys, address, None).await?,
            None => {
                let address = self.discover().await?;
                self.get(Purpose::Keys, &address, Some(&self.issuer))
                    .await?
            }
        };
        parse_keys(&text)
    }

    /// Finds the address of the keys in the issuer's metadata (RFC 8414, OpenID Connect Discovery).
    async fn discover(&self) -> Option<String> {
        let addresses = issuer_metadata_urls(&self.issuer, self.fetch.allowed());
        for address in addresses.ok()? {
            let Some(text) = self.get(Purpose::IssuerMetadata, &address, None).await else {
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

    /// Gets a document at an address that the person has named, or that of `named_by`.
    async fn get(
        &self,
        purpose: Purpose,
        address: &str,
        named_by: Option<&str>,
    ) -> Option<Vec<u8>> {
        let document = PublishedDocument {
            purpose,
            url: address,
            named_by,
            limit_bytes: DOCUMENT_BYTES,
            timeout: FETCH_TIME,
        };
        fetch_published(&*self.fetch, document).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Mutex as Lock;

    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::{Value, json};
    use switchboard::auth::{AuthFetching, AuthRequest, AuthResponse};
    use tokio::sync::{Notify, Semaphore};

    use super::*;

    /// Answers with these documents once it may, and remembers what it was asked for.
    struct Documents {
        all: Vec<(&'static str, Value)>,
        asked: Lock<Vec<String>>,
        begun: Notify,
        may_answer: Semaphore,
    }

    impl Documents {
        fn new(all: Vec<(&'static str, Value)>, answers: usize) -> Arc<Self> {
            Arc::new(Self {
                all,
                asked: Lock::default(),
                begun: Notify::new(),
                may_answer: Semaphore::new(answers),
            })
        }

        fn asked(&self) -> Vec<String> {
            self.asked.lock().unwrap().clone()
        }
    }

    impl AuthFetch for Documents {
        fn fetch(&self, request: AuthRequest) -> AuthFetching<'_> {
            let url = request.url.expose().to_string();
            self.asked.lock().unwrap().push(url.clone());
            self.begun.notify_one();
            Box::pin(async move {
                self.may_answer.acquire().await.unwrap().forget();
                let found = self.all.iter().find(|(known, _)| *known == url);
                Ok(match found {
                    Some((_, document)) => {
                        AuthResponse::new(200, Vec::new(), document.to_string().into_bytes())
                    }
                    None => AuthResponse::new(404, Vec::new(), Vec::new()),
                })
            })
        }
    }

    fn key_set() -> Value {
        let x = URL_SAFE_NO_PAD.encode([2; 32]);
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]})
    }

    fn token() -> String {
        format!("{}.e30.AAAA", URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA"}"#))
    }

    fn keys(issuer: &str, jwks_uri: Option<&str>, fetch: &Arc<Documents>) -> Arc<IssuerKeys> {
        let mut options = OAuthOptions::new(issuer, "https://gateway.example/mcp");
        options.jwks_uri = jwks_uri.map(str::to_owned);
        Arc::new(IssuerKeys::new(&options, Arc::clone(fetch) as _))
    }

    #[tokio::test]
    async fn keys_come_although_the_client_that_asked_is_gone() {
        let address = "https://issuer.example/keys";
        let fetch = Documents::new(vec![(address, key_set())], 0);
        let keys = keys("https://issuer.example", Some(address), &fetch);
        let token = token();
        let token = Unverified::parse(token.as_bytes()).unwrap();
        {
            let mut asking = pin!(keys.find(&token));
            tokio::select! {
                _ = &mut asking => panic!("the issuer has not answered yet"),
                () = fetch.begun.notified() => {}
            }
        }
        fetch.may_answer.add_permits(1);
        assert!(matches!(keys.find(&token).await, Ok(Some(_))));
        assert_eq!(fetch.asked(), [address]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_issuer_that_does_not_answer_is_waited_for_once() {
        let fetch = Documents::new(Vec::new(), 0);
        let keys = keys("https://issuer.example", None, &fetch);
        let token = token();
        let token = Unverified::parse(token.as_bytes()).unwrap();
        let started = Instant::now();
        assert_eq!(keys.find(&token).await, Err(Unavailable));
        assert_eq!(started.elapsed(), FETCH_TIME);
    }

    #[tokio::test]
    async fn metadata_does_not_choose_whom_the_gateway_talks_to() {
        for named in [
            "http://127.0.0.1:9/keys",
            "https://127.0.0.1/keys",
            "https://10.0.0.1/keys",
            "https://169.254.169.254/keys",
            "https://[fd00::1]/keys",
            "http://issuer.example/keys",
        ] {
            let metadata = "https://issuer.example/.well-known/oauth-authorization-server";
            let document = json!({"issuer": "https://issuer.example", "jwks_uri": named});
            let fetch = Documents::new(vec![(metadata, document), (named, key_set())], 9);
            let keys = keys("https://issuer.example", None, &fetch);
            let token = token();
            let token = Unverified::parse(token.as_bytes()).unwrap();
            assert_eq!(keys.find(&token).await, Err(Unavailable), "{named}");
            assert_eq!(fetch.asked(), [metadata], "{named}");
        }
        // The person has named the issuer, and with it its own origin.
        let (metadata, named) = (
            "https://10.0.0.1/.well-known/oauth-authorization-server",
            "https://10.0.0.1/keys",
        );
        let document = json!({"issuer": "https://10.0.0.1", "jwks_uri": named});
        let fetch = Documents::new(vec![(metadata, document), (named, key_set())], 9);
        let keys = keys("https://10.0.0.1", None, &fetch);
        let token = token();
        let token = Unverified::parse(token.as_bytes()).unwrap();
        assert!(matches!(keys.find(&token).await, Ok(Some(_))));
    }
}
