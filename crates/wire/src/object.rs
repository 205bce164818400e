//! Reading typed fields from an object while keeping its text: [`FromRaw`], and the macro
//! `wire_object!` that declares the types of this crate.

use std::fmt;

use crate::{Raw, scan};

/// A value that does not fit the expected type: the path to it, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    path: String,
    what: String,
}

impl Misfit {
    /// A misfit of the value itself.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            what: what.into(),
        }
    }

    /// The same misfit, seen from the object that holds the value under `key`.
    #[must_use]
    pub fn under(mut self, key: impl fmt::Display) -> Self {
        // Paths grow from the inside out: an index follows directly, a name after a dot.
        let rest = std::mem::take(&mut self.path);
        self.path = match rest.as_str() {
            "" => key.to_string(),
            rest if rest.starts_with('[') => format!("{key}{rest}"),
            rest => format!("{key}.{rest}"),
        };
        self
    }

    /// The path of the value, such as `content[2].text`; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The reason, such as `expected a string, found 5`.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.path, self.what)
        }
    }
}

impl std::error::Error for Misfit {}

/// A type that is read from the text of a JSON value.
pub trait FromRaw: Sized {
    /// True if `null` is a value of this type, rather than a way to leave a member out.
    const TAKES_NULL: bool = false;

    /// Reads the value.
    ///
    /// # Errors
    /// Fails if the value does not fit the type.
    fn from_raw(raw: &Raw) -> Result<Self, Misfit>;

    /// Reads the part of `whole` that begins at `at` in its text; returns it with its end.
    ///
    /// Types that read their own parts in one pass need not find the end first.
    ///
    /// # Errors
    /// Fails if the value does not fit the type.
    #[doc(hidden)]
    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        let end = whole.end_of(at)?;
        Self::from_raw(&whole.between(at, end)).map(|value| (value, end))
    }

    /// Returns the value that a missing member stands for.
    ///
    /// # Errors
    /// Fails for every type that has no such value.
    #[doc(hidden)]
    fn when_absent() -> Result<Self, Misfit> {
        Err(Misfit::new("missing"))
    }
}

/// A field of an object, which decides the meaning of an absent member.
pub(crate) trait Field: Sized {
    /// Reads the member whose value begins at `at`; returns it with the end of the value.
    fn member(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit>;

    /// The value of an absent member, or an error if it is required.
    fn absent() -> Result<Self, Misfit>;

    /// Reads a member that has been found already, as a slice of the text of `whole`.
    fn read(whole: &Raw, member: Option<&str>, key: &str) -> Result<Self, Misfit> {
        let read = match member.map(|text| whole.part(text)) {
            Some(part) => Self::member(&part, part.start()).map(|(value, _)| value),
            None => Self::absent(),
        };
        read.map_err(|misfit| misfit.under(key))
    }
}

impl<T: FromRaw> Field for T {
    fn member(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        T::read_at(whole, at)
    }

    fn absent() -> Result<Self, Misfit> {
        T::when_absent()
    }
}

impl<T: FromRaw> Field for Option<T> {
    fn member(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        // `null` for an optional member counts as absent: many servers write it.
        if !T::TAKES_NULL && whole.has_null_at(at) {
            return Ok((None, at + 4));
        }
        T::read_at(whole, at).map(|(value, end)| (Some(value), end))
    }

    fn absent() -> Result<Self, Misfit> {
        Ok(None)
    }
}

/// A list may be absent or `null`, and then reads as empty.
impl<T: FromRaw> Field for Vec<T> {
    fn member(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        let mut items = Vec::new();
        // The same for a list, which is empty then.
        if whole.has_null_at(at) {
            return Ok((items, at + 4));
        }
        // The walk only knows that it stopped; keep the misfit that stopped it.
        let mut wrong = None;
        let end = scan::walk_items(whole.text(), at, |at| match T::read_at(whole, at) {
            Ok((item, end)) => {
                if items.is_empty() {
                    // Most results have exactly one block; the default capacity of four would waste memory.
                    items.reserve_exact(1);
                }
                items.push(item);
                Some(end)
            }
            Err(misfit) => {
                wrong = Some(misfit.under(format_args!("[{}]", items.len())));
                None
            }
        });
        match (end, wrong) {
            (Some(end), _) => Ok((items, end)),
            (None, Some(misfit)) => Err(misfit),
            (None, None) => Err(Misfit::new(mismatch("an array", whole.value_at(at)))),
        }
    }

    fn absent() -> Result<Self, Misfit> {
        Ok(Vec::new())
    }
}

impl FromRaw for Raw {
    const TAKES_NULL: bool = true;

    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Ok(raw.clone())
    }

    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        let end = whole.end_of(at)?;
        Ok((whole.between(at, end), end))
    }
}

impl FromRaw for bool {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        match raw.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Misfit::new(mismatch("a boolean", other))),
        }
    }

    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        // The text is known to be JSON: what begins like a literal is one.
        let rest = whole.text().as_bytes().get(at..).unwrap_or_default();
        if rest.starts_with(b"true") {
            Ok((true, at + 4))
        } else if rest.starts_with(b"false") {
            Ok((false, at + 5))
        } else {
            Err(Misfit::new(mismatch("a boolean", whole.value_at(at))))
        }
    }
}

/// Boxes a large value that is mostly absent.
impl<T: FromRaw> FromRaw for Box<T> {
    const TAKES_NULL: bool = T::TAKES_NULL;

    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        T::from_raw(raw).map(Box::new)
    }

    fn read_at(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        T::read_at(whole, at).map(|(value, end)| (Box::new(value), end))
    }
}

