//! All named tokens, in their file.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use switchboard::private_store::{Held, PrivateStore, StoreError, document};

use super::error::NamedTokenError;
use super::record::{NamedToken, NewToken, Written, whole_seconds};
use crate::http::auth::Token;
use crate::http::digest::Digest;

/// The file in its folder.
const FILE: &str = "tokens.json";
/// The version of the file's format.
const VERSION: u64 = 1;
/// Most tokens. Each is compared with what a request brings.
const MOST: usize = 256;
/// Largest file that is read.
const FILE_BYTES: usize = 1 << 20;
/// Longest wait for another process that writes.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The named tokens of a person, in a file of a folder that only this person can use.
///
/// Nothing is read or made until it is used. Only digests of tokens are kept. Its methods block.
#[derive(Debug)]
pub struct NamedTokens {
    store: PrivateStore,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    tokens: Vec<Written>,
}

impl NamedTokens {
    /// The tokens in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            store: PrivateStore::at(folder.into(), "tokens"),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        self.store.path(FILE)
    }

    /// All tokens, by name, those included that have expired.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if another user could have written it.
    pub fn list(&self) -> Result<Vec<NamedToken>, NamedTokenError> {
        Ok(self.read()?)
    }

    /// Makes a token; returns its text, which is kept nowhere.
    ///
    /// # Errors
    /// Fails if the name is taken or not usable, if the token would have expired already, or if the file
    /// cannot be changed.
    pub fn add(&self, new: NewToken) -> Result<String, NamedTokenError> {
        // Made before the file is locked: other processes wait for the change alone.
        let text = generate()?;
        let record = new.record(&text, SystemTime::now())?;
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == record.name) {
                return Err(NamedTokenError::Taken { name: record.name });
            }
            if tokens.len() >= MOST {
                return Err(NamedTokenError::Full { most: MOST });
            }
            tokens.push(record);
            // By name, as `list` returns them.
            tokens.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(())
        })?;
        Ok(text)
    }

    /// Replaces the text of a token, whose bounds and end stay; returns the new one.
    ///
    /// # Errors
    /// Fails if there is no such token, if it has expired, or if the file cannot be changed.
    pub fn rotate(&self, name: &str) -> Result<String, NamedTokenError> {
        let text = generate()?;
        self.change(|tokens| {
            let at = position(tokens, name)?;
            let Some(token) = tokens.get_mut(at) else {
                return Ok(());
            };
            // Another text would not make it count again.
            if token.has_expired() {
                return Err(NamedTokenError::Expired);
            }
            token.digest = Digest::of(text.as_bytes());
            token.rotated = Some(whole_seconds(SystemTime::now()));
            Ok(())
        })?;
        Ok(text)
    }

    /// Forgets a token.
    ///
    /// # Errors
    /// Fails if there is no such token, or if the file cannot be changed.
    pub fn revoke(&self, name: &str) -> Result<(), NamedTokenError> {
        self.change(|tokens| {
            let at = position(tokens, name)?;
            tokens.remove(at);
            Ok(())
        })
    }

    fn read(&self) -> Result<Vec<NamedToken>, StoreError> {
        match self.store.read(FILE, FILE_BYTES)? {
            Some(text) => parse(&text, &self.path()),
            None => Ok(Vec::new()),
        }
    }

    /// Changes the tokens while no other process does.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<NamedToken>) -> Result<(), NamedTokenError>,
    ) -> Result<(), NamedTokenError> {
        let changed = self.store.change(LOCK_WAIT, |held| {
            // Read under the lock: another process may have changed the file since.
            let mut tokens = self.read()?;
            Ok(match change(&mut tokens) {
                Ok(()) => Ok(write(held, &tokens)?),
                Err(refused) => Err(refused),
            })
        });
        changed?
    }
}

fn write(held: &Held<'_>, tokens: &[NamedToken]) -> Result<(), StoreError> {
    let document = Document {
        version: VERSION,
        tokens: tokens.iter().map(NamedToken::to_written).collect(),
    };
    held.replace(FILE, document::write(&document).as_bytes(), FILE_BYTES)
}

