//! The rules of Windows, on every system: no file is looked at.

use super::super::{Family, StartError, find};
use super::*;

const PATH: &str = r"C:\node;D:\tools\;C:\Python";

/// Resolves a command if exactly these files exist; compares paths without regard to case.
fn found(search: &Search<'_>, files: &[&str]) -> Result<String, StartError> {
    let there = |file: &Path| {
        let file = file.to_str().unwrap();
        let is_there = files.iter().any(|there| there.eq_ignore_ascii_case(file));
        is_there.then_some(true)
    };
    find(search, Family::Windows, there).map(|file| file.to_str().unwrap().to_owned())
}

fn search<'a>(command: &'a str, path: &'a str) -> Search<'a> {
    Search {
        command,
        path: Some(path),
        pathext: Some(".COM;.EXE;.BAT;.CMD;.VBS;.JS"),
        cwd: Some(Path::new(r"C:\project")),
    }
}

#[test]
fn a_name_is_completed_and_looked_up() {
    let table: &[(&str, &[&str], &str)] = &[
        // The script for other systems lies beside the one that can be run.
        (
            "npx",
            &[r"C:\node\npx", r"C:\node\npx.cmd"],
            r"C:\node\npx.cmd",
        ),
        ("NPX", &[r"C:\node\npx.cmd"], r"C:\node\NPX.cmd"),
        (
            "node",
            &[r"C:\node\node.cmd", r"C:\node\node.exe"],
            r"C:\node\node.exe",
        ),
        // The folder counts before the ending.
        (
            "uvx",
            &[r"D:\tools\uvx.exe", r"C:\node\uvx.cmd"],
            r"C:\node\uvx.cmd",
        ),
        ("uvx", &[r"D:\tools\uvx.exe"], r"D:\tools\uvx.exe"),
        // An ending that is written is kept.
        (
            "npx.cmd",
            &[r"C:\node\npx.exe", r"C:\node\npx.cmd"],
            r"C:\node\npx.cmd",
        ),
        ("npx.CMD", &[r"C:\node\npx.cmd"], r"C:\node\npx.CMD"),
        // What comes after any other dot is no ending.
        (
            "python3.12",
            &[r"C:\Python\python3.12.exe"],
            r"C:\Python\python3.12.exe",
        ),
        (
            "server.js",
            &[r"C:\node\server.js.cmd"],
            r"C:\node\server.js.cmd",
        ),
    ];
    for (command, files, wanted) in table {
        let found = found(&search(command, PATH), files).unwrap();
        assert_eq!(found, *wanted, "{command}");
    }
}

#[test]
fn what_only_a_shell_can_open_is_named_and_not_run() {
    for (command, file) in [
        ("npx", r"C:\node\npx"),
        ("server.js", r"C:\node\server.js"),
        ("tool.ps1", r"D:\tools\tool.ps1"),
    ] {
        match found(&search(command, PATH), &[file]).unwrap_err() {
            StartError::NotExecutable { path, .. } => assert_eq!(path, Path::new(file)),
            other => panic!("{other}"),
        }
    }
    // It does not get in the way of one that can be run, in whichever folder.
    let both = [r"C:\node\npx", r"C:\Python\npx.cmd"];
    let npx = found(&search("npx", PATH), &both).unwrap();
    assert_eq!(npx, r"C:\Python\npx.cmd");
}

#[test]
fn the_order_of_the_endings_is_that_of_the_variable() {
    let table: &[(Option<&str>, &[&str])] = &[
        (None, &[".com", ".exe", ".bat", ".cmd"]),
        (Some(""), &[".com", ".exe", ".bat", ".cmd"]),
        (Some(";;"), &[".com", ".exe", ".bat", ".cmd"]),
        (Some(".CMD;.EXE"), &[".cmd", ".exe"]),
        (Some(" .cmd ; .EXE;"), &[".cmd", ".exe"]),
        (Some(".EXE;.exe;.Exe"), &[".exe"]),
        (Some(".VBS;.JS;.PY;.EXE"), &[".exe"]),
        // Only what cannot be run is as good as nothing.
        (Some(".VBS;.JS"), &[".com", ".exe", ".bat", ".cmd"]),
        (Some("EXE;cmd"), &[".com", ".exe", ".bat", ".cmd"]),
    ];
    for (pathext, wanted) in table {
        assert_eq!(endings(*pathext), *wanted, "{pathext:?}");
    }
    let files = [r"C:\node\npx.cmd", r"C:\node\npx.exe"];
    for (pathext, wanted) in [(".EXE;.CMD", files[1]), (".CMD;.EXE", files[0])] {
        let search = Search {
            pathext: Some(pathext),
            ..search("npx", PATH)
        };
        assert_eq!(found(&search, &files).unwrap(), wanted);
    }
}

