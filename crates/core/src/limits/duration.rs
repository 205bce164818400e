//! Durations as people write them, in config files and on the command line.

use std::time::Duration;

/// The units, from large to small, each with its length in seconds.
const UNITS: [(&str, f64); 4] = [("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001)];

/// Parses a duration: `500ms`, `1.5s`, `2m`, `1h`, or several units as in `1m30s`.
///
/// Units go from large to small, each at most once, so a text of many parts is refused early. Any
/// length is allowed, also zero; callers check their own range.
///
/// ```
/// use std::time::Duration;
/// use switchboard_core::limits::parse_duration;
///
/// assert_eq!(parse_duration("1m30s"), Ok(Duration::from_secs(90)));
/// ```
///
/// # Errors
/// Fails if a part has no number or no known unit, the units are out of order, or the sum is more than a
/// [`Duration`] holds.
pub fn parse_duration(text: &str) -> Result<Duration, ParseDurationError> {
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total = Duration::ZERO;
    loop {
        let number_ends = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, from_unit) = rest.split_at(number_ends.unwrap_or(rest.len()));
        // `f64` would also parse `inf`, `NaN`, `-1` and `1e9`; only digits and points get here.
        let number: f64 = number.parse().map_err(|_| ParseDurationError::Number)?;
        let unit_ends = from_unit.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, after) = from_unit.split_at(unit_ends.unwrap_or(from_unit.len()));
        if unit.is_empty() {
            return Err(ParseDurationError::MissingUnit);
        }
        if !UNITS.iter().any(|(name, _)| *name == unit) {
            let unit = unit.to_owned();
            return Err(ParseDurationError::UnknownUnit { unit });
        }
        // The iterator holds only units smaller than the previous one.
        let (_, seconds) = units
            .find(|(name, _)| *name == unit)
            .ok_or(ParseDurationError::UnitOrder)?;
        total = Duration::try_from_secs_f64(number * seconds)
            .ok()
            .and_then(|part| total.checked_add(part))
            .ok_or(ParseDurationError::TooLong)?;
        if after.is_empty() {
            return Ok(total);
        }
        rest = after;
    }
}

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseDurationError {
    /// A number is missing.
    #[error("not a number with a unit")]
    Number,
    /// A number has no unit.
    #[error("a number without a unit")]
    MissingUnit,
    /// The unit is not one of `h`, `m`, `s` and `ms`.
    #[error("`{unit}` is not a unit of time")]
    UnknownUnit {
        /// The letters after the number.
        unit: String,
    },
    /// A unit is repeated, or follows a smaller one.
    #[error("units must go from h to m, s and ms, each at most once")]
    UnitOrder,
    /// The sum does not fit into a [`Duration`].
    #[error("longer than any clock counts")]
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_unit_are_read() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("1.5s", 1_500),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)));
        }
    }

    #[test]
    fn units_from_large_to_small_add_up() {
        for (text, millis) in [
            ("1m30s", 90_000),
            ("1h1ms", 3_600_001),
            ("1h2m3s4ms", 3_723_004),
            ("0.5h90m", 7_200_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)));
        }
    }

    #[test]
    fn the_error_names_what_is_wrong_with_a_time() {
        let unknown = |unit: &str| ParseDurationError::UnknownUnit { unit: unit.into() };
        for (text, error) in [
            ("", ParseDurationError::Number),
            ("s", ParseDurationError::Number),
            ("-1s", ParseDurationError::Number),
            ("..s", ParseDurationError::Number),
            ("infs", ParseDurationError::Number),
            ("NaNs", ParseDurationError::Number),
            ("1m 30s", ParseDurationError::Number),
            ("30", ParseDurationError::MissingUnit),
            ("1m30", ParseDurationError::MissingUnit),
            ("1 s", ParseDurationError::MissingUnit),
            ("1\u{b5}s", ParseDurationError::MissingUnit),
            ("1d", unknown("d")),
            ("2min", unknown("min")),
            ("1S", unknown("S")),
            ("1e9s", unknown("e")),
            ("1s1s", ParseDurationError::UnitOrder),
            ("1ms1s", ParseDurationError::UnitOrder),
            ("99999999999999999999s", ParseDurationError::TooLong),
            (
                "18446744073709549568s99999999ms",
                ParseDurationError::TooLong,
            ),
        ] {
            assert_eq!(parse_duration(text), Err(error), "{text:?}");
        }
    }
}
