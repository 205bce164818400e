//! Dates as HTTP writes them.

use std::time::{Duration, SystemTime};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAY: u64 = 24 * 3600;

/// Reads a date in one of the three forms that RFC 9110 asks every reader to know. The name of
/// the day is not looked at.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let words: Vec<&str> = text.split_ascii_whitespace().take(7).collect();
    let (day, month, year, time) = match *words.as_slice() {
        // Sun, 06 Nov 1994 08:49:37 GMT
        [_, day, month, year, time, "GMT"] => (day, month, year, time),
        // Sunday, 06-Nov-94 08:49:37 GMT
        [_, date, time, "GMT"] => {
            let mut parts = date.splitn(3, '-');
            (parts.next()?, parts.next()?, parts.next()?, time)
        }
        // Sun Nov  6 08:49:37 1994
        [_, month, day, time, year] => (day, month, year, time),
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let days = days(
        year_of(year)?,
        u64::try_from(month).ok()? + 1,
        number(day, 2)?,
    )?;
    let mut parts = time.splitn(3, ':').map(|part| number(part, 2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    // A leap second is there now and then.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days * DAY + hour * 3600 + minute * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Reads a year of four digits, or of two as they were written in the last century.
fn year_of(text: &str) -> Option<u64> {
    match (text.len(), number(text, 4)?) {
        (4, year) => Some(year),
        (2, year) if year < 70 => Some(2000 + year),
        (2, year) => Some(1900 + year),
        _ => None,
    }
}

fn number(text: &str, longest: usize) -> Option<u64> {
    let is_number = (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Counts the days from 1970 to a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let length = |month: u64| match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if year < 1970 || day < 1 || day > length(month) {
        return None;
    }
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let before = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    Some(before + (1..month).map(length).sum::<u64>() + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        let since = parse(text)?.duration_since(SystemTime::UNIX_EPOCH);
        since.ok().map(|since| since.as_secs())
    }

    #[test]
    fn the_three_forms_are_one_time() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            " Sun, 06 Nov 1994 08:49:37 GMT ",
        ] {
            assert_eq!(seconds(text), Some(784_111_777), "{text}");
        }
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        for (date, expected) in [
            ("01 Jan 1970", 0),
            ("31 Dec 1970", 364),
            ("29 Feb 1972", 789),
            ("01 Mar 1972", 790),
            ("29 Feb 2000", 11_016),
            ("01 Mar 2000", 11_017),
            ("28 Jul 2026", 20_662),
            ("01 Mar 2100", 47_541),
            ("31 Dec 9999", 2_932_896),
        ] {
            let text = format!("Xxx, {date} 00:00:00 GMT");
            assert_eq!(seconds(&text), Some(expected * DAY), "{date}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "soon",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 2100 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 19940 08:49:37 GMT",
            "Sun, 06 Nov 1994 +8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
