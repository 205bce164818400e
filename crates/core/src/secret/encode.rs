//! Decodes texts, so that secrets are found after they were put into a URL, JSON, HTML or a header.
//!
//! These are decoders rather than encoders because a value has many percent-encodings but only one
//! decoding. A decoded text remembers the source position of each of its bytes.

use std::borrow::Cow;

/// A decoded text that maps back to its source.
pub(super) struct Decoded<'t> {
    /// The bytes after decoding.
    pub(super) bytes: Cow<'t, [u8]>,
    /// The source position of each byte, and finally the length of the source; `None` while the bytes are
    /// the source.
    starts: Option<Vec<usize>>,
}

impl<'t> Decoded<'t> {
    /// Wraps a text as it is.
    pub(super) fn identity(text: &'t str) -> Self {
        Self {
            bytes: Cow::Borrowed(text.as_bytes()),
            starts: None,
        }
    }

    /// Returns the source position of the byte at `at`, or of the end.
    pub(super) fn source(&self, at: usize) -> usize {
        match &self.starts {
            Some(starts) => starts
                .get(at)
                .or(starts.last())
                .copied()
                .unwrap_or_default(),
            None => at,
        }
    }

    /// Undoes percent-encoding; `None` if the text has no such encoding.
    pub(super) fn percent(&self) -> Option<Decoded<'static>> {
        self.replace(b'%', |rest| match rest {
            [b'%', high, low, ..] => Some((3, Unit::byte(hex_byte(*high, *low)?))),
            _ => None,
        })
    }

    /// Undoes HTML entities (`&amp;`, `&#39;`, `&#x27;`); `None` if the text has none of them.
    pub(super) fn html(&self) -> Option<Decoded<'static>> {
        self.replace(b'&', entity)
    }

    /// Undoes the escapes of JSON strings; `None` if the text has none of them.
    pub(super) fn json(&self) -> Option<Decoded<'static>> {
        self.replace(b'\\', |rest| {
            let simple = |byte| Some((2, Unit::byte(byte)));
            match rest {
                [_, byte @ (b'"' | b'\\' | b'/'), ..] => simple(*byte),
                [_, b'b', ..] => simple(8),
                [_, b'f', ..] => simple(12),
                [_, b'n', ..] => simple(b'\n'),
                [_, b'r', ..] => simple(b'\r'),
                [_, b't', ..] => simple(b'\t'),
                // Not JSON, but C and Python write this.
                [_, b'x', high, low, ..] => Some((4, Unit::byte(hex_byte(*high, *low)?))),
                _ => unicode(rest),
            }
        })
    }

    /// Decodes the text once for each encoding that it has.
    pub(super) fn decodings(&self) -> [Option<Decoded<'static>>; 3] {
        [self.percent(), self.json(), self.html()]
    }

    /// Replaces every sequence that begins with `lead` and that `decode` accepts; `None` if there are no
    /// such sequences.
    fn replace(
        &self,
        lead: u8,
        decode: impl Fn(&[u8]) -> Option<(usize, Unit)>,
    ) -> Option<Decoded<'static>> {
        let found = |at: &usize| self.bytes.get(*at..).and_then(&decode).is_some();
        // Most texts have nothing to decode: find out before copying.
        memchr::memchr_iter(lead, &self.bytes).find(found)?;
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut starts = Vec::with_capacity(self.bytes.len() + 1);
        let mut at = 0;
        while let Some(rest @ [first, ..]) = self.bytes.get(at..) {
            let decoded = (*first == lead).then(|| decode(rest)).flatten();
            let (taken, new) = decoded.unwrap_or_else(|| (1, Unit::byte(*first)));
            starts.extend(std::iter::repeat_n(self.source(at), new.as_slice().len()));
            bytes.extend_from_slice(new.as_slice());
            at += taken;
        }
        starts.push(self.source(self.bytes.len()));
        Some(Decoded {
            bytes: Cow::Owned(bytes),
            starts: Some(starts),
        })
    }
}

/// The value of one escape: a byte, or the bytes of a character.
struct Unit {
    bytes: [u8; 4],
    length: usize,
}

