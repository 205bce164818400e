//! JSON kept as the text that was sent.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::unescape::unescape;
use crate::{Checked, Misfit, ends, scan};

/// One JSON value, kept as its text.
///
/// Cloning is cheap, and a part of a value shares the text of the whole: a list of a thousand
/// tools holds one copy of the page it came in. Because the text is never re-written, key order,
/// numbers such as `1e400` or `1.10`, duplicate keys and lone surrogate escapes survive.
#[derive(Clone)]
pub struct Raw {
    text: Arc<str>,
    /// End positions of parts of the text, noted when it was checked; see `ends`.
    ends: Option<Arc<[(u32, u32)]>>,
    span: Range<usize>,
}

/// A text that is not one JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawError(String);

impl fmt::Display for RawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a JSON value: {}", self.0)
    }
}

impl std::error::Error for RawError {}

impl From<serde_json::Error> for RawError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl Raw {
    /// Checks that `text` is exactly one JSON value and keeps it.
    ///
    /// # Errors
    /// Fails if `text` is not JSON, or more than one value.
    pub fn parse(text: &str) -> Result<Self, RawError> {
        Checked::new(text).map(Self::from).map_err(RawError)
    }

    fn whole(text: &str) -> Self {
        Self {
            text: Arc::from(text),
            ends: None,
            span: 0..text.len(),
        }
    }

    /// Writes any serialisable value as JSON and keeps the text.
    ///
    /// # Errors
    /// Fails if the value has no JSON form, such as a map with keys that are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, RawError> {
        let text = serde_json::to_string(value).map_err(|error| RawError(error.to_string()))?;
        let span = 0..text.len();
        Ok(Self {
            text: text.into(),
            ends: None,
            span,
        })
    }

    /// Keeps a text that was put together from values that were checked before, without checking it again.
    pub fn assembled(text: String) -> Self {
        debug_assert!(Checked::new(&text).is_ok(), "not JSON: {text}");
        let span = 0..text.len();
        Self {
            text: text.into(),
            ends: None,
            span,
        }
    }

    /// The value `null`.
    pub fn null() -> Self {
        Self::literal("null")
    }

    /// The value `{}`.
    pub fn empty_object() -> Self {
        Self::literal("{}")
    }

    fn literal(text: &'static str) -> Self {
        Self::whole(text)
    }

    /// The text, exactly as it was sent.
    pub fn as_str(&self) -> &str {
        // The span always comes from a slice of this very text.
        self.text.get(self.span.clone()).unwrap_or("null")
    }

    /// Length of the text in bytes.
    pub fn len_bytes(&self) -> usize {
        self.span.len()
    }

    /// The nesting depth of objects and arrays: 0 for a number.
    pub fn depth(&self) -> usize {
        Checked::new(self.as_str()).map_or(0, |checked| checked.depth())
    }

    /// Returns true if this is the value `null`.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// Returns true if this is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// Returns true if this is an array.
    pub fn is_array(&self) -> bool {
        self.as_str().starts_with('[')
    }

    /// Returns true if this is a string.
    pub fn is_string(&self) -> bool {
        self.as_str().starts_with('"')
    }

    /// Decodes the value into a type of the caller's choice.
    ///
    /// # Errors
    /// Fails if the value does not fit `T`, or holds what `T` cannot (a lone surrogate in a `String`,
    /// `1e400` in an `f64`, more than 128 levels in a [`serde_json::Value`]).
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, RawError> {
        serde_json::from_str(self.as_str()).map_err(|error| RawError(error.to_string()))
    }

    /// The member `key` of an object; the last one where a key is repeated.
    pub fn member(&self, key: &str) -> Option<Raw> {
        // The last of equal keys, as `FromRaw` takes it.
        let mut found = None;
        crate::object::each_member(self.as_str(), |name, value| {
            if name == key {
                found = Some(self.part(value));
            }
        })
        .ok()?;
        found
    }

    /// The members of an object in the order they were sent; empty for anything else.
    pub fn members(&self) -> Vec<(String, Raw)> {
        let mut members = Vec::new();
        let read = crate::object::each_member(self.as_str(), |name, value| {
            members.push((name.to_owned(), self.part(value)));
        });
        match read {
            Ok(()) => members,
            Err(_) => Vec::new(),
        }
    }

    /// Calls `take` with each key of an object and the text of its value, in the order they were sent;
    /// returns false, perhaps after some calls, if this is not an object. [`Raw::part`] keeps a value.
    pub fn each_member<'a>(&'a self, mut take: impl FnMut(&str, &'a str)) -> bool {
        let text = self.text();
        let end = scan::walk(text, self.start(), |key, at| {
            let end = self.find_end(at)?;
            take(key, text.get(at..end)?);
            Some(end)
        });
        end.is_some()
    }

    /// The same, and the members of one member that is an object: those first, with true. Nothing is searched
    /// twice, as it would be by walking through the part afterwards.
    pub fn each_member_and_of<'a>(
        &'a self,
        inner: &str,
        mut take: impl FnMut(bool, &str, &'a str),
    ) -> bool {
        let text = self.text();
        let end = scan::walk(text, self.start(), |key, at| {
            let is_walked = key == inner && text.as_bytes().get(at) == Some(&b'{');
            let end = if is_walked {
                scan::walk(text, at, |key, at| {
                    let end = self.find_end(at)?;
                    take(true, key, text.get(at..end)?);
                    Some(end)
                })?
            } else {
                self.find_end(at)?
            };
            take(false, key, text.get(at..end)?);
            Some(end)
        });
        end.is_some()
    }

    /// The items of an array; empty for anything else.
    pub fn items(&self) -> Vec<Raw> {
        let mut items = Vec::new();
        let read = crate::scan::items(self.as_str(), |item| {
            items.push(self.part(item));
        });
        read.map(|()| items).unwrap_or_default()
    }

    /// The text of a JSON string; `None` for anything else and for lone surrogates.
    pub fn as_text(&self) -> Option<String> {
        unescape(self.as_str())
    }

    /// The same, without a copy if nothing in it is escaped.
    pub fn as_cow(&self) -> Option<Cow<'_, str>> {
        let text = self.as_str();
        match scan::string_end(text.as_bytes(), 0)? {
            (end, true) => text.get(1..end - 1).map(Cow::Borrowed),
            (_, false) => unescape(text).map(Cow::Owned),
        }
    }

    /// Returns a part of this value that shares its text. A slice from elsewhere is copied.
    pub fn part(&self, slice: &str) -> Raw {
        // Find the slice by its address, which needs no search.
        let whole = self.text.as_ptr() as usize;
        let start = (slice.as_ptr() as usize).wrapping_sub(whole);
        let span = start..start.wrapping_add(slice.len());
        let found = self.text.get(span.clone());
        // Same address and length means the same text: no need to compare it.
        if found.is_some_and(|found| std::ptr::eq(found, slice)) {
            return self.between(span.start, span.end);
        }
        Self::whole(slice)
    }
}

