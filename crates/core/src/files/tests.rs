//! Real files, folders, links, pipes and devices.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::judge::Me;
use super::{Access, FileError, Refusal, Source, judge_folders, open, read, walk, without_dots};

const MOST: usize = 64;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Reads a file of a project, and gives its text or why it was not read.
fn project(root: &Path, path: &str) -> Result<String, Refusal> {
    let read = read(&root.join(path), Source::Project(root), MOST);
    let content = read.map_err(FileError::into_why)?;
    Ok(String::from_utf8(content.bytes).unwrap())
}

#[test]
fn a_projects_file_is_a_regular_file_of_bounded_size() {
    let (_folder, root) = folder();
    fs::create_dir_all(root.join(".switchboard")).unwrap();
    fs::write(root.join(".switchboard/mcp.json"), "{}").unwrap();
    assert_eq!(project(&root, ".switchboard/mcp.json").unwrap(), "{}");
    fs::write(root.join("largest"), "x".repeat(MOST)).unwrap();
    assert_eq!(project(&root, "largest").unwrap().len(), MOST);
    fs::write(root.join("larger"), "x".repeat(MOST + 1)).unwrap();
    assert!(matches!(
        project(&root, "larger"),
        Err(Refusal::TooLarge { most_bytes: MOST })
    ));
    fifo(&root.join("fifo"));
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    for other in ["fifo", "socket", ".switchboard", "."] {
        assert!(
            matches!(project(&root, other), Err(Refusal::NotAFile)),
            "{other}"
        );
    }
    let devices = Path::new("/dev");
    assert!(matches!(project(devices, "zero"), Err(Refusal::NotAFile)));
    for missing in ["nothing", "nothing/below", "largest/below"] {
        assert!(
            matches!(project(&root, missing), Err(Refusal::Absent)),
            "{missing}"
        );
    }
    for outside in ["../elsewhere", "/etc/hostname"] {
        assert!(
            matches!(project(&root, outside), Err(Refusal::Outside)),
            "{outside}"
        );
    }
}

#[test]
fn nothing_below_a_projects_folder_is_a_link() {
    let (_folder, home) = folder();
    let root = home.join("project");
    fs::create_dir_all(home.join("elsewhere")).unwrap();
    fs::create_dir_all(root.join("real")).unwrap();
    fs::write(home.join("elsewhere/mcp.json"), "secret").unwrap();
    fs::write(root.join("real/mcp.json"), "own").unwrap();
    symlink(home.join("elsewhere"), root.join(".switchboard")).unwrap();
    symlink("real", root.join("inside")).unwrap();
    symlink("/dev/zero", root.join("mcp.lock")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let why = |path: &str| {
        let read = read(&root.join(path), Source::Project(&root), MOST);
        read.unwrap_err()
    };
    for folder in [".switchboard", "inside"] {
        let error = why(&format!("{folder}/mcp.json"));
        assert!(matches!(error.why(), Refusal::Link), "{error}");
        assert_eq!(error.folder(), Some(root.join(folder).as_path()));
        assert!(error.to_string().contains("is a link"), "{error}");
    }
    for file in ["mcp.lock", "dangling"] {
        let error = why(file);
        assert!(matches!(error.why(), Refusal::Link), "{error}");
        assert_eq!(error.folder(), None);
    }
    // The way to the project is the person's.
    symlink(&root, home.join("short")).unwrap();
    assert_eq!(
        project(&home.join("short"), "real/mcp.json").unwrap(),
        "own"
    );
}

/// Has two things change places all the time, while `check` looks.
fn while_swapping(one: &Path, other: &Path, check: impl Fn()) {
    let is_done = AtomicBool::new(false);
    let aside = one.with_extension("aside");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                fs::rename(one, &aside).unwrap();
                fs::rename(other, one).unwrap();
                fs::rename(one, other).unwrap();
                fs::rename(&aside, one).unwrap();
            }
        });
        check();
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_file_that_is_swapped_for_a_link_or_a_pipe_is_never_read_as_it() {
    let (_folder, root) = folder();
    fs::write(root.join("secret"), "secret").unwrap();
    for (name, make) in [
        (
            "link",
            &(|at: &Path| symlink("secret", at).unwrap()) as &dyn Fn(&Path),
        ),
        ("pipe", &fifo),
    ] {
        fs::write(root.join("file"), "own").unwrap();
        make(&root.join(name));
        while_swapping(&root.join("file"), &root.join(name), || {
            for _ in 0..3000 {
                for source in [Source::Project(&root), Source::Plain] {
                    match read(&root.join("file"), source, MOST) {
                        Ok(content) => assert_eq!(content.bytes, b"own"),
                        Err(error) => assert!(
                            matches!(
                                error.why(),
                                Refusal::Absent | Refusal::Link | Refusal::NotAFile
                            ),
                            "{error}"
                        ),
                    }
                }
            }
        });
    }
}

#[test]
fn a_folder_that_is_swapped_for_a_link_is_never_gone_through() {
    let (_folder, root) = folder();
    fs::create_dir_all(root.join("elsewhere")).unwrap();
    fs::create_dir_all(root.join("dir")).unwrap();
    fs::write(root.join("elsewhere/file"), "secret").unwrap();
    fs::write(root.join("dir/file"), "own").unwrap();
    symlink("elsewhere", root.join("link")).unwrap();
    while_swapping(&root.join("dir"), &root.join("link"), || {
        for _ in 0..3000 {
            if let Ok(text) = project(&root, "dir/file") {
                assert_eq!(text, "own");
            }
        }
    });
}

