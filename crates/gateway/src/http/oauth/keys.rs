//! Keys of an issuer (JWK, RFC 7517), and the check of a signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;

use super::jwt::{Algorithm, Unverified};

/// Most keys of one issuer.
const MOST_KEYS: usize = 64;

/// A key that signatures are checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    id: Option<String>,
    material: Material,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// A point, uncompressed.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// Reads the keys of a set that can check signatures; others are left out.
pub(super) fn parse_keys(text: &[u8]) -> Option<Vec<Key>> {
    let set: KeySet = serde_json::from_slice(text).ok()?;
    let keys = set.keys.into_iter().take(MOST_KEYS);
    Some(keys.filter_map(Key::parse).collect())
}

impl Key {
    fn parse(key: serde_json::Value) -> Option<Self> {
        let key: WrittenKey = serde_json::from_value(key).ok()?;
        let is_for_signatures = key
            .purpose
            .as_deref()
            .is_none_or(|purpose| purpose == "sig")
            && key
                .key_ops
                .is_none_or(|all| all.iter().any(|one| one == "verify"));
        if !is_for_signatures {
            return None;
        }
        let bytes = |text: Option<String>| URL_SAFE_NO_PAD.decode(text?).ok();
        let material = match (key.kty.as_str(), key.crv.as_deref()) {
            ("RSA", _) => Material::Rsa {
                n: bytes(key.n)?,
                e: bytes(key.e)?,
            },
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(key.x)?, bytes(key.y)?);
                if (x.len(), y.len()) != (32, 32) {
                    return None;
                }
                Material::P256([&[4], x.as_slice(), y.as_slice()].concat())
            }
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(key.x)?),
            // Shared keys among them: what checks with those could also sign.
            _ => return None,
        };
        let known = Self {
            id: key.kid,
            material,
        };
        // A key that names another algorithm is for that one alone.
        let is_right = key
            .alg
            .is_none_or(|alg| Algorithm::parse(&alg) == Some(known.algorithm()));
        is_right.then_some(known)
    }

    /// The one algorithm that the key is for: a token cannot choose another one.
    fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// Returns true if the key could have signed a token, by its name and algorithm.
    fn fits(&self, token: &Unverified<'_>) -> bool {
        let is_named = token.key_id.is_none() || token.key_id == self.id;
        is_named && self.algorithm() == token.algorithm
    }

    /// Returns true if the key has signed a token.
    pub(super) fn verifies(&self, token: &Unverified<'_>) -> bool {
        let (message, signature) = (token.message, token.signature.as_slice());
        let verified = match &self.material {
            Material::Rsa { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            Material::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Material::Ed25519(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

/// The key that a token is to be checked with. Without a name in the token, only one key may fit.
pub(super) fn key_for<'k>(keys: &'k [Key], token: &Unverified<'_>) -> Option<&'k Key> {
    let mut fitting = keys.iter().filter(|key| key.fits(token));
    let first = fitting.next()?;
    let is_only = fitting.next().is_none();
    (is_only || token.key_id.is_some()).then_some(first)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_cannot_check_signatures_are_left_out() {
        let (n, x) = (
            URL_SAFE_NO_PAD.encode([1; 256]),
            URL_SAFE_NO_PAD.encode([2; 32]),
        );
        let rsa = |more: serde_json::Value| {
            let mut key = json!({"kty": "RSA", "kid": "a", "n": n, "e": "AQAB"});
            key.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            key
        };
        let count = |key: serde_json::Value| {
            let text = json!({ "keys": [key] }).to_string();
            parse_keys(text.as_bytes()).unwrap().len()
        };
        for good in [
            rsa(json!({})),
            rsa(json!({"use": "sig", "alg": "RS256", "key_ops": ["verify"]})),
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": x}),
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "alg": "EdDSA"}),
        ] {
            assert_eq!(count(good.clone()), 1, "{good}");
        }
        for bad in [
            rsa(json!({"use": "enc"})),
            rsa(json!({"key_ops": ["encrypt"]})),
            rsa(json!({"alg": "RS512"})),
            rsa(json!({"alg": "ES256"})),
            rsa(json!({"n": null})),
            json!({"kty": "oct", "k": x}),
            json!({"kty": "EC", "crv": "P-384", "x": x, "y": x}),
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": "AAAA"}),
            json!({"kty": "OKP", "crv": "X25519", "x": x}),
            json!("RSA"),
        ] {
            assert_eq!(count(bad.clone()), 0, "{bad}");
        }
        assert!(parse_keys(b"{}").is_none() && parse_keys(b"").is_none());
    }
}
