//! Reading typed fields off an object while its text is kept.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Raw;

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
}

/// A field of an object: decides what an absent member means.
pub(crate) trait Field: Sized {
    fn read(whole: &Raw, member: Option<&str>, key: &'static str) -> Result<Self, Misfit>;
}

impl<T: FromRaw> Field for T {
    fn read(whole: &Raw, member: Option<&str>, key: &'static str) -> Result<Self, Misfit> {
        let text = member.ok_or_else(|| Misfit::new("missing").under(key))?;
        T::from_raw(&whole.part(text)).map_err(|misfit| misfit.under(key))
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
        let items: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|_| Misfit::new(expected("an array", text)).under(key))?;
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| {
                T::from_raw(&whole.part(item.get()))
                    .map_err(|misfit| misfit.under(format_args!("[{index}]")).under(key))
            })
            .collect()
    }
}

impl FromRaw for Raw {
    const TAKES_NULL: bool = true;

    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Ok(raw.clone())
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
    String => "a string",
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
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer
        .deserialize_map(EachMember {
            take,
            text: std::marker::PhantomData,
        })
        .map_err(|_| Misfit::new(expected("an object", text)))
}

struct EachMember<'a, F> {
    take: F,
    text: std::marker::PhantomData<&'a str>,
}

impl<'de, F: FnMut(&str, &'de str)> Visitor<'de> for EachMember<'de, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(Key)? {
            let value: &'de RawValue = map.next_value()?;
            (self.take)(&key, value.get());
        }
        Ok(())
    }
}

/// A key, borrowed where it has no escapes.
pub(crate) struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
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
                Ok(Self {
                    $( $field: $crate::object::Field::read(raw, $field, $key)?, )*
                    raw: raw.clone(),
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
