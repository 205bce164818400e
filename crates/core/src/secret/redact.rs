//! Known secrets in somebody else's text.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem::Finder;
use url::form_urlencoded::byte_serialize;

use super::MASK;
use super::encode::{BASE64, Decoded, base64_core};

/// Shorter values are not looked for: they would turn up in every other word.
const SHORTEST: usize = 4;

/// A line of a longer secret, such as a private key, counts by itself from this length on.
const SHORTEST_LINE: usize = 16;

/// Fewer base64 digits would turn up by chance.
const SHORTEST_BASE64: usize = 5;

/// The beginning of a secret counts from this length on, where a text was cut.
const SHORTEST_BEGINNING: usize = 6;

/// What stands where a text was cut, and how often it is looked for.
const CUT: (&str, usize) = ("\u{2026}", 16);

/// Blots out known secret values wherever they turn up.
///
/// It finds a value as it is, percent-encoded, with JSON escapes, with HTML entities, with two of these
/// on top of each other, in hexadecimal, and in base64 at any offset (`user:password` in a header). Each occurrence becomes
/// `***`; those that overlap or touch become one. Values are taken without the white space around them; for
/// several lines each longer line counts too, and for `Bearer x` the `x`. Values of less than four
/// bytes are not looked for.
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Vec<Needle>,
}

#[derive(Clone)]
struct Needle {
    finder: Finder<'static>,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The value itself.
    Plain,
    /// The digits that the value decides; the digit on either side may hold some of its bits.
    Base64,
}

impl Redactor {
    /// Starts with no secrets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns one more secret value.
    pub fn add(&mut self, secret: &str) {
        self.add_one(secret.trim(), SHORTEST);
        if let Some((scheme, rest)) = secret.trim().split_once(' ')
            && ["bearer", "basic", "token"].contains(&scheme.to_ascii_lowercase().as_str())
        {
            self.add_one(rest.trim(), SHORTEST);
        }
        if secret.trim().contains('\n') {
            for line in secret.lines() {
                self.add_one(line.trim(), SHORTEST_LINE);
            }
        }
    }

    /// Learns all that another knows.
    pub fn merge(&mut self, other: &Self) {
        let known = |needle: &Needle| needle.finder.needle().to_owned();
        let mine: std::collections::HashSet<Vec<u8>> = self.needles.iter().map(known).collect();
        let new = other.needles.iter();
        let new = new.filter(|needle| !mine.contains(needle.finder.needle()));
        self.needles.extend(new.cloned());
    }

    fn add_one(&mut self, value: &str, shortest: usize) {
        if value.len() < shortest {
            return;
        }
        self.push(value, Form::Plain);
        // What was taken from a URL is repeated as it was meant.
        if let Some(decoded) = Decoded::identity(value).percent()
            && let Ok(decoded) = str::from_utf8(&decoded.bytes)
            && decoded.len() >= shortest
        {
            self.push(decoded, Form::Plain);
        }
        // Forms write a space as a plus sign.
        self.push(&value.replace(' ', "+"), Form::Plain);
        // The usual spellings by themselves too: decoding goes wrong behind a stray `%` or `\`.
        let form: String = byte_serialize(value.as_bytes()).collect();
        self.push(&form.replace('+', "%20"), Form::Plain);
        self.push(&form, Form::Plain);
        let literal = serde_json::Value::from(value).to_string();
        self.push(
            literal.get(1..literal.len() - 1).unwrap_or(value),
            Form::Plain,
        );
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.push(&hex.to_ascii_uppercase(), Form::Plain);
        self.push(&hex, Form::Plain);
        for alphabet in BASE64 {
            for offset in 0..3 {
                let core = base64_core(value.as_bytes(), offset, alphabet);
                if core.len() >= SHORTEST_BASE64 {
                    self.push(&core, Form::Base64);
                }
            }
        }
    }

    fn push(&mut self, value: &str, form: Form) {
        let known = |needle: &Needle| needle.finder.needle() == value.as_bytes();
        if !self.needles.iter().any(known) {
            self.needles.push(Needle {
                finder: Finder::new(value).into_owned(),
                form,
            });
        }
    }

    /// Writes `***` for every secret in a text; borrows when there is none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        // A mask can complete another secret, one with stars in it. Every mask is shorter than what
        // it stands for, so this ends.
        loop {
            let spans = self.spans(&shown);
            if spans.is_empty() {
                return shown;
            }
            shown = Cow::Owned(mask(&shown, &spans));
        }
    }

    /// Finds all secrets, in order and merged where they overlap or touch.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        if self.needles.is_empty() {
            return found;
        }
        let text = Decoded::identity(text);
        self.search(&text, &mut found);
        // What was encoded twice is decoded twice, in any order.
        for once in text.undone().into_iter().flatten() {
            self.search(&once, &mut found);
            for twice in once.undone().into_iter().flatten() {
                self.search(&twice, &mut found);
            }
        }
        found.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::with_capacity(found.len());
        for (start, end) in found {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged
    }

    /// Finds the beginnings of secrets, where a text ends or was cut: whoever cut it knew no secrets.
    fn search_cuts(&self, view: &Decoded<'_>, found: &mut Vec<(usize, usize)>) {
        let cuts = memchr::memmem::find_iter(&view.bytes, CUT.0);
        let cuts = cuts.take(CUT.1).chain([view.bytes.len()]);
        for end in cuts {
            let Some(kept) = view.bytes.get(..end) else {
                continue;
            };
            let plain = self.needles.iter();
            for needle in plain.filter(|needle| needle.form == Form::Plain) {
                let needle = needle.finder.needle();
                let mut lengths = (SHORTEST_BEGINNING..needle.len()).rev();
                let is_cut = |length: &usize| {
                    let beginning = needle.get(..*length);
                    beginning.is_some_and(|beginning| kept.ends_with(beginning))
                };
                if let Some(length) = lengths.find(is_cut) {
                    found.push((view.source(end - length), view.source(end)));
                }
            }
        }
    }

    /// Finds all secrets in one view of a text and notes where they are in the text itself.
    fn search(&self, view: &Decoded<'_>, found: &mut Vec<(usize, usize)>) {
        self.search_cuts(view, found);
        for needle in &self.needles {
            let length = needle.finder.needle().len();
            let mut from = 0;
            while let Some(at) = view
                .bytes
                .get(from..)
                .and_then(|rest| needle.finder.find(rest))
            {
                let (mut start, mut end) = (from + at, from + at + length);
                // The next may begin inside this one: `abab` is in `ababab` twice.
                from = start + 1;
                if needle.form == Form::Base64 {
                    let digit = |at: Option<usize>| {
                        at.and_then(|at| view.bytes.get(at))
                            .is_some_and(|byte| BASE64.iter().any(|set| set.contains(byte)))
                    };
                    start -= usize::from(digit(start.checked_sub(1)));
                    end += usize::from(digit(Some(end)));
                }
                found.push((view.source(start), view.source(end)));
            }
        }
    }
}

/// Copies `text` with each span masked.
fn mask(text: &str, spans: &[(usize, usize)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for &(start, end) in spans {
        let Some(kept) = text.get(done..start) else {
            // Not a character boundary: cannot be, and if it were, showing nothing is right.
            return MASK.to_owned();
        };
        out.push_str(kept);
        out.push_str(MASK);
        done = end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

impl<S: AsRef<str>> FromIterator<S> for Redactor {
    fn from_iter<I: IntoIterator<Item = S>>(secrets: I) -> Self {
        let mut redactor = Self::new();
        for secret in secrets {
            redactor.add(secret.as_ref());
        }
        redactor
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({MASK})")
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
