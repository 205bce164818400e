//! How a server is used, whatever it is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::Protocol;
use crate::limits::Timeouts;

/// How a server is used, whatever it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// How long connecting, discovery and execution may take.
    pub timeouts: Timeouts,
    /// Which era to speak.
    pub protocol: Protocol,
    /// How often a request over HTTP that may be sent again is; [`crate::Limits::retries`] where it
    /// is left out.
    pub max_retries: Option<u32>,
    /// The wait before the first of these; [`crate::Limits::retry_first`] where it is left out.
    pub retry_backoff: Option<Duration>,
    /// Whether lists are kept for a while without asking again.
    pub cache_tools_list: bool,
    /// Whether a connection that was lost is made again by itself, on the next use.
    pub reconnect: bool,
    /// How many attempts may fail in a row before nothing more is tried by itself.
    pub max_reconnect_attempts: u32,
    /// Whether a server without tools counts as broken.
    pub fail_if_no_tools: bool,
    /// Which of its tools can be seen and used.
    pub tools: ToolFilter,
    /// How its tools are named for models; the host's way where it is left out.
    pub name_style: Option<NameStyle>,
    /// Whether arguments are cleaned of nulls and empty containers before they are sent.
    pub clean_arguments: bool,
    /// The tools that may run twice without harm.
    pub idempotent_tools: Vec<String>,
    /// The folders that the server is told it may use.
    pub roots: Vec<PathBuf>,
    /// Whether the server may ask for completions.
    pub sampling: bool,
    /// The tools that another client was told never to ask about: a suggestion, never a grant.
    pub suggested_tools: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            protocol: Protocol::default(),
            max_retries: None,
            retry_backoff: None,
            cache_tools_list: false,
            reconnect: true,
            max_reconnect_attempts: 5,
            fail_if_no_tools: false,
            tools: ToolFilter::default(),
            name_style: None,
            clean_arguments: false,
            idempotent_tools: Vec::new(),
            roots: Vec::new(),
            sampling: false,
            suggested_tools: Vec::new(),
        }
    }
}

/// Which tools of a server can be seen and used, by their own names. What is blocked is, whatever
/// else is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolFilter {
    /// Only these, where it is given.
    pub allow: Option<Vec<String>>,
    /// Not these.
    pub block: Vec<String>,
}

impl ToolFilter {
    /// Whether a tool passes.
    pub fn admits(&self, tool: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|name| name == tool);
        !is_in(&self.block) && self.allow.as_deref().is_none_or(is_in)
    }
}

/// How tools are named for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NameStyle {
    /// `mcp__server__tool`.
    #[default]
    Double,
    /// `mcp_server_tool`.
    Single,
}

/// Says that a style is none of the two.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name style {0:?}: expected \"mcp__server__tool\" or \"mcp_server_tool\"")]
pub struct BadNameStyle(String);

impl fmt::Display for NameStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Double => "mcp__server__tool",
            Self::Single => "mcp_server_tool",
        })
    }
}

impl FromStr for NameStyle {
    type Err = BadNameStyle;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mcp__server__tool" => Ok(Self::Double),
            "mcp_server_tool" => Ok(Self::Single),
            _ => Err(BadNameStyle(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_blocked_is_blocked_whatever_is_allowed() {
        let filter = ToolFilter {
            allow: Some(vec!["read".into(), "write".into()]),
            block: vec!["write".into()],
        };
        assert!(filter.admits("read"));
        assert!(!filter.admits("write"));
        assert!(!filter.admits("delete"));
        assert!(ToolFilter::default().admits("anything"));
    }

    #[test]
    fn styles_print_and_parse() {
        for style in [NameStyle::Double, NameStyle::Single] {
            assert_eq!(style.to_string().parse(), Ok(style));
        }
        assert!("plain".parse::<NameStyle>().is_err());
    }
}
