//! Shortens long texts.

/// Keeps at most `max_bytes` of a text and notes how much was cut.
///
/// The cut never falls inside a character or a CRLF pair, and a text that fits is returned whole. The
/// note comes on top of `max_bytes`: `two wor… (6 more bytes)`.
pub fn excerpt(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let mut end = (0..=max_bytes)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default();
    let (kept, rest) = text.split_at(end);
    if kept.ends_with('\r') && rest.starts_with('\n') {
        // Without its newline, the carriage return would be shown as an escape.
        end -= 1;
    }
    let (kept, rest) = text.split_at(end);
    let noun = if rest.len() == 1 { "byte" } else { "bytes" };
    format!("{kept}… ({} more {noun})", rest.len())
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn a_text_at_the_limit_is_whole_and_one_over_it_is_cut() {
        assert_eq!(excerpt("abcd", 5), "abcd");
        assert_eq!(excerpt("abcd", 4), "abcd");
        assert_eq!(excerpt("abcd", 3), "abc… (1 more byte)");
        assert_eq!(excerpt("abcd", 0), "… (4 more bytes)");
        assert_eq!(excerpt("", 0), "");
    }

    #[test]
    fn a_cut_falls_between_characters() {
        assert_eq!(excerpt("aé", 2), "a… (2 more bytes)");
        assert_eq!(excerpt("🙂🙂", 7), "🙂… (4 more bytes)");
        assert_eq!(excerpt("🙂", 3), "… (4 more bytes)");
    }

    #[test]
    fn a_cut_leaves_no_carriage_return_alone() {
        assert_eq!(excerpt("a\r\nb", 2), "a… (3 more bytes)");
        assert_eq!(excerpt("a\r\nb", 3), "a\r\n… (1 more byte)");
    }
}