#[test]
fn the_list_of_folders_is_read_with_its_quotes_and_without_what_is_relative() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        (";", &[]),
        (r"C:\a", &[r"C:\a"]),
        (r"C:\a;;C:\b;", &[r"C:\a", r"C:\b"]),
        (r#""C:\a b";C:\c"#, &[r"C:\a b", r"C:\c"]),
        (r#""C:\a;b";C:\c"#, &[r"C:\a;b", r"C:\c"]),
        (r#"C:\"a;b"\c;C:\d"#, &[r"C:\a;b\c", r"C:\d"]),
        // A quote that does not end takes the rest.
        (r#"C:\a;"C:\b;C:\c"#, &[r"C:\a", r"C:\b;C:\c"]),
        (
            r"c:/a;\\host\share;//host/share",
            &["c:/a", r"\\host\share", "//host/share"],
        ),
        (r"C:\", &[r"C:\"]),
        (r".;bin;.\bin;..\bin", &[]),
        // Relative to the current drive, or to the current folder of a drive.
        (r"\bin;/bin;C:;C:bin", &[]),
        (r"%USERPROFILE%\bin;1:\bin;é:\bin", &[]),
        (r#""";" ""#, &[]),
    ];
    for (path, wanted) in table {
        let wanted: Vec<PathBuf> = wanted.iter().map(PathBuf::from).collect();
        assert_eq!(folders(path), wanted, "{path}");
    }
}

#[test]
fn a_path_is_relative_to_the_folder_and_is_looked_up_nowhere_else() {
    let table: &[(&str, &str, &str)] = &[
        (
            r".\tool",
            r"C:\project\.\tool.exe",
            r"C:\project\.\tool.exe",
        ),
        (
            "bin/tool",
            r"C:\project\bin/tool.cmd",
            r"C:\project\bin/tool.cmd",
        ),
        (
            r"bin\tool.exe",
            r"C:\project\bin\tool.exe",
            r"C:\project\bin\tool.exe",
        ),
        (r"D:\x\tool.exe", r"D:\x\tool.exe", r"D:\x\tool.exe"),
        (r"D:/x/tool", "D:/x/tool.exe", "D:/x/tool.exe"),
        (
            r"\\host\x\tool.exe",
            r"\\host\x\tool.exe",
            r"\\host\x\tool.exe",
        ),
        (r"\x\tool.exe", r"C:\x\tool.exe", r"C:\x\tool.exe"),
        // The user named this very file; the system will report what it is.
        (
            r".\tool.bin",
            r"C:\project\.\tool.bin",
            r"C:\project\.\tool.bin",
        ),
    ];
    for (command, file, wanted) in table {
        let found = found(&search(command, PATH), &[file, r"C:\node\tool.exe"]).unwrap();
        assert_eq!(found, *wanted, "{command}");
    }
    // A file with an ending counts before one without.
    let both = [r"C:\project\.\tool", r"C:\project\.\tool.exe"];
    assert_eq!(found(&search(r".\tool", PATH), &both).unwrap(), both[1]);
    assert!(found(&search(r".\tool", PATH), &[r"C:\node\tool.exe"]).is_err());
    let nowhere = Search {
        cwd: None,
        ..search(r"bin\tool", PATH)
    };
    let there = found(&nowhere, &[r"bin\tool.exe"]).unwrap();
    assert_eq!(there, r"bin\tool.exe");
}

#[test]
fn a_bare_name_is_never_found_in_the_project() {
    let files = [r"C:\project\npx.exe", r".\npx.exe", "npx.exe", "npx"];
    for path in ["", ";", ".", r";.;.\;C:;\project"] {
        match found(&search("npx", path), &files).unwrap_err() {
            StartError::NotFound {
                command, searched, ..
            } => {
                assert_eq!((command.as_str(), searched), ("npx", Vec::new()));
            }
            other => panic!("{path}: {other}"),
        }
    }
    for command in ["C:npx", "npx:stream", "npx.exe:stream.exe", ":"] {
        let files = [r"C:\node\C:npx.exe", r"C:\node\npx:stream.exe", "C:npx.exe"];
        assert!(found(&search(command, PATH), &files).is_err(), "{command}");
    }
}

#[test]
fn an_alias_is_for_where_the_name_means_nothing() {
    let (python3, python, py) = (
        r"C:\Python\python3.exe",
        r"C:\node\python.exe",
        r"C:\node\py.exe",
    );
    let table: &[(&str, &[&str], &str)] = &[
        ("python3", &[python3, python, py], python3),
        ("python3", &[python, py], python),
        ("PYTHON3", &[python], python),
        ("python3", &[py], py),
        ("pip3", &[r"C:\Python\pip.exe"], r"C:\Python\pip.exe"),
        (
            "pip3",
            &[r"C:\Python\pip.exe", r"C:\Python\pip3.exe"],
            r"C:\Python\pip3.exe",
        ),
    ];
    for (command, files, wanted) in table {
        let found = found(&search(command, PATH), files).unwrap();
        assert_eq!(found, *wanted, "{command}");
    }
    // Not the other way round, not for other names, not for paths, and not for a whole file name.
    for command in [
        "python",
        "python33",
        "xpython3",
        r".\python3",
        "python3.exe",
        "pip3.cmd",
    ] {
        let files = [python3, r"C:\project\.\python.exe", r"C:\Python\pip.cmd"];
        let files = if command == "python3.exe" {
            &files[1..]
        } else {
            &files
        };
        assert!(found(&search(command, PATH), files).is_err(), "{command}");
    }
    // Not found means the name that was written.
    match found(&search("python3", PATH), &[]).unwrap_err() {
        StartError::NotFound {
            command, searched, ..
        } => {
            let folders = [r"C:\node", r"D:\tools\", r"C:\Python"].map(PathBuf::from);
            assert_eq!((command.as_str(), searched), ("python3", folders.to_vec()));
        }
        other => panic!("{other}"),
    }
}
