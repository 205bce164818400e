//! An issuer that signs whatever a test says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use switchboard::auth::{AuthFetch, AuthFetching, AuthRequest, AuthResponse};

pub(super) const ISSUER: &str = "https://issuer.example/t";

/// A key of each kind.
pub(super) struct Keys {
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
}

impl Keys {
    fn new(pem: &str) -> Self {
        let random = SystemRandom::new();
        let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let ec = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let ed = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Self {
            rsa: RsaKeyPair::from_pkcs8(&STANDARD.decode(body).unwrap()).unwrap(),
            ec: EcdsaKeyPair::from_pkcs8(algorithm, ec.as_ref(), &random).unwrap(),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).unwrap(),
        }
    }

    /// The public keys, under these names.
    fn public(&self, prefix: &str) -> Vec<Value> {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let rsa: PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let point = self.ec.public_key().as_ref();
        vec![
            json!({"kty": "RSA", "kid": format!("{prefix}rsa"), "use": "sig",
                   "n": text(&rsa.n), "e": text(&rsa.e)}),
            json!({"kty": "EC", "crv": "P-256", "kid": format!("{prefix}ec"), "alg": "ES256",
                   "x": text(&point[1..33]), "y": text(&point[33..])}),
            json!({"kty": "OKP", "crv": "Ed25519", "kid": format!("{prefix}ed"),
                   "x": text(self.ed.public_key().as_ref())}),
        ]
    }

    pub(super) fn sign(&self, how: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let by_rsa = |padding: &'static dyn ring::signature::RsaEncoding| {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa
                .sign(padding, &random, message, &mut signature)
                .unwrap();
            signature
        };
        match how {
            "rsa" => by_rsa(&RSA_PKCS1_SHA256),
            "rsa512" => by_rsa(&RSA_PKCS1_SHA512),
            "pss" => by_rsa(&RSA_PSS_SHA256),
            "ec" => self.ec.sign(&random, message).unwrap().as_ref().to_vec(),
            "ed" => self.ed.sign(message).as_ref().to_vec(),
            secret => {
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
                ring::hmac::sign(&key, message).as_ref().to_vec()
            }
        }
    }
}

/// An issuer, and a stranger who would like to be it.
#[derive(Clone)]
pub(super) struct Issuer {
    pub(super) own: Arc<Keys>,
    pub(super) stranger: Arc<Keys>,
    published: Arc<Mutex<Vec<Value>>>,
    fetches: Arc<AtomicUsize>,
}

impl Issuer {
    pub(super) fn new() -> Self {
        let own = Keys::new(include_str!("../keys/rsa-one.pem"));
        let stranger = Keys::new(include_str!("../keys/rsa-two.pem"));
        let mut published = own.public("");
        // For other purposes than signatures, and of a kind that anybody could sign with.
        let mut encryption = stranger.public("enc-").swap_remove(0);
        encryption["use"] = "enc".into();
        published.push(encryption);
        published
            .push(json!({"kty": "oct", "kid": "shared", "k": URL_SAFE_NO_PAD.encode("shared")}));
        Self {
            own: Arc::new(own),
            stranger: Arc::new(stranger),
            published: Arc::new(Mutex::new(published)),
            fetches: Arc::default(),
        }
    }

    /// The number of times that its keys were fetched.
    pub(super) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::Relaxed)
    }

    pub(super) fn published(&self) -> Vec<Value> {
        self.published.lock().unwrap().clone()
    }

    /// Replaces all keys. The new ones, whose names begin with `new-`, are those of the stranger.
    pub(super) fn replace_keys(&self) {
        *self.published.lock().unwrap() = self.stranger.public("new-");
    }

    /// A token that one of the new keys has signed.
    pub(super) fn new_token(&self, kind: &str) -> String {
        let mut header = header(kind);
        header["kid"] = format!("new-{kind}").into();
        signed(&self.stranger, kind, &header, &claims(&json!({})))
    }

    /// A token that is right in all but what a test changes.
    pub(super) fn token(&self, kind: &str, change: &Value) -> String {
        signed(&self.own, kind, &header(kind), &claims(change))
    }
}

impl AuthFetch for Issuer {
    fn fetch(&self, request: AuthRequest) -> AuthFetching<'_> {
        let url = request.url.expose().to_string();
        let document = match url.as_str() {
            "https://issuer.example/t/.well-known/openid-configuration" => Some(json!({
                "issuer": ISSUER, "jwks_uri": "https://issuer.example/keys",
            })),
            "https://issuer.example/keys" => {
                self.fetches.fetch_add(1, Ordering::Relaxed);
                Some(json!({ "keys": self.published() }))
            }
            _ => None,
        };
        let answer = match document {
            Some(document) => AuthResponse::new(200, Vec::new(), document.to_string().into_bytes()),
            None => AuthResponse::new(404, Vec::new(), Vec::new()),
        };
        Box::pin(async move { Ok(answer) })
    }
}

/// The usual header of a token that a kind of key has signed.
pub(super) fn header(kind: &str) -> Value {
    let algorithm = match kind {
        "rsa" => "RS256",
        "ec" => "ES256",
        _ => "EdDSA",
    };
    json!({"alg": algorithm, "kid": kind, "typ": "at+jwt"})
}

/// The usual claims, with some changed; null takes one away.
pub(super) fn claims(change: &Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": super::RESOURCE, "sub": "ann", "exp": now() + 300, "iat": now(),
        "scope": "openid mcp", "tenant": "ours",
    });
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    claims
}

pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

pub(super) fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

pub(super) fn signed(keys: &Keys, how: &str, header: &Value, claims: &Value) -> String {
    let message = format!("{}.{}", encoded(header), encoded(claims));
    let signature = keys.sign(how, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}
