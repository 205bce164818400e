//! How a server is used, whatever it is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::{Protocol, glob};
use crate::limits::Timeouts;

/// How a server is used, whatever it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How long connecting, discovery and execution may take.
    pub timeouts: Timeouts,
    /// Which era to speak.
    pub protocol: Protocol,
    /// How often a request over HTTP that may be sent again is; [`crate::limits::Limits::retries`] where it
    /// is left out.
    pub max_retries: Option<u32>,
    /// The wait before the first of these; [`crate::limits::Limits::retry_first`] where it is left out.
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
///
/// Both lists are of patterns as in [`Glob`](super::Glob); a name is the pattern that matches it alone,
/// unless a `*`, a `?` or a backslash is in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolFilter {
    /// Only these, where it is given.
    pub allow: Option<Vec<String>>,
    /// Not these.
    pub block: Vec<String>,
}

/// What decides in a [`ToolFilter`] about one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterRule<'f> {
    /// This pattern blocks it.
    Block(&'f str),
    /// This pattern allows it.
    Allow(&'f str),
    /// There are tools that are allowed, and it is none of them.
    Unlisted,
}

impl FilterRule<'_> {
    /// Whether the tool passes.
    pub fn admits(self) -> bool {
        matches!(self, Self::Allow(_))
    }
}

impl ToolFilter {
    /// Whether a tool passes.
    pub fn admits(&self, tool: &str) -> bool {
        self.rule(tool).is_none_or(FilterRule::admits)
    }

    /// What decides about a tool; nothing where the filter has nothing to say, and it passes.
    pub fn rule(&self, tool: &str) -> Option<FilterRule<'_>> {
        if let Some(pattern) = first(&self.block, tool) {
            return Some(FilterRule::Block(pattern));
        }
        let allow = self.allow.as_deref()?;
        let rule = first(allow, tool).map_or(FilterRule::Unlisted, FilterRule::Allow);
        Some(rule)
    }
}

/// The first pattern that a tool matches.
fn first<'f>(patterns: &'f [String], tool: &str) -> Option<&'f str> {
    let mut patterns = patterns.iter().map(String::as_str);
    patterns.find(|pattern| glob::matches(pattern, tool))
}

/// How tools are named for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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
    fn the_pattern_that_decides_is_named() {
        let filter = ToolFilter {
            allow: Some(vec!["get_*".into(), "delete_?".into()]),
            block: vec!["*_secret".into()],
        };
        for (tool, rule) in [
            ("get_issue", FilterRule::Allow("get_*")),
            ("delete_1", FilterRule::Allow("delete_?")),
            ("delete_12", FilterRule::Unlisted),
            ("get_secret", FilterRule::Block("*_secret")),
        ] {
            assert_eq!(filter.rule(tool), Some(rule), "{tool}");
            assert_eq!(filter.admits(tool), rule.admits(), "{tool}");
        }
        assert_eq!(ToolFilter::default().rule("x"), None);
    }

    #[test]
    fn a_list_of_nothing_allows_nothing() {
        let filter = ToolFilter {
            allow: Some(Vec::new()),
            block: Vec::new(),
        };
        assert_eq!(filter.rule("x"), Some(FilterRule::Unlisted));
    }

    #[test]
    fn styles_print_and_parse() {
        for style in [NameStyle::Double, NameStyle::Single] {
            assert_eq!(style.to_string().parse(), Ok(style));
        }
        assert!("plain".parse::<NameStyle>().is_err());
    }
}
