//! Profiles, read once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use switchboard::ServerName;
use switchboard::spec::Glob;

use crate::error::GatewayError;
use crate::options::Profile;

/// A profile whose patterns were read.
#[derive(Debug)]
pub(super) struct ReadProfile {
    servers: Option<BTreeSet<ServerName>>,
    tools: Option<Vec<ToolPattern>>,
    without_tools: Vec<ToolPattern>,
}

/// A pattern for tools: `server/tool`.
#[derive(Debug)]
struct ToolPattern {
    server: Glob,
    tool: Glob,
}

/// Profiles by name.
pub(super) type ReadProfiles = BTreeMap<Arc<str>, Arc<ReadProfile>>;

/// Reads all profiles.
///
/// # Errors
/// Fails if a name or a pattern cannot be one. A server that does not exist is no error: it may come later.
pub(super) fn read_all(profiles: &BTreeMap<String, Profile>) -> Result<ReadProfiles, GatewayError> {
    let read = profiles.iter().map(|(name, profile)| {
        let read = ReadProfile::read(name, profile).map_err(|why| GatewayError::Profile {
            name: name.clone(),
            why,
        })?;
        Ok((Arc::from(name.as_str()), Arc::new(read)))
    });
    read.collect()
}

impl ReadProfile {
    fn read(name: &str, profile: &Profile) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        // The name is part of a URL.
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            return Err("its name is not made of letters, digits and `-_.`".to_owned());
        }
        let patterns = |texts: &[String]| -> Result<Vec<ToolPattern>, String> {
            texts.iter().map(|text| ToolPattern::read(text)).collect()
        };
        let servers = profile.servers.clone();
        Ok(Self {
            servers: servers.map(BTreeSet::from_iter),
            tools: profile.tools.as_deref().map(patterns).transpose()?,
            without_tools: patterns(&profile.without_tools)?,
        })
    }

    /// Returns true if the profile has a server.
    pub(super) fn has_server(&self, server: &ServerName) -> bool {
        (self.servers.as_ref()).is_none_or(|servers| servers.contains(server))
    }

    /// Returns true if the profile has a tool.
    pub(super) fn has_tool(&self, server: &ServerName, tool: &str) -> bool {
        let matches = |patterns: &[ToolPattern]| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| {
                pattern.server.matches(server.as_str()) && pattern.tool.matches(tool)
            })
        };
        self.has_server(server)
            && self.tools.as_deref().is_none_or(matches)
            && !matches(&self.without_tools)
    }
}

impl ToolPattern {
    fn read(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self {
                server: Glob::new(server),
                tool: Glob::new(tool),
            }),
            _ => Err(format!("{text:?} is not of the form `server/tool`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ServerName {
        ServerName::parse(text).unwrap()
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_profile_has_the_tools_that_it_names_and_no_others() {
        let profile = Profile {
            servers: Some(vec![name("git"), name("files")]),
            tools: Some(texts(&["git/*", "f*/read_*", "memory/*"])),
            without_tools: texts(&["*/*push*"]),
        };
        let profile = ReadProfile::read("work", &profile).unwrap();
        for (server, tool, has) in [
            ("git", "log", true),
            ("git", "push", false),
            ("files", "read_file", true),
            ("files", "write", false),
            ("memory", "read", false),
        ] {
            assert_eq!(
                profile.has_tool(&name(server), tool),
                has,
                "{server}/{tool}"
            );
        }
    }

    #[test]
    fn a_profile_that_says_nothing_has_everything() {
        let profile = ReadProfile::read("all", &Profile::default()).unwrap();
        assert!(profile.has_tool(&name("any"), "tool") && profile.has_server(&name("any")));
    }

    #[test]
    fn a_profile_is_refused_whose_name_or_pattern_cannot_be() {
        for bad in ["", "a/b", "..", "a b", "é"] {
            assert!(
                ReadProfile::read(bad, &Profile::default()).is_err(),
                "{bad}"
            );
        }
        for bad in ["tool", "/tool", "server/", ""] {
            let profile = Profile {
                without_tools: texts(&[bad]),
                ..Profile::default()
            };
            let profiles = BTreeMap::from([("work".to_owned(), profile)]);
            let error = read_all(&profiles).unwrap_err().to_string();
            let expected = format!("profile \"work\": {bad:?} is not of the form `server/tool`");
            assert_eq!(error, expected);
        }
    }
}