/// Reading a value in place, as a part of a larger text.
impl Raw {
    /// The text that this value is a part of.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The start of the value in [`Raw::text`].
    pub(crate) fn start(&self) -> usize {
        self.span.start
    }

    /// The value from `start` to `end` of [`Raw::text`].
    pub(crate) fn between(&self, start: usize, end: usize) -> Self {
        Self {
            text: Arc::clone(&self.text),
            // Ends are noted by their place in the whole text, so that parts can share them.
            ends: self.ends.clone(),
            span: start..end,
        }
    }

    pub(crate) fn has_null_at(&self, at: usize) -> bool {
        let rest = self.text.as_bytes().get(at..);
        rest.is_some_and(|rest| rest.starts_with(b"null"))
    }

    /// Returns the end of the value that begins at `at` in [`Raw::text`].
    pub(crate) fn end_of(&self, at: usize) -> Result<usize, Misfit> {
        self.find_end(at)
            .ok_or_else(|| Misfit::new("not a JSON value"))
    }

    pub(crate) fn find_end(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        // Look the end up if it was noted; scan for it otherwise.
        let noted = match (&self.ends, bytes.get(at)) {
            (Some(ends), Some(b'{' | b'[')) => ends::find(ends, at),
            _ => None,
        };
        noted.or_else(|| scan::value_end(bytes, at))
    }

    /// The value that begins at `at` in [`Raw::text`], for error messages.
    pub(crate) fn value_at(&self, at: usize) -> &str {
        let end = self.end_of(at).unwrap_or(self.text.len());
        self.text.get(at..end).unwrap_or_default()
    }

