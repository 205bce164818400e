//! Changes of files.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::super::file::edit_with;
use super::super::{Access, EditLimits, edit};
use super::*;

const TEXT: &str = "{\n  // mine\n  \"mcpServers\": {}\n}\n";

fn bounds() -> EditLimits {
    EditLimits {
        wait: Duration::from_secs(60),
        ..EditLimits::default()
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_file_and_its_folders_are_made_where_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a/b/mcp.json");
    let edited = edit(&file, &add("x"), Access::Private, &bounds()).unwrap();
    assert!(edited.is_new && edited.is_changed);
    assert_eq!(edited.file, file.canonicalize().unwrap());
    assert!(fs::read_to_string(&file).unwrap().contains("\"x\": {"));
    assert_eq!(files(file.parent().unwrap()), ["mcp.json"]);
}

#[test]
fn only_adding_makes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["mcp.json", "a/mcp.json"] {
        let file = folder.path().join(file);
        let error = edit(&file, &remove("x"), Access::Private, &bounds()).unwrap_err();
        assert!(matches!(error, EditError::NoSuchServer { .. }), "{error:?}");
    }
    assert_eq!(files(folder.path()), [""; 0]);
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    edit(&file, &add("x"), Access::Private, &bounds()).unwrap();
    let never = |_: &Path, _: &Path| -> io::Result<()> { panic!("nothing is to be written") };
    let edited = edit_with(&file, &enable("x"), Access::Private, &bounds(), never).unwrap();
    assert!(!edited.is_changed && !edited.is_new);
}

#[test]
fn a_failed_last_step_leaves_the_old_file_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    let fail = |new: &Path, old: &Path| {
        // What is to take its place is complete by then.
        assert!(fs::read_to_string(new).unwrap().contains("\"x\": {"));
        assert_eq!(fs::read_to_string(old).unwrap(), TEXT);
        Err(io::Error::from(io::ErrorKind::PermissionDenied))
    };
    let error = edit_with(&file, &add("x"), Access::Private, &bounds(), fail).unwrap_err();
    let shown = format!("cannot replace {}", file.canonicalize().unwrap().display());
    assert_eq!(error.to_string(), shown);
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
    assert_eq!(files(folder.path()), ["mcp.json"]);
}

#[test]
fn a_folder_in_which_nothing_can_be_made_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    // Permissions do not stop everybody; a folder in the way does.
    fs::create_dir(folder.path().join(".mcp.json.tmp")).unwrap();
    let error = edit(&file, &add("x"), Access::Private, &bounds()).unwrap_err();
    assert!(error.to_string().starts_with("cannot delete "), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);

    let below = file.join("mcp.json");
    let error = edit(&below, &add("x"), Access::Private, &bounds()).unwrap_err();
    assert!(error.to_string().starts_with("cannot create "), "{error}");
}

#[test]
fn what_a_killed_writer_left_is_cleared_away() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    fs::write(folder.path().join(".mcp.json.tmp"), "{ half").unwrap();
    edit(&file, &add("x"), Access::Private, &bounds()).unwrap();
    assert_eq!(files(folder.path()), ["mcp.json"]);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    for bytes in [&b"{ \"a\": "[..], b"{\n \"\xc3\xb6\xff\": 1}"] {
        fs::write(&file, bytes).unwrap();
        let error = edit(&file, &add("x"), Access::Private, &bounds()).unwrap_err();
        assert!(matches!(error, EditError::Syntax { .. }), "{error:?}");
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
    let error = edit(&file, &add("x"), Access::Private, &bounds()).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 4: not UTF-8");
}

#[test]
fn a_file_at_the_limit_is_edited_and_one_over_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    fs::write(&file, TEXT).unwrap();
    let mut bounds = bounds();
    bounds.file_bytes = u64::try_from(TEXT.len()).unwrap() - 1;
    let error = edit(&file, &add("x"), Access::Private, &bounds).unwrap_err();
    assert!(matches!(error, EditError::TooLarge { .. }), "{error:?}");
    bounds.file_bytes += 1;
    edit(&file, &add("x"), Access::Private, &bounds).unwrap();
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_are_kept_and_a_new_file_is_its_owners() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own/mcp.json");
        edit(&file, &add("x"), Access::Private, &bounds()).unwrap();
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
        for kept in [0o600, 0o640, 0o664] {
            fs::set_permissions(&file, fs::Permissions::from_mode(kept)).unwrap();
            edit(&file, &disable("x"), Access::Shared, &bounds()).unwrap();
            edit(&file, &enable("x"), Access::Shared, &bounds()).unwrap();
            assert_eq!(mode(&file), kept);
        }
    }

    #[test]
    fn a_shared_file_is_made_like_any_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        edit(&file, &add("x"), Access::Shared, &bounds()).unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        assert_eq!(mode(&file), mode(&other));
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("dotfiles")).unwrap();
        let real = folder.path().join("dotfiles/mcp.json");
        let link = folder.path().join("mcp.json");
        symlink("dotfiles/mcp.json", &link).unwrap();
        // First where there is nothing yet, then where there is.
        for server in ["x", "y"] {
            let edited = edit(&link, &add(server), Access::Private, &bounds()).unwrap();
            assert_eq!(edited.file, real.canonicalize().unwrap());
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert!(fs::read_to_string(&real).unwrap().contains(server));
        }
        let round = folder.path().join("round");
        symlink("round", &round).unwrap();
        let error = edit(&round, &add("x"), Access::Private, &bounds()).unwrap_err();
        assert!(matches!(error, EditError::Io { .. }), "{error:?}");
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let error = edit(
            Path::new("/dev/null"),
            &add("x"),
            Access::Private,
            &bounds(),
        );
        assert!(error.unwrap_err().to_string().starts_with("cannot edit "));
        let error = edit(folder.path(), &add("x"), Access::Private, &bounds());
        assert!(error.unwrap_err().to_string().starts_with("cannot edit "));
    }
}
