//! Digests of tokens, which are kept in place of their texts.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

/// The SHA-256 of a token. The texts have 256 random bits, so that nothing slower is needed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Digest([u8; SHA256_OUTPUT_LEN]);

impl Digest {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut out = [0; SHA256_OUTPUT_LEN];
        for (out, byte) in out.iter_mut().zip(digest(&SHA256, text).as_ref()) {
            *out = *byte;
        }
        Self(out)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    pub(super) fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The first 16 hexadecimal digits.
    pub(super) fn short(&self) -> String {
        let bytes = self.0.iter().take(8);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// Compares all bytes, whatever differs.
    pub(super) fn matches(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(other.0);
        pairs.fold(0, |all, (ours, theirs)| all | (ours ^ theirs)) == 0
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_matches_its_own_text_alone() {
        let one = Digest::of(b"one");
        assert!(one.matches(&Digest::of(b"one")) && !one.matches(&Digest::of(b"two")));
        assert_eq!(Digest::parse(&one.to_text()), Some(one.clone()));
        assert_eq!(one.short().len(), 16);
        assert_eq!(format!("{one:?}"), "Digest(..)");
        for bad in ["", "AAAA", &format!("{}A", one.to_text())] {
            assert_eq!(Digest::parse(bad), None, "{bad}");
        }
    }
}