#[test]
fn of_the_persons_own_file_every_folder_is_judged() {
    let (_folder, home) = folder();
    let file = home.join("a/b/mcp.json");
    fs::create_dir_all(home.join("a/b")).unwrap();
    fs::write(&file, "{}").unwrap();
    let own = || read(&file, Source::Own, MOST);
    assert_eq!(own().unwrap().group_writable, [""; 0].map(PathBuf::from));

    set_mode(&home.join("a"), 0o777);
    let error = own().unwrap_err();
    assert_eq!(error.folder(), Some(home.join("a").as_path()));
    let told = format!("{error}; {}", error.hint().unwrap());
    assert!(told.contains("(mode 777)"), "{told}");
    assert!(
        told.contains(&format!("`chmod o-w {}`", home.join("a").display())),
        "{told}"
    );
    assert!(matches!(
        judge_folders(&home.join("a/b")).unwrap_err().why(),
        Refusal::WorldWritable { .. }
    ));

    // In a sticky folder, users cannot replace the files of others, as in /tmp.
    set_mode(&home.join("a"), 0o1777);
    assert_eq!(own().unwrap().bytes, b"{}");

    set_mode(&home.join("a"), 0o775);
    set_mode(&file, 0o664);
    let content = own().unwrap();
    assert_eq!(content.group_writable, [home.join("a"), file.clone()]);
    assert_eq!(content.access, Access::GroupWritable);
    assert_eq!(judge_folders(&home.join("a/b")).unwrap(), [home.join("a")]);
    // What is not there yet is not judged; what is above it is.
    assert_eq!(
        judge_folders(&home.join("a/new/er")).unwrap(),
        [home.join("a")]
    );

    set_mode(&file, 0o666);
    assert!(matches!(
        own().unwrap_err().why(),
        Refusal::WorldWritable { .. }
    ));
}

#[test]
fn a_file_or_a_folder_of_another_user_is_refused() {
    let (_folder, home) = folder();
    let file = home.join("a/mcp.json");
    fs::create_dir_all(home.join("a")).unwrap();
    fs::write(&file, "{}").unwrap();
    let mut owner = home.metadata().unwrap().uid();
    if owner == 0 {
        // Root could own the file legitimately, so another user has to.
        owner = 4711;
        std::os::unix::fs::chown(home.join("a"), Some(owner), None).unwrap();
    }
    let me = |user| Me {
        user,
        outside: None,
    };
    let error = walk::own(&file, me(owner + 1)).unwrap_err();
    assert!(matches!(error.why(), Refusal::Foreign { .. }), "{error}");
    assert!(error.folder().is_some());
    assert!(error.hint().unwrap().contains("chown"), "{error}");
    if owner == 4711 {
        std::os::unix::fs::chown(home.join("a"), Some(0), None).unwrap();
        std::os::unix::fs::chown(&file, Some(owner), None).unwrap();
        let error = walk::own(&file, me(0)).unwrap_err();
        assert!(
            matches!(error.why(), Refusal::Foreign { owner: 4711, me: 0 }),
            "{error}"
        );
        assert_eq!(error.folder(), None);
    }
}

#[test]
fn links_of_the_person_are_followed_and_their_folders_judged_too() {
    let (_folder, home) = folder();
    fs::create_dir_all(home.join("dotfiles/deep")).unwrap();
    fs::create_dir_all(home.join("config")).unwrap();
    fs::write(home.join("dotfiles/deep/mcp.json"), "{}").unwrap();
    symlink("../dotfiles/deep/../deep", home.join("config/switchboard")).unwrap();
    let file = home.join("config/switchboard/mcp.json");
    assert_eq!(read(&file, Source::Own, MOST).unwrap().bytes, b"{}");
    set_mode(&home.join("dotfiles"), 0o777);
    let error = read(&file, Source::Own, MOST).unwrap_err();
    assert_eq!(
        error.folder(),
        Some(home.join("dotfiles").as_path()),
        "{error}"
    );
    symlink("round", home.join("round")).unwrap();
    let error = open(&home.join("round"), Source::Own).unwrap_err();
    assert!(matches!(error.why(), Refusal::Io(_)), "{error}");
    symlink("nowhere", home.join("dangling")).unwrap();
    assert!(
        open(&home.join("dangling"), Source::Own)
            .unwrap_err()
            .is_absent()
    );
    fifo(&home.join("fifo"));
    let error = open(&home.join("fifo"), Source::Own).unwrap_err();
    assert!(matches!(error.why(), Refusal::NotAFile), "{error}");
}

#[test]
fn what_is_named_may_be_a_pipe_and_is_bounded_all_the_same() {
    let (_folder, home) = folder();
    let pipe = home.join("pipe");
    fifo(&pipe);
    let content = std::thread::scope(|scope| {
        scope.spawn(|| fs::write(&pipe, "piped").unwrap());
        read(&pipe, Source::Named, MOST).unwrap()
    });
    assert_eq!(content.bytes, b"piped");
    let error = read(Path::new("/dev/zero"), Source::Named, MOST).unwrap_err();
    assert!(matches!(error.why(), Refusal::TooLarge { .. }), "{error}");
    let error = read(&home, Source::Named, MOST).unwrap_err();
    assert!(matches!(error.why(), Refusal::NotAFile), "{error}");
}

#[test]
fn dots_are_resolved_by_the_text_alone() {
    for (path, wanted) in [
        ("/p/./a/../b", "/p/b"),
        ("/p/../../x", "/x"),
        ("a/../../b", "../b"),
        ("a/..", ""),
    ] {
        assert_eq!(without_dots(Path::new(path)), Path::new(wanted), "{path}");
    }
}
