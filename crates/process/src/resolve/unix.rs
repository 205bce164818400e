//! Candidates for a command on Unix.

use std::path::PathBuf;

use super::{Candidate, Meanings, Search};

pub(super) fn meanings(search: &Search<'_>) -> Meanings {
    if search.command.contains('/') {
        let file = match search.cwd {
            Some(folder) => folder.join(search.command),
            None => PathBuf::from(search.command),
        };
        return Meanings {
            files: vec![program(file)],
            searched: Vec::new(),
        };
    }
    let entries = search.path.unwrap_or_default().split(':');
    let searched: Vec<PathBuf> = entries
        .filter(|folder| folder.starts_with('/'))
        .map(PathBuf::from)
        .collect();
    let files = searched.iter().map(|folder| folder.join(search.command));
    Meanings {
        files: files.map(program).collect(),
        searched,
    }
}

/// Accepts any name: on Unix the permissions decide, not the extension.
fn program(file: PathBuf) -> Candidate {
    Candidate {
        file,
        is_program: true,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn files(search: &Search<'_>) -> Vec<String> {
        let files = meanings(search).files.into_iter();
        // What joins folders and names is another sign elsewhere.
        files
            .map(|candidate| candidate.file.display().to_string().replace('\\', "/"))
            .collect()
    }

    #[test]
    fn a_name_is_looked_up_and_a_path_is_not() {
        let search = |command, path| Search {
            command,
            path,
            pathext: Some(".EXE"),
            cwd: Some(Path::new("/project")),
        };
        let path = Some("/usr/bin::.:bin:~/bin:/bin");
        let table: &[(&str, Option<&str>, &[&str])] = &[
            ("tool", path, &["/usr/bin/tool", "/bin/tool"]),
            ("python3", path, &["/usr/bin/python3", "/bin/python3"]),
            // A backslash is a letter like any other.
            (r"a\b", Some("/"), &["/a/b"]),
            ("tool", Some(""), &[]),
            ("tool", None, &[]),
            ("./tool", path, &["/project/./tool"]),
            ("bin/tool", path, &["/project/bin/tool"]),
            ("/opt/tool", path, &["/opt/tool"]),
        ];
        for (command, path, wanted) in table {
            assert_eq!(files(&search(command, *path)), *wanted, "{command}");
        }
    }
}
