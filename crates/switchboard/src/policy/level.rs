//! Levels of trust: how an agent may use the things it was granted.

use std::fmt;
use std::str::FromStr;

/// The level of trust in an agent: it decides how granted things may be used.
///
/// In an [`AgentPolicy`](super::AgentPolicy) a level grants nothing. In a config file, an agent with a level
/// and no `grants` key is granted everything, unless it is sandboxed.
///
/// ```
/// use switchboard::Level;
///
/// assert_eq!("trusted".parse(), Ok(Level::Trusted));
/// assert!(Level::Sandboxed < Level::Trusted && Level::Trusted < Level::Yolo);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Level {
    /// It reaches nothing and sees nothing, whatever it was granted.
    #[default]
    Sandboxed,
    /// The user is asked at the agent's first use of each server.
    Trusted,
    /// Granted things are used without asking.
    Yolo,
}

/// The error for a text that is not one of the three levels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown level {0:?}: expected \"YOLO\", \"TRUSTED\" or \"SANDBOXED\"")]
pub struct ParseLevelError(String);

impl Level {
    /// All of them, from the least.
    pub const ALL: [Self; 3] = [Self::Sandboxed, Self::Trusted, Self::Yolo];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sandboxed => "SANDBOXED",
            Self::Trusted => "TRUSTED",
            Self::Yolo => "YOLO",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Level {
    type Err = ParseLevelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL
            .into_iter()
            .find(|level| level.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| ParseLevelError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_print_and_parse_in_any_case() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
            assert_eq!(level.to_string().to_lowercase().parse(), Ok(level));
        }
        assert!("".parse::<Level>().is_err());
        assert!("TRUSTED ".parse::<Level>().is_err());
        assert_eq!(Level::default(), Level::Sandboxed);
    }
}
