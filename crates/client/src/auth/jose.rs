//! Random values, digests, PKCE, signed tokens (JWT) and DPoP proofs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use switchboard_core::secret::Secret;

use crate::auth_error::AuthError;

/// Length of a state, a verifier and a token identifier.
const RANDOM_BYTES: usize = 32;

/// Encodes as base64url without padding, as OAuth uses it.
pub(crate) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The SHA-256 of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().to_vec()
}

/// Returns a random text that cannot be guessed.
///
/// # Errors
/// Fails when the system has no random numbers.
pub(crate) fn random_text() -> Result<String, AuthError> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    fill_random(&mut bytes)?;
    Ok(base64url(&bytes))
}

/// Fills bytes with random ones.
///
/// # Errors
/// Fails when the system has none.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), AuthError> {
    let filled = SystemRandom::new().fill(bytes);
    filled.map_err(|_| AuthError::Key {
        what: "the system's source of random numbers",
        problem: "it failed".to_owned(),
    })
}

/// The PKCE challenge of a verifier, with the method S256.
pub(crate) fn pkce_challenge(verifier: &str) -> String {
    base64url(&sha256(verifier.as_bytes()))
}

/// A private key that signs tokens.
///
/// Accepts PEM texts in PKCS #8 (`BEGIN PRIVATE KEY`), and in PKCS #1 for RSA.
pub struct SigningKey {
    key: Key,
    id: Option<String>,
}

enum Key {
    Es256(Box<EcdsaKeyPair>),
    Rs256(Box<RsaKeyPair>),
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm())
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Parses a private key for ES256 or RS256.
    ///
    /// # Errors
    /// Fails when it is not such a key. The error does not quote it.
    pub fn from_pem(pem: &Secret<String>) -> Result<Self, AuthError> {
        let der = PrivateKeyDer::from_pem_slice(pem.expose().as_bytes())
            .map_err(|_| bad_key("it is not a private key in PEM"))?;
        let key = match &der {
            PrivateKeyDer::Pkcs8(der) => Self::from_pkcs8(der.secret_pkcs8_der())?,
            PrivateKeyDer::Pkcs1(der) => {
                let key = RsaKeyPair::from_der(der.secret_pkcs1_der());
                Key::Rs256(Box::new(
                    key.map_err(|_| bad_key("it is an RSA key of an unusual kind"))?,
                ))
            }
            _ => {
                let problem =
                    "it is not in the form PKCS #8; `openssl pkcs8 -topk8 -nodes` converts it";
                return Err(bad_key(problem));
            }
        };
        Ok(Self { key, id: None })
    }

    fn from_pkcs8(der: &[u8]) -> Result<Key, AuthError> {
        let random = SystemRandom::new();
        // PKCS #8 does not tell the kind of key in a form we read, so try both.
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            return Ok(Key::Es256(Box::new(key)));
        }
        let key = RsaKeyPair::from_pkcs8(der);
        let key =
            key.map_err(|_| bad_key("it is neither a P-256 key nor an RSA key of 2048 bits"))?;
        Ok(Key::Rs256(Box::new(key)))
    }

    /// Sets the key id (`kid`) of signatures.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The signature algorithm.
    pub fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Es256(_) => "ES256",
            Key::Rs256(_) => "RS256",
        }
    }

    /// Signs claims.
    ///
    /// # Errors
    /// Fails when the system has no random numbers.
    pub(crate) fn sign(&self, claims: &Value) -> Result<Secret<String>, AuthError> {
        let mut header = json!({"alg": self.algorithm(), "typ": "JWT"});
        if let (Some(id), Some(header)) = (&self.id, header.as_object_mut()) {
            header.insert("kid".to_owned(), json!(id));
        }
        self.sign_with(&header, claims)
    }

    fn sign_with(&self, header: &Value, claims: &Value) -> Result<Secret<String>, AuthError> {
        let random = SystemRandom::new();
        let input = format!(
            "{}.{}",
            base64url(header.to_string().as_bytes()),
            base64url(claims.to_string().as_bytes())
        );
        let failed = |_| bad_key("signing failed");
        let signature = match &self.key {
            Key::Es256(key) => {
                let signature = key.sign(&random, input.as_bytes()).map_err(failed)?;
                signature.as_ref().to_vec()
            }
            Key::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, input.as_bytes(), &mut signature)
                    .map_err(failed)?;
                signature
            }
        };
        Ok(Secret::new(format!("{input}.{}", base64url(&signature))))
    }
}

fn bad_key(problem: &str) -> AuthError {
    AuthError::Key {
        what: "the private key",
        problem: problem.to_owned(),
    }
}

/// A DPoP key, which proves possession of a token (RFC 9449).
pub(crate) struct DpopKey {
    key: SigningKey,
    /// The public key, as a JSON Web Key.
    public: Value,
    /// The private key, in the form of the store.
    stored: Secret<String>,
}

impl std::fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DpopKey(***)")
    }
}

