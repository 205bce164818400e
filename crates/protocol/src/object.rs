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

    /// Reads a part of `whole`, given as a slice of its text.
    ///
    /// Types that do not keep the text can do without a [`Raw`] for it.
    ///
    /// # Errors
    /// When the value does not fit the type.
    #[doc(hidden)]
    fn from_part(whole: &Raw, text: &str) -> Result<Self, Misfit> {
        Self::from_raw(&whole.part(text))
    }
}

/// A field of an object: decides what an absent member means.
pub(crate) trait Field: Sized {
    fn read(whole: &Raw, member: Option<&str>, key: &'static str) -> Result<Self, Misfit>;
}

impl<T: FromRaw> Field for T {
    fn read(whole: &Raw, member: Option<&str>, key: &'static str) -> Result<Self, Misfit> {
        let text = member.ok_or_else(|| Misfit::new("missing").under(key))?;
        T::from_part(whole, text).map_err(|misfit| misfit.under(key))
    }
}

impl<T: FromRaw> Field for Option<T> {
    fn read(whole: &Raw, member: Option<&str>, key: &'static str) -> Result<Self, Misfit> {
        match member {
            None => Ok(None),
            Some("null") if !T::TAKES_NULL => Ok(None),
            Some(text) => T::read(whole, Some(text), key).map(Some),
        }
    }
}

/// A list that may be left out reads as empty.
impl<T: FromRaw> Field for Vec<T> {
    fn read(whole: &Raw, member: Option<&str>, key: &'static str) -> Result<Self, Misfit> {
        let Some(text) = member.filter(|text| *text != "null") else {
            return Ok(Vec::new());
        };
        let mut read = Ok(Vec::new());
        let array = scan::items(text, |item| {
            let Ok(items) = &mut read else { return false };
            let index = items.len();
            match T::from_part(whole, item) {
                Ok(item) => items.push(item),
                Err(misfit) => read = Err(misfit.under(format_args!("[{index}]"))),
            }
            true
        });
        array.ok_or_else(|| Misfit::new(expected("an array", text)).under(key))?;
        read.map_err(|misfit| misfit.under(key))
    }
}

impl FromRaw for Raw {
    const TAKES_NULL: bool = true;

    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Ok(raw.clone())
    }

    fn from_part(whole: &Raw, text: &str) -> Result<Self, Misfit> {
        Ok(whole.part(text))
    }
}

impl FromRaw for String {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Self::from_part(raw, raw.as_str())
    }

    fn from_part(_: &Raw, text: &str) -> Result<Self, Misfit> {
        match scan::plain_string(text) {
            Some(plain) => Ok(plain.to_owned()),
            None => serde_json::from_str(text).map_err(|_| Misfit::new(expected("a string", text))),
        }
    }
}

macro_rules! scalar {
    ($($type:ty => $name:literal),* $(,)?) => {$(
        impl FromRaw for $type {
            fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
                Self::from_part(raw, raw.as_str())
            }

            fn from_part(_: &Raw, text: &str) -> Result<Self, Misfit> {
                serde_json::from_str(text).map_err(|_| Misfit::new(expected($name, text)))
            }
        }
    )*};
}

scalar! {
    bool => "a boolean",
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
/// `null` (a `null` [`Raw`] is a value, though); `[list T]` reads as empty when left out.
macro_rules! wire_object {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $( $(#[$field_meta:meta])* $field:ident : $kind:tt = $key:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq)]
        pub struct $Name {
            raw: $crate::Raw,
            $( $field: wire_object!(@type $kind), )*
        }

        impl $Name {
            $( wire_object!(@getter $(#[$field_meta])* $field $kind); )*

            /// Reads the fields off members that have been found already.
            #[allow(unused_variables)]
            #[inline]
            pub(crate) fn assemble<'a>(
                raw: &$crate::Raw,
                member: impl Fn(&'static str) -> Option<&'a str>,
            ) -> Result<Self, $crate::Misfit> {
                Ok(Self {
                    $( $field: $crate::object::Field::read(raw, member($key), $key)?, )*
                    raw: raw.clone(),
                })
            }

            /// The whole object as it was sent, unknown members included.
            pub fn raw(&self) -> &$crate::Raw {
                &self.raw
            }
        }

        impl $crate::FromRaw for $Name {
            #[allow(unused_mut, unused_variables)]
            fn from_raw(raw: &$crate::Raw) -> Result<Self, $crate::Misfit> {
                $( let mut $field: Option<&str> = None; )*
                $crate::object::each_member(raw.as_str(), |key, value| match key {
                    $( $key => $field = Some(value), )*
                    _ => {}
                })?;
                Self::assemble(raw, |key| match key {
                    $( $key => $field, )*
                    _ => None,
                })
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

    (@type [str]) => { String };
    (@type [opt str]) => { Option<String> };
    (@type [copy $type:ty]) => { $type };
    (@type [opt copy $type:ty]) => { Option<$type> };
    (@type [list $type:ty]) => { Vec<$type> };
    (@type [of $type:ty]) => { $type };
    (@type [opt of $type:ty]) => { Option<$type> };

    (@getter $(#[$meta:meta])* $field:ident [str]) => {
        $(#[$meta])*
        pub fn $field(&self) -> &str { &self.$field }
    };
    (@getter $(#[$meta:meta])* $field:ident [opt str]) => {
        $(#[$meta])*
        pub fn $field(&self) -> Option<&str> { self.$field.as_deref() }
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
    (@getter $(#[$meta:meta])* $field:ident [opt of $type:ty]) => {
        $(#[$meta])*
        pub fn $field(&self) -> Option<&$type> { self.$field.as_ref() }
    };
}
