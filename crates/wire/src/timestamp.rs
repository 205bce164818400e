//! Times in ISO 8601, as annotations have them.

/// Reads an ISO 8601 time such as `2025-01-12T15:00:58.5+01:00`, or a day alone, as seconds and
/// nanoseconds since 1970.
pub(crate) fn parse(text: &str) -> Option<(i64, u32)> {
    let number = |text: &str| -> Option<i64> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let clock = |text: &str| -> Option<i64> {
        let mut parts = text.split(':').map(number);
        let (hours, minutes) = (parts.next()??, parts.next()??);
        let seconds = parts.next().unwrap_or(Some(0))?;
        let is_clock = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
        is_clock.then_some(hours * 3600 + minutes * 60 + seconds)
    };
    let (day, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00Z"));
    let mut parts = day.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some()
        || year > 9999
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
    {
        return None;
    }
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => time.split_at_checked(at)?,
        None => (time, "Z"),
    };
    let offset = match offset.split_at_checked(1)? {
        ("+", offset) => clock(offset)?,
        ("-", offset) => -clock(offset)?,
        (_, "") => 0,
        _ => return None,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let nanos = format!("{fraction:0<9}");
    let nanos = u32::try_from(number(nanos.get(..9)?)?).ok()?;
    // Days since the epoch; the year begins in March, so that the odd day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day
            - 719_469;
    Some((days * 86_400 + clock(time)? - offset, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_as_times() {
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(parse("2000-03-01T00:00:00Z"), Some((951_868_800, 0)));
        assert_eq!(
            parse("2024-02-29T12:30:15.25Z"),
            Some((1_709_209_815, 250_000_000))
        );
        assert_eq!(
            parse("2025-01-12T15:00:58+01:00"),
            parse("2025-01-12T14:00:58Z")
        );
        assert_eq!(
            parse("2025-01-12T13:00:58-01:00"),
            parse("2025-01-12T14:00:58Z")
        );
        assert_eq!(parse("2025-01-12"), parse("2025-01-12T00:00Z"));
        for bad in [
            "",
            "yesterday",
            "2025-13-01",
            "2025-01-01T25:00Z",
            "2025-1",
            "٢٠٢٥-01-01",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
