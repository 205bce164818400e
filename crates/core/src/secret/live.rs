//! Secrets that are replaced while they are used, such as the tokens of a login.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{MASK, Redactor, Secret};

/// How many values are remembered: the newest, and some that a server may still repeat.
const REMEMBERED: usize = 8;

/// Secrets that are replaced while they are used: a [`Redactor`] that [follows](Redactor::follow) them masks those of
/// now and the last few before them. Clones share them.
#[derive(Clone, Default)]
pub struct LiveSecrets(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    values: VecDeque<Secret<String>>,
    redactor: Arc<Redactor>,
}

impl LiveSecrets {
    /// Learns a value that is in use from now on.
    pub fn learn(&self, secret: &Secret<String>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.values.contains(secret) {
            return;
        }
        state.values.push_back(secret.clone());
        if state.values.len() > REMEMBERED {
            state.values.pop_front();
        }
        let known = state.values.iter().map(|value| value.expose().as_str());
        state.redactor = Arc::new(known.collect());
    }

    /// The redactor of the values of now.
    pub(super) fn redactor(&self) -> Arc<Redactor> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&state.redactor)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for LiveSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LiveSecrets({MASK})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redactor_masks_what_was_learnt_after_it_was_made() {
        let live = LiveSecrets::default();
        let mut redactor = Redactor::new();
        redactor.add("fixed-secret");
        redactor.follow(&live);
        let mut merged = Redactor::new();
        merged.merge(&redactor);
        merged.merge(&redactor);
        for value in ["token-one", "token-two"] {
            assert_eq!(redactor.redact(value), value);
            live.learn(&value.into());
            for redactor in [&redactor, &redactor.clone(), &merged] {
                let text = format!("fixed-secret and {value}");
                assert_eq!(redactor.redact(&text), "*** and ***");
            }
        }
        // The one before may still be repeated.
        assert_eq!(merged.redact("token-one"), "***");
        assert!(!format!("{live:?} {merged:?}").contains("token"));
    }

    #[test]
    fn values_of_long_ago_are_forgotten() {
        let live = LiveSecrets::default();
        let mut redactor = Redactor::new();
        redactor.follow(&live);
        for at in 0..=REMEMBERED {
            live.learn(&Secret::new(format!("token-number-{at:03}")));
        }
        assert_eq!(redactor.redact("token-number-000"), "token-number-000");
        assert_eq!(redactor.redact("token-number-001"), "***");
    }
}
