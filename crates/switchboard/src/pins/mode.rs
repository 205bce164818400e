//! Reactions to a definition that was not approved.

use std::fmt;
use std::str::FromStr;

/// The reaction when an agent would use a definition that differs from the approved one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Asks the user; without an operator to answer, the definition is not used.
    #[default]
    Ask,
    /// Does not use the definition.
    Block,
    /// Uses the definition, and warns the user.
    Warn,
    /// Does not compare definitions.
    Off,
}

/// The error for a text that is not a mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `ask`, `block`, `warn` or `off`")]
pub struct ParseModeError;

impl Mode {
    const ALL: [Self; 4] = [Self::Ask, Self::Block, Self::Warn, Self::Off];

    fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = ParseModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or(ParseModeError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_prints_and_parses() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        for other in ["", "Ask", "on", "ask "] {
            assert_eq!(other.parse::<Mode>(), Err(ParseModeError), "{other}");
        }
        assert_eq!(Mode::default(), Mode::Ask);
    }
}
