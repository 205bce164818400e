//! What owners, modes and links can do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use super::*;
use crate::trust::{Question, ServerApproval, admit};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn folder_and_files_are_for_the_person_alone() {
    let place = Place::new();
    place.used();
    assert_eq!(mode(&place.state), 0o700);
    assert_eq!(mode(&place.file), 0o600);
    assert_eq!(mode(&place.state.join("trust.lock")), 0o600);
    // A file that others could read is not any more after the next approval.
    set_mode(&place.file, 0o644);
    place.store().approve(&claim("two", "sh")).unwrap();
    assert_eq!(mode(&place.file), 0o600);
}

#[test]
fn a_store_that_others_can_write_is_refused() {
    for (what, modes) in [
        ("", [0o770, 0o707, 0o777]),
        ("trust.json", [0o660, 0o602, 0o666]),
    ] {
        for wrong in modes {
            let place = Place::new();
            place.used();
            let path = if what.is_empty() {
                place.state.clone()
            } else {
                place.file.clone()
            };
            set_mode(&path, wrong);
            let error = refused(&place);
            assert!(error.contains(path.to_str().unwrap()), "{error}");
            assert!(error.contains("chmod"), "{error}");
        }
    }
}

#[test]
fn links_are_not_followed() {
    let place = Place::new();
    place.used();
    let aside = place.state.join("aside.json");
    std::fs::rename(&place.file, &aside).unwrap();
    symlink(&aside, &place.file).unwrap();
    assert!(refused(&place).contains("it is a link"));

    let place = Place::new();
    place.used();
    let aside = place.state.with_file_name("aside");
    std::fs::rename(&place.state, &aside).unwrap();
    symlink(&aside, &place.state).unwrap();
    assert!(refused(&place).contains("it is a link"));

    // One that leads nowhere is no missing file either.
    let place = Place::new();
    place.used();
    std::fs::remove_file(&place.file).unwrap();
    symlink("nowhere", &place.file).unwrap();
    assert!(refused(&place).contains("it is a link"));
}

#[test]
fn links_in_the_way_of_writing_are_not_followed() {
    let place = Place::new();
    place.used();
    let victim = place.state.with_file_name("victim");
    std::fs::write(&victim, "precious").unwrap();
    symlink(&victim, place.state.join("trust.json.new")).unwrap();
    place.store().approve(&claim("two", "sh")).unwrap();
    let lock = place.state.join("trust.lock");
    std::fs::remove_file(&lock).unwrap();
    symlink(&victim, &lock).unwrap();
    let error = place.store().approve(&claim("three", "sh")).unwrap_err();
    assert!(matches!(error, StoreError::Unsafe { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(place.store().list().unwrap().len(), 2);
}

#[test]
fn a_pipe_or_a_folder_in_place_of_the_file_does_not_block() {
    let place = Place::new();
    place.used();
    std::fs::remove_file(&place.file).unwrap();
    let made = Command::new("mkfifo").arg(&place.file).status().unwrap();
    assert!(made.success());
    assert!(refused(&place).contains("it is no file"));
    std::fs::remove_file(&place.file).unwrap();
    std::fs::create_dir(&place.file).unwrap();
    assert!(refused(&place).contains("it is no file"));
}

#[test]
fn a_store_of_somebody_else_is_refused() {
    // The one folder that every machine has and that belongs to somebody else, unless root runs this.
    let me = rustix::process::geteuid();
    if !me.is_root() {
        let error = Store::at("/").list().unwrap_err();
        assert!(error.to_string().contains("belongs to user 0"), "{error}");
        return;
    }
    let place = Place::new();
    place.used();
    std::os::unix::fs::chown(&place.file, Some(12345), None).unwrap();
    assert!(refused(&place).contains("belongs to user 12345"));
    std::os::unix::fs::chown(&place.file, Some(0), None).unwrap();
    std::os::unix::fs::chown(&place.state, Some(12345), None).unwrap();
    assert!(refused(&place).contains("belongs to user 12345"));
}

#[test]
fn paths_that_are_no_unicode_are_kept_apart() {
    let place = Place::new();
    let of = |bytes: &[u8]| {
        let mut claim = claim("one", "sh");
        claim.file = Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned();
        claim
    };
    let (one, two) = (of(b"/a\xff/.mcp.json"), of(b"/a\xfe/.mcp.json"));
    place.store().approve(&one).unwrap();
    assert_eq!(place.store().standing(&one).unwrap(), Standing::Approved);
    assert_eq!(place.store().standing(&two).unwrap(), Standing::New);
    place.store().approve(&two).unwrap();
    let files: Vec<PathBuf> = place
        .store()
        .list()
        .unwrap()
        .into_iter()
        .map(|one| one.file)
        .collect();
    assert_eq!(files, [one.file.clone(), two.file]);
    let revoked = place.store().revoke(&Which::File(one.file)).unwrap();
    assert_eq!(revoked.len(), 1);
}

#[test]
fn another_process_that_writes_is_waited_for_and_not_for_ever() {
    let place = Place::new();
    place.used();
    let script = "import fcntl, sys\n\
                  lock = open(sys.argv[1], 'r+')\n\
                  fcntl.flock(lock, fcntl.LOCK_EX)\n\
                  print('held', flush=True)\n\
                  sys.stdin.readline()\n";
    let mut other = Command::new("python3")
        .args(["-c", script])
        .arg(place.state.join("trust.lock"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut output = BufReader::new(other.stdout.take().unwrap());
    output.read_line(&mut said).unwrap();
    assert_eq!(said, "held\n");
    let hasty = StoreLimits {
        lock_wait: Duration::from_millis(20),
        ..StoreLimits::default()
    };
    let error = place
        .store()
        .limits(hasty)
        .approve(&claim("two", "sh"))
        .unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    // Reading waits for nobody.
    assert_eq!(place.store().list().unwrap().len(), 1);
    let patient = StoreLimits {
        lock_wait: Duration::from_secs(60),
        ..StoreLimits::default()
    };
    let store = place.store().limits(patient);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| store.approve(&claim("two", "sh")));
        other.stdin.take().unwrap().write_all(b"\n").unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert!(other.wait().unwrap().success());
    assert_eq!(place.store().list().unwrap().len(), 2);
}

/// Approves everything for good.
async fn approve(_question: Question) -> ServerApproval {
    ServerApproval::Approve
}

/// On one thread: the lock is given back only if the thread is free to do so.
#[tokio::test]
async fn who_waits_for_the_lock_keeps_no_other_task_waiting() {
    let place = Place::new();
    place.used();
    let limits = StoreLimits {
        lock_wait: Duration::from_secs(2),
        ..StoreLimits::default()
    };
    let store = place.store().limits(limits);
    let file = std::fs::File::open(place.state.join("trust.lock")).unwrap();
    let mut lock = fd_lock::RwLock::new(file);
    let held = lock.write().unwrap();
    let two = claim("two", "sh");
    let (admitted, ()) = tokio::join!(admit(&store, &two, approve), async {
        tokio::task::yield_now().await;
        drop(held);
    });
    assert!(admitted.unwrap().is_admitted());
    assert_eq!(store.list().unwrap().len(), 2);
}
