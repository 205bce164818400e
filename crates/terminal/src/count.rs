//! Numbers with their nouns.

/// Formats a number with its noun: `1 tool`, `15 tools`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Formats a number with commas between thousands.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Rounds an estimate to two digits, so that it does not look exact.
pub fn round(number: usize) -> usize {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_estimates_are_round() {
        assert_eq!(count(1, "tool"), "1 tool");
        assert_eq!(count(0, "tool"), "0 tools");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1,234,567");
        for (exact, about) in [
            (0, 0),
            (7, 7),
            (99, 99),
            (104, 100),
            (2_149, 2_100),
            (2_150, 2_200),
        ] {
            assert_eq!(round(exact), about);
        }
    }
}
