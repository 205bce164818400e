//! Durations in config files: bare numbers of seconds, and texts for messages.

use std::time::Duration;

/// Converts a number of seconds; `None` if it is negative, infinite or not a number.
pub(super) fn of_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// Writes a duration in the largest unit that divides it.
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
    fn seconds_that_are_no_time_are_none() {
        assert_eq!(of_seconds(1.5), Some(Duration::from_millis(1500)));
        assert_eq!(of_seconds(-1.0), None);
        assert_eq!(of_seconds(f64::NAN), None);
        assert_eq!(of_seconds(1e300), None);
    }
}
