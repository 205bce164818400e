//! A list whose items can be looked up.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::Entry;

/// The entries of one server and one kind, in the server's order.
///
/// The hash is the one that nobody outside can aim at: servers choose the names.
#[derive(Debug)]
pub(super) struct Table<E> {
    list: Vec<Arc<E>>,
    places: HashMap<Arc<str>, usize>,
}

impl<E> Default for Table<E> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<E: Entry> Table<E> {
    pub(super) fn with_capacity(items: usize) -> Self {
        Self {
            list: Vec::with_capacity(items),
            places: HashMap::with_capacity(items),
        }
    }

    pub(super) fn list(&self) -> &[Arc<E>] {
        &self.list
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<E>> {
        self.list.get(*self.places.get(name)?)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Adds an entry whose name is not there yet.
    pub(super) fn push(&mut self, entry: Arc<E>) {
        let name = Arc::clone(entry.id().shared_name());
        self.places.insert(name, self.list.len());
        self.list.push(entry);
    }
}
