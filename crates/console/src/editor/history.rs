//! History of the prompt, without secrets.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchQuery,
};
use switchboard_core::files;
use switchboard_core::secret::{MASK, looks_secret, mask_args};

/// Maximum number of lines that are kept.
const LINES: usize = 1000;

/// Maximum size of the history file in bytes; a larger one was not written by this program.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Returns true if a word contains a known secret.
pub type IsKnown = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The history file, and the check for words that must not be written to it.
#[derive(Clone)]
pub struct Remembered {
    /// The file.
    pub file: PathBuf,
    /// The check for words that contain a known secret.
    pub is_known: IsKnown,
}

/// Opens the history. Returns `None` if the file cannot be private to its owner.
pub(super) fn open(remembered: Option<&Remembered>) -> Option<Box<dyn History>> {
    let remembered = remembered?;
    // Without a private file there is no history: it may contain what the check does not recognise.
    private(&remembered.file).ok()?;
    let lines = FileBackedHistory::with_file(LINES, remembered.file.clone()).ok()?;
    Some(Box::new(Careful {
        lines,
        is_known: Arc::clone(&remembered.is_known),
    }))
}

/// Creates or checks the file: one that is a link, or in a folder that others may change, is not written to.
fn private(file: &Path) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder)?;
        // A person who can change a parent folder controls what is read back.
        files::judge_folders(folder).map_err(std::io::Error::other)?;
    }
    if fs::symlink_metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file)?;
    #[cfg(unix)]
    opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    // The whole file is read when a prompt opens.
    if opened.metadata()?.len() > MOST_BYTES {
        Err(std::io::ErrorKind::FileTooLarge.into())
    } else {
        Ok(())
    }
}

/// A history that leaves out words that look secret.
struct Careful {
    lines: FileBackedHistory,
    is_known: IsKnown,
}

impl History for Careful {
    fn save(&mut self, mut item: HistoryItem) -> Result<HistoryItem> {
        item.command_line = without_secrets(&item.command_line, &*self.is_known);
        self.lines.save(item)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.lines.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.lines.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.lines.search(query)
    }

    fn update(
        &mut self,
        id: HistoryItemId,
        updater: &dyn Fn(HistoryItem) -> HistoryItem,
    ) -> Result<()> {
        self.lines.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.lines.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.lines.delete(id)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.lines.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.lines.session()
    }
}

/// Removes the words of a command that look secret: variables and headers for servers, values whose names say
/// so, and known secrets.
fn without_secrets(line: &str, is_known: &dyn Fn(&str) -> bool) -> String {
    let Some(words) = shlex::split(line) else {
        // An unterminated quote: the borders of words are unknown, so only the verb is kept.
        return line.split_whitespace().take(1).collect();
    };
    let masked = mask_args(&words);
    let mut is_value_of_secret = false;
    let mut is_changed = false;
    let mut kept = Vec::new();
    for (word, masked) in words.iter().zip(&masked) {
        let is_secret =
            is_value_of_secret || masked.contains(MASK) || names_secret(word) || is_known(word);
        // The word after these options is a value that may be secret.
        is_value_of_secret = matches!(word.as_str(), "-e" | "--env" | "-H" | "--header" | "--args");
        is_changed |= is_secret;
        if !is_secret {
            kept.push(word.as_str());
        }
    }
    if !is_changed {
        return line.to_owned();
    }
    kept.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Quotes a word so that it can be typed again.
fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        // A line contains no NUL, so quoting cannot fail.
        shlex::try_quote(word).unwrap_or_default()
    }
}

/// Returns true if a name in a word says that a secret follows: `token=...`, `auth:={"password": ...}`.
fn names_secret(word: &str) -> bool {
    let glued = word.starts_with("-e") || word.starts_with("-H");
    let names = word.split(['=', ':', '"', '{', ',', ' ', '&', '?']);
    (glued && word.len() > 2 && !word.starts_with("--"))
        || word.starts_with("--env=")
        || word.starts_with("--header=")
        || (word.contains(['=', ':']) && names.into_iter().any(looks_secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(line: &str) -> String {
        without_secrets(line, &|word| word.contains("known-secret"))
    }

    #[test]
    fn ordinary_lines_are_kept_as_they_are() {
        for line in [
            "call demo/echo message='hello  world'",
            "/mcp connect demo --allow-all",
            "call x/y max_tokens=5 count:=3",
            "read demo file:///readme.txt",
        ] {
            assert_eq!(kept(line), line);
        }
    }

    #[test]
    fn what_looks_secret_is_left_out() {
        for (line, left) in [
            (
                "call x/login user=me password=hunter2",
                "call x/login user=me",
            ),
            (
                "tools --url https://h/mcp -H 'Authorization: Bearer abc'",
                "tools --url https://h/mcp -H",
            ),
            (
                "call x/y 'auth:={\"api_key\": \"abc\"}' a=1",
                "call x/y a=1",
            ),
            ("add x -e TOKEN=abc -- cmd", "add x -e -- cmd"),
            ("add x -eTOKEN=abc -- cmd", "add x -- cmd"),
            (
                "call x/y --args '{\"password\":\"hunter2\"}'",
                "call x/y --args",
            ),
            ("call x/y text=known-secret", "call x/y"),
            ("call x/y 'unfinished secret", "call"),
        ] {
            assert_eq!(kept(line), left, "{line}");
        }
    }
}
