//! Fingerprints: hashes of the claims that were shown to the user.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::spec::Identity;

/// The prefix before the digits.
const SCHEME: &str = "sha256:";

/// Minimum number of digits of a prefix.
const SHORTEST: usize = 8;

/// A hash of everything that an approval covers; see [`Claim::fingerprint`](super::Claim::fingerprint).
///
/// Its text is `sha256:` and 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(hidden)]
pub struct Fingerprint([u8; 32]);

/// The beginning of a fingerprint, as a user types it: at least 8 digits, with or without `sha256:`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub struct Prefix(String);

/// The error for a text that is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[doc(hidden)]
pub enum ParseFingerprintError {
    /// It does not begin as one.
    #[error("no fingerprint: expected `sha256:` and 64 hexadecimal digits")]
    Scheme,
    /// There are other characters than digits.
    #[error("no fingerprint: {0:?} is no hexadecimal digit")]
    Digit(char),
    /// There are too few or too many digits.
    #[error("no fingerprint: it has {found} digits where 64 are needed; copy all of it")]
    Length {
        /// The number of digits found.
        found: usize,
    },
    /// There are too few digits even for the beginning of one, or more than there can be.
    #[error("{found} digits are no beginning of a fingerprint: give 8 to 64 of them")]
    Prefix {
        /// The number of digits found.
        found: usize,
    },
}

impl Fingerprint {
    /// The fingerprint of a text.
    #[doc(hidden)]
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// The fingerprint of that number.
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The number.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 12 digits: enough to tell approvals apart by eye, never to approve by.
    pub fn short(&self) -> String {
        self.digits().chars().take(12).collect()
    }

    fn digits(&self) -> String {
        hex(&self.0)
    }
}

/// Writes bytes as lowercase digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Prefix {
    /// Returns `true` if the fingerprint begins with this prefix.
    pub fn is_of(&self, fingerprint: &Fingerprint) -> bool {
        fingerprint.digits().starts_with(&self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.digits())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text
            .strip_prefix(SCHEME)
            .ok_or(ParseFingerprintError::Scheme)?;
        let digits = lowercase(digits)?;
        // All characters are hexadecimal digits, so only their number can be wrong.
        let number: Result<Identity, _> = digits.parse();
        let number = number.map_err(|_| ParseFingerprintError::Length {
            found: digits.len(),
        });
        Ok(Self(*number?.as_bytes()))
    }
}

impl FromStr for Prefix {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Scripts paste prefixes with and without the scheme.
        let digits = lowercase(text.strip_prefix(SCHEME).unwrap_or(text))?;
        if (SHORTEST..=64).contains(&digits.len()) {
            Ok(Self(digits))
        } else {
            Err(ParseFingerprintError::Prefix {
                found: digits.len(),
            })
        }
    }
}

fn lowercase(digits: &str) -> Result<String, ParseFingerprintError> {
    match digits.chars().find(|c| !c.is_ascii_hexdigit()) {
        Some(other) => Err(ParseFingerprintError::Digit(other)),
        None => Ok(digits.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_prints_and_parses() {
        let one = Fingerprint::of("x");
        let text = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!(one.to_string(), text);
        assert_eq!(format!("{one:?}"), text);
        assert_eq!(text.parse(), Ok(one));
        assert_eq!(text.to_uppercase().replace("SHA", "sha").parse(), Ok(one));
        assert_eq!(one.short(), "2d711642b726");
    }

    #[test]
    fn what_is_no_fingerprint_says_why() {
        let digits = "0".repeat(64);
        let parse = |text: &str| text.parse::<Fingerprint>().unwrap_err();
        assert_eq!(parse(&digits), ParseFingerprintError::Scheme);
        assert_eq!(parse("md5:00"), ParseFingerprintError::Scheme);
        assert_eq!(parse("sha256:"), ParseFingerprintError::Length { found: 0 });
        assert_eq!(
            parse(&format!("sha256:{digits}0")),
            ParseFingerprintError::Length { found: 65 }
        );
        assert_eq!(
            parse(&format!("sha256:{}+1", &digits[2..])),
            ParseFingerprintError::Digit('+')
        );
        assert_eq!(
            parse("sha256:00").to_string(),
            "no fingerprint: it has 2 digits where 64 are needed; copy all of it"
        );
    }

    #[test]
    fn a_beginning_has_at_least_eight_digits() {
        let one = Fingerprint::of("x");
        for text in ["2d711642", "sha256:2D711642b", &one.to_string()] {
            assert!(text.parse::<Prefix>().unwrap().is_of(&one), "{text}");
        }
        assert!(!"2d711643".parse::<Prefix>().unwrap().is_of(&one));
        for text in ["2d71164", "", "sha256:", &"0".repeat(65)] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }
}
