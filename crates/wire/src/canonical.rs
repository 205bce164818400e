//! One text for all ways to write the same JSON.

use crate::Raw;

/// Maximum depth of a value whose keys are sorted. It is deeper than any message may be by default; a
/// deeper text is compared literally.
const DEEPEST: usize = 256;

/// Writes a value without white space, with the keys of every object in order and each string and
/// number in one way.
///
/// It works on the text and not on a parsed value, because servers send JSON that no parsed value can
/// hold: duplicate keys, half a surrogate pair, more digits than a float has. These are compared like
/// everything else. Numbers are equal if they have the same value: `1`, `1.0` and `10e-1`. If a key is
/// there several times, all of its values count, in their order.
pub fn canonical(raw: &Raw) -> String {
    let text = raw.as_str();
    let mut out = String::with_capacity(text.len());
    let mut reader = Reader { rest: text };
    // The reader is recursive, so the depth is checked before.
    let is_written = raw.depth() <= DEEPEST && reader.value(&mut out).is_some();
    // The text is known to be JSON, so this can only fail because of its depth.
    if is_written { out } else { text.to_owned() }
}

/// Writes a text as the string that it would be in a definition.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push(c, &mut out);
    }
    out.push('"');
    out
}

/// Writes a character with as few escapes as JSON allows.
fn push(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{1f}' => push_unit(u32::from(c), out),
        _ => out.push(c),
    }
}

fn push_unit(unit: u32, out: &mut String) {
    use std::fmt::Write as _;
    // Writing to a string never fails.
    let _ = write!(out, "\\u{unit:04x}");
}

/// The unread rest of a checked text. Finds nothing if the text is not JSON.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, out: &mut String) -> Option<()> {
        self.skip_space();
        match self.rest.as_bytes().first()? {
            b'{' => self.object(out),
            b'[' => self.array(out),
            b'"' => self.string(out),
            b't' | b'f' | b'n' => {
                out.push_str(self.take_while(|c| c.is_ascii_lowercase()));
                Some(())
            }
            _ => {
                let number =
                    self.take_while(|c| matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E'));
                number_text(number, out)
            }
        }
    }

    fn array(&mut self, out: &mut String) -> Option<()> {
        self.eat('[').then_some(())?;
        out.push('[');
        let mut is_first = true;
        while !self.eat(']') {
            if !std::mem::take(&mut is_first) {
                self.eat(',').then_some(())?;
                out.push(',');
            }
            self.value(out)?;
        }
        out.push(']');
        Some(())
    }

    fn object(&mut self, out: &mut String) -> Option<()> {
        self.eat('{').then_some(())?;
        // Values are written in the order of the text, and put in the order of the keys afterwards.
        let start = out.len();
        let mut members = Vec::new();
        while !self.eat('}') {
            if !members.is_empty() {
                self.eat(',').then_some(())?;
            }
            self.skip_space();
            let mut key = String::new();
            self.string(&mut key)?;
            self.eat(':').then_some(())?;
            let from = out.len() - start;
            self.value(out)?;
            members.push((key, from..out.len() - start));
        }
        let values = out.split_off(start);
        // A stable sort keeps the values of a duplicate key in their order.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        out.push('{');
        for (at, (key, span)) in members.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            out.push_str(&key);
            out.push(':');
            out.push_str(values.get(span)?);
        }
        out.push('}');
        Some(())
    }

    fn string(&mut self, out: &mut String) -> Option<()> {
        self.rest = self.rest.strip_prefix('"')?;
        out.push('"');
        loop {
            let plain = self.take_while(|c| c != '"' && c != '\\' && c >= ' ');
            out.push_str(plain);
            let mut chars = self.rest.chars();
            let c = chars.next()?;
            self.rest = chars.as_str();
            match c {
                '"' => break,
                '\\' => self.escape(out)?,
                other => push(other, out),
            }
        }
        out.push('"');
        Some(())
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.unit(out),
            other => other,
        };
        push(plain, out);
        Some(())
    }

    fn unit(&mut self, out: &mut String) -> Option<()> {
        let (first, after) = digits(self.rest)?;
        self.rest = after;
        if let Some(c) = char::from_u32(first) {
            push(c, out);
            return Some(());
        }
        let second = after.strip_prefix("\\u").and_then(digits);
        if let Some((second, after)) = second
            && first < 0xdc00
            && (0xdc00..0xe000).contains(&second)
        {
            self.rest = after;
            let code = 0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
            push(char::from_u32(code)?, out);
        } else {
            // Keep half a pair as an escape. No Unicode text can contain it, so it cannot be confused
            // with anything.
            push_unit(first, out);
        }
        Some(())
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, c: char) -> bool {
        self.skip_space();
        let after = self.rest.strip_prefix(c);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }
}

fn digits(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// Writes a number: its digits without zeros at either end, and where the point is.
fn number_text(number: &str, out: &mut String) -> Option<()> {
    use std::fmt::Write as _;
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", number),
    };
    // By digits and not by value: no number is too large or too precise for this.
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    // Zero has one form, whatever its sign, point and exponent.
    if kept.is_empty() {
        out.push('0');
        return Some(());
    }
    let zeros = i64::try_from(digits.len() - kept.len()).ok()?;
    let shift = zeros - i64::try_from(part.len()).ok()?;
    let Ok(exponent) = exponent.parse::<i32>() else {
        // No parser can use an exponent of this size, so compare it literally.
        out.push_str(number);
        return Some(());
    };
    let exponent = i64::from(exponent) + shift;
    out.push_str(sign);
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    // Writing to a string never fails.
    let _ = match exponent {
        // Without an exponent as long as that is the shorter form.
        0..=15 => write!(out, "{kept}{}", zeros(exponent)),
        -15..0 => {
            let behind = usize::try_from(-exponent).unwrap_or_default();
            let padded = format!(
                "{}{kept}",
                "0".repeat((behind + 1).saturating_sub(kept.len()))
            );
            let (whole, part) = padded.split_at(padded.len() - behind);
            write!(out, "{whole}.{part}")
        }
        _ => write!(out, "{kept}e{exponent}"),
    };
    Some(())
}
