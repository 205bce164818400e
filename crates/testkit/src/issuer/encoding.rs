//! Forms, base64url and hashes.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The parameters of a query or of a form, each name at most once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Params(BTreeMap<String, String>);

impl Params {
    /// Reads `application/x-www-form-urlencoded` text.
    ///
    /// A name that comes twice, an escape that is none and bytes that are not UTF-8 are refused. A
    /// parameter without a value counts as left out (RFC 6749, 3.1).
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut params = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let bad = || format!("a parameter is not written as it should be: {name}");
            let name = decode(name).ok_or_else(bad)?;
            let value = decode(value).ok_or_else(bad)?;
            if params.insert(name.clone(), value).is_some() {
                return Err(format!("{name} comes twice"));
            }
        }
        params.retain(|_, value| !value.is_empty());
        Ok(Self(params))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a parameter, or an error that names it.
    pub(super) fn require(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or_else(|| format!("{name} is missing"))
    }

    /// Refuses every parameter that is not among the known ones.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), String> {
        let mut names = self.0.keys();
        match names.find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(format!("{name} does not belong here")),
            None => Ok(()),
        }
    }
}

/// Decodes one part of a form.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Encodes one part of a query.
pub(super) fn encode(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

/// Writes a query.
pub(super) fn query(pairs: &[(String, String)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Escapes text for HTML.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

pub(super) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Returns SHA-256 in base64url, as PKCE, DPoP and key thumbprints want it.
pub(super) fn sha256(text: &str) -> String {
    base64url(digest(&SHA256, text.as_bytes()).as_ref())
}

/// Returns 256 random bits in base64url, with a prefix that says what they are for.
pub(super) fn random(prefix: &str) -> String {
    let mut bytes = [0; 32];
    // The system's source of random bytes does not fail on any platform that we run on.
    let filled = SystemRandom::new().fill(&mut bytes);
    debug_assert!(filled.is_ok(), "no random bytes");
    format!("{prefix}{}", base64url(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_strictly() {
        let params = Params::parse("a=1+2&b=%C3%A9&c=").unwrap();
        assert_eq!(params.get("a"), Some("1 2"));
        assert_eq!(params.get("b"), Some("é"));
        assert_eq!(params.get("c"), None);
        for text in ["a=1&a=1", "a=&a=1", "a=%zz", "a=%4", "a=%ff"] {
            assert!(Params::parse(text).is_err(), "{text}");
        }
        assert!(params.only(&["a"]).is_err());
        assert!(params.only(&["a", "b"]).is_ok());
    }

    #[test]
    fn what_is_encoded_is_decoded_again() {
        let text = "a b&c=d/é?";
        assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        assert_eq!(query(&[("a".into(), "b c".into())]), "a=b%20c");
    }

    #[test]
    fn the_example_of_rfc_7636_has_its_challenge() {
        assert_eq!(
            sha256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        assert_ne!(random("x"), random("x"));
    }
}
