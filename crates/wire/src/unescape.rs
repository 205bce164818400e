//! Decoding JSON strings with escapes.

use crate::bytes::plain_end;

/// Decodes a checked JSON string, given with its quotes. Returns `None` for a lone surrogate, which
/// a Rust string cannot hold, and for anything but a string.
pub(crate) fn unescape(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    loop {
        // Copy everything up to the next escape at once.
        let plain = plain_end(rest.as_bytes(), 0);
        text.push_str(rest.get(..plain)?);
        rest = rest.get(plain..)?;
        if rest.is_empty() {
            return Some(text);
        }
        let escaped = rest.strip_prefix('\\')?;
        rest = escaped.get(1..)?;
        text.push(match escaped.as_bytes().first()? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'u' => {
                let (decoded, after) = unicode(rest)?;
                rest = after;
                decoded
            }
            _ => return None,
        });
    }
}

/// Decodes one `\u` escape, or two that form a surrogate pair; returns the rest of the text too.
fn unicode(rest: &str) -> Option<(char, &str)> {
    // A unit that is no surrogate is a character of its own.
    let (first, after) = unit(rest)?;
    if let Some(decoded) = char::from_u32(first) {
        return Some((decoded, after));
    }
    // A high surrogate must be followed by an escaped low one.
    let (second, after) = unit(after.strip_prefix("\\u")?)?;
    let is_pair = (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second);
    let code = 0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
    let decoded = is_pair.then(|| char::from_u32(code)).flatten()?;
    Some((decoded, after))
}

fn unit(rest: &str) -> Option<(u32, &str)> {
    let (digits, after) = rest.split_at_checked(4)?;
    // `from_str_radix` also accepts a sign, which is not a hexadecimal digit.
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((unit, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(quoted: &str) {
        let theirs = serde_json::from_str::<String>(quoted).ok();
        assert_eq!(unescape(quoted), theirs, "{quoted}");
    }

    #[test]
    fn every_escape_is_read_as_serde_json_reads_it() {
        for quoted in [
            r#""""#,
            r#""a""#,
            r#""\n\t\r\b\f\"\\\/""#,
            r#""\u0041\u00e9\u20ac""#,
            r#""\ud83d\ude00x""#,
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\ud800""#,
            r#""\ud800x""#,
            r#""\ud83d\n""#,
            r#""\ud83d\u0041""#,
            r#""\u+041""#,
            r#""\u12""#,
            r#""\x""#,
            r#""\"#,
            r#"""#,
            "",
            "5",
        ] {
            agrees(quoted);
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let quoted = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescape(&quoted), Some(text));
        }

        #[test]
        fn any_escapes_are_read_as_serde_json_reads_them(
            units in prop::collection::vec(prop_oneof![any::<u16>(), 0xd7f0_u16..0xe010], 0..6),
        ) {
            let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            agrees(&format!("\"{escapes}\""));
        }
    }
}