macro_rules! scalar {
    ($($type:ty => $name:literal),* $(,)?) => {$(
        impl FromRaw for $type {
            fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
                serde_json::from_str(raw.as_str())
                    .map_err(|_| Misfit::new(mismatch($name, raw.as_str())))
            }
        }
    )*};
}

scalar! {
    f64 => "a number",
    i64 => "an integer",
    u64 => "a whole number",
}

/// Describes a mismatch: the expected type and the start of the actual value.
pub(crate) fn mismatch(what: &str, found: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = found.chars().take(SHOWN).collect();
    if shown.len() < found.len() {
        shown.push('…');
    }
    format!("expected {what}, found {shown}")
}

/// Calls `take` with each key of an object and the text of its value, in the order sent.
pub(crate) fn each_member<'a>(
    text: &'a str,
    take: impl FnMut(&str, &'a str),
) -> Result<(), Misfit> {
    scan::members(text, take).ok_or_else(|| Misfit::new(mismatch("an object", text)))
}

/// Declares a type that is read from the wire: typed fields with getters, and the original text.
///
/// A field is `name: [kind] = "memberName"`. Its kind decides the meaning of an absent member:
/// `[str]`, `[copy T]` and `[of T]` are required; with `opt` in front they may be absent or `null`
/// (but a `null` [`Raw`] is a value), and `[opt box T]` is kept on the heap; `[list T]` reads as
/// empty if it is absent.
macro_rules! wire_object {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $( $(#[$field_meta:meta])* $field:ident : $kind:tt = $key:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone)]
        pub struct $Name {
            raw: $crate::Raw,
            $( $field: wire_object!(@type $kind), )*
        }

        impl $Name {
            $( wire_object!(@getter $(#[$field_meta])* $field $kind); )*

            /// The whole object as it was sent, unknown members included.
            pub fn raw(&self) -> &$crate::Raw {
                &self.raw
            }
        }

        impl $crate::FromRaw for $Name {
            fn from_raw(raw: &$crate::Raw) -> Result<Self, $crate::Misfit> {
                // One pass over the text: members that the type does not know are only skipped.
                Self::read_at(raw, raw.start()).map(|(read, _)| read)
            }

            #[allow(unused_mut, unused_variables)]
            fn read_at(whole: &$crate::Raw, at: usize) -> Result<(Self, usize), $crate::Misfit> {
                let text = whole.text();
                let mut wrong = None;
                $( let mut $field: Option<wire_object!(@type $kind)> = None; )*
                let end = $crate::scan::walk(text, at, |key, at| match key {
                    $( $key => match $crate::object::Field::member(whole, at) {
                        Ok((value, end)) => {
                            // The last of equal keys wins, as in other parsers.
                            $field = Some(value);
                            Some(end)
                        }
                        Err(misfit) => {
                            wrong = Some($crate::Misfit::under(misfit, $key));
                            None
                        }
                    }, )*
                    _ => whole.find_end(at),
                });
                let Some(end) = end else {
                    return Err(wrong.unwrap_or_else(|| whole.no_object_at(at)));
                };
                let read = Self {
                    $( $field: match $field {
                        Some(value) => value,
                        None => $crate::object::Field::absent()
                            .map_err(|misfit| $crate::Misfit::under(misfit, $key))?,
                    }, )*
                    // The object keeps its own text, so that it can be passed on with members that
                    // we do not know.
                    raw: whole.between(at, end),
                };
                Ok((read, end))
            }
        }

        /// Compares the texts: the fields are derived from them.
        impl PartialEq for $Name {
            fn eq(&self, other: &Self) -> bool {
                self.raw == other.raw
            }
        }

        impl std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({:?})", stringify!($Name), self.raw)
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.raw.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = <$crate::Raw as serde::Deserialize>::deserialize(deserializer)?;
                <Self as $crate::FromRaw>::from_raw(&raw).map_err(serde::de::Error::custom)
            }
        }
    };

    (@type [str]) => { $crate::string::Text };
    (@type [opt str]) => { Option<$crate::string::Text> };
    (@type [copy $type:ty]) => { $type };
    (@type [opt copy $type:ty]) => { Option<$type> };
    (@type [list $type:ty]) => { Vec<$type> };
    (@type [of $type:ty]) => { $type };
    (@type [opt of $type:ty]) => { Option<$type> };
    (@type [opt box $type:ty]) => { Option<Box<$type>> };

    (@getter $(#[$meta:meta])* $field:ident [str]) => {
        $(#[$meta])*
        pub fn $field(&self) -> &str { self.$field.of(&self.raw) }
    };
    (@getter $(#[$meta:meta])* $field:ident [opt str]) => {
        $(#[$meta])*
        pub fn $field(&self) -> Option<&str> {
            self.$field.as_ref().map(|text| text.of(&self.raw))
        }
    };
    (@getter $(#[$meta:meta])* $field:ident [copy $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> $type { self.$field }
    };
    (@getter $(#[$meta:meta])* $field:ident [opt copy $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> Option<$type> { self.$field }
    };
    (@getter $(#[$meta:meta])* $field:ident [list $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> &[$type] { &self.$field }
    };
    (@getter $(#[$meta:meta])* $field:ident [of $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> &$type { &self.$field }
    };
    (@getter $(#[$meta:meta])* $field:ident [opt box $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> Option<&$type> { self.$field.as_deref() }
    };
    (@getter $(#[$meta:meta])* $field:ident [opt of $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> Option<&$type> { self.$field.as_ref() }
    };
}
