//! The files that a server's program is in, and its folder: a server is another one once they were replaced.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The endings of the names of files with programs. Other files that arguments name, such as databases, are written
/// by the server itself.
const ENDINGS: &[&str] = &[
    "bash", "cjs", "cts", "jar", "js", "jsx", "lua", "mjs", "mts", "php", "pl", "py", "pyz", "rb",
    "sh", "ts", "tsx",
];

/// Describes the files of a program as they are now: the program itself, and scripts among its arguments, whose paths
/// count from `folder`. The text differs once one of them was written, or the folder is another one of that path.
pub(super) fn describe(program: &Path, args: &[String], folder: &Path) -> String {
    let place = fs::metadata(folder).ok().map(|found| {
        // A new folder may have the number of one that was deleted.
        format!("{} {} {:?}", found.dev(), found.ino(), found.created().ok())
    });
    let scripts = args.iter().map(Path::new).filter(|path| is_script(path));
    let files = std::iter::once(program).chain(scripts);
    let files = files.filter_map(|file| {
        let found = fs::metadata(folder.join(file)).ok()?;
        let written = (found.mtime(), found.mtime_nsec());
        let numbers = (found.len(), found.dev(), found.ino());
        Some(format!("{written:?} {numbers:?}"))
    });
    place
        .into_iter()
        .chain(files)
        .collect::<Vec<_>>()
        .join("\n")
}

fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_written_again_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for name in ["python", "server.py", "data.db"] {
            write(name, "1");
        }
        let args = ["server.py", "data.db", "missing.py"].map(str::to_owned);
        let program = folder.path().join("python");
        let now = || describe(&program, &args, folder.path());
        let first = now();
        assert_eq!(now(), first);
        // What the server itself writes.
        write("data.db", "22");
        assert_eq!(now(), first);
        write("server.py", "22");
        let second = now();
        assert_ne!(second, first);
        write("python", "22");
        let third = now();
        assert_ne!(third, second);
        // What is made or deleted in the folder leaves it the same.
        write("more", "1");
        assert_eq!(now(), third);
    }

    #[test]
    fn a_folder_that_was_made_again_is_another_one() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("project");
        let now = || describe(Path::new("/bin/sh"), &[], &folder);
        fs::create_dir(&folder).unwrap();
        let first = now();
        fs::rename(&folder, above.path().join("old")).unwrap();
        fs::create_dir(&folder).unwrap();
        assert_ne!(now(), first);
    }
}
