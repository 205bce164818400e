//! Times as people write them.

use std::time::Duration;

/// Longer than anybody waits, and short of where clocks overflow.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Reads `30s`, `500ms` or a number of seconds.
///
/// # Errors
/// When it is no such time, is zero, or is longer than a week.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let is_plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let time = number
        .parse::<f64>()
        .ok()
        .filter(|_| is_plain)
        .and_then(|number| Duration::try_from_secs_f64(number * unit).ok())
        .ok_or("expected a time such as 5s, 500ms or 2")?;
    if time.is_zero() {
        Err("expected a time longer than nothing".to_owned())
    } else if time > LONGEST {
        Err("expected a time of at most a week".to_owned())
    } else {
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_milliseconds_are_read() {
        assert_eq!(parse("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("604800"), Ok(LONGEST));
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "", "s", "ms", "-1s", "1m", "1e3", "inf", "NaN", "5 s", "1.2.3",
        ] {
            assert_eq!(
                parse(bad).unwrap_err(),
                "expected a time such as 5s, 500ms or 2",
                "{bad:?}"
            );
        }
        assert!(parse("0").unwrap_err().contains("longer than nothing"));
        assert!(
            parse("0.0000000001s")
                .unwrap_err()
                .contains("longer than nothing")
        );
        assert!(parse("604801").unwrap_err().contains("a week"));
    }
}
