//! Roots: the folders that servers are told to work in.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_wire::Root;

/// The folders that servers are told about. Clones share them.
///
/// Links are resolved when a folder is added, not when a server asks: the user agreed to a place, and a
/// link that points elsewhere later would change it. Paths that are not folders are left out.
#[derive(Debug, Clone, Default)]
pub struct Roots(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    /// The folders as they were given; `None` if they were never set.
    folders: Option<Vec<PathBuf>>,
    roots: Vec<Root>,
    /// The folders that do not exist.
    missing: Vec<PathBuf>,
    /// Set if an open connection was told that it may ask for roots.
    is_declared: bool,
}

impl Roots {
    /// Creates roots from these folders.
    pub fn of<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> Self {
        let roots = Self::default();
        roots.set(folders);
        roots.begin();
        roots
    }

    /// Replaces the folders, and returns `true` if the list has changed.
    ///
    /// A server that was connected without any roots learns of them on its next connection.
    pub fn set<P: AsRef<Path>>(&self, folders: impl IntoIterator<Item = P>) -> bool {
        let folders = folders.into_iter();
        let folders: Vec<PathBuf> = folders.map(|one| one.as_ref().to_owned()).collect();
        let (mut roots, mut missing) = (Vec::new(), Vec::new());
        for folder in &folders {
            // The real path: a server that follows links should arrive inside its root.
            match real(folder) {
                Some(real) => roots.push(root(&real)),
                None => missing.push(folder.clone()),
            }
        }
        // Locked after the folders were looked at, which may take long on a network drive.
        let mut told = self.lock();
        let has_changed = told.roots != roots;
        (told.roots, told.missing, told.folders) = (roots, missing, Some(folders));
        has_changed
    }

    /// Returns the roots that servers are told now.
    pub fn list(&self) -> Vec<Root> {
        self.lock().roots.clone()
    }

    /// Returns the folders that do not exist; servers are not told about them.
    pub fn missing(&self) -> Vec<PathBuf> {
        self.lock().missing.clone()
    }

    /// Returns the folders as they were given, if they were ever set.
    #[doc(hidden)]
    pub fn folders(&self) -> Option<Vec<PathBuf>> {
        self.lock().folders.clone()
    }

    /// Returns `true` if servers may ask for roots. Once told so, a server may ask until its connection
    /// ends.
    #[doc(hidden)]
    pub fn is_declared(&self) -> bool {
        self.lock().is_declared
    }

    /// Decides whether the server of a new connection may ask for roots.
    #[doc(hidden)]
    pub fn begin(&self) {
        let mut told = self.lock();
        // Fixed at the handshake: a capability cannot be added to a connection later.
        told.is_declared = told.folders.as_ref().is_some_and(|all| !all.is_empty());
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the real path of a folder; `None` if it is not a folder.
fn real(folder: &Path) -> Option<PathBuf> {
    folder.canonicalize().ok().filter(|real| real.is_dir())
}

fn root(folder: &Path) -> Root {
    let name = folder.file_name();
    Root {
        uri: address(folder),
        name: name.map(|name| name.to_string_lossy().into_owned()),
    }
}

#[cfg(unix)]
fn address(folder: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    format!("file://{}", encoded(folder.as_os_str().as_bytes()))
}

#[cfg(not(unix))]
fn address(folder: &Path) -> String {
    let text = folder.to_string_lossy().replace('\\', "/");
    // As Windows writes a real path: `\\?\C:\x`, and `\\?\UNC\server\share`.
    let text = text.strip_prefix("//?/").unwrap_or(&text);
    match text.strip_prefix("UNC/") {
        Some(share) => format!("file://{}", encoded(share.as_bytes())),
        None => format!("file:///{}", encoded(text.as_bytes())),
    }
}

/// Percent-encodes characters that are not allowed in the path of a URL, RFC 3986 section 3.3.
fn encoded(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => text.push(char::from(*byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' | b'!' | b'$' | b'&' | b'\'' | b'('
            | b')' | b'*' | b'+' | b',' | b';' | b'=' => text.push(char::from(*byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_stand_in_an_address_is_escaped() {
        let text = encoded("/a b/%20/ä#?\u{7f}/C:/(x)".as_bytes());
        assert_eq!(text, "/a%20b/%2520/%C3%A4%23%3F%7F/C:/(x)");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_to_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let (there, gone) = (folder.path().join("there"), folder.path().join("gone"));
        std::fs::create_dir(&there).unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let roots = Roots::of([&there, &gone, &folder.path().join("file")]);
        let names = roots.list().into_iter().map(|root| root.name.unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["there"]);
        assert_eq!(roots.missing(), [gone, folder.path().join("file")]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_told_as_the_place_that_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real place");
        std::fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let told = Roots::of([&link]).list();
        let path = real.parent().unwrap().to_str().unwrap();
        assert_eq!(
            told,
            [Root {
                uri: format!("file://{path}/real%20place"),
                name: Some("real place".to_owned()),
            }]
        );
    }

    #[test]
    fn whether_a_server_may_ask_is_decided_when_it_is_connected_to() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::of([""; 0]);
        assert!(!roots.is_declared());
        assert!(roots.set([folder.path()]));
        assert!(!roots.set([folder.path()]), "it is the same list");
        assert!(!roots.is_declared());
        roots.begin();
        assert!(roots.is_declared());
        assert!(roots.set([""; 0]));
        assert!(roots.is_declared(), "it was told that it may");
        assert!(roots.list().is_empty());
        roots.begin();
        assert!(!roots.is_declared());
    }
}
