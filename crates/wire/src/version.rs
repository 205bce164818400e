//! Protocol versions and the two eras they fall into.

use std::fmt;
use std::str::FromStr;

/// A published version of the protocol.
///
/// A closed list on purpose: a version that is not listed is never ordered relative to a listed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// 2024-11-05: the first one; HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: streamable HTTP, batches, annotations.
    V2025_03_26,
    /// 2025-06-18: structured content, elicitation; batches gone.
    V2025_06_18,
    /// 2025-11-25: the last one with a handshake.
    V2025_11_25,
    /// 2026-07-28: requests describe themselves; no handshake.
    V2026_07_28,
}

/// A generation of the protocol: it decides how a connection begins and how a server asks for input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, and requests from server to client.
    Legacy,
    /// From 2026-07-28: `server/discover`, self-describing requests, `input_required` results.
    Modern,
}

impl Era {
    /// The opposite era.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Legacy => Self::Modern,
            Self::Modern => Self::Legacy,
        }
    }
}

impl Version {
    /// All versions, oldest first.
    pub const ALL: [Version; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest version of the legacy era, which `initialize` offers.
    pub const NEWEST_LEGACY: Version = Self::V2025_11_25;

    /// The newest version of the modern era.
    pub const NEWEST_MODERN: Version = Self::V2026_07_28;

    /// The version's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era the version belongs to.
    pub fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// The newest version of `era` that a peer's list names.
    pub fn newest_mutual<S: AsRef<str>>(era: Era, theirs: &[S]) -> Option<Version> {
        Self::ALL
            .into_iter()
            .rev()
            .filter(|version| version.era() == era)
            .find(|version| theirs.iter().any(|name| name.as_ref() == version.as_str()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// A text that is not a published version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVersion(pub String);

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown protocol version {:?}", self.0)
    }
}

impl std::error::Error for UnknownVersion {}

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == name)
            .ok_or_else(|| UnknownVersion(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for version in Version::ALL {
            assert_eq!(version.as_str().parse(), Ok(version));
        }
        assert!("2026-07-29".parse::<Version>().is_err());
    }

    #[test]
    fn the_newest_mutual_version_is_chosen_within_an_era() {
        let theirs = ["2024-11-05", "2099-01-01", "2025-06-18"];
        assert_eq!(
            Version::newest_mutual(Era::Legacy, &theirs),
            Some(Version::V2025_06_18)
        );
        assert_eq!(Version::newest_mutual(Era::Modern, &theirs), None);
    }
}
