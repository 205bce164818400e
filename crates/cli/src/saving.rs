//! Files for media of results, under generated names.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Maximum length of a part of a name.
const LONGEST: usize = 40;

/// Maximum number in a file name.
const MOST_FILES: u32 = 9999;

/// Accepts base64 with and without padding: servers send both.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes base64; `None` if it is invalid.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let is_broken = |c: char| c.is_ascii_whitespace();
    if text.contains(is_broken) {
        LENIENT.decode(text.replace(is_broken, "")).ok()
    } else {
        LENIENT.decode(text).ok()
    }
}

/// Builds the start of a file name: only ASCII letters, digits, `_` and `-` of the given names.
pub(crate) fn stem(server: &str, what: &str) -> String {
    let part = |text: &str| -> String {
        let plain = text.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() || c == '_' => c,
            _ => '-',
        });
        let plain: String = plain.take(LONGEST).collect();
        plain.trim_matches('-').to_owned()
    };
    let parts = [part(server), part(what)];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.map(String::as_str).collect();
    if parts.is_empty() {
        "result".to_owned()
    } else {
        parts.join("-")
    }
}

/// Writes a new file into a folder, readable by its owner alone: `STEM-1.png`, or the next free number.
/// Existing files are not touched, and links are not followed.
///
/// # Errors
/// Returns the error of the system, or one if all numbers are taken.
pub(crate) fn save(
    folder: &Path,
    stem: &str,
    mime_type: &str,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let extension = extension(mime_type);
    for number in 1..=MOST_FILES {
        let path = folder.join(format!("{stem}-{number}.{extension}"));
        // Creating exclusively is the test: checking first could race with another process.
        match create(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("all numbers are taken"))
}

/// Creates a new file, readable by its owner alone.
///
/// # Errors
/// Returns the error of the system, also if the path exists.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns the file extension of a MIME type; `bin` for unknown types.
pub(crate) fn extension(mime_type: &str) -> &'static str {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/avif" => "avif",
        "image/bmp" => "bmp",
        "image/tiff" => "tif",
        "image/svg+xml" => "svg",
        "image/x-icon" | "image/vnd.microsoft.icon" => "ico",
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" | "audio/opus" => "ogg",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/aac" => "aac",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" => "m4a",
        "audio/webm" | "video/webm" => "webm",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "application/json" => "json",
        "text/plain" => "txt",
        "text/csv" => "csv",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_letters_and_digits() {
        assert_eq!(stem("demo", "echo"), "demo-echo");
        assert_eq!(
            stem("my.server", "../../etc/passwd"),
            "my-server-etc-passwd"
        );
        assert_eq!(stem("..", "\u{202e}\0"), "result");
        assert_eq!(stem(&"x".repeat(99), "").len(), LONGEST);
    }

    #[test]
    fn types_end_with_what_is_known_of_them() {
        assert_eq!(extension("Image/PNG; q=1"), "png");
        for odd in ["", "application/x-sh", "png", "image/../../sh"] {
            assert_eq!(extension(odd), "bin", "{odd}");
        }
    }

    #[test]
    fn base64_is_read_with_and_without_padding_and_over_lines() {
        for text in ["AAE=", "AAE", "AA\r\nE=\n"] {
            assert_eq!(decode_base64(text).unwrap(), [0, 1], "{text:?}");
        }
        assert_eq!(decode_base64("A*"), None);
    }

    #[test]
    fn nothing_that_is_there_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a-1.bin");
        std::fs::write(&path, "mine").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join("away"), folder.path().join("a-2.bin"))
            .unwrap();
        #[cfg(not(unix))]
        std::fs::write(folder.path().join("a-2.bin"), "").unwrap();
        let saved = save(folder.path(), "a", "", b"theirs").unwrap();
        assert_eq!(saved, folder.path().join("a-3.bin"));
        assert_eq!(std::fs::read(path).unwrap(), b"mine");
        assert!(!folder.path().join("away").exists());
        assert_eq!(std::fs::read(saved).unwrap(), b"theirs");
    }
}