impl Unit {
    fn byte(byte: u8) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            length: 1,
        }
    }

    fn char(c: char) -> Self {
        let mut bytes = [0; 4];
        let length = c.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The HTML entities that programs write for ASCII characters.
const ENTITIES: &[(&[u8], u8)] = &[
    (b"amp", b'&'),
    (b"lt", b'<'),
    (b"gt", b'>'),
    (b"quot", b'"'),
    (b"apos", b'\''),
    (b"sol", b'/'),
    (b"bsol", b'\\'),
    (b"equals", b'='),
    (b"plus", b'+'),
    (b"colon", b':'),
    (b"commat", b'@'),
    (b"grave", b'`'),
    (b"num", b'#'),
    (b"dollar", b'$'),
    (b"percnt", b'%'),
    (b"excl", b'!'),
    (b"quest", b'?'),
    (b"lowbar", b'_'),
    (b"hyphen", b'-'),
    (b"period", b'.'),
    (b"ast", b'*'),
];

/// The longest entity considered: `&#x0010FFFF;`.
const LONGEST_ENTITY: usize = 12;

/// Decodes an HTML entity.
fn entity(rest: &[u8]) -> Option<(usize, Unit)> {
    // A bounded look ahead: a text may be full of ampersands.
    let end = rest.iter().take(LONGEST_ENTITY).position(|b| *b == b';')?;
    let inside = rest.get(1..end)?;
    let number = |digits: &[u8], radix| {
        let digits = str::from_utf8(digits).ok()?;
        let is_digits = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let number = u32::from_str_radix(digits, radix)
            .ok()
            .filter(|_| is_digits)?;
        char::from_u32(number).map(Unit::char)
    };
    let unit = match inside {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        name => {
            let (_, byte) = ENTITIES.iter().find(|(known, _)| *known == name)?;
            Unit::byte(*byte)
        }
    };
    Some((end + 1, unit))
}

/// Decodes `\uXXXX`, or two of them that form a surrogate pair.
fn unicode(rest: &[u8]) -> Option<(usize, Unit)> {
    let unit = |rest: &[u8]| {
        let [b'\\', b'u', digits @ ..] = rest else {
            return None;
        };
        digits.get(..4)?.iter().try_fold(0_u16, |unit, digit| {
            Some(unit << 4 | u16::from(hex(*digit)?))
        })
    };
    let first = unit(rest)?;
    let second = rest.get(6..).and_then(unit);
    let (taken, c) = match char::from_u32(u32::from(first)) {
        Some(c) => (6, c),
        None => (12, char::decode_utf16([first, second?]).next()?.ok()?),
    };
    Some((taken, Unit::char(c)))
}

fn hex_byte(high: u8, low: u8) -> Option<u8> {
    Some(hex(high)? << 4 | hex(low)?)
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// The base64 alphabets: the standard one, and the one for URLs.
pub(super) const BASE64: [&[u8; 64]; 2] = [
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
];

/// Returns the base64 digits that depend on `value` alone, given that `offset` bytes (0, 1 or 2) precede
/// it in its group and anything may follow.
pub(super) fn base64_core(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> String {
    let mut digits = String::new();
    let mut bits: u32 = 0;
    let mut held = 0;
    let lead = std::iter::repeat_n(&0_u8, offset);
    for byte in lead.chain(value) {
        bits = (bits << 8 | u32::from(*byte)) & 0xffff;
        held += 8;
        while held >= 6 {
            held -= 6;
            let digit = usize::try_from(bits >> held & 63).unwrap_or_default();
            digits.extend(alphabet.get(digit).map(|digit| char::from(*digit)));
        }
    }
    // Drop the digits that depend on preceding bytes; those that depend on following ones were not
    // produced.
    let foreign = (offset * 8).div_ceil(6);
    digits.split_off(foreign.min(digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(decoded: Option<Decoded<'_>>) -> Option<String> {
        decoded.map(|decoded| String::from_utf8(decoded.bytes.into_owned()).unwrap())
    }

    #[test]
    fn percent_encoding_is_undone_and_bad_escapes_stay() {
        let percent = |source| text(Decoded::identity(source).percent());
        assert_eq!(percent("a%2Fb%2fc"), Some("a/b/c".into()));
        assert_eq!(percent("100%25 %zz %4"), Some("100% %zz %4".into()));
        assert_eq!(percent("100% %zz"), None);
        assert_eq!(percent("plain"), None);
    }

    #[test]
    fn json_escapes_are_undone_and_bad_escapes_stay() {
        let json = |source| text(Decoded::identity(source).json());
        assert_eq!(json(r#"\"\\\/\n\u0041"#), Some("\"\\/\nA".into()));
        assert_eq!(json(r"\ud83d\ude42"), Some("🙂".into()));
        assert_eq!(
            json(r"\ud83d \u12 \x \n"),
            Some("\\ud83d \\u12 \\x \n".into())
        );
        assert_eq!(json(r"\ud83d"), None);
    }

    #[test]
    fn html_entities_are_undone_and_bad_ones_stay() {
        let html = |source| text(Decoded::identity(source).html());
        assert_eq!(html("a&lt;b&amp;&#39;&#x2F;&#xe9;"), Some("a<b&'/é".into()));
        assert_eq!(
            html("&quot; &nosuch; &#; &#x; &#xd800; &"),
            Some("\" &nosuch; &#; &#x; &#xd800; &".into())
        );
        assert_eq!(html("a=1&b=2;&#+1;"), None);
    }

    #[test]
    fn decoded_bytes_know_where_they_came_from() {
        let decoded = Decoded::identity(r"x%5Cu0041y").percent().unwrap();
        let decoded = decoded.json().unwrap();
        assert_eq!(decoded.bytes.as_ref(), b"xAy");
        assert_eq!([0, 1, 2, 3].map(|at| decoded.source(at)), [0, 1, 9, 10]);
    }

    #[test]
    fn base64_is_cut_to_what_the_value_decides() {
        let [standard, url] = BASE64;
        // `canary` alone, `xcanary` and `xxcanary` are Y2FuYXJ5, eGNhbmFyeQ== and eHhjYW5hcnk=.
        assert_eq!(base64_core(b"canary", 0, standard), "Y2FuYXJ5");
        assert_eq!(base64_core(b"canary", 1, standard), "NhbmFyeQ"[..7]);
        assert_eq!(base64_core(b"canary", 2, standard), "jYW5hcnk"[..7]);
        assert_eq!(base64_core(&[0xfb, 0xff, 0xfe], 0, standard), "+//+");
        assert_eq!(base64_core(&[0xfb, 0xff, 0xfe], 0, url), "-__-");
        assert_eq!(base64_core(b"", 2, url), "");
    }
}
