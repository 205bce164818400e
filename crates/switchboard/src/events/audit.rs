//! Audit data of a decision: the rule, and a hash of the arguments.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use switchboard_wire::Raw;

/// Longer arguments are hashed at once, so that a slow reader of events holds little of them.
const KEPT: usize = 4 * 1024;

/// The rule that decided, in words.
#[derive(Clone)]
pub struct Rule(Arc<dyn fmt::Display + Send + Sync>);

impl Rule {
    /// Wraps a rule. Its text is formatted only when it is read.
    pub(crate) fn new(rule: impl fmt::Display + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// The hash of a call's arguments: it identifies them without revealing them. `sha256:` and 64 digits.
///
/// Short arguments are held privately and hashed when the hash is read; long ones are hashed at once.
#[derive(Clone)]
#[doc(hidden)]
pub struct ArgumentHash(KeptArguments);

#[derive(Clone)]
enum KeptArguments {
    Text(Raw),
    Hash([u8; 32]),
}

impl ArgumentHash {
    pub(crate) fn of(arguments: &Raw) -> Self {
        Self(if arguments.len_bytes() > KEPT {
            KeptArguments::Hash(hash(arguments))
        } else {
            KeptArguments::Text(arguments.clone())
        })
    }

    /// The hash.
    pub fn bytes(&self) -> [u8; 32] {
        match &self.0 {
            KeptArguments::Text(arguments) => hash(arguments),
            KeptArguments::Hash(hash) => *hash,
        }
    }
}

fn hash(arguments: &Raw) -> [u8; 32] {
    Sha256::digest(arguments.as_str().as_bytes()).into()
}

impl PartialEq for ArgumentHash {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for ArgumentHash {}

impl fmt::Display for ArgumentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ArgumentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_told_apart_and_never_shown() {
        let of = |text: &str| ArgumentHash::of(&Raw::parse(text).unwrap());
        let (one, two) = (of(r#"{"a":"canary"}"#), of(r#"{"a":"another"}"#));
        assert_ne!(one, two);
        assert_eq!(one, of(r#"{"a":"canary"}"#));
        let shown = format!("{one} {one:?} {one:#?}");
        assert!(!shown.contains("canary"), "{shown}");
        assert_eq!(one.to_string().len(), "sha256:".len() + 64);
    }

    #[test]
    fn long_arguments_are_hashed_at_once_to_the_same() {
        let long = format!("\"{}\"", "x".repeat(KEPT));
        let raw = Raw::parse(&long).unwrap();
        let made = ArgumentHash::of(&raw);
        assert!(matches!(made.0, KeptArguments::Hash(_)));
        assert_eq!(made, ArgumentHash(KeptArguments::Text(raw)));
    }
}
