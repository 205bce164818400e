//! Signed tokens: assertions of clients and DPoP proofs, both ES256.

use std::time::{SystemTime, UNIX_EPOCH};

use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::Value;

use super::encoding::{from_base64url, sha256};

/// Maximum clock skew of a client, in seconds.
const SKEW: u64 = 60;

/// A signed token whose signature has not been checked yet.
pub(super) struct Jwt<'a> {
    pub(super) header: Value,
    pub(super) claims: Value,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jwt<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let wrong = || "it is not a signed token".to_owned();
        let (signed, signature) = text.rsplit_once('.').ok_or_else(wrong)?;
        let (header, claims) = signed.split_once('.').ok_or_else(wrong)?;
        let object = |part: &str| {
            let bytes = from_base64url(part)?;
            let value: Value = serde_json::from_slice(&bytes).ok()?;
            value.is_object().then_some(value)
        };
        let jwt = Self {
            header: object(header).ok_or_else(wrong)?,
            claims: object(claims).ok_or_else(wrong)?,
            signed,
            signature: from_base64url(signature).ok_or_else(wrong)?,
        };
        // The algorithm is fixed: accepting the token's own choice is how `none` gets in.
        match jwt.header["alg"].as_str() {
            Some("ES256") => Ok(jwt),
            _ => Err("it is not signed with ES256".to_owned()),
        }
    }

    /// Checks the signature against a public key.
    pub(super) fn verify(&self, key: &Value) -> Result<(), String> {
        let point = point(key).ok_or("its key is not a public key on P-256")?;
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(self.signed.as_bytes(), &self.signature)
            .map_err(|_| "its signature is wrong".to_owned())
    }

    pub(super) fn text(&self, claim: &str) -> Result<&str, String> {
        let value = self.claims[claim].as_str();
        value
            .filter(|value| !value.is_empty())
            .ok_or_else(|| format!("it has no {claim}"))
    }

    pub(super) fn seconds(&self, claim: &str) -> Result<u64, String> {
        let value = self.claims[claim].as_u64();
        value.ok_or_else(|| format!("it has no {claim}"))
    }

    /// Checks that the audience is one of those given.
    pub(super) fn is_for(&self, audiences: &[&str]) -> bool {
        match &self.claims["aud"] {
            Value::String(audience) => audiences.contains(&audience.as_str()),
            // More than one audience would let one of them replay it at another.
            Value::Array(list) => {
                list.len() == 1
                    && list
                        .iter()
                        .all(|one| audiences.contains(&one.as_str().unwrap_or_default()))
            }
            _ => false,
        }
    }
}

/// Checks that a moment is now, give or take the skew.
pub(super) fn is_now(seconds: u64) -> bool {
    seconds.abs_diff(now()) <= SKEW
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

fn point(key: &Value) -> Option<Vec<u8>> {
    // A key with its private part would have been leaked by the client.
    let is_public = key["kty"] == "EC" && key["crv"] == "P-256" && key.get("d").is_none();
    if !is_public {
        return None;
    }
    let mut point = vec![4];
    for coordinate in ["x", "y"] {
        let bytes = from_base64url(key[coordinate].as_str()?)?;
        if bytes.len() != 32 {
            return None;
        }
        point.extend(bytes);
    }
    Some(point)
}

/// Returns the thumbprint of a key (RFC 7638).
pub(super) fn thumbprint(key: &Value) -> String {
    let part = |name: &str| key[name].as_str().unwrap_or_default().to_owned();
    // The members in the order of their names, and no others.
    sha256(&format!(
        r#"{{"crv":"{}","kty":"{}","x":"{}","y":"{}"}}"#,
        part("crv"),
        part("kty"),
        part("x"),
        part("y")
    ))
}

/// The request that a DPoP proof must be made for.
pub(super) struct Proven<'a> {
    pub(super) method: &'a str,
    /// The address without its query.
    pub(super) url: &'a str,
    /// The token that it goes with; none at the token endpoint.
    pub(super) token: Option<&'a str>,
}

/// A proof that was verified, except for its nonce and for replay.
pub(super) struct Proof {
    pub(super) thumbprint: String,
    pub(super) id: String,
    pub(super) nonce: Option<String>,
}

