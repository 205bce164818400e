//! Checks that a text has a given format.

use url::Url;

use super::field::TextFormat;

/// Returns the expected format if the text does not have it.
pub(super) fn misfit(format: TextFormat, text: &str) -> Option<&'static str> {
    let (fits, wanted) = match format {
        TextFormat::Email => (is_email(text), "an email address, such as name@example.com"),
        TextFormat::Uri => (is_uri(text), "an address, such as https://example.com/"),
        TextFormat::Date => (is_date(text), "a date, such as 2026-07-28"),
        TextFormat::DateTime => (
            is_date_time(text),
            "a date with a time, such as 2026-07-28T09:30:00Z",
        ),
    };
    (!fits).then_some(wanted)
}

/// Something before an `@` and a name of a host after it. Only sending something there tells more.
fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else {
        return false;
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    let is_odd =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '@' | ',' | '<' | '>');
    !local.is_empty() && !local.contains(is_odd) && host.split('.').all(is_label)
}

fn is_uri(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c.is_control()) && Url::parse(text).is_ok()
}

fn number(text: &str, digits: usize) -> Option<u32> {
    let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// RFC 3339: a date, a time with seconds, and the zone.
fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_once(['T', 't']) else {
        return false;
    };
    let (time, zone) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => rest.split_at(at),
        None => return false,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<Option<u32>> = time.split(':').map(|part| number(part, 2)).collect();
    // A leap second is a second.
    let is_time = matches!(parts.as_slice(), [Some(0..=23), Some(0..=59), Some(0..=60)]);
    let is_zone = match zone.strip_prefix(['+', '-']) {
        Some(offset) => {
            let parts: Vec<Option<u32>> = offset.split(':').map(|part| number(part, 2)).collect();
            matches!(parts.as_slice(), [Some(0..=23), Some(0..=59)])
        }
        None => zone.len() == 1,
    };
    is_date(date) && is_time && is_fraction && is_zone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(format: TextFormat, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(misfit(format, text), None, "{text:?}");
        }
        for text in bad {
            assert!(misfit(format, text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn formats_are_told_apart() {
        hold(
            TextFormat::Email,
            &["a@b", "ada.l+x@example.com", "jörg@bücher.example"],
            &[
                "", "a", "@b", "a@", "a b@c", "a@b..c", "a@-b", "a@b@c", "<a@b>",
            ],
        );
        hold(
            TextFormat::Uri,
            &["https://example.com/a?b#c", "mailto:a@b", "urn:x:y"],
            &["", "example.com", "/a", "https://a b", "https://"],
        );
        hold(
            TextFormat::Date,
            &["2026-07-28", "2024-02-29", "2000-02-29"],
            &[
                "",
                "2026-7-28",
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-00-01",
                "2026-01-00",
                "28.07.2026",
            ],
        );
        hold(
            TextFormat::DateTime,
            &[
                "2026-07-28T09:30:00Z",
                "2026-07-28t09:30:00.125z",
                "2026-12-31T23:59:60+01:00",
                "2026-07-28T09:30:00-11:30",
            ],
            &[
                "2026-07-28",
                "2026-07-28T09:30Z",
                "2026-07-28T09:30:00",
                "2026-07-28T24:00:00Z",
                "2026-07-28T09:30:00.Z",
                "2026-07-28T09:30:00+1",
            ],
        );
    }
}
