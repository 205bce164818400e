//! The time at which something expires, as people write it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::timestamp::{A_DAY, days_of_month, days_of_year};

/// Longest age, in days.
const MOST_DAYS: u64 = 36_500;

/// Reads the time at which something expires: an age such as `12h`, `30d` or `8w`, or a date such as
/// `2027-01-31`, at whose start in UTC it does not count any more.
///
/// # Errors
/// Fails with what to write instead.
pub fn parse_expiry(text: &str, now: SystemTime) -> Result<SystemTime, String> {
    let time = date(text).or_else(|| now.checked_add(age(text)?));
    let time =
        time.ok_or("expected an age such as 12h, 30d or 8w, or a date such as 2027-01-31")?;
    if time <= now {
        return Err("it is in the past".to_owned());
    }
    Ok(time)
}

fn age(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let seconds = match unit {
        'm' => 60,
        'h' => 60 * 60,
        'd' => A_DAY,
        'w' => 7 * A_DAY,
        _ => return None,
    };
    let count = text.strip_suffix(unit)?;
    let seconds = number(count)?.checked_mul(seconds)?;
    (seconds <= MOST_DAYS * A_DAY).then(|| Duration::from_secs(seconds))
}

/// The start of a day in UTC.
fn date(text: &str) -> Option<SystemTime> {
    let mut parts = text.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_date = parts.next().is_none()
        && (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day);
    if !is_date {
        return None;
    }
    let years: u64 = (1970..year).map(days_of_year).sum();
    let months: u64 = (1..month).map(|month| days_of_month(year, month)).sum();
    UNIX_EPOCH.checked_add(Duration::from_secs((years + months + day - 1) * A_DAY))
}

fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_dates_are_read() {
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let at = |text| {
            let time = parse_expiry(text, now).unwrap();
            time.duration_since(now).unwrap().as_secs()
        };
        assert_eq!(at("90m"), 90 * 60);
        assert_eq!(at("12h"), 12 * 60 * 60);
        assert_eq!(at("30d"), 30 * A_DAY);
        assert_eq!(at("8w"), 56 * A_DAY);
        // 1,800,000,000 is 2027-01-15 08:00 in UTC.
        assert_eq!(at("2027-01-16"), 16 * 60 * 60);
        assert_eq!(at("2028-03-01"), 16 * 60 * 60 + (365 + 16 + 29) * A_DAY);
    }

    #[test]
    fn what_is_no_end_of_a_token_is_refused() {
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for bad in [
            "",
            "d",
            "30",
            "-1d",
            "+1d",
            "1.5d",
            "1y",
            "30 d",
            "99999999999999999999d",
            "40000d",
            "2027-02-29",
            "2027-13-01",
            "2027-1-1-1",
            "2027-00-01",
            "tomorrow",
            "é",
        ] {
            let error = parse_expiry(bad, now).unwrap_err();
            assert!(error.starts_with("expected an age"), "{bad}: {error}");
        }
        for past in ["0d", "2027-01-15", "1999-12-31"] {
            assert_eq!(parse_expiry(past, now).unwrap_err(), "it is in the past");
        }
    }
}
