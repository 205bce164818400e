//! Identities: hashes that identify a server by its description rather than by its name.

use std::fmt;
use std::str::FromStr;

/// A SHA-256 hash over the origin and the content of a server's description.
///
/// The host computes it. Approvals and pins belong to an identity and not to a name, because another
/// server could take over the name. Its text form is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u8; 32]);

/// A text that is not an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no identity of a server: expected 64 lowercase hexadecimal digits")]
pub struct ParseIdentityError;

impl Identity {
    /// Wraps a hash.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Writes 64 hexadecimal digits.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Identity {
    type Err = ParseIdentityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        let is_hex =
            text.len() == 64 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hex {
            return Err(ParseIdentityError);
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = text.get(2 * at..2 * at + 2).ok_or(ParseIdentityError)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ParseIdentityError)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_prints_and_parses() {
        let one = Identity::new(std::array::from_fn(|at| u8::try_from(at * 7).unwrap()));
        assert_eq!(one.to_string().parse(), Ok(one));
        let text = one.to_string();
        for bad in [
            "",
            "00",
            &text.to_uppercase(),
            &format!("{text}0"),
            &text.replace('0', "+"),
        ] {
            assert_eq!(bad.parse::<Identity>(), Err(ParseIdentityError), "{bad}");
        }
    }
}
