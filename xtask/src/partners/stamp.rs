//! The note that an installation is complete, and of what.
//!
//! It is written last: an installation that was interrupted has none and is made again, as is one
//! whose note says something else than what is wanted now.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = ".complete";

/// Tells whether `folder` holds a complete installation of exactly `wanted`.
pub(crate) fn matches(folder: &Path, wanted: &str) -> bool {
    fs::read_to_string(folder.join(FILE)).is_ok_and(|found| found == wanted)
}

/// Empties `folder`, so that nothing of an older or broken installation shines through.
pub(crate) fn clear(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(format!("cannot remove {}: {error}", folder.display())),
    }
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))
}

/// Notes that `folder` now holds `what`.
pub(crate) fn write(folder: &Path, what: &str) -> Result<(), String> {
    let path = folder.join(FILE);
    fs::write(&path, what).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_installation_of_the_same_thing_matches() {
        let folder = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        clear(&folder).unwrap();
        assert!(!matches(&folder, "a 1"));
        write(&folder, "a 1").unwrap();
        assert!(matches(&folder, "a 1"));
        assert!(!matches(&folder, "a 2"));
        clear(&folder).unwrap();
        assert!(!matches(&folder, "a 1"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
