//! One approval as it is written down.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use switchboard_core::mask::{self, Fact, MaskPolicy};

use super::{Approval, Difference};
use crate::private_store::{self, from_seconds, to_seconds};
use crate::spec::ServerName;
use crate::trust::fingerprint::{Fingerprint, hex};
use crate::trust::{Claim, ParseFingerprintError, path};

/// One approval, with the facts that were shown, so that changes can be listed later.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    pub(super) server: ServerName,
    /// The path as text without loss.
    file: String,
    pub(super) fingerprint: Fingerprint,
    /// Seconds since 1970.
    approved: u64,
    seen: Vec<Seen>,
}

/// One fact as it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    at: String,
    shown: String,
    /// Identifies a masked value: enough to notice a change, but the value cannot be read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenTrust {
    server: String,
    file: String,
    fingerprint: String,
    /// Seconds since 1970.
    approved: u64,
    seen: Vec<Seen>,
}

impl Record {
    pub(super) fn of(claim: &Claim, time: SystemTime) -> Self {
        let fingerprint = claim.fingerprint();
        Self {
            server: claim.server.clone(),
            file: path::to_text(&claim.file),
            fingerprint,
            approved: to_seconds(time),
            seen: seen_facts(claim, &fingerprint),
        }
    }

    /// Returns `true` if the record is for the same server name in the same file, whatever its content.
    pub(super) fn is_about(&self, claim: &Claim) -> bool {
        self.server == claim.server && self.file == path::to_text(&claim.file)
    }

    pub(super) fn approval(&self) -> Approval {
        Approval {
            server: self.server.clone(),
            // The text was written from a path, or was checked when it was read, so parsing cannot fail.
            file: path::from_text(&self.file).unwrap_or_else(|| self.file.clone().into()),
            fingerprint: self.fingerprint,
            // The number was checked when it was read.
            approved: from_seconds(self.approved).unwrap_or(SystemTime::UNIX_EPOCH),
        }
    }

    /// Lists the differences of a claim from this approval.
    pub(super) fn differences(&self, claim: &Claim) -> Vec<Difference> {
        let now = seen_facts(claim, &self.fingerprint);
        let find = |all: &[Seen], at: &str| all.iter().find(|seen| seen.at == at).cloned();
        let gone = self.seen.iter().filter(|old| find(&now, &old.at).is_none());
        let gone = gone.map(|old| Difference {
            pointer: old.at.clone(),
            before: Some(old.shown.clone()),
            after: None,
        });
        let other = now.iter().filter_map(|new| {
            let old = find(&self.seen, &new.at);
            if old.as_ref() == Some(new) {
                return None;
            }
            let is_masked_alike = old.as_ref().is_some_and(|old| old.shown == new.shown);
            let note = if is_masked_alike {
                " (another value)"
            } else {
                ""
            };
            Some(Difference {
                pointer: new.at.clone(),
                before: old.map(|old| old.shown),
                after: Some(format!("{}{note}", new.shown)),
            })
        });
        let mut all: Vec<Difference> = gone.chain(other).collect();
        all.sort_by(|one, two| one.pointer.cmp(&two.pointer));
        all
    }
}

impl private_store::Record for Record {
    type Written = WrittenTrust;

    fn to_written(&self) -> WrittenTrust {
        WrittenTrust {
            server: self.server.as_str().to_owned(),
            file: self.file.clone(),
            fingerprint: self.fingerprint.to_string(),
            approved: self.approved,
            seen: self.seen.clone(),
        }
    }

    fn from_written(written: WrittenTrust) -> Result<Self, String> {
        path::from_text(&written.file).ok_or("its file is no path")?;
        from_seconds(written.approved)?;
        let fingerprint = written.fingerprint.parse();
        Ok(Self {
            server: ServerName::parse(&written.server).map_err(|error| error.to_string())?,
            file: written.file,
            fingerprint: fingerprint.map_err(|error: ParseFingerprintError| error.to_string())?,
            approved: written.approved,
            seen: written.seen,
        })
    }

    fn server(&self) -> &str {
        self.server.as_str()
    }

    fn excludes(&self, other: &Self) -> bool {
        other.server == self.server && other.file == self.file
    }
}

/// Writes a claim down as facts; `salt` keeps equal secrets of two entries from looking equal.
fn seen_facts(claim: &Claim, salt: &Fingerprint) -> Vec<Seen> {
    let facts = facts_of(claim).into_iter();
    facts
        .map(|fact| Seen {
            mark: fact
                .hidden
                .as_deref()
                .map(|hidden| mark(&fact, hidden, salt)),
            at: fact.pointer(),
            shown: fact.shown,
        })
        .collect()
}

fn mark(fact: &Fact, hidden: &str, salt: &Fingerprint) -> String {
    let digest = Sha256::new()
        .chain_update(salt.as_bytes())
        .chain_update(fact.pointer())
        .chain_update([0])
        .chain_update(hidden)
        .finalize();
    hex(digest.get(..8).unwrap_or_default())
}

/// Takes a whole claim apart, for the record.
fn facts_of(claim: &Claim) -> Vec<Fact> {
    let mut facts = mask::facts(&claim.entry, MaskPolicy::Lock);
    if let Some(program) = &claim.program {
        facts.push(Fact::outside("program", &path::to_text(program), None));
    }
    let mut references = claim.references.clone();
    references.sort_unstable();
    references.dedup();
    if !references.is_empty() {
        let (shown, all) = (
            mask::references(&references).join(" "),
            references.join(" "),
        );
        let hidden = (shown != all).then_some(all);
        facts.push(Fact::outside("references", &shown, hidden));
    }
    if let Some(file) = &claim.env_file {
        let shown = match &file.names {
            Ok(names) => names.join(" "),
            Err(why) => format!("cannot be read: {why}"),
        };
        // Keep only a hash: a change of the values has to be noticed, but they are not stored.
        facts.push(Fact::outside(
            "env_file",
            &shown,
            file.content.map(|hash| hash.to_string()),
        ));
    }
    if claim.uses_login {
        facts.push(Fact::outside("login", "used", None));
    }
    for content in &claim.contents {
        let name = format!("content of {}", path::to_text(&content.path));
        facts.push(Fact::outside(name, &content.hash_text(), None));
    }
    facts
}
