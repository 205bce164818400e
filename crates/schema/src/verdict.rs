//! The results of a check.

use std::fmt;

/// The result of checking a value against a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// The value fits.
    Fits,
    /// The value does not fit; there is at least one violation.
    Misfits(Vec<Violation>),
    /// The value was not checked, for this reason.
    NotChecked(Reason),
}

/// One violation of a schema.
///
/// It names places and quotes the schema, but never the value: arguments may contain secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The place in the value, as a JSON pointer: empty for the whole value.
    pub pointer: String,
    /// The rule, as a JSON pointer into the schema that ends with the keyword.
    pub rule: String,
    /// The expectation, for people.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The reason why a value was not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The schema is too long.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The schema is nested too deep.
    TooDeep {
        /// Its depth.
        depth: usize,
        /// The limit.
        most: usize,
    },
    /// The schema has too many subschemas.
    TooManySubschemas {
        /// The limit.
        most: usize,
    },
    /// The schema has too many patterns.
    TooManyPatterns {
        /// The limit.
        most: usize,
    },
    /// The schema refers to something outside of itself; nothing is fetched.
    Remote {
        /// The reference.
        uri: String,
    },
    /// The schema refers to a place in itself that does not exist.
    NoSuchPlace {
        /// The reference.
        reference: String,
    },
    /// The schema is written in an unknown dialect.
    Dialect {
        /// The value of `$schema`.
        uri: String,
    },
    /// A pattern is too large, or needs look-around or back-references, which cannot be matched in
    /// linear time.
    Pattern {
        /// The place in the schema, as a JSON pointer.
        pointer: String,
    },
    /// It is not a schema.
    NotASchema {
        /// The reason.
        detail: String,
    },
    /// The value cannot be decoded: a number out of range, half a surrogate pair, too deep.
    Unreadable,
    /// The check would exceed, or has exceeded, its limits.
    TooExpensive,
    /// Too many expensive checks are running.
    Busy,
    /// The program was built without a validator.
    NotBuilt,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not validated: ")?;
        match self {
            Self::TooLarge { bytes, most } => {
                write!(f, "the schema has {bytes} bytes, and {most} are the most")
            }
            Self::TooDeep { depth, most } => {
                write!(
                    f,
                    "the schema is {depth} levels deep, and {most} are the most"
                )
            }
            Self::TooManySubschemas { most } => {
                write!(f, "the schema has more than {most} subschemas")
            }
            Self::TooManyPatterns { most } => {
                write!(f, "the schema has more than {most} patterns")
            }
            Self::Remote { uri } => {
                write!(f, "the schema refers to `{uri}`, and nothing is fetched")
            }
            Self::NoSuchPlace { reference } => {
                write!(
                    f,
                    "the schema refers to `{reference}`, which it does not have"
                )
            }
            Self::Dialect { uri } => {
                write!(f, "the schema is written in the unknown dialect `{uri}`")
            }
            Self::Pattern { pointer } => write!(
                f,
                "the pattern at `{pointer}` of the schema cannot be matched in linear time"
            ),
            Self::NotASchema { detail } => write!(f, "the schema is not valid: {detail}"),
            Self::Unreadable => f.write_str("the value holds what no check can read"),
            Self::TooExpensive => f.write_str("too expensive"),
            Self::Busy => f.write_str("too many expensive checks at once"),
            Self::NotBuilt => f.write_str("this program was built without a validator"),
        }
    }
}

/// The cost of checks against a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cost {
    /// In place, in microseconds.
    Cheap,
    /// On a thread of the pool, with a time limit.
    Dear,
    /// Not possible, for this reason.
    Unchecked(Reason),
}