/// The contents of one proof.
pub(crate) struct Proof<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a url::Url,
    pub(crate) nonce: Option<&'a str>,
    pub(crate) token: Option<&'a Secret<String>>,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

impl DpopKey {
    /// Generates a new key.
    ///
    /// # Errors
    /// Fails when the system has no random numbers.
    pub(crate) fn generate() -> Result<Self, AuthError> {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| bad_key("it cannot be made"))?;
        Self::from_stored(&Secret::new(base64url(document.as_ref())))
    }

    /// Parses a stored key.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub(crate) fn from_stored(stored: &Secret<String>) -> Result<Self, AuthError> {
        let der = from_base64url(stored.expose()).ok_or_else(|| bad_key("it is damaged"))?;
        let der = Secret::new(der);
        let random = SystemRandom::new();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.expose(), &random)
                .map_err(|_| bad_key("it is damaged"))?;
        // An uncompressed point: a byte 4, then both coordinates.
        let point = pair.public_key().as_ref();
        let (x, y) = match (point.get(1..33), point.get(33..65)) {
            (Some(x), Some(y)) => (base64url(x), base64url(y)),
            _ => return Err(bad_key("it is damaged")),
        };
        Ok(Self {
            key: SigningKey {
                key: Key::Es256(Box::new(pair)),
                id: None,
            },
            public: json!({"kty": "EC", "crv": "P-256", "x": x, "y": y}),
            stored: stored.clone(),
        })
    }

    pub(crate) fn stored(&self) -> &Secret<String> {
        &self.stored
    }

    /// Signs a new proof for one request.
    ///
    /// # Errors
    /// Fails when the system has no random numbers.
    pub(crate) fn prove(&self, proof: &Proof<'_>) -> Result<Secret<String>, AuthError> {
        let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.public});
        // RFC 9449, 4.2: without query and fragment.
        let mut url = proof.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let mut claims = json!({
            "jti": random_text()?,
            "htm": proof.method,
            "htu": url.as_str(),
            "iat": proof.now,
        });
        if let Some(claims) = claims.as_object_mut() {
            if let Some(nonce) = proof.nonce {
                claims.insert("nonce".to_owned(), json!(nonce));
            }
            if let Some(token) = proof.token {
                let hash = base64url(&sha256(token.expose().as_bytes()));
                claims.insert("ath".to_owned(), json!(hash));
            }
        }
        self.key.sign_with(&header, &claims)
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn parts(token: &str) -> (Value, Value, Vec<u8>, String) {
        let pieces: Vec<&str> = token.split('.').collect();
        let read = |piece: &str| {
            let bytes = from_base64url(piece).expect("base64");
            serde_json::from_slice(&bytes).expect("JSON")
        };
        (
            read(pieces[0]),
            read(pieces[1]),
            from_base64url(pieces[2]).expect("base64"),
            format!("{}.{}", pieces[0], pieces[1]),
        )
    }

    #[test]
    fn a_pkce_challenge_is_that_of_the_specification() {
        // RFC 7636, appendix B.
        assert_eq!(
            pkce_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn random_texts_are_long_and_never_the_same() {
        let (first, second) = (
            random_text().expect("random"),
            random_text().expect("random"),
        );
        assert_eq!(first.len(), 43);
        assert_ne!(first, second);
    }

    #[test]
    fn a_proof_has_what_the_specification_wants_and_verifies() {
        let key = DpopKey::generate().expect("a key");
        let key = DpopKey::from_stored(key.stored()).expect("the same key");
        let url = url::Url::parse("https://as.example/token?a=b#c").expect("a URL");
        let token = Secret::from("token");
        let proof = Proof {
            method: "POST",
            url: &url,
            nonce: Some("n"),
            token: Some(&token),
            now: 7,
        };
        let first = key.prove(&proof).expect("a proof");
        let (header, claims, signature, input) = parts(first.expose());
        assert_eq!(header["typ"], "dpop+jwt");
        assert_eq!(header["jwk"]["d"], Value::Null);
        assert_eq!(claims["htu"], "https://as.example/token");
        assert_eq!(claims["nonce"], "n");
        assert_eq!(claims["ath"], base64url(&sha256(b"token")));
        let coordinate = |name: &str| {
            let text = header["jwk"][name].as_str().expect("a text");
            from_base64url(text).expect("base64")
        };
        let point = [vec![4], coordinate("x"), coordinate("y")].concat();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
            .verify(input.as_bytes(), &signature)
            .expect("the signature");
        let second = key.prove(&proof).expect("a proof");
        assert_ne!(parts(second.expose()).1["jti"], claims["jti"]);
    }

    #[test]
    fn keys_that_are_none_are_refused_without_being_shown() {
        for pem in [
            "",
            "canary",
            "-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----",
        ] {
            let error = SigningKey::from_pem(&Secret::from(pem)).expect_err("not a key");
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
        }
    }
}
