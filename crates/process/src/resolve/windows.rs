//! What a command means on Windows.
//!
//! Written for texts and not for `Path`, which on another system would read them by its own rules.
//!
//! A file that ends in `.bat` or `.cmd`, such as `npx.cmd`, is run by `cmd.exe`, which reads its
//! arguments anew. The standard library quotes them for it and refuses those that cannot be quoted
//! (since Rust 1.77.2, and for names that end in dots or spaces since 1.81), so that no argument
//! becomes a command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Candidate, Meanings, Search};

/// The endings that the system can run. `PATHEXT` may name others, such as `.JS`, which only a
/// shell knows what to do with.
const RUN: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// Names that are common elsewhere, each with those that mean the same here.
const ALIASES: [(&str, &[&str]); 2] = [("python3", &["python", "py"]), ("pip3", &["pip"])];

pub(super) fn meanings(search: &Search<'_>) -> Meanings {
    let command = search.command;
    let endings = endings(search.pathext);
    if command.contains(['/', '\\']) {
        let file = relative_to(search.cwd, command);
        return Meanings {
            // Somebody has named this very file: if it is no program, the system says so.
            files: completed(file, &endings, true),
            searched: Vec::new(),
        };
    }
    let searched = folders(search.path.unwrap_or_default());
    let aliases = ALIASES
        .iter()
        .filter(|(name, _)| command.eq_ignore_ascii_case(name))
        .flat_map(|(_, others)| others.iter().copied());
    // `C:tool` is relative to a folder that nobody has named, and `tool:x` is a part of a file.
    let names = std::iter::once(command)
        .filter(|name| !name.contains(':'))
        .chain(aliases);
    let mut files = Vec::new();
    // All folders before the next name: an alias is for where the name itself means nothing.
    for name in names {
        for folder in &searched {
            files.extend(completed(joined(folder, name), &endings, false));
        }
    }
    Meanings { files, searched }
}

/// The files that a name stands for: itself if its ending says that it can be run, and otherwise
/// itself with each of the endings. Last, where `as_it_is` does not say otherwise, a file that
/// cannot be run: it explains why there is no other.
fn completed(file: OsString, endings: &[String], as_it_is: bool) -> Vec<Candidate> {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let is_complete = RUN.iter().any(|ending| name.ends_with(ending));
    let mut files = Vec::new();
    if !is_complete {
        // Added and not exchanged: `python3.12` has no ending.
        files.extend(endings.iter().map(|ending| {
            let mut file = file.clone();
            file.push(ending);
            candidate(file, true)
        }));
    }
    files.push(candidate(file, is_complete || as_it_is));
    files
}

fn candidate(file: OsString, is_program: bool) -> Candidate {
    Candidate {
        file: PathBuf::from(file),
        is_program,
    }
}

/// The endings that a name may be completed with, in the order of `PATHEXT`.
fn endings(pathext: Option<&str>) -> Vec<String> {
    let mut endings: Vec<String> = Vec::new();
    for named in pathext.unwrap_or_default().split(';').map(str::trim) {
        let is_known = RUN.iter().any(|run| run.eq_ignore_ascii_case(named));
        // In small letters, as such files are named; the system does not tell them apart.
        let named = named.to_ascii_lowercase();
        if is_known && !endings.contains(&named) {
            endings.push(named);
        }
    }
    if endings.is_empty() {
        endings.extend(RUN.map(str::to_owned));
    }
    endings
}

/// The folders of `PATH`. What is in quotes may have a semicolon in it; an entry that is empty or
/// relative, be it to the current drive, is left out.
fn folders(path: &str) -> Vec<PathBuf> {
    let mut entries = vec![String::new()];
    let mut is_quoted = false;
    for c in path.chars() {
        match (c, entries.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (';', _) if !is_quoted => entries.push(String::new()),
            (c, Some(entry)) => entry.push(c),
            (_, None) => {}
        }
    }
    entries
        .into_iter()
        .filter(|entry| drive(entry).is_some_and(|drive| entry.len() > drive.len()))
        .map(PathBuf::from)
        .collect()
}

/// What a path begins with when it does not depend on a current folder: `C:` before a separator,
/// or the two separators of a network folder.
fn drive(path: &str) -> Option<&str> {
    match path.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => path.get(..2),
        [b'/' | b'\\', b'/' | b'\\', ..] => path.get(..2),
        _ => None,
    }
}

/// A path as seen from a folder.
fn relative_to(folder: Option<&Path>, path: &str) -> OsString {
    let Some(folder) = folder.filter(|_| drive(path).is_none()) else {
        return path.into();
    };
    if path.starts_with(['/', '\\']) {
        // From the top of the drive that the folder is on. A network folder has none.
        let folder = folder.to_string_lossy();
        let drive = drive(&folder).filter(|drive| drive.ends_with(':'));
        return format!("{}{path}", drive.unwrap_or_default()).into();
    }
    joined(folder, path)
}

fn joined(folder: &Path, name: &str) -> OsString {
    let mut file = folder.as_os_str().to_owned();
    if !file.to_string_lossy().ends_with(['/', '\\']) {
        file.push("\\");
    }
    file.push(name);
    file
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
