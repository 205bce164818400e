//! Reading typed fields off an object while its text is kept.

use std::fmt;

use crate::{Raw, scan};

/// Says where and how a value does not fit the type it should have.
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
        let rest = std::mem::take(&mut self.path);
        self.path = match rest.as_str() {
            "" => key.to_string(),
            rest if rest.starts_with('[') => format!("{key}{rest}"),
            rest => format!("{key}.{rest}"),
        };
        self
    }

    /// Where the misfit is, such as `content[2].text`; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What does not fit.
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

/// A type that is read off the text of a value.
pub trait FromRaw: Sized {
    /// Whether `null` is a value of this type, rather than a way to leave a member out.
    const TAKES_NULL: bool = false;

    /// Reads the value.
    ///
    /// # Errors
    /// When the value does not fit the type.
    fn from_raw(raw: &Raw) -> Result<Self, Misfit>;

    /// Reads the part of `whole` that begins at `at` in its text, and says where it ends.
    ///
    /// Types that read their own parts in one pass do without finding the end first.
    ///
    /// # Errors
    /// When the value does not fit the type.
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

/// A field of an object: decides what an absent member means.
pub(crate) trait Field: Sized {
    /// Reads the member whose value begins at `at`, and says where the value ends.
    fn member(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit>;

    /// What it means that there is no such member.
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
        if !T::TAKES_NULL && whole.has_null_at(at) {
            return Ok((None, at + 4));
        }
        T::read_at(whole, at).map(|(value, end)| (Some(value), end))
    }

    fn absent() -> Result<Self, Misfit> {
        Ok(None)
    }
}

/// A list that may be left out reads as empty.
impl<T: FromRaw> Field for Vec<T> {
    fn member(whole: &Raw, at: usize) -> Result<(Self, usize), Misfit> {
        let mut items = Vec::new();
        if whole.has_null_at(at) {
            return Ok((items, at + 4));
        }
        let mut wrong = None;
        let end = scan::walk_items(whole.text(), at, |at| match T::read_at(whole, at) {
            Ok((item, end)) => {
                if items.is_empty() {
                    // Most results have one block, and room for four would cost more than it.
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
            (None, None) => Err(Misfit::new(expected("an array", whole.value_at(at)))),
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
            other => Err(Misfit::new(expected("a boolean", other))),
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
            Err(Misfit::new(expected("a boolean", whole.value_at(at))))
        }
    }
}

/// Something large that is mostly left out.
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
                    .map_err(|_| Misfit::new(expected($name, raw.as_str())))
            }
        }
    )*};
}

scalar! {
    f64 => "a number",
    i64 => "an integer",
    u64 => "a whole number",
}

/// Names what was expected and shows the start of what was found.
pub(crate) fn expected(what: &str, found: &str) -> String {
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
    scan::members(text, take).ok_or_else(|| Misfit::new(expected("an object", text)))
}

/// Declares a type that is read off the wire: typed fields with getters, and the text beside them.
///
/// A field is `name: [kind] = "memberName"`, and its kind says what an absent member means:
/// `[str]`, `[copy T]` and `[of T]` are required; with `opt` in front they may be left out or be
/// `null` (a `null` [`Raw`] is a value, though), and `[opt box T]` is kept on the heap; `[list T]`
/// reads as empty when left out.
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
                    raw: whole.between(at, end),
                };
                Ok((read, end))
            }
        }

        /// The fields are a reading of the text: where that is the same, so are they.
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
