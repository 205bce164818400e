//! Names that users give to servers.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The maximum length, in characters.
const MOST: usize = 128;

/// The name that a user gave to a server; unique in a host and free of slashes and spaces.
///
/// ```
/// use switchboard_core::spec::ServerName;
///
/// assert_eq!(ServerName::parse("github").unwrap().as_str(), "github");
/// assert!(ServerName::parse("git/hub").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName(Arc<str>);

/// A text that is not a server name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad server name {name:?}: {why}")]
pub struct ParseServerNameError {
    name: String,
    why: &'static str,
}

impl ServerName {
    /// Checks a name: 1 to 128 characters, none of them a slash, a space or a control character.
    ///
    /// # Errors
    /// Fails if it is not a usable name.
    pub fn parse(name: &str) -> Result<Self, ParseServerNameError> {
        let why = if name.is_empty() {
            "it is empty"
        } else if name.chars().count() > MOST {
            "it is longer than 128 characters"
        } else if name.contains('/') {
            "it has a slash, which separates a server from its tool"
        } else if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            "it has a space or a control character"
        } else {
            return Ok(Self(Arc::from(name)));
        };
        Err(ParseServerNameError {
            name: name.to_owned(),
            why,
        })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for ServerName {
    type Error = ParseServerNameError;

    fn try_from(name: &str) -> Result<Self, Self::Error> {
        Self::parse(name)
    }
}

impl TryFrom<String> for ServerName {
    type Error = ParseServerNameError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name)
    }
}

impl FromStr for ServerName {
    type Err = ParseServerNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::parse(name)
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert_eq!(
            ServerName::parse("git-hub.2").unwrap().as_str(),
            "git-hub.2"
        );
        for bad in ["", "a/b", "a b", "a\u{1b}", &"x".repeat(129)] {
            assert!(ServerName::parse(bad).is_err(), "{bad:?}");
            assert!(ServerName::try_from(bad).is_err(), "{bad:?}");
        }
    }
}
