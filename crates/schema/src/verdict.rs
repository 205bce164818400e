//! What a check comes to.

use std::fmt;

/// Whether a value fits a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It does.
    Fits,
    /// It does not, for at least one reason.
    Misfits(Vec<Violation>),
    /// Nobody knows.
    NotChecked(Reason),
}

/// One way in which a value does not fit.
///
/// It names places and quotes the schema, never the value: arguments may hold secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON pointer: empty for the whole of it.
    pub pointer: String,
    /// Which rule, as a JSON pointer into the schema that ends with the keyword.
    pub rule: String,
    /// What was expected, for a person.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Why a value was not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The schema is longer than the bound.
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// The schema is nested deeper than the bound.
    TooDeep {
        /// Its depth.
        depth: usize,
        /// The bound.
        most: usize,
    },
    /// The schema has more subschemas than the bound.
    TooManySubschemas {
        /// The bound.
        most: usize,
    },
    /// The schema has more patterns than the bound.
    TooManyPatterns {
        /// The bound.
        most: usize,
    },
    /// The schema refers to something outside of itself; nothing is fetched.
    Remote {
        /// What it refers to.
        uri: String,
    },
    /// The schema refers to a place in itself that is not there.
    NoSuchPlace {
        /// What it refers to.
        reference: String,
    },
    /// The schema is written in a dialect that is not known.
    Dialect {
        /// What its `$schema` says.
        uri: String,
    },
    /// A pattern is too large, or needs look-around or back-references, which cannot be matched in
    /// linear time.
    Pattern {
        /// Where in the schema, as a JSON pointer.
        pointer: String,
    },
    /// It is no schema.
    NotASchema {
        /// What is wrong with it.
        detail: String,
    },
    /// The value cannot be read: a number out of range, half a surrogate pair, too deep.
    Unreadable,
    /// The check would take, or took, more than it may.
    TooExpensive,
    /// Too many dear checks are running.
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

/// How dear checks against a schema are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cost {
    /// In place, in microseconds.
    Cheap,
    /// In a thread of its own, with a time limit.
    Dear,
    /// Not at all.
    Unchecked(Reason),
}
