//! Removes known secrets from foreign text.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem::Finder;
use url::form_urlencoded::byte_serialize;

use super::encode::{BASE64, Decoded, base64_core};
use super::{LiveSecrets, MASK};

/// Shorter values are ignored: they would occur in every other word.
const SHORTEST: usize = 4;

/// Minimum length for a line of a longer secret, such as a private key, to count on its own.
const SHORTEST_LINE: usize = 16;

/// Minimum number of base64 digits; fewer would occur by chance.
const SHORTEST_BASE64: usize = 5;

/// Minimum length for the beginning of a secret to count, at the end of a truncated text.
const SHORTEST_BEGINNING: usize = 6;

/// The character that marks a truncation, and the number of occurrences that are examined.
const CUT: (&str, usize) = ("\u{2026}", 16);

/// Replaces known secret values in a text by `***`.
///
/// It finds a value in plain form, percent-encoded, with JSON escapes, with HTML entities, with two of
/// these combined, in hexadecimal, and in base64 at any offset (`user:password` in a header). Adjacent
/// and overlapping occurrences become one mask. White space around a value is ignored; of several lines
/// each longer line counts too, and of `Bearer x` the `x`. Values of less than four bytes are ignored.
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Vec<Needle>,
    /// Secrets that are replaced while they are used.
    live: Vec<LiveSecrets>,
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
    /// The digits that depend on the value alone; the digits next to them may hold some of its bits.
    Base64,
}

impl Redactor {
    /// Creates a redactor without secrets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a secret value.
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

    /// Adds all secrets of another redactor.
    pub fn merge(&mut self, other: &Self) {
        let known = |needle: &Needle| needle.finder.needle().to_owned();
        let mine: std::collections::HashSet<Vec<u8>> = self.needles.iter().map(known).collect();
        let new = other.needles.iter();
        let new = new.filter(|needle| !mine.contains(needle.finder.needle()));
        self.needles.extend(new.cloned());
        for live in &other.live {
            self.follow(live);
        }
    }

    /// Masks secrets that are replaced while they are used too, those that are learnt later among them.
    pub fn follow(&mut self, live: &LiveSecrets) {
        if !self.live.iter().any(|known| known.is_same(live)) {
            self.live.push(live.clone());
        }
    }

    fn add_one(&mut self, value: &str, shortest: usize) {
        if value.len() < shortest {
            return;
        }
        self.push(value, Form::Plain);
        // A value taken from a URL is likely to be repeated in decoded form.
        if let Some(decoded) = Decoded::identity(value).percent()
            && let Ok(decoded) = str::from_utf8(&decoded.bytes)
            && decoded.len() >= shortest
        {
            self.push(decoded, Form::Plain);
        }
        // HTML forms encode a space as a plus sign.
        self.push(&value.replace(' ', "+"), Form::Plain);
        // The usual encodings directly, too: decoding a text fails after a stray `%` or `\`.
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
        // In base64 the digits of a value depend on its position in a group of three bytes.
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

    /// Replaces every secret in a text by `***`; borrows the text if it has no secret.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = self.redact_known(text);
        for live in &self.live {
            if let Cow::Owned(masked) = live.redactor().redact_known(&shown) {
                shown = Cow::Owned(masked);
            }
        }
        shown
    }

    fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        // A mask can complete another secret that contains stars, so search again. Every mask is shorter
        // than the text it replaces, so this ends.
        loop {
            let spans = self.spans(&shown);
            if spans.is_empty() {
                return shown;
            }
            shown = Cow::Owned(mask(&shown, &spans));
        }
    }

    /// Finds all secrets, in order, merging those that overlap or touch.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        if self.needles.is_empty() {
            return found;
        }
        let text = Decoded::identity(text);
        self.search(&text, &mut found);
        // Texts are sometimes encoded twice, in any order of encodings.
        for once in text.decodings().into_iter().flatten() {
            self.search(&once, &mut found);
            for twice in once.decodings().into_iter().flatten() {
                self.search(&twice, &mut found);
            }
        }
        // Merge overlapping spans, so that no part of a secret remains between two masks.
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

    /// Finds the beginnings of secrets where a text ends or was truncated before it got here.
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

    /// Finds all secrets in one decoding of a text and records their positions in the original.
    fn search(&self, view: &Decoded<'_>, found: &mut Vec<(usize, usize)>) {
        // First the ends of truncated texts, then whole secrets.
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
                // The next match may begin inside this one: `abab` occurs in `ababab` twice.
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
            // Cannot happen: spans end at character boundaries. If it did, showing nothing would be safe.
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
