//! Paths as text, without loss.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Writes a path as text that can be read back: a byte that is not Unicode becomes `%` and two digits, an
/// unpaired surrogate on Windows `%u` and four; the percent sign itself is `%25`.
pub(super) fn to_text(path: &Path) -> String {
    let mut out = String::new();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        for chunk in path.as_os_str().as_bytes().utf8_chunks() {
            out.push_str(&chunk.valid().replace('%', "%25"));
            for byte in chunk.invalid() {
                // Writing to a string never fails.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    #[cfg(windows)]
    {
        use std::os::windows::ffi::OsStrExt as _;
        for unit in char::decode_utf16(path.as_os_str().encode_wide()) {
            match unit {
                Ok('%') => out.push_str("%25"),
                Ok(c) => out.push(c),
                Err(half) => {
                    // Writing to a string never fails.
                    let _ = write!(out, "%u{:04X}", half.unpaired_surrogate());
                }
            }
        }
    }
    out
}

/// Reads the output of [`to_text`]; `None` for any text that it never writes.
pub(super) fn from_text(text: &str) -> Option<PathBuf> {
    let path = read(text)?;
    // Accept only the canonical text, so that a store never holds one path twice.
    (to_text(&path) == text).then_some(path)
}

#[cfg(unix)]
fn read(text: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part.get(2..)?.bytes());
    }
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(windows)]
fn read(text: &str) -> Option<PathBuf> {
    use std::os::windows::ffi::OsStringExt as _;
    let mut units = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    units.extend(parts.next()?.encode_utf16());
    for part in parts {
        let (digits, rest) = match part.strip_prefix('u') {
            Some(wide) => (wide.get(..4)?, wide.get(4..)?),
            None => (part.get(..2)?, part.get(2..)?),
        };
        units.push(u16::from_str_radix(digits, 16).ok()?);
        units.extend(rest.encode_utf16());
    }
    Some(std::ffi::OsString::from_wide(&units).into())
}

/// Writes a path for display: unchanged if it is Unicode, else like [`to_text`].
pub(super) fn display_text(path: &Path) -> String {
    path.to_str().map_or_else(|| to_text(path), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_back() {
        for path in ["", "/home/me/größe/.mcp.json", "/100%/a%FFb", "a\nb", "%"] {
            let path = Path::new(path);
            assert_eq!(from_text(&to_text(path)).as_deref(), Some(path));
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_unicode_survive_and_are_told_apart() {
        use std::os::unix::ffi::OsStrExt as _;
        let raw = Path::new(std::ffi::OsStr::from_bytes(b"/a\xff\xfeb%"));
        assert_eq!(to_text(raw), "/a%FF%FEb%25");
        assert_eq!(from_text("/a%FF%FEb%25").as_deref(), Some(raw));
        let lossy = PathBuf::from(raw.to_string_lossy().into_owned());
        assert_ne!(to_text(raw), to_text(&lossy));
        assert_ne!(to_text(raw), to_text(Path::new("/a%FF%FEb%25")));
    }

    #[test]
    fn what_is_never_written_is_not_read() {
        for text in ["%", "%2", "%zz", "%ff", "%41", "a%2", "%é"] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
