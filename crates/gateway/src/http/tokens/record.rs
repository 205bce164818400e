//! One named token.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use switchboard::policy::{Caller, CallerId, Grants, Level};
use switchboard::private_store::{from_seconds, to_seconds};

use super::error::NamedTokenError;
use crate::caller::CredentialBounds;
use crate::http::digest::Digest;

/// Longest name.
const NAME_BYTES: usize = 64;

/// A named token as it is kept: without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedToken {
    /// The name, which is also the id of the agent that it stands for.
    pub name: String,
    /// The time at which it was made.
    pub created: SystemTime,
    /// The time at which its text was last replaced.
    pub rotated: Option<SystemTime>,
    /// The time from which it does not count any more.
    pub expires: Option<SystemTime>,
    /// The only things that it may be used for; `None` if it may be used for what the policy says of its agent.
    pub grants: Option<Grants>,
    /// The highest level that its agent has with it.
    pub level: Option<Level>,
    /// The digest of its text.
    pub(super) digest: Digest,
}

/// A token to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewToken {
    /// The name.
    pub name: String,
    /// The time from which it does not count any more.
    pub expires: Option<SystemTime>,
    /// The only things that it may be used for.
    pub grants: Option<Grants>,
    /// The highest level that its agent has with it.
    pub level: Option<Level>,
}

impl NewToken {
    /// A token of that name, without bounds or an end.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            expires: None,
            grants: None,
            level: None,
        }
    }

    /// Makes the record of it, with the digest of this text.
    pub(super) fn record(self, text: &str, now: SystemTime) -> Result<NamedToken, NamedTokenError> {
        let Self {
            name,
            expires,
            grants,
            level,
        } = self;
        if !is_name(&name) {
            return Err(NamedTokenError::Name { name });
        }
        // Rounded before it is compared, because it counts as it is written.
        let expires = expires.map(whole_seconds);
        if expires.is_some_and(|expires| expires <= SystemTime::now()) {
            return Err(NamedTokenError::Expired);
        }
        Ok(NamedToken {
            name,
            created: whole_seconds(now),
            rotated: None,
            expires,
            grants,
            level,
            digest: Digest::of(text.as_bytes()),
        })
    }
}

/// A time as the file keeps it.
pub(super) fn whole_seconds(time: SystemTime) -> SystemTime {
    from_seconds(to_seconds(time)).unwrap_or(time)
}

/// Returns true for a name that is easy to type, and that an agent can have.
fn is_name(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let has_start = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    has_start
        && name.len() <= NAME_BYTES
        && name.bytes().all(is_usual)
        && CallerId::parse(name).is_ok()
}

impl NamedToken {
    /// Returns true once it has expired.
    pub fn has_expired(&self) -> bool {
        let is_past = |expires| SystemTime::now() >= expires;
        self.expires.is_some_and(is_past)
    }

    /// The caller that comes with it: the agent of its name.
    pub(super) fn caller(&self, usual: &CallerId) -> Option<Caller> {
        let bounds = CredentialBounds {
            grants: self.grants.as_ref(),
            level: self.level,
        };
        Some(bounds.caller(CallerId::parse(&self.name).ok()?, usual))
    }

    /// The name under which sessions and sealed texts belong to it. A token that was revoked and one of the
    /// same name that was made later are different ones.
    pub(super) fn principal(&self) -> String {
        // The time of its making: sessions of a token that was revoked are not those of its successor.
        let created = to_seconds(self.created);
        Digest::of(format!("{}\0{created}", self.name).as_bytes()).short()
    }

    pub(super) fn to_written(&self) -> Written {
        let grants = self.grants.as_ref();
        Written {
            name: self.name.clone(),
            sha256: self.digest.to_text(),
            created: to_seconds(self.created),
            rotated: self.rotated.map(to_seconds),
            expires: self.expires.map(to_seconds),
            grants: grants.map(|all| all.iter().map(ToString::to_string).collect()),
            level: self.level.map(|level| level.to_string()),
        }
    }

    pub(super) fn from_written(written: Written) -> Result<Self, String> {
        let Written {
            name,
            sha256,
            created,
            rotated,
            expires,
            grants,
            level,
        } = written;
        if !is_name(&name) {
            return Err(format!("{name:?} is no name"));
        }
        let level = level.map(|level| level.parse()).transpose();
        Ok(Self {
            digest: Digest::parse(&sha256).ok_or("its digest has not 256 bits")?,
            name,
            created: from_seconds(created)?,
            rotated: rotated.map(from_seconds).transpose()?,
            expires: expires.map(from_seconds).transpose()?,
            grants: grants
                .map(Grants::parse)
                .transpose()
                .map_err(|error| error.to_string())?,
            level: level
                .map_err(|error: switchboard::policy::ParseLevelError| error.to_string())?,
        })
    }
}

/// A token in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    name: String,
    sha256: String,
    created: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rotated: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grants: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tokens_are_short_and_plain() {
        for good in ["laptop", "a", "Ci-2.x_1", &"x".repeat(64)] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "a b",
            "-a",
            ".a",
            "ä",
            "a/b",
            "owner",
            "OWNER",
            &"x".repeat(65),
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_token_is_read_as_it_was_written() {
        let now = SystemTime::now();
        let mut new = NewToken::new("laptop");
        let plain = new.clone().record("text", now).unwrap();
        new.grants = Some(Grants::parse(["mcp:demo:get_*"]).unwrap());
        new.level = Some(Level::Trusted);
        new.expires = Some(now + std::time::Duration::from_secs(60));
        let full = new.record("text", now).unwrap();
        for token in [plain, full] {
            let text = serde_json::to_string(&token.to_written()).unwrap();
            assert!(!text.contains("\"text\""), "{text}");
            let read = NamedToken::from_written(serde_json::from_str(&text).unwrap());
            assert_eq!(read.unwrap(), token);
        }
    }

    #[test]
    fn principals_tell_tokens_of_one_name_apart() {
        let at = |seconds| {
            let now = from_seconds(seconds).unwrap();
            NewToken::new("laptop").record("text", now).unwrap()
        };
        assert_eq!(at(5).principal().len(), 16);
        assert_eq!(at(5).principal(), at(5).principal());
        assert_ne!(at(5).principal(), at(6).principal());
    }
}