/// Checks a DPoP proof (RFC 9449, 4.3).
pub(super) fn check_proof(text: &str, proven: &Proven<'_>) -> Result<Proof, String> {
    let jwt = Jwt::parse(text)?;
    if jwt.header["typ"] != "dpop+jwt" {
        return Err("its typ is not dpop+jwt".to_owned());
    }
    let key = &jwt.header["jwk"];
    // RFC 9449, 4.3: the key is in the proof itself, so the signature proves possession.
    jwt.verify(key)?;
    if jwt.text("htm")? != proven.method {
        return Err("its htm is another method".to_owned());
    }
    if jwt.text("htu")? != proven.url {
        return Err(format!("its htu is not {}", proven.url));
    }
    if !is_now(jwt.seconds("iat")?) {
        return Err("its iat is not now".to_owned());
    }
    // The hash binds the proof to the token, so that it cannot be used with another one.
    match proven.token {
        Some(token) if jwt.text("ath")? != sha256(token) => {
            return Err("its ath is of another token".to_owned());
        }
        None if jwt.claims.get("ath").is_some() => {
            return Err("an ath has no place at the token endpoint".to_owned());
        }
        _ => {}
    }
    Ok(Proof {
        thumbprint: thumbprint(key),
        id: jwt.text("jti")?.to_owned(),
        nonce: jwt.claims["nonce"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::json;

    use super::super::encoding::base64url;
    use super::*;

    /// A key that signs.
    struct Key(EcdsaKeyPair);

    impl Key {
        fn new() -> Self {
            let random = SystemRandom::new();
            let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
            let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
            Self(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
        }

        fn public(&self) -> Value {
            let point = self.0.public_key().as_ref();
            json!({
                "kty": "EC", "crv": "P-256",
                "x": base64url(&point[1..33]), "y": base64url(&point[33..]),
            })
        }

        fn sign(&self, header: &Value, claims: &Value) -> String {
            let part = |value: &Value| base64url(value.to_string().as_bytes());
            let signed = format!("{}.{}", part(header), part(claims));
            let signature = self
                .0
                .sign(&SystemRandom::new(), signed.as_bytes())
                .unwrap();
            format!("{signed}.{}", base64url(signature.as_ref()))
        }

        fn prove(&self, claims: &Value) -> String {
            let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.public()});
            self.sign(&header, claims)
        }
    }

    const TOKEN: Proven<'_> = Proven {
        method: "POST",
        url: "http://127.0.0.1:1/token",
        token: None,
    };

    #[test]
    fn a_good_proof_is_accepted_and_a_changed_one_is_not() {
        let key = Key::new();
        let good = json!({"htm": "POST", "htu": TOKEN.url, "iat": now(), "jti": "1", "nonce": "n"});
        let proof = check_proof(&key.prove(&good), &TOKEN).unwrap();
        assert_eq!(
            (proof.id.as_str(), proof.nonce.as_deref()),
            ("1", Some("n"))
        );
        assert_eq!(proof.thumbprint, thumbprint(&key.public()));
        for (member, value) in [
            ("htm", json!("GET")),
            ("htu", json!("http://127.0.0.1:1/token?x=1")),
            ("iat", json!(now() - 1000)),
            ("iat", json!("now")),
            ("jti", json!(null)),
            ("ath", json!("x")),
        ] {
            let mut claims = good.clone();
            claims[member] = value;
            assert!(
                check_proof(&key.prove(&claims), &TOKEN).is_err(),
                "{member}"
            );
        }
    }

    #[test]
    fn a_proof_of_another_key_or_kind_is_refused() {
        let (key, other) = (Key::new(), Key::new());
        let claims = json!({"htm": "POST", "htu": TOKEN.url, "iat": now(), "jti": "1"});
        for header in [
            json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": other.public()}),
            json!({"typ": "JWT", "alg": "ES256", "jwk": key.public()}),
            json!({"typ": "dpop+jwt", "alg": "none", "jwk": key.public()}),
            json!({"typ": "dpop+jwt", "alg": "ES256"}),
        ] {
            assert!(
                check_proof(&key.sign(&header, &claims), &TOKEN).is_err(),
                "{header}"
            );
        }
        let mut private = key.public();
        private["d"] = json!("secret");
        let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": private});
        assert!(check_proof(&key.sign(&header, &claims), &TOKEN).is_err());
        assert!(check_proof("a.b", &TOKEN).is_err());
    }
}
