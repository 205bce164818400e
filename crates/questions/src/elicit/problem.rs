//! Errors of forms and of answers to them.

use std::fmt;

/// The reason why a form cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct Misread(String);

impl Misread {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    pub(super) fn of_field(name: &str, what: &str) -> Self {
        Self(format!("the field {name:?} {what}"))
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misread {}

/// The reason why a form does not accept an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field, by its name.
    pub field: String,
    /// The values that the field accepts.
    pub what: String,
}

impl Problem {
    pub(super) fn new(field: &str, what: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl std::error::Error for Problem {}
