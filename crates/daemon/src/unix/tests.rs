use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::{Contact, Daemon};
use crate::{DaemonError, DaemonOptions, Place, VERSION};

fn place() -> (TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(folder.path().join("daemon"));
    (folder, place)
}

fn run(place: &Place) -> JoinHandle<()> {
    let daemon = Daemon::bind(place, DaemonOptions::default()).unwrap();
    tokio::spawn(daemon.serve(std::future::pending()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_daemon_answers_until_it_is_told_to_stop() {
    let (_folder, place) = place();
    assert!(Contact::open(&place).await.unwrap().is_none());
    let daemon = run(&place);
    assert_eq!(
        (mode(place.folder()), mode(&place.socket())),
        (0o700, 0o600)
    );
    let contact = Contact::open(&place).await.unwrap().unwrap();
    assert!(contact.is_same_version());
    let status = contact.status().await.unwrap();
    assert_eq!(
        (status.pid, status.version.as_str()),
        (std::process::id(), VERSION)
    );
    let contact = Contact::open(&place).await.unwrap().unwrap();
    contact.stop().await.unwrap();
    daemon.await.unwrap();
    assert!(!place.socket().exists());
    assert!(Contact::open(&place).await.unwrap().is_none());
}

#[tokio::test]
async fn another_daemon_can_start_as_soon_as_one_has_stopped() {
    let (_folder, place) = place();
    for _ in 0..20 {
        let daemon = run(&place);
        let contact = Contact::open(&place).await.unwrap().unwrap();
        contact.stop().await.unwrap();
        drop(daemon);
    }
}

#[tokio::test]
async fn of_two_daemons_at_once_one_runs() {
    let (_folder, place) = place();
    let daemon = run(&place);
    let second = Daemon::bind(&place, DaemonOptions::default()).unwrap_err();
    assert!(matches!(second, DaemonError::Running), "{second:?}");
    // The socket of the first is still there and answers.
    let contact = Contact::open(&place).await.unwrap().unwrap();
    contact.status().await.unwrap();
    daemon.abort();
}

#[tokio::test]
async fn the_socket_of_a_killed_daemon_is_replaced() {
    let (_folder, place) = place();
    fs::create_dir(place.folder()).unwrap();
    fs::set_permissions(place.folder(), Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(place.socket()).unwrap());
    assert!(place.socket().exists());
    assert!(Contact::open(&place).await.unwrap().is_none());
    let daemon = run(&place);
    Contact::open(&place).await.unwrap().unwrap();
    daemon.abort();
}

#[tokio::test]
async fn a_folder_that_others_may_enter_is_refused() {
    let (_folder, place) = place();
    fs::create_dir(place.folder()).unwrap();
    for mode in [0o755, 0o710, 0o701] {
        fs::set_permissions(place.folder(), Permissions::from_mode(mode)).unwrap();
        let bound = Daemon::bind(&place, DaemonOptions::default()).unwrap_err();
        assert!(matches!(bound, DaemonError::Unsafe { .. }), "{bound:?}");
        let opened = Contact::open(&place).await.unwrap_err();
        assert!(matches!(opened, DaemonError::Unsafe { .. }), "{opened:?}");
    }
}

#[tokio::test]
async fn links_and_files_in_place_of_folder_and_socket_are_refused() {
    let (folder, place) = place();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, place.folder()).unwrap();
    assert!(matches!(
        Daemon::bind(&place, DaemonOptions::default()),
        Err(DaemonError::Unsafe { .. })
    ));
    assert!(matches!(
        Contact::open(&place).await,
        Err(DaemonError::Unsafe { .. })
    ));
    let place = Place::at(&elsewhere);
    let other = UnixListener::bind(elsewhere.join("other")).unwrap();
    symlink(elsewhere.join("other"), place.socket()).unwrap();
    assert!(matches!(
        Contact::open(&place).await,
        Err(DaemonError::Unsafe { .. })
    ));
    fs::remove_file(place.socket()).unwrap();
    fs::write(place.socket(), "text").unwrap();
    assert!(matches!(
        Contact::open(&place).await,
        Err(DaemonError::Unsafe { .. })
    ));
    // A lock that leads elsewhere is not followed.
    fs::write(elsewhere.join("target"), "text").unwrap();
    symlink(elsewhere.join("target"), elsewhere.join("lock")).unwrap();
    assert!(matches!(
        Daemon::bind(&place, DaemonOptions::default()),
        Err(DaemonError::File { .. })
    ));
    drop(other);
}

#[tokio::test]
async fn commands_that_send_nonsense_or_nothing_disturb_no_others() {
    let (_folder, place) = place();
    let daemon = run(&place);
    let mut silent = Vec::new();
    for number in 0..100 {
        let mut stream = UnixStream::connect(place.socket()).await.unwrap();
        match number % 4 {
            0 => stream.write_all(b"m\xff\xff\xff\xff").await.unwrap(),
            1 => stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap(),
            2 => stream.write_all(b"m\x07\0\0\0{\"a\":1}").await.unwrap(),
            _ => {}
        }
        silent.push(stream);
    }
    let contact = Contact::open(&place).await.unwrap().unwrap();
    contact.status().await.unwrap();
    daemon.abort();
}

#[tokio::test]
async fn a_path_that_is_too_long_for_a_socket_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::at(folder.path().join("x".repeat(100)));
    let error = Daemon::bind(&place, DaemonOptions::default()).unwrap_err();
    assert!(matches!(error, DaemonError::TooLong { .. }), "{error:?}");
}