    pub(crate) fn no_object_at(&self, at: usize) -> Misfit {
        Misfit::new(crate::object::mismatch("an object", self.value_at(at)))
    }
}

impl From<Checked<'_>> for Raw {
    fn from(checked: Checked<'_>) -> Self {
        let mut raw = Self::whole(checked.as_str());
        // What the check found out is kept, so that later readers need not scan again.
        raw.ends = checked.into_ends().and_then(|ends| ends.into_shared());
        raw
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Two values are equal when their texts are: `1.0` and `1.00` differ.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw {}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Written as it is: a round trip through a value would change numbers and order.
        let value: &RawValue =
            serde_json::from_str(self.as_str()).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self::whole(value.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_untouched() {
        let text = r#"{"b":1e400,"a":[1.10,-0,123456789012345678901234567890],"b":"\ud800"}"#;
        let raw = Raw::parse(text).unwrap();
        assert_eq!(raw.as_str(), text);
        assert_eq!(serde_json::to_string(&raw).unwrap(), text);
    }

    #[test]
    fn parts_share_the_text_of_the_whole() {
        let raw = Raw::parse(r#"{"a":{"b":[1,2]},"c":null}"#).unwrap();
        let inner = raw.member("a").unwrap().member("b").unwrap();
        assert_eq!(inner.as_str(), "[1,2]");
        assert!(Arc::ptr_eq(&raw.text, &inner.text));
        assert_eq!(raw.member("c"), Some(Raw::null()));
        assert_eq!(raw.member("d"), None);
    }

    #[test]
    fn members_are_walked_in_the_order_that_they_were_sent() {
        let whole = Raw::parse(r#"[{"a":{"x":[1]},"b":2,"a":3}]"#).unwrap();
        let object = whole.items().remove(0);
        let mut seen = Vec::new();
        assert!(object.each_member(|key, value| seen.push((key.to_owned(), value))));
        let expected = [("a", r#"{"x":[1]}"#), ("b", "2"), ("a", "3")];
        assert_eq!(seen, expected.map(|(key, value)| (key.to_owned(), value)));
        assert!(!whole.each_member(|_, _| {}));
    }

    #[test]
    fn a_text_is_borrowed_unless_it_has_escapes() {
        let read = |text| {
            let raw = Raw::parse(text).unwrap();
            let text = raw.as_cow();
            assert_eq!(text.as_deref(), raw.as_text().as_deref());
            text.map(|text| matches!(text, Cow::Borrowed(_)))
        };
        assert_eq!(read(r#" "plain" "#), Some(true));
        assert_eq!(read(r#""es\ncaped""#), Some(false));
        assert_eq!(read(r#""\ud800""#), None);
        assert_eq!((read("[]"), read("1")), (None, None));
    }

    #[test]
    fn the_members_of_a_member_come_before_it() {
        let walk = |text| {
            let whole = Raw::parse(text).unwrap();
            let mut seen = String::new();
            let is_object = whole.each_member_and_of("m", |is_inner, key, value| {
                let place = if is_inner { "m." } else { "" };
                seen.push_str(&format!("{place}{key}={value};"));
            });
            is_object.then_some(seen)
        };
        let text = r#" {"a":{"m":1}, "\u006d" : {"b" : [2],"m":{"c":3}} ,"m":[4],"m":{}}"#;
        let expected = r#"a={"m":1};m.b=[2];m.m={"c":3};m={"b" : [2],"m":{"c":3}};m=[4];m={};"#;
        assert_eq!(walk(text).unwrap(), expected);
        assert_eq!(walk("[]"), None);
    }

    #[test]
    fn a_slice_from_elsewhere_is_copied() {
        let raw = Raw::parse("[1]").unwrap();
        assert_eq!(raw.part("[1]").as_str(), "[1]");
    }

    #[test]
    fn two_values_are_not_one() {
        assert!(Raw::parse("1 2").is_err());
        assert!(Raw::parse("").is_err());
        assert!(Raw::parse("{").is_err());
    }

    #[test]
    fn surrounding_white_space_is_not_kept() {
        assert_eq!(Raw::parse(" 1 \n").unwrap().as_str(), "1");
    }
}
