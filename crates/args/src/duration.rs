//! Durations of options such as `--timeout`.

use std::time::Duration;

use switchboard::limits::{ParseDurationError, parse_duration};

/// Longest duration: a week, which no clock arithmetic overflows.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Parses a duration such as `30s`, `500ms`, `2m`, `1h` or `1m30s`, or a bare number of seconds.
///
/// # Errors
/// Returns the parse error of the text.
fn read(text: &str) -> Result<Duration, ParseDurationError> {
    let is_bare = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_bare {
        parse_duration(&format!("{text}s"))
    } else {
        parse_duration(text)
    }
}

/// Parses the duration of an option.
///
/// # Errors
/// Returns a message if it is not a duration, is zero, or is longer than a week.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let time = read(text).map_err(|error| {
        format!("{error}; write a time as 30s, 500ms, 2m, 1h or 1m30s, or as a number of seconds")
    })?;
    if time.is_zero() {
        Err("must be greater than zero".to_owned())
    } else if time > LONGEST {
        Err("must be at most a week".to_owned())
    } else {
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_bare_seconds_are_read() {
        assert_eq!(parse("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(parse("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("604800"), Ok(LONGEST));
        assert_eq!(parse("168h"), Ok(LONGEST));
    }

    #[test]
    fn a_refusal_names_the_problem_and_the_accepted_forms() {
        for (bad, problem) in [
            ("", "not a number with a unit"),
            ("s", "not a number with a unit"),
            ("-1s", "not a number with a unit"),
            ("inf", "not a number with a unit"),
            ("1.2.3", "not a number with a unit"),
            ("5 s", "a number without a unit"),
            ("1m30", "a number without a unit"),
            ("1e3", "`e` is not a unit of time"),
            ("2min", "`min` is not a unit of time"),
        ] {
            let forms = "write a time as 30s, 500ms, 2m, 1h or 1m30s, or as a number of seconds";
            assert_eq!(parse(bad).unwrap_err(), format!("{problem}; {forms}"));
        }
    }

    #[test]
    fn nothing_and_more_than_a_week_are_refused() {
        for (bad, problem) in [
            ("0", "greater than zero"),
            ("0.0000000001s", "greater than zero"),
            ("604801", "a week"),
            ("168h1ms", "a week"),
        ] {
            let error = parse(bad).unwrap_err();
            assert!(error.contains(problem), "{bad}: {error}");
        }
    }
}
