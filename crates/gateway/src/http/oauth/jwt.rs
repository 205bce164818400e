//! Signed tokens (JWT, RFC 7519), taken apart before anything in them is believed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// Longest token.
const TOKEN_BYTES: usize = 16 << 10;

/// The algorithms that are taken. None of them has a shared key, which a client could know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            // RFC 9864 calls it by its curve.
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// A token whose signature was not checked yet.
#[derive(Debug)]
pub(super) struct Unverified<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
    /// What is signed.
    pub(super) message: &'a [u8],
    pub(super) signature: Vec<u8>,
    payload: Vec<u8>,
}

impl<'a> Unverified<'a> {
    /// Takes a token apart.
    ///
    /// # Errors
    /// Fails with the reason if it is not a token of a form that is taken.
    pub(super) fn parse(token: &'a [u8]) -> Result<Self, &'static str> {
        if token.len() > TOKEN_BYTES {
            return Err("the token is too long");
        }
        let mut parts = token.split(|byte| *byte == b'.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("the token is not a signed JWT");
        };
        let signed = header.len().saturating_add(1).saturating_add(payload.len());
        let decode = |part: &[u8]| URL_SAFE_NO_PAD.decode(part).ok();
        let bad = "the token is not a signed JWT";
        let header: Map<String, Value> = decode(header)
            .and_then(|header| serde_json::from_slice(&header).ok())
            .ok_or(bad)?;
        let text = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(bad),
        };
        let algorithm = text("alg")?.and_then(Algorithm::parse);
        let algorithm =
            algorithm.ok_or("the token has another algorithm than RS256, ES256 and EdDSA")?;
        // RFC 7515, 4.1.11: what is critical and not understood is refused.
        if header.contains_key("crit") {
            return Err("the token needs an extension that is not supported");
        }
        // RFC 9068, 2.1: other types, such as proofs and logout tokens, are no access tokens.
        let is_access = text("typ")?.is_none_or(|kind| {
            let known = ["JWT", "at+jwt", "application/at+jwt"];
            known.iter().any(|known| kind.eq_ignore_ascii_case(known))
        });
        if !is_access {
            return Err("the token is not an access token");
        }
        Ok(Self {
            algorithm,
            key_id: text("kid")?.map(str::to_owned),
            message: token.get(..signed).ok_or(bad)?,
            signature: decode(signature).ok_or(bad)?,
            payload: decode(payload).ok_or(bad)?,
        })
    }

    /// The claims, once the signature was found to be right.
    pub(super) fn claims(&self) -> Option<Map<String, Value>> {
        serde_json::from_slice(&self.payload).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token(header: &Value) -> String {
        let encode = |text: String| URL_SAFE_NO_PAD.encode(text);
        format!(
            "{}.{}.AAAA",
            encode(header.to_string()),
            encode("{}".to_owned())
        )
    }

    #[test]
    fn only_signed_access_tokens_of_three_algorithms_are_taken_apart() {
        for good in [
            json!({"alg": "RS256"}),
            json!({"alg": "ES256", "kid": "a", "typ": "at+JWT"}),
            json!({"alg": "EdDSA", "typ": "jwt"}),
        ] {
            let token = token(&good);
            let parsed = Unverified::parse(token.as_bytes()).unwrap();
            assert!(token.as_bytes().starts_with(parsed.message), "{good}");
            assert_eq!(parsed.claims(), Some(Map::new()));
        }
        for bad in [
            json!({}),
            json!({"alg": "none"}),
            json!({"alg": "HS256"}),
            json!({"alg": "RS512"}),
            json!({"alg": "rs256"}),
            json!({"alg": ["RS256"]}),
            json!({"alg": "RS256", "kid": 7}),
            json!({"alg": "RS256", "crit": ["b64"], "b64": false}),
            json!({"alg": "RS256", "typ": "dpop+jwt"}),
            json!(["RS256"]),
        ] {
            assert!(Unverified::parse(token(&bad).as_bytes()).is_err(), "{bad}");
        }
        let good = token(&json!({"alg": "RS256"}));
        let long = format!("{good}{}", "A".repeat(TOKEN_BYTES));
        for bad in [
            "",
            ".",
            "..",
            "a.b",
            &good[1..],
            &format!("{good}.x"),
            &format!("{good}="),
            &long,
        ] {
            assert!(Unverified::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
