//! Names that were public.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashSet;

/// How many names are remembered. Further ones are not: those of a person come first, and are few.
const NAMES: usize = 4096;

/// Remembers which names have led to public addresses.
///
/// Whoever owns a name can make it lead to this machine between two requests, and so have us send
/// there what was meant for them. A name that led to a public address once is held to that.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<FxHashSet<String>>);

impl Seen {
    /// The memory of this process.
    pub(crate) fn of_process() -> Arc<Self> {
        static OF_PROCESS: LazyLock<Arc<Seen>> = LazyLock::new(Arc::default);
        Arc::clone(&OF_PROCESS)
    }

    /// Remembers that a name led to a public address.
    pub(crate) fn note_public(&self, host: &str) {
        let mut names = self.names();
        if names.len() < NAMES {
            names.insert(key(host));
        }
    }

    /// Tells whether a name ever led to a public address.
    pub(crate) fn was_public(&self, host: &str) -> bool {
        self.names().contains(&key(host))
    }

    fn names(&self) -> MutexGuard<'_, FxHashSet<String>> {
        // Nothing in here can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One spelling for all that mean the same name.
fn key(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_name_is_remembered_however_it_is_written() {
        let seen = Seen::default();
        assert!(!seen.was_public("example.com"));
        seen.note_public("Example.COM.");
        assert!(seen.was_public("example.com"));
        assert!(seen.was_public("EXAMPLE.com."));
        assert!(!seen.was_public("www.example.com"));
    }

    #[test]
    fn no_more_names_than_the_limit_are_kept_and_the_first_stay() {
        let seen = Seen::default();
        for n in 0..=NAMES {
            seen.note_public(&format!("host{n}"));
        }
        assert_eq!(seen.names().len(), NAMES);
        assert!(seen.was_public("host0"));
        assert!(!seen.was_public(&format!("host{NAMES}")));
    }
}
