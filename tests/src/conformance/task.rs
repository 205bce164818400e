//! What the suite tells its client: arguments and variables.

use switchboard::protocol::{Raw, RawError, UnknownVersion, Version};

/// What to do, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The address of the suite's server.
    pub url: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The version that the server speaks.
    pub version: Version,
    /// What else the scenario says, as an object.
    pub context: Option<Raw>,
}

/// Why there is nothing to do.
#[derive(Debug)]
pub enum TaskError {
    /// Something is not said.
    Missing(&'static str),
    /// The version is none that we know.
    Version(UnknownVersion),
    /// The context is not JSON.
    Context(RawError),
}

impl std::fmt::Display for TaskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(what) => write!(f, "{what} is missing"),
            Self::Version(error) => write!(f, "MCP_CONFORMANCE_PROTOCOL_VERSION: {error}"),
            Self::Context(error) => write!(f, "MCP_CONFORMANCE_CONTEXT: {error}"),
        }
    }
}

impl std::error::Error for TaskError {}

impl Task {
    /// Reads a task from the arguments after the program's name, and from variables.
    ///
    /// # Errors
    /// When something is missing or cannot be read.
    pub fn read(
        args: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, TaskError> {
        let context = variable("MCP_CONFORMANCE_CONTEXT");
        let version = variable("MCP_CONFORMANCE_PROTOCOL_VERSION")
            .ok_or(TaskError::Missing("MCP_CONFORMANCE_PROTOCOL_VERSION"))?;
        Ok(Self {
            url: args
                .into_iter()
                .last()
                .ok_or(TaskError::Missing("the URL, as the last argument,"))?,
            scenario: variable("MCP_CONFORMANCE_SCENARIO")
                .ok_or(TaskError::Missing("MCP_CONFORMANCE_SCENARIO"))?,
            version: version.parse().map_err(TaskError::Version)?,
            context: context
                .map(|text| Raw::parse(&text).map_err(TaskError::Context))
                .transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str], variables: &[(&str, &str)]) -> Result<Task, TaskError> {
        Task::read(args.iter().map(|&arg| arg.to_owned()), |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const SCENARIO: (&str, &str) = ("MCP_CONFORMANCE_SCENARIO", "tools_call");
    const VERSION: (&str, &str) = ("MCP_CONFORMANCE_PROTOCOL_VERSION", "2026-07-28");

    #[test]
    fn the_last_argument_is_the_address_and_the_rest_comes_by_variables() {
        let context = ("MCP_CONFORMANCE_CONTEXT", r#"{"a":1}"#);
        let task = read(
            &["x", "http://localhost:1/mcp"],
            &[SCENARIO, VERSION, context],
        );
        assert_eq!(
            task.unwrap(),
            Task {
                url: "http://localhost:1/mcp".to_owned(),
                scenario: "tools_call".to_owned(),
                version: Version::V2026_07_28,
                context: Some(Raw::parse(r#"{"a":1}"#).unwrap()),
            }
        );
    }

    #[test]
    fn whatever_is_missing_or_unreadable_is_named() {
        let said = |args: &[&str], variables: &[(&str, &str)]| {
            read(args, variables).unwrap_err().to_string()
        };
        assert!(said(&[], &[SCENARIO, VERSION]).contains("URL"));
        assert!(said(&["u"], &[VERSION]).contains("MCP_CONFORMANCE_SCENARIO"));
        assert!(said(&["u"], &[SCENARIO]).contains("MCP_CONFORMANCE_PROTOCOL_VERSION"));
        let later = ("MCP_CONFORMANCE_PROTOCOL_VERSION", "2030-01-01");
        assert!(said(&["u"], &[SCENARIO, later]).contains("2030-01-01"));
        let context = ("MCP_CONFORMANCE_CONTEXT", "{");
        assert!(said(&["u"], &[SCENARIO, VERSION, context]).contains("CONTEXT"));
    }
}
