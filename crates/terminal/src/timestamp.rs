//! Timestamps in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const A_DAY: u64 = 24 * 60 * 60;

/// Formats a time to the second: `2026-07-28T09:30:00Z`. Times before 1970 become 1970.
pub fn utc_seconds(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = seconds.as_secs();
    let (mut day, second) = (seconds / A_DAY, seconds % A_DAY);
    let mut year = 1970;
    while day >= days_of_year(year) {
        day -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    while day >= days_of_month(year, month) {
        day -= days_of_month(year, month);
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let day = day + 1;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Formats a time to the millisecond: `2026-07-28T09:30:00.125Z`.
pub fn utc_millis(moment: SystemTime) -> String {
    let millis = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let whole = utc_seconds(moment);
    format!(
        "{}.{:03}Z",
        whole.trim_end_matches('Z'),
        millis.subsec_millis()
    )
}

pub(crate) fn days_of_year(year: u64) -> u64 {
    365 + u64::from(is_leap(year))
}

pub(crate) fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn milliseconds_are_written_with_three_digits() {
        let moment = UNIX_EPOCH + Duration::from_millis(1_007);
        assert_eq!(utc_millis(moment), "1970-01-01T00:00:01.007Z");
    }

    #[test]
    fn moments_around_the_ends_of_days_months_and_years() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (A_DAY - 1, "1970-01-01T23:59:59Z"),
            (A_DAY, "1970-01-02T00:00:00Z"),
            (31_535_999, "1970-12-31T23:59:59Z"),
            (31_536_000, "1971-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(
                utc_seconds(UNIX_EPOCH + Duration::from_secs(seconds)),
                wanted
            );
        }
        assert_eq!(
            utc_seconds(UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00Z"
        );
    }
}
