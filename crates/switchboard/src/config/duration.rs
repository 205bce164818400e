//! How long something may take, as people write it.

use std::time::Duration;

/// Reads `"30s"`, `"500ms"`, `"2m"` or `"1h"`.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at_checked(end)?;
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let is_plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = number.parse().ok().filter(|_| is_plain)?;
    of_seconds(number * scale)
}

/// A number of seconds; nothing for one that is negative, endless or no number.
pub(super) fn of_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// Writes a time in the largest unit that it is a whole number of.
pub(super) fn text(time: Duration) -> String {
    let millis = time.as_millis();
    let units = [
        (24 * 3_600_000, " days"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1000, "s"),
    ];
    let mut units = units.into_iter();
    match units.find(|(unit, _)| millis >= *unit && millis.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", millis / unit),
        None => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_unit_are_read() {
        let millis = |millis| Some(Duration::from_millis(millis));
        assert_eq!(parse("30s"), millis(30_000));
        assert_eq!(parse("500ms"), millis(500));
        assert_eq!(parse("1.5s"), millis(1_500));
        assert_eq!(parse("2m"), millis(120_000));
        assert_eq!(parse("1h"), millis(3_600_000));
    }

    #[test]
    fn times_are_written_as_people_read_them() {
        for (millis, text) in [
            (1, "1ms"),
            (1500, "1500ms"),
            (300_000, "5m"),
            (3_600_000, "1h"),
        ] {
            assert_eq!(super::text(Duration::from_millis(millis)), text);
        }
        assert_eq!(super::text(Duration::from_secs(30 * 24 * 3600)), "30 days");
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "", "30", "s", "-1s", "1 s", "1d", "1e9s", "infs", "NaNs", "..s", "1s1s",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(of_seconds(-1.0), None);
        assert_eq!(of_seconds(f64::NAN), None);
        assert_eq!(of_seconds(1e300), None);
    }
}
