//! The folder, the lock and the socket: for one user alone, and for one daemon at a time.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use switchboard_core::files;
use tokio::net::{UnixListener, UnixStream};

use crate::{DaemonError, Place};

/// The longest path of a socket, with room for its end: 104 bytes on macOS, 108 on Linux.
const LONGEST_PATH: usize = 103;

fn is_ours(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

fn unsafe_path(path: &Path, why: &'static str) -> DaemonError {
    let path = path.to_owned();
    DaemonError::Unsafe { path, why }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> DaemonError {
    let path = path.to_owned();
    move |source| DaemonError::File { path, source }
}

/// Returns true if there is nothing of that path, whatever stands in its way.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Checks that no other user can enter the folder, or put another one in its place. Returns false if there is
/// none.
fn check_folder(folder: &Path) -> Result<bool, DaemonError> {
    // Not followed: a link could lead into another user's folder.
    let metadata = match fs::symlink_metadata(folder) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return Ok(false),
        Err(error) => return Err(failed(folder)(error)),
    };
    if !metadata.is_dir() {
        return Err(unsafe_path(folder, "this is not a folder"));
    }
    if !is_ours(&metadata) {
        return Err(unsafe_path(folder, "the folder belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        let why = "other users may enter the folder; its mode has to be 0700";
        return Err(unsafe_path(folder, why));
    }
    files::judge_folders(folder)?;
    Ok(true)
}

/// The lock of the running daemon, and the file of its socket, which goes with this value.
#[derive(Debug)]
pub(super) struct Held {
    place: Place,
    /// Locked as long as it is open.
    _lock: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // The lock is still held: this is the socket of this daemon.
        fs::remove_file(self.place.socket()).ok();
    }
}

/// Makes the folder, takes the lock and listens on the socket.
pub(super) fn listen(place: &Place) -> Result<(UnixListener, Held), DaemonError> {
    let (folder, path) = (place.folder(), place.socket());
    if path.as_os_str().len() > LONGEST_PATH {
        return Err(DaemonError::TooLong { path });
    }
    files::make_private_folder(folder).map_err(failed(folder))?;
    check_folder(folder)?;
    let held = lock(place)?;
    // Under the lock, so that a socket that is there has no daemon any more.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path)(error)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(failed(&path))?;
    fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed(&path))?;
    Ok((listener, held))
}

fn lock(place: &Place) -> Result<Held, DaemonError> {
    let path = place.lock();
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    files::make_private(&mut options);
    let file = options.open(&path).map_err(failed(&path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Err(DaemonError::Running),
        Err(error) => return Err(failed(&path)(error.into())),
    }
    Ok(Held {
        place: place.clone(),
        _lock: file,
    })
}

/// Connects to the daemon; `None` if none runs.
pub(super) async fn connect(place: &Place) -> Result<Option<UnixStream>, DaemonError> {
    let path = place.socket();
    if !check_folder(place.folder())? {
        return Ok(None);
    }
    match fs::symlink_metadata(&path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(unsafe_path(&path, "this is not a socket"));
        }
        Ok(metadata) if !is_ours(&metadata) => {
            return Err(unsafe_path(&path, "the socket belongs to another user"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&path)(error)),
    }
    let stream = match UnixStream::connect(&path).await {
        Ok(stream) => stream,
        // A daemon that was killed leaves its socket.
        Err(error) if has_no_daemon(&error) => return Ok(None),
        Err(error) => return Err(failed(&path)(error)),
    };
    check_peer(&stream)?;
    Ok(Some(stream))
}

fn has_no_daemon(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
    )
}

/// Checks that the other end belongs to the same user.
pub(super) fn check_peer(stream: &UnixStream) -> Result<(), DaemonError> {
    let peer = stream.peer_cred().map_err(DaemonError::Lost)?;
    if peer.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(DaemonError::Foreign)
    }
}
