//! The options of a server.

use std::fmt;
use std::time::Duration;

use crate::chaos::Chaos;
use crate::journal::Journal;

/// The eras of the protocol that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eras {
    /// The era that the client begins with.
    #[default]
    Both,
    /// Only `initialize` and the requests after it.
    Legacy,
    /// Only requests that describe themselves.
    Modern,
}

impl Eras {
    pub(crate) fn legacy(self) -> bool {
        self != Self::Modern
    }

    pub(crate) fn modern(self) -> bool {
        self != Self::Legacy
    }
}

/// Tools with `x-mcp-header`, whose arguments modern clients over HTTP also put into headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeaderTools {
    /// None of them.
    #[default]
    None,
    /// `route_request`, which has it right.
    Good,
    /// That, and one `bad_header_*` for each way to have it wrong.
    Bad,
}

/// The options of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The number of tools: the well-known ones first, then generated ones. `None` lists the
    /// well-known ones and those for testing clients.
    pub tool_count: Option<usize>,
    /// The number of items on a page of any list; `None` puts all of them on one page.
    pub page_size: Option<usize>,
    /// The tools with headers that are listed after the others.
    pub header_tools: HeaderTools,
    /// The eras that the server speaks.
    pub eras: Eras,
    /// The faults of the server; usually none.
    pub chaos: Vec<Chaos>,
    /// The journal that each tool call is written to before it is run; usually none.
    pub journal: Option<Journal>,
    /// Adds tools that change the catalog while the server runs, and announce the changes to all
    /// clients; see `docs/chaos.md`.
    pub growing: bool,
    /// Adds a tool that asks the client's model; see `docs/chaos.md`.
    pub asking_models: bool,
    /// Adds tools that ask for a visit and for roots and that log, and arguments that can be
    /// completed. See `docs/chaos.md`.
    pub talking: bool,
    /// Offers what the server scenarios of the official conformance suite ask for, in place of the
    /// usual tools, prompts and resources; see `docs/chaos.md`.
    pub conformance: bool,
    /// Adds the tool `shape`, which answers with the [`shapes`](crate::shapes) by number.
    pub shapes: bool,
    /// The name that `whoami` returns, with the process id; without a name there is no such tool.
    pub instance: Option<String>,
    /// The time that the server waits before it reads anything.
    pub start_delay: Option<Duration>,
}

/// An environment variable with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionsError {
    variable: &'static str,
    value: String,
    smallest: usize,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            variable,
            value,
            smallest,
        } = self;
        write!(
            f,
            "{variable} must be a whole number from {smallest} to {LARGEST}, not {value:?}"
        )
    }
}

impl std::error::Error for OptionsError {}

const TOOL_COUNT: &str = "MCP_TOOL_COUNT";
const PAGE_SIZE: &str = "MCP_PAGE_SIZE";

/// A catalog of this many tools still fits into the memory of a small machine.
const LARGEST: usize = 100_000;

impl Options {
    /// Reads `MCP_TOOL_COUNT` and `MCP_PAGE_SIZE` out of an environment and ignores the rest of it.
    ///
    /// # Errors
    /// Fails when one of the two is set but is not a valid number.
    pub fn from_vars(
        vars: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        for (name, value) in vars {
            match name.as_str() {
                TOOL_COUNT => options.tool_count = Some(number(TOOL_COUNT, value, 0)?),
                PAGE_SIZE => options.page_size = Some(number(PAGE_SIZE, value, 1)?),
                _ => {}
            }
        }
        Ok(options)
    }

    /// Options with enough tools for three pages, the last one not full.
    pub fn paginating() -> Self {
        Self {
            tool_count: Some(25),
            page_size: Some(10),
            ..Self::default()
        }
    }

    /// Takes the numbers that are not set from `defaults`; everything else stays.
    #[must_use]
    pub fn or(self, defaults: &Self) -> Self {
        Self {
            tool_count: self.tool_count.or(defaults.tool_count),
            page_size: self.page_size.or(defaults.page_size),
            ..self
        }
    }
}

fn number(variable: &'static str, value: String, smallest: usize) -> Result<usize, OptionsError> {
    match value.trim().parse() {
        Ok(number) if (smallest..=LARGEST).contains(&number) => Ok(number),
        _ => Err(OptionsError {
            variable,
            value,
            smallest,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Options, String> {
        let vars = vars
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Options::from_vars(vars).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_are_read_and_others_ignored() {
        let options = read(&[
            ("PATH", "/bin"),
            ("MCP_TOOL_COUNT", "1000"),
            ("MCP_PAGE_SIZE", " 7 "),
        ]);
        let expected = Options {
            tool_count: Some(1000),
            page_size: Some(7),
            ..Options::default()
        };
        assert_eq!(options, Ok(expected));
        assert_eq!(read(&[]), Ok(Options::default()));
    }

    #[test]
    fn a_value_that_is_no_sensible_number_is_named() {
        assert_eq!(
            read(&[("MCP_PAGE_SIZE", "0")]).unwrap_err(),
            "MCP_PAGE_SIZE must be a whole number from 1 to 100000, not \"0\""
        );
        for value in ["", "-1", "ten", "1.5", "100001", "99999999999999999999"] {
            assert!(read(&[("MCP_TOOL_COUNT", value)]).is_err(), "{value}");
        }
        assert!(read(&[("MCP_TOOL_COUNT", "0")]).is_ok());
        assert!(read(&[("MCP_TOOL_COUNT", "100000")]).is_ok());
    }

    #[test]
    fn what_is_not_set_is_taken_from_the_defaults() {
        let options = read(&[("MCP_PAGE_SIZE", "3")])
            .unwrap()
            .or(&Options::paginating());
        assert_eq!((options.tool_count, options.page_size), (Some(25), Some(3)));
    }
}
