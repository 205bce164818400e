//! Candidates for a command on Windows.
//!
//! Works on strings and not on `Path`, which on other systems would parse them by other rules.
//!
//! A file that ends in `.bat` or `.cmd`, such as `npx.cmd`, is run by `cmd.exe`, which parses its
//! arguments again. The standard library quotes them accordingly and refuses those that cannot be quoted
//! (since Rust 1.77.2, and for names that end in dots or spaces since 1.81), so that no argument becomes
//! a command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Candidate, Meanings, Search};

/// The extensions that the system can run. `PATHEXT` may contain others, such as `.JS`, which only a
/// shell can run.
const RUN: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// Names that are common on other systems, with the names of the same program here.
const ALIASES: [(&str, &[&str]); 2] = [("python3", &["python", "py"]), ("pip3", &["pip"])];

pub(super) fn meanings(search: &Search<'_>) -> Meanings {
    let command = search.command;
    let endings = endings(search.pathext);
    if command.contains(['/', '\\']) {
        let file = relative_to(search.cwd, command);
        return Meanings {
            // The user named this very file: if it is not a program, the system reports that.
            files: candidates(file, &endings, true),
            searched: Vec::new(),
        };
    }
    let searched = folders(search.path.unwrap_or_default());
    let aliases = ALIASES
        .iter()
        .filter(|(name, _)| command.eq_ignore_ascii_case(name))
        .flat_map(|(_, others)| others.iter().copied());
    // `C:tool` is relative to an unknown folder, and `tool:x` is a stream of a file.
    let names = std::iter::once(command)
        .filter(|name| !name.contains(':'))
        .chain(aliases);
    let mut files = Vec::new();
    // All folders before the next name: an alias is used only if the name itself is not found.
    for name in names {
        for folder in &searched {
            files.extend(candidates(join(folder, name), &endings, false));
        }
    }
    Meanings { files, searched }
}

/// The candidates for a name: the name itself if its extension can be run, and otherwise the name with
/// each of the extensions. Last comes the plain name, which cannot be run unless `as_it_is` is set: it
/// explains the failure if nothing else is found.
fn candidates(file: OsString, endings: &[String], as_it_is: bool) -> Vec<Candidate> {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let is_complete = RUN.iter().any(|ending| name.ends_with(ending));
    let mut files = Vec::new();
    if !is_complete {
        // Append and do not replace: the `.12` of `python3.12` is not an extension.
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

/// The extensions to try, in the order of `PATHEXT`.
fn endings(pathext: Option<&str>) -> Vec<String> {
    let mut endings: Vec<String> = Vec::new();
    for named in pathext.unwrap_or_default().split(';').map(str::trim) {
        let is_known = RUN.iter().any(|run| run.eq_ignore_ascii_case(named));
        // In lower case, as such files are usually named; the system ignores case.
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

/// Splits `PATH` into folders. Quoted parts may contain semicolons; empty entries and entries that are
/// relative, also to the current drive, are skipped.
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

/// The prefix of a path that does not depend on a current folder: `C:` before a separator, or the two
/// separators of a network folder.
fn drive(path: &str) -> Option<&str> {
    match path.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => path.get(..2),
        [b'/' | b'\\', b'/' | b'\\', ..] => path.get(..2),
        _ => None,
    }
}

/// Resolves a path relative to a folder.
fn relative_to(folder: Option<&Path>, path: &str) -> OsString {
    let Some(folder) = folder.filter(|_| drive(path).is_none()) else {
        return path.into();
    };
    if path.starts_with(['/', '\\']) {
        // Relative to the root of the folder's drive. A network folder has no drive.
        let folder = folder.to_string_lossy();
        let drive = drive(&folder).filter(|drive| drive.ends_with(':'));
        return format!("{}{path}", drive.unwrap_or_default()).into();
    }
    join(folder, path)
}

fn join(folder: &Path, name: &str) -> OsString {
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
