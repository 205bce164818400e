//! Sizes for people.

/// Returns the number of bytes that a base64 text stands for.
#[doc(hidden)]
pub fn decoded_bytes(base64: &str) -> u64 {
    let digits = base64
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=')
        .count();
    u64::try_from(digits).unwrap_or(u64::MAX).saturating_mul(3) / 4
}

/// A size in the unit that keeps it short: `12 KiB`.
#[doc(hidden)]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // In tenths, rounded to the nearest.
    let mut tenths = bytes.saturating_mul(10);
    let mut unit = "";
    for name in UNITS {
        tenths = tenths.saturating_add(512) / 1024;
        unit = name;
        if tenths < 10 * 1024 {
            break;
        }
    }
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {unit}"),
        (whole, _) if whole >= 10 => format!("{whole} {unit}"),
        (whole, tenth) => format!("{whole}.{tenth} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1023, 1024, 1536, 12_345, 5 * 1024 * 1024].map(size);
        assert_eq!(
            sizes,
            ["0 B", "1023 B", "1 KiB", "1.5 KiB", "12 KiB", "5 MiB"]
        );
    }

    #[test]
    fn padding_and_line_ends_are_no_bytes() {
        assert_eq!(decoded_bytes("AAAA"), 3);
        assert_eq!(decoded_bytes("AAA=\n"), 2);
        assert_eq!(decoded_bytes(""), 0);
    }
}
