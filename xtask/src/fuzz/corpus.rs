//! Reduces a corpus: keeps few and small inputs that reach everything that was reached.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Folders, create, list};
use crate::tool;

/// Limits of a stored corpus; `tests/tests/project/fuzz_corpus.rs` checks them.
const MOST_FILES: usize = 300;
const MOST_BYTES: u64 = 300 * 1024;

/// Chooses by which places of the code are reached, not by how often.
const PLACES: &[&str] = &["-use_counters=0", "-use_cmp=0"];

/// Puts the inputs that cover most into the stored corpus; says how many there are.
///
/// Inputs with a name of their own stay: they were added by hand. Then come those that reach
/// every place, and as many as there is room for of those that reach them in other ways.
///
/// # Errors
///
/// Says which folder could not be read or written.
pub(super) fn keep(folders: &Folders, target: &str, program: &Path) -> Result<String, String> {
    let stored = folders.stored(target);
    let (unnamed, named): (Vec<_>, Vec<_>) = list(&stored)?
        .into_iter()
        .partition(|path| is_unnamed(path));
    let mut chosen = sized(named)?;
    let named = chosen.len();
    let places = merged(folders, target, program, "places", PLACES)?;
    let reaching = places.len();
    chosen.extend(places);
    chosen.extend(merged(folders, target, program, "features", &[])?);
    let kept = within_bounds(chosen);
    for path in unnamed {
        fs::remove_file(&path)
            .map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
    }
    for path in kept.iter().filter(|path| is_unnamed(path)) {
        let name = path.file_name().unwrap_or_default();
        fs::copy(path, stored.join(name))
            .map_err(|error| format!("cannot copy {}: {error}", path.display()))?;
    }
    Ok(format!(
        "{} inputs kept: {named} with names, {reaching} to reach every place",
        kept.len()
    ))
}

/// Tells whether libFuzzer named a file: by what is in it, 40 digits long.
fn is_unnamed(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The files with their sizes, small first.
fn sized(files: Vec<PathBuf>) -> Result<Vec<(u64, PathBuf)>, String> {
    let mut sized = Vec::new();
    for path in files {
        let meta = fs::metadata(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        sized.push((meta.len(), path));
    }
    sized.sort();
    Ok(sized)
}

/// Has libFuzzer choose the fewest inputs that cover as much as all; with their sizes, small first.
fn merged(
    folders: &Folders,
    target: &str,
    program: &Path,
    name: &str,
    flags: &[&str],
) -> Result<Vec<(u64, PathBuf)>, String> {
    let into = folders.out.join("merged").join(name).join(target);
    if into.exists() {
        fs::remove_dir_all(&into)
            .map_err(|error| format!("cannot remove {}: {error}", into.display()))?;
    }
    create(&into)?;
    let mut merge = Command::new(program);
    merge.arg("-set_cover_merge=1").args(flags).arg(&into);
    merge.args([folders.stored(target), folders.findings(target)]);
    tool::output(&mut merge)?;
    sized(list(&into)?)
}

/// Takes files in their order, each name once, as long as the bounds allow it.
fn within_bounds(files: Vec<(u64, PathBuf)>) -> Vec<PathBuf> {
    let mut names = HashSet::new();
    let mut kept = Vec::new();
    let mut bytes = 0;
    for (size, path) in files {
        let fits = kept.len() < MOST_FILES && bytes + size <= MOST_BYTES;
        // libFuzzer names a file by what is in it.
        if fits && names.insert(path.file_name().map(ToOwned::to_owned)) {
            bytes += size;
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: u64, path: &str) -> (u64, PathBuf) {
        (size, PathBuf::from(path))
    }

    #[test]
    fn files_are_kept_up_to_the_bounds() {
        let files = vec![file(3, "a"), file(MOST_BYTES, "b"), file(9, "c")];
        assert_eq!(
            within_bounds(files),
            [PathBuf::from("a"), PathBuf::from("c")]
        );
        let at = vec![file(1, "a"), file(MOST_BYTES - 1, "b")];
        assert_eq!(within_bounds(at).len(), 2);
        let many = (0..400).map(|name| file(1, &name.to_string())).collect();
        assert_eq!(within_bounds(many).len(), MOST_FILES);
    }

    #[test]
    fn a_name_of_its_own_is_told_from_one_of_the_fuzzers() {
        assert!(is_unnamed(Path::new(&format!("x/{}", "0a".repeat(20)))));
        assert!(!is_unnamed(Path::new("x/id-null")));
        assert!(!is_unnamed(Path::new(&format!(
            "x/crash-{}",
            "0a".repeat(20)
        ))));
    }

    #[test]
    fn a_file_that_is_chosen_twice_is_kept_once() {
        let files = vec![file(1, "places/a"), file(1, "features/a")];
        assert_eq!(within_bounds(files), [PathBuf::from("places/a")]);
    }
}
