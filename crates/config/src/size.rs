//! Sizes in bytes, as people write them.

use switchboard_core::limits::parse_byte_count;

/// The units that sizes are written in, larger ones first.
const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Parses `"16 MiB"`, `"512KiB"` or `"10 MB"`. A text without a unit is none: numbers are written as such.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.ends_with('B').then_some(text)?;
    parse_byte_count(text).ok()
}

/// Writes a size in the largest unit that divides it.
pub(super) fn text(bytes: u64) -> String {
    let fits = |(_, unit): &&(&str, u64)| bytes >= *unit && bytes.is_multiple_of(*unit);
    match UNITS.iter().find(fits) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_unit_are_read_and_written() {
        for (written, bytes, shown) in [
            ("16 MiB", 16 << 20, "16 MiB"),
            ("16MiB", 16 << 20, "16 MiB"),
            ("1024 KiB", 1 << 20, "1 MiB"),
            ("10 MB", 10_000_000, "10000000 B"),
            ("0 B", 0, "0 B"),
            ("1 GiB", 1 << 30, "1 GiB"),
        ] {
            assert_eq!(parse(written), Some(bytes), "{written}");
            assert_eq!(text(bytes), shown);
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "",
            "16",
            "MiB",
            "-1 MiB",
            "1.5 MiB",
            "16  MiB",
            "16 mib",
            "1e3 B",
            "16 MiB ",
            "99999999999999999999 B",
            "18446744073709551615 GiB",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
