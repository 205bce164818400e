//! A wrapper for one value that must not be shown.

use std::fmt;
use std::hint::black_box;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::MASK;

/// Keeps a value out of logs, errors and documents.
///
/// It has no `Display` and no `Serialize`, so that showing or writing it does not compile, and its
/// `Debug` output is `Secret(***)`. The content is overwritten on drop as far as [`Wipe`] can; copies
/// that a parser or a growing buffer made on the way are out of its reach.
///
/// Comparison is not constant-time: fine for "has the config changed", wrong for verifying a password
/// received from elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T: Wipe>(T);

/// Overwrites the content of a value that is about to be dropped.
///
/// The default does nothing, for types that cannot be overwritten in place.
pub trait Wipe {
    /// Overwrites the content as far as possible.
    fn wipe(&mut self) {}
}

impl Wipe for Vec<u8> {
    fn wipe(&mut self) {
        // Clear first: beyond the current end there may be remains of longer content. The capacity stays, so
        // nothing moves.
        self.clear();
        self.resize(self.capacity(), 0);
        // Keeps the compiler from removing a write that nothing reads. Safe code cannot do better.
        black_box(self.as_mut_slice());
        self.clear();
    }
}

impl Wipe for String {
    fn wipe(&mut self) {
        std::mem::take(self).into_bytes().wipe();
    }
}

impl<T: Wipe> Wipe for Option<T> {
    fn wipe(&mut self) {
        if let Some(value) = self {
            value.wipe();
        }
    }
}

impl<T: Wipe> Secret<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value, for using it rather than showing it.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Wipe> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self::new(value.to_owned())
    }
}

impl<T: Wipe> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

impl<T: Wipe> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({MASK})")
    }
}

impl<'de, T: Wipe + Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer)
            .map(Self)
            // The inner type's error would quote the value.
            .map_err(|_| D::Error::custom("a secret value of the wrong type"))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;
    use std::marker::PhantomData;

    use serde::Serialize;

    use super::*;
    use crate::secret::SafeUrl;

    /// Tells at run time whether a type has a trait: the method with the bound wins if it applies.
    struct Probe<T>(PhantomData<T>);

    trait Otherwise {
        fn displays(&self) -> bool {
            false
        }
        fn serialises(&self) -> bool {
            false
        }
    }

    impl<T> Otherwise for &Probe<T> {}

    impl<T: Display> Probe<T> {
        #[allow(clippy::unused_self)]
        fn displays(&self) -> bool {
            true
        }
    }

    impl<T: Serialize> Probe<T> {
        #[allow(clippy::unused_self)]
        fn serialises(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_secret_cannot_be_displayed_or_written_out() {
        let plain = &Probe::<String>(PhantomData);
        assert!(plain.displays() && plain.serialises());
        let secret = &Probe::<Secret<String>>(PhantomData);
        assert!(!secret.displays() && !secret.serialises());
        let url = &Probe::<SafeUrl>(PhantomData);
        assert!(!url.serialises());
    }

    #[test]
    fn debug_shows_no_content_however_it_is_nested() {
        #[derive(Debug)]
        struct Server {
            #[expect(dead_code, reason = "only shown")]
            token: Option<Secret<String>>,
        }
        let server = Server {
            token: Some("canary".into()),
        };
        assert_eq!(format!("{server:?}"), "Server { token: Some(Secret(***)) }");
        assert!(!format!("{server:#?}").contains("canary"));
        assert_eq!(format!("{:?}", Secret::new(vec![7_u8])), "Secret(***)");
    }

    #[test]
    fn a_secret_is_read_and_exposed() {
        let secret: Secret<String> = serde_json::from_str(r#""canary""#).unwrap();
        assert_eq!(secret.expose(), "canary");
        assert_eq!(secret, "canary".into());
        assert_ne!(secret, "another".into());
    }

    #[test]
    fn a_value_of_the_wrong_type_is_not_quoted() {
        let error = serde_json::from_str::<Secret<String>>("424242").unwrap_err();
        assert_eq!(error.to_string(), "a secret value of the wrong type");
        let error = serde_json::from_str::<Secret<Vec<u8>>>(r#""canary""#).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"));
    }

    #[test]
    fn wiping_leaves_nothing_behind() {
        let mut text = Some(String::from("canary"));
        text.wipe();
        assert_eq!(text.as_deref(), Some(""));
        let mut bytes = Vec::with_capacity(16);
        bytes.extend(*b"canary");
        bytes.wipe();
        assert_eq!((bytes.len(), bytes.capacity()), (0, 16));
    }
}
