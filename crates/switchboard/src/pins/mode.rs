//! What is done about a definition that was not approved.

use std::fmt;
use std::str::FromStr;

/// What is done when an agent would use a definition that is not the one that was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The person is asked; where there is nobody to ask, it is not used.
    #[default]
    Ask,
    /// It is not used.
    Block,
    /// It is used, and the person is told.
    Warn,
    /// Nothing is compared.
    Off,
}

/// Why a text is no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `ask`, `block`, `warn` or `off`")]
pub struct BadMode;

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
    type Err = BadMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or(BadMode)
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
            assert_eq!(other.parse::<Mode>(), Err(BadMode), "{other}");
        }
        assert_eq!(Mode::default(), Mode::Ask);
    }
}
