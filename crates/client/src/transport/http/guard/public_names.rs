//! The memory of host names that were public.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashSet;

/// Maximum number of names. Further ones are not remembered; those of the person come first, and
/// are few.
const NAMES: usize = 4096;

/// Remembers the names that have resolved to public addresses.
///
/// The owner of a name could point it at this machine between two requests, and make us send there
/// what was meant for them (DNS rebinding). So a name that was public once must stay public.
#[derive(Debug, Default)]
pub(crate) struct PublicNames(Mutex<FxHashSet<String>>);

impl PublicNames {
    /// The memory that all clients of this process share.
    pub(crate) fn of_process() -> Arc<Self> {
        static OF_PROCESS: LazyLock<Arc<PublicNames>> = LazyLock::new(Arc::default);
        Arc::clone(&OF_PROCESS)
    }

    /// Remembers that a name resolved to a public address.
    pub(crate) fn note_public(&self, host: &str) {
        let mut names = self.names();
        if names.len() < NAMES {
            names.insert(key(host));
        }
    }

    /// Returns true if a name ever resolved to a public address.
    pub(crate) fn was_public(&self, host: &str) -> bool {
        self.names().contains(&key(host))
    }

    fn names(&self) -> MutexGuard<'_, FxHashSet<String>> {
        // No operation in here can be left half done, so a poisoned lock is fine.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Normalises the spelling of a name.
fn key(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_name_is_remembered_however_it_is_written() {
        let seen = PublicNames::default();
        assert!(!seen.was_public("example.com"));
        seen.note_public("Example.COM.");
        assert!(seen.was_public("example.com"));
        assert!(seen.was_public("EXAMPLE.com."));
        assert!(!seen.was_public("www.example.com"));
    }

    #[test]
    fn no_more_names_than_the_limit_are_kept_and_the_first_stay() {
        let seen = PublicNames::default();
        for n in 0..=NAMES {
            seen.note_public(&format!("host{n}"));
        }
        assert_eq!(seen.names().len(), NAMES);
        assert!(seen.was_public("host0"));
        assert!(!seen.was_public(&format!("host{NAMES}")));
    }
}
