//! How deep a JSON text is nested.

/// Whether `text`, which is valid JSON, is nested no deeper than `limit`.
pub(crate) fn is_within(text: &str, limit: usize) -> bool {
    let bytes = text.as_bytes();
    // Each level costs two bytes, and has one opening bracket: most texts pass on one of these.
    if bytes.len() / 2 <= limit
        || memchr::memchr2_iter(b'{', b'[', bytes)
            .take(limit + 1)
            .count()
            <= limit
    {
        return true;
    }
    deepest_is_within(bytes, limit)
}

fn deepest_is_within(mut rest: &[u8], limit: usize) -> bool {
    let mut depth = 0_usize;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return false;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => rest = after_string(rest),
            _ => {}
        }
    }
    true
}

/// What follows a string, given what follows its opening quote.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let escape = rest.get(at) == Some(&b'\\');
        rest = rest.get(at + 1 + usize::from(escape)..).unwrap_or_default();
        if !escape {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn at_under_and_over_the_limit() {
        assert!(is_within(&nested(127), 128));
        assert!(is_within(&nested(128), 128));
        assert!(!is_within(&nested(129), 128));
        assert!(!is_within(&nested(100_000), 128));
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = format!(r#"["{}","\"{}\\"]"#, "[".repeat(500), "{".repeat(500));
        assert!(is_within(&text, 4));
    }

    #[test]
    fn many_shallow_values_are_not_deep() {
        assert!(is_within(&format!("[{}[]]", "[],".repeat(1000)), 2));
    }
}
