//! The file that keeps the token of this program between its runs.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use switchboard::files::{self, FileError, Source};

use super::auth::Token;
use crate::error::GatewayError;

/// Longest file that is read.
const FILE_BYTES: usize = 4096;

/// A token that was read from its file, or made and written there.
pub struct TokenFile {
    /// The token, as the gateway keeps it.
    pub token: Token,
    /// The text, for the program to show once. Only there if it was made just now.
    pub new_text: Option<String>,
}

impl TokenFile {
    /// Reads the token of a file; makes one, and the file with mode 0600, if there is no file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, another user could have read or written it, or it has
    /// no token.
    pub fn read_or_make(path: &Path) -> Result<Self, GatewayError> {
        match read(path) {
            Ok(text) => Ok(Self {
                token: Token::new(text.trim())?,
                new_text: None,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let text = Token::generate()?;
                match write(path, &text) {
                    // Another process made it in between: its token counts.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Self {
                        token: Token::new(read(path).map_err(|e| with_path(path, &e))?.trim())?,
                        new_text: None,
                    }),
                    Err(error) => Err(with_path(path, &error).into()),
                    Ok(()) => Ok(Self {
                        token: Token::new(&text)?,
                        new_text: Some(text),
                    }),
                }
            }
            Err(error) => Err(with_path(path, &error).into()),
        }
    }
}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> io::Result<String> {
    // No link: it could lead to a file that another user writes.
    let file = files::open(path, Source::Plain).map_err(refused)?;
    // Checked on the open file: the path may lead elsewhere by now.
    check(file.metadata())?;
    let content = file.read(FILE_BYTES).map_err(refused)?;
    String::from_utf8(content.bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn refused(error: FileError) -> io::Error {
    if error.is_absent() {
        return io::ErrorKind::NotFound.into();
    }
    io::Error::other(error)
}

/// Writes the whole token before the file has its name, so that no reader sees a part of it.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        files::make_private_folder(folder)?;
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    files::make_private(&mut options);
    let mut file = options.open(&draft)?;
    let written = writeln!(file, "{text}")
        .and_then(|()| file.sync_all())
        // Unlike renaming, linking never replaces a file.
        .and_then(|()| fs::hard_link(&draft, path));
    // The draft goes in any case: it has the token in it.
    fs::remove_file(&draft)?;
    written
}

/// Checks on the open file that no other user could have read or written it.
#[cfg(unix)]
fn check(metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    if metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other(
            "other users can read or write the token file; `chmod 600` it",
        ));
    }
    if !super::unix_user::is_ours(metadata) {
        return Err(io::Error::other("the token file belongs to another user"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(_: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/token");
        let made = TokenFile::read_or_make(&path).unwrap();
        let text = made.new_text.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().trim(), text);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let read = TokenFile::read_or_make(&path).unwrap();
        assert!(read.new_text.is_none() && read.token == made.token);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_token_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        TokenFile::read_or_make(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(TokenFile::read_or_make(&path).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(TokenFile::read_or_make(&link).is_err());
    }

    #[test]
    fn a_file_without_a_token_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        write(&path, "short").unwrap();
        assert!(TokenFile::read_or_make(&path).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "short\n");
    }
}
