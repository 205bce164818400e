//! Unix sockets that only the same user can connect to.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::unix_user::{is_ours, own_uid};

/// The file of a socket, which is removed with this value.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode: another process may have put another socket there.
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_same =
            fs::symlink_metadata(&self.path).is_ok_and(|now| identity(&now) == self.identity);
        if is_same {
            // What is left is found out and replaced by the next process.
            fs::remove_file(&self.path).ok();
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Listens on a socket with mode 0600 in a folder that only this user can write.
pub(super) fn listen(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    check_folder(path).map_err(named)?;
    remove_stale(path).map_err(named)?;
    let listener = UnixListener::bind(path).map_err(named)?;
    // Until here the folder alone keeps others out; connections of others are closed anyway.
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(named)?;
    let identity = identity(&fs::symlink_metadata(path).map_err(named)?);
    let path = path.to_owned();
    Ok((listener, SocketFile { path, identity }))
}

/// Checks that other users cannot put a socket of their own there.
fn check_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let metadata = fs::metadata(folder)?;
    if !is_ours(&metadata) {
        return Err(refusal("the folder of the socket belongs to another user"));
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(refusal("other users can write the folder of the socket"));
    }
    Ok(())
}

/// Removes a socket that no process listens on any more.
fn remove_stale(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.file_type().is_socket() {
        let why = "there is something else than a socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    if !is_ours(&metadata) {
        return Err(refusal("the socket belongs to another user"));
    }
    // Only a connection tells: a process that ended leaves its socket behind.
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => {
            let why = "another process listens on the socket";
            Err(io::Error::new(io::ErrorKind::AddrInUse, why))
        }
    }
}

fn refusal(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Checks that the other end belongs to the same user.
pub(super) fn check_peer(stream: &UnixStream) -> io::Result<()> {
    if stream.peer_cred()?.uid() != own_uid() {
        return Err(refusal("another user connected to the socket"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let path = folder.path().join("s");
        (folder, path)
    }

    #[tokio::test]
    async fn a_socket_is_private_and_goes_with_its_listener() {
        let (_folder, path) = folder();
        let (listener, file) = listen(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        let busy = listen(&path).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::AddrInUse);
        drop((listener, file));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_socket_that_was_left_is_replaced() {
        let (_folder, path) = folder();
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let (_listener, file) = listen(&path).unwrap();
        // Another process replaces it: its socket is not removed.
        fs::remove_file(&path).unwrap();
        let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(file);
        assert!(path.exists());
    }

    #[tokio::test]
    async fn files_links_and_open_folders_are_refused() {
        let (folder, path) = folder();
        fs::write(&path, "data").unwrap();
        assert_eq!(
            listen(&path).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "data");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(listen(&link).is_err());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o770)).unwrap();
        let open = listen(&folder.path().join("new")).unwrap_err();
        assert_eq!(open.kind(), io::ErrorKind::PermissionDenied);
    }
}
