//! All that an agent may use.

use std::fmt;
use std::sync::Arc;

use super::grant::{Grant, ParseGrantError};
use super::request::Target;

/// All that an agent may use, or all that it may not. None is nothing.
///
/// ```
/// use switchboard::policy::Grants;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let grants = Grants::parse(["mcp:github:get_*", "mcp:files:resource/file:///notes/*"])?;
/// assert_eq!(grants.to_string(), "mcp:github:get_*, mcp:files:resource/file:///notes/*");
/// let error = Grants::parse(["mcp:github"]).unwrap_err();
/// assert_eq!((error.index(), error.grant().at()), (0, 11));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Grants(Vec<Arc<Grant>>);

/// The error for a list of grants, with the index of the bad one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("grant {number}: {grant}", number = index + 1)]
pub struct ParseGrantsError {
    index: usize,
    grant: ParseGrantError,
}

impl ParseGrantsError {
    /// Returns the index of the bad grant, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the error for that grant.
    pub fn grant(&self) -> &ParseGrantError {
        &self.grant
    }
}

impl Grants {
    /// Nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// All tools, resources and prompts of all servers.
    pub fn everything() -> Self {
        let all = ["mcp:*:*", "mcp:*:resource/*", "mcp:*:prompt/*"];
        Self::parse(all).expect("these are grants")
    }

    /// Reads grants.
    ///
    /// # Errors
    /// Fails if one of the texts is not a grant.
    pub fn parse<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Self, ParseGrantsError> {
        let grants = texts.into_iter().enumerate().map(|(index, text)| {
            let grant = Grant::parse(text.as_ref());
            grant.map_err(|grant| ParseGrantsError { index, grant })
        });
        grants.collect()
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, grant: Grant) -> Self {
        self.0.push(Arc::new(grant));
        self
    }

    /// The first that covers this.
    pub fn covering(&self, target: &Target<'_>) -> Option<&Arc<Grant>> {
        self.0.iter().find(|grant| grant.covers(target))
    }

    /// All of them, in the order in which they were given.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Grant> {
        self.0.iter().map(|grant| &**grant)
    }

    /// Returns `true` if there are no grants.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Grant> for Grants {
    fn from_iter<T: IntoIterator<Item = Grant>>(grants: T) -> Self {
        Self(grants.into_iter().map(Arc::new).collect())
    }
}

impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        for (at, grant) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{grant}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}
