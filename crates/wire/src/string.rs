//! Strings of wire objects: owned, or a range of the object's text.

use crate::object::mismatch;
use crate::unescape::unescape;
use crate::{FromRaw, Misfit, Raw, scan};

impl FromRaw for String {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        unescape(raw.as_str()).ok_or_else(|| Misfit::new(mismatch("a string", raw.as_str())))
    }
}

/// The value of a string member. Without escapes it is a range of the object's own text.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    Part(std::ops::Range<usize>),
    Own(String),
}

impl Text {
    /// Returns the string, given the object that it is a member of.
    pub(crate) fn of<'a>(&'a self, whole: &'a Raw) -> &'a str {
        match self {
            // The part was cut from this very text.
            Self::Part(part) => whole.text().get(part.clone()).unwrap_or_default(),
            Self::Own(text) => text,
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Own(text)
    }
}

impl FromRaw for Text {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        String::from_raw(raw).map(Self::Own)
    }

    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        match scan::string_end(whole.text().as_bytes(), at) {
            Some((end, true)) => Ok((Self::Part(at + 1..end - 1), end)),
            Some((end, false)) => {
                String::from_raw(&whole.between(at, end)).map(|text| (Self::Own(text), end))
            }
            None => Err(Misfit::new(mismatch("a string", whole.value_at(at)))),
        }
    }
}
