//! Finds the members of an object without building anything: just enough JSON to answer a
//! request, wherever its members stand and whatever else it carries.

use memchr::memchr2;

/// Calls `take` with each key (as spelled, without its quotes) and the text of its value.
/// `None` when the text is not an object that can be walked.
pub(super) fn members<'a>(text: &'a [u8], mut take: impl FnMut(&'a [u8], &'a [u8])) -> Option<()> {
    let mut scan = Scan { rest: text };
    scan.expect(b'{')?;
    if scan.peek()? == b'}' {
        return Some(());
    }
    loop {
        scan.peek()?;
        let key = scan.string()?;
        scan.expect(b':')?;
        scan.peek()?;
        let value = scan.value()?;
        take(key.get(1..key.len().checked_sub(1)?)?, value);
        match scan.peek()? {
            b',' => scan.expect(b',')?,
            b'}' => return Some(()),
            _ => return None,
        };
    }
}

struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    /// The next byte that is not white space, which is then the first of the rest.
    fn peek(&mut self) -> Option<u8> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        while self.rest.first().is_some_and(blank) {
            self.rest = self.rest.get(1..)?;
        }
        self.rest.first().copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.rest = self.rest.get(1..)?;
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A string with its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let length = string_length(self.rest)?;
        self.take(length)
    }

    fn value(&mut self) -> Option<&'a [u8]> {
        let length = match self.rest.first()? {
            b'"' => string_length(self.rest)?,
            b'{' | b'[' => nested_length(self.rest)?,
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r');
                self.rest.iter().position(ends)?
            }
        };
        self.take(length)
    }
}

fn string_length(text: &[u8]) -> Option<usize> {
    (text.first() == Some(&b'"')).then_some(())?;
    let mut at = 1;
    loop {
        let found = at + memchr2(b'"', b'\\', text.get(at..)?)?;
        match text.get(found)? {
            b'"' => return Some(found + 1),
            // The escaped character cannot end the string.
            _ => at = found + 2,
        }
    }
}

fn nested_length(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => {
                at += string_length(text.get(at..)?)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Option<Vec<(&str, &str)>> {
        let mut found = Vec::new();
        members(text.as_bytes(), |key, value| {
            let spelled = |bytes| std::str::from_utf8(bytes).unwrap();
            found.push((spelled(key), spelled(value)));
        })?;
        Some(found)
    }

    #[test]
    fn members_are_found_in_any_order_and_spacing() {
        assert_eq!(
            all(r#" { "id" : "a\"b" ,"n":-1.5e3,"o":{"x":["}",{"y":"\\"}]}, "t":true }"#),
            Some(vec![
                ("id", r#""a\"b""#),
                ("n", "-1.5e3"),
                ("o", r#"{"x":["}",{"y":"\\"}]}"#),
                ("t", "true"),
            ])
        );
        assert_eq!(all("{}"), Some(vec![]));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"a"}"#,
            r#"{"a":"#,
            r#"{"a":"b"#,
            r#"{"a":[}"#,
            "1",
        ] {
            assert_eq!(all(text), None, "{text}");
        }
    }
}
