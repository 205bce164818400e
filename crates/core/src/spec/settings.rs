//! Settings that apply to any kind of server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::{Protocol, ToolPredicate, glob};
use crate::limits::Timeouts;

/// Settings that apply to any kind of server.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Time limits for connecting, discovery and execution.
    pub timeouts: Timeouts,
    /// The protocol era.
    pub protocol: Protocol,
    /// Retries of a list, an idempotent call or a request over HTTP that may be sent again;
    /// [`crate::limits::Limits::retries`] by default. A start that fails without a known cause is
    /// repeated as often, and not at all by default.
    pub max_retries: Option<u32>,
    /// Wait before the first retry; [`crate::limits::Limits::retry_first`] by default.
    pub retry_backoff: Option<Duration>,
    /// Maximum size of one message of the server; [`crate::limits::Limits::message_bytes`] by default.
    pub message_bytes: Option<usize>,
    /// True if lists are cached for a while.
    pub cache_tools_list: bool,
    /// True if a lost connection is re-established automatically on the next use.
    pub reconnect: bool,
    /// Failed attempts in a row after which automatic reconnection stops.
    pub max_reconnect_attempts: u32,
    /// True if a server without tools counts as broken.
    pub fail_if_no_tools: bool,
    /// The tools that are visible and usable.
    pub tools: ToolFilter,
    /// Predicates of the program over its tools, all of which have to admit one. No file has them.
    pub tool_predicates: Vec<ToolPredicate>,
    /// The style of tool names for models; the host's by default.
    pub name_style: Option<NameStyle>,
    /// True if nulls and empty containers are removed from arguments before they are sent.
    pub clean_arguments: bool,
    /// Tools that may run twice without harm.
    pub idempotent_tools: Vec<String>,
    /// Folders that the server may use.
    pub roots: Vec<PathBuf>,
    /// True if the server may ask our model for completions.
    pub sampling: bool,
    /// Tools that another client was configured to allow without asking: a suggestion, never a grant.
    pub suggested_tools: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            protocol: Protocol::default(),
            max_retries: None,
            retry_backoff: None,
            message_bytes: None,
            cache_tools_list: false,
            reconnect: true,
            max_reconnect_attempts: 5,
            fail_if_no_tools: false,
            tools: ToolFilter::default(),
            tool_predicates: Vec::new(),
            name_style: None,
            clean_arguments: false,
            idempotent_tools: Vec::new(),
            roots: Vec::new(),
            sampling: false,
            suggested_tools: Vec::new(),
        }
    }
}

/// A filter for the tools of a server, by their own names. Blocking wins over allowing.
///
/// Both lists contain patterns as in [`Glob`](super::Glob); a name without `*`, `?` and backslash matches
/// only itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolFilter {
    /// If set, only these tools pass.
    pub allow: Option<Vec<String>>,
    /// These tools never pass.
    pub block: Vec<String>,
}

/// The rule of a [`ToolFilter`] that decides about one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterRule<'f> {
    /// A pattern that blocks it.
    Block(&'f str),
    /// A pattern that allows it.
    Allow(&'f str),
    /// There is a list of allowed tools that does not contain it.
    Unlisted,
}

impl FilterRule<'_> {
    /// Returns true if the tool passes.
    pub fn admits(self) -> bool {
        matches!(self, Self::Allow(_))
    }
}

impl ToolFilter {
    /// Returns true if a tool passes.
    pub fn admits(&self, tool: &str) -> bool {
        self.rule(tool).is_none_or(FilterRule::admits)
    }

    /// Returns the rule that decides about a tool; `None` if no rule applies and it passes.
    pub fn rule(&self, tool: &str) -> Option<FilterRule<'_>> {
        // Blocked patterns first: they win over allowed ones.
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

/// The style of tool names for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NameStyle {
    /// `mcp__server__tool`.
    #[default]
    Double,
    /// `mcp_server_tool`.
    Single,
}

/// A text that is not a name style.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown name style {0:?}: expected \"mcp__server__tool\" or \"mcp_server_tool\"")]
pub struct ParseNameStyleError(String);

impl fmt::Display for NameStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Double => "mcp__server__tool",
            Self::Single => "mcp_server_tool",
        })
    }
}

impl FromStr for NameStyle {
    type Err = ParseNameStyleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mcp__server__tool" => Ok(Self::Double),
            "mcp_server_tool" => Ok(Self::Single),
            _ => Err(ParseNameStyleError(text.to_owned())),
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
