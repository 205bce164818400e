//! Numbers of bytes as people write them, in config files and on the command line.

/// The units, each with its number of bytes.
const UNITS: [(&str, u64); 9] = [
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

/// Parses a number of bytes: `32768`, `32KiB`, `1 MiB`, `500 kB`.
///
/// ```
/// use switchboard_core::limits::parse_byte_count;
///
/// assert_eq!(parse_byte_count("32KiB"), Ok(32 * 1024));
/// ```
///
/// # Errors
/// Fails if it is not a whole number with one of these units, or more than a [`u64`] holds.
pub fn parse_byte_count(text: &str) -> Result<u64, ParseByteCountError> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let unit = UNITS.iter().find(|(name, _)| *name == unit);
    let bytes = number.parse::<u64>().ok().zip(unit);
    bytes
        .and_then(|(number, (_, bytes))| number.checked_mul(*bytes))
        .ok_or(ParseByteCountError)
}

/// A text that is not a number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a size such as 32KiB, 1MiB or 4096")]
pub struct ParseByteCountError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_or_without_a_unit_is_read() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("12B", 12),
            ("32KiB", 32 * 1024),
            ("1 MiB", 1024 * 1024),
            ("2GiB", 2 << 30),
            ("5 kB", 5000),
            ("10 MB", 10_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_byte_count(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "KiB",
            "-1",
            "1.5MiB",
            "1e3",
            "16  MiB",
            "16 mib",
            "16 MiB ",
            "18446744073709551616",
            "99999999999999999GiB",
        ] {
            assert_eq!(parse_byte_count(text), Err(ParseByteCountError), "{text}");
        }
    }
}
