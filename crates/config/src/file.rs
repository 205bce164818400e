//! Reads the text of a config file.

use std::path::{Path, PathBuf};

use switchboard_core::files::{Access, FileError, Refusal};
use switchboard_core::spec::Layer;
use switchboard_core::text::shell_path;

use super::open;
use super::problem::{FilePlace, Problem, ProblemKind, Severity};

/// Reads the text of a config file, with a warning if a group may change it; `None` if it does not exist.
/// The check and the read use the same open file.
///
/// # Errors
/// Fails if the file is not safe, or cannot be read.
pub fn read_file(file: &Path, layer: &Layer) -> Result<Option<(String, Option<Problem>)>, Problem> {
    let place = FilePlace { file, layer };
    let content = match open::config(file, layer) {
        Ok(content) => content,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(unreadable(&error, place)),
    };
    let text = match String::from_utf8(content.bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_text(error.as_bytes(), place)),
    };
    // Folders are only checked for the user's own files; elsewhere the file alone counts.
    let mut loose = content.group_writable;
    if loose.is_empty() && content.access == Access::GroupWritable {
        loose.push(file.to_owned());
    }
    Ok(Some((text, group_writable(&loose, place))))
}

/// Warns that a group may change a file, or a folder on the path to it.
fn group_writable(loose: &[PathBuf], place: FilePlace<'_>) -> Option<Problem> {
    let paths: Vec<_> = loose.iter().map(|path| path.to_string_lossy()).collect();
    let folders: Vec<&str> = loose
        .iter()
        .zip(&paths)
        .filter(|(path, _)| path.is_dir())
        .map(|(_, text)| &**text)
        .collect();
    let message = match folders.as_slice() {
        _ if loose.is_empty() => return None,
        [] => "others of the file's group may change it".to_owned(),
        folders => format!(
            "others of a group may replace it, by the folder {}",
            folders.join(" and ")
        ),
    };
    let words: Vec<_> = paths.iter().map(|path| shell_path(path)).collect();
    let kind = ProblemKind::GroupWritable;
    let problem = Problem::of_file(Severity::Warning, kind, place, message);
    Some(problem.with_hint(format!("run `chmod g-w {}`", words.join(" "))))
}

pub(super) fn missing(place: FilePlace<'_>) -> Problem {
    let message = "there is no such file";
    Problem::of_file(Severity::Error, ProblemKind::Unreadable, place, message)
}

fn unreadable(error: &FileError, place: FilePlace<'_>) -> Problem {
    let kind = match error.why() {
        Refusal::Absent | Refusal::Io(_) => ProblemKind::Unreadable,
        Refusal::TooLarge { .. } => ProblemKind::TooLarge,
        _ => ProblemKind::Refused,
    };
    let problem = Problem::of_file(Severity::Error, kind, place, error.to_string());
    match error.hint() {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

fn not_text(bytes: &[u8], place: FilePlace<'_>) -> Problem {
    let wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let message = if wide {
        "it is UTF-16, and not UTF-8".to_owned()
    } else {
        let good = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let line = good.matches('\n').count() + 1;
        format!("line {line} is not UTF-8")
    };
    let kind = ProblemKind::Unreadable;
    Problem::of_file(Severity::Error, kind, place, message).with_hint("save it as UTF-8")
}