fn parse(text: &[u8], path: &Path) -> Result<Vec<NamedToken>, StoreError> {
    let document: Document = document::parse(text, path, VERSION)?;
    if document.tokens.len() > MOST {
        let why = format!("it has more than {MOST} tokens");
        return Err(StoreError::malformed(path, why));
    }
    let mut tokens: Vec<NamedToken> = Vec::with_capacity(document.tokens.len());
    for (at, written) in (1..).zip(document.tokens) {
        let token = NamedToken::from_written(written);
        let token =
            token.map_err(|why| StoreError::malformed(path, format!("token {at}: {why}")))?;
        // `revoke` and `rotate` must not have two to choose from.
        if tokens.iter().any(|known| known.name == token.name) {
            let why = format!("token {at}: {} is there twice", token.name);
            return Err(StoreError::malformed(path, why));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

fn position(tokens: &[NamedToken], name: &str) -> Result<usize, NamedTokenError> {
    let at = tokens.iter().position(|token| token.name == name);
    at.ok_or_else(|| NamedTokenError::Unknown {
        name: name.to_owned(),
        known: tokens.iter().map(|token| token.name.clone()).collect(),
    })
}

fn generate() -> Result<String, NamedTokenError> {
    Token::generate().map_err(|error| NamedTokenError::Other {
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use switchboard::policy::{Grants, Level};

    use super::*;

    #[test]
    fn tokens_are_added_rotated_and_revoked_in_one_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = NamedTokens::at(folder.path().join("state"));
        assert_eq!(tokens.list().unwrap(), []);
        let mut new = NewToken::new("laptop");
        new.grants = Some(Grants::parse(["mcp:demo:*"]).unwrap());
        new.level = Some(Level::Trusted);
        let text = tokens.add(new).unwrap();
        tokens.add(NewToken::new("ci")).unwrap();
        let listed = tokens.list().unwrap();
        let names: Vec<_> = listed.iter().map(|token| token.name.as_str()).collect();
        assert_eq!(names, ["ci", "laptop"]);
        assert!(listed[1].digest.matches(&Digest::of(text.as_bytes())));
        let file = std::fs::read_to_string(tokens.path()).unwrap();
        assert!(!file.contains(&text), "{file}");

        let rotated = tokens.rotate("laptop").unwrap();
        let listed = tokens.list().unwrap();
        assert!(listed[1].digest.matches(&Digest::of(rotated.as_bytes())) && rotated != text);
        assert!(
            !listed[1].digest.matches(&Digest::of(text.as_bytes())) && listed[1].rotated.is_some()
        );
        assert_eq!(listed[1].level, Some(Level::Trusted));
        tokens.revoke("laptop").unwrap();
        assert_eq!(tokens.list().unwrap().len(), 1);
    }

    #[test]
    fn names_that_are_taken_unknown_or_bad_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = NamedTokens::at(folder.path().join("state"));
        tokens.add(NewToken::new("ci")).unwrap();
        let before = std::fs::read(tokens.path()).unwrap();
        let taken = tokens.add(NewToken::new("ci")).unwrap_err();
        assert_eq!(taken.to_string(), "there is a token called ci already");
        let unknown = tokens.revoke("cd").unwrap_err();
        assert!(matches!(&unknown, NamedTokenError::Unknown { known, .. } if known == &["ci"]));
        assert!(tokens.rotate("cd").is_err() && tokens.add(NewToken::new("a b")).is_err());
        let mut late = NewToken::new("late");
        late.expires = Some(SystemTime::now());
        assert!(matches!(
            tokens.add(late).unwrap_err(),
            NamedTokenError::Expired
        ));
        assert_eq!(std::fs::read(tokens.path()).unwrap(), before);
    }

    #[test]
    fn more_tokens_than_may_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = NamedTokens::at(folder.path());
        let record = |name: String| NewToken::new(name).record("x", SystemTime::now()).unwrap();
        let all =
            |most| -> Vec<NamedToken> { (0..most).map(|at| record(format!("t{at}"))).collect() };
        let fill = |all: &[NamedToken]| {
            let written = tokens.store.change(LOCK_WAIT, |held| write(held, all));
            written.unwrap();
        };
        fill(&all(MOST - 1));
        tokens.add(NewToken::new("last")).unwrap();
        let full = tokens.add(NewToken::new("more")).unwrap_err();
        assert!(matches!(full, NamedTokenError::Full { most: MOST }));
        fill(&all(MOST + 1));
        assert!(tokens.list().is_err());
    }

    #[test]
    fn a_file_that_is_broken_or_newer_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = NamedTokens::at(folder.path());
        tokens.add(NewToken::new("ci")).unwrap();
        let good = std::fs::read_to_string(tokens.path()).unwrap();
        for bad in [
            String::new(),
            "{}".to_owned(),
            good.replace("\"version\": 1", "\"version\": 2"),
            good.replace("sha256", "sha512"),
            good.replace("\"ci\"", "\"c i\""),
            good.replace("\"sha256\": \"", "\"sha256\": \"x"),
        ] {
            std::fs::write(tokens.path(), &bad).unwrap();
            assert!(tokens.list().is_err(), "{bad}");
            assert!(tokens.add(NewToken::new("cd")).is_err());
            assert_eq!(std::fs::read_to_string(tokens.path()).unwrap(), bad);
        }
    }
}
