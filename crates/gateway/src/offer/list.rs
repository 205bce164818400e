//! Lists as JSON text, written once and read in pages.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use switchboard::protocol::Raw;

/// One key for the stamps of all lists of the process: servers write the texts that are hashed.
static STAMPS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A sorted list, cut into pages.
#[derive(Debug)]
pub(super) struct PreparedList {
    /// The keys of the items, in order.
    keys: Vec<Arc<str>>,
    /// The page of each item and its place in the page's text.
    places: Vec<(usize, Range<usize>)>,
    /// The pages as JSON arrays; at least one.
    pages: Vec<Raw>,
    /// Items on one page.
    size: usize,
    stamp: u64,
}

impl PreparedList {
    /// Prepares a list of keys with definitions. Of two items with one key the first stays.
    pub(super) fn new(mut items: Vec<(Arc<str>, String)>, size: usize) -> Self {
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        items.dedup_by(|(one, _), (other, _)| one == other);
        let size = size.max(1);
        let (mut places, mut pages) = (Vec::with_capacity(items.len()), Vec::new());
        for chunk in items.chunks(size) {
            let length = chunk.iter().map(|(_, text)| text.len() + 1).sum::<usize>();
            let mut page = String::with_capacity(length + 1);
            for (_, text) in chunk {
                page.push(if page.is_empty() { '[' } else { ',' });
                let start = page.len();
                page.push_str(text);
                places.push((pages.len(), start..page.len()));
            }
            page.push(']');
            pages.push(array(&page));
        }
        // An empty list still has a page: the result must have its member.
        if pages.is_empty() {
            pages.push(array("[]"));
        }
        let texts: Vec<&str> = pages.iter().map(Raw::as_str).collect();
        let stamp = STAMPS.hash_one(texts);
        let keys = items.into_iter().map(|(key, _)| key).collect();
        Self {
            keys,
            places,
            pages,
            size,
            stamp,
        }
    }

    /// A number that stands for the contents: lists with equal stamps are equal.
    pub(super) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Returns true if another list has the same pages.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.pages == other.pages && self.keys == other.keys
    }

    /// The page that begins after an item, and the key of its last item if there are more.
    pub(super) fn page(&self, after: Option<&str>) -> (Raw, Option<&str>) {
        let start = after.map_or(0, |after| self.keys.partition_point(|key| **key <= *after));
        let end = start.saturating_add(self.size).min(self.keys.len());
        let last = end.checked_sub(1).and_then(|last| self.keys.get(last));
        let next = last.filter(|_| end < self.keys.len()).map(|key| &**key);
        // The usual case: whole pages, as they were prepared. The list may also have changed since.
        let is_whole = start.is_multiple_of(self.size);
        let prepared = is_whole.then(|| self.pages.get(start / self.size));
        let page = match prepared.flatten() {
            Some(page) => page.clone(),
            None => self.compose(start..end),
        };
        (page, next)
    }

    /// A page that begins within a prepared one.
    fn compose(&self, range: Range<usize>) -> Raw {
        let places = self.places.get(range).unwrap_or_default().iter();
        let texts = places.filter_map(|(page, place)| {
            let page = self.pages.get(*page)?;
            page.as_str().get(place.clone())
        });
        array(&format!("[{}]", texts.collect::<Vec<_>>().join(",")))
    }
}

/// The text of an array as a value. Its items were read as JSON before.
fn array(text: &str) -> Raw {
    Raw::parse(text).unwrap_or_else(|_| Raw::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str], size: usize) -> PreparedList {
        let item = |name: &&str| (Arc::from(*name), format!("\"{name}\""));
        PreparedList::new(names.iter().map(item).collect(), size)
    }

    fn read(list: &PreparedList) -> Vec<String> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = list.page(after);
            pages.push(page.as_str().to_owned());
            match next {
                Some(next) => after = Some(next),
                None => return pages,
            }
        }
    }

    #[test]
    fn a_list_is_sorted_and_cut_into_pages() {
        assert_eq!(read(&list(&[], 2)), ["[]"]);
        assert_eq!(read(&list(&["b", "a"], 2)), [r#"["a","b"]"#]);
        let pages = [r#"["a","b"]"#, r#"["c"]"#];
        assert_eq!(read(&list(&["c", "b", "a"], 2)), pages);
    }

    #[test]
    fn a_page_begins_after_its_key_whether_the_item_exists_or_not() {
        let list = list(&["a", "c", "e", "g"], 2);
        for (after, page, next) in [
            ("", r#"["a","c"]"#, Some("c")),
            ("a", r#"["c","e"]"#, Some("e")),
            ("b", r#"["c","e"]"#, Some("e")),
            ("c", r#"["e","g"]"#, None),
            ("f", r#"["g"]"#, None),
            ("g", "[]", None),
            ("z", "[]", None),
        ] {
            let (found, more) = list.page(Some(after));
            assert_eq!((found.as_str(), more), (page, next), "{after}");
        }
    }

    #[test]
    fn the_stamps_of_lists_are_equal_if_the_lists_are() {
        let stamp = |names: &[&str]| list(names, 2).stamp();
        assert_eq!(stamp(&["a", "b"]), stamp(&["b", "a"]));
        assert_ne!(stamp(&["a", "b"]), stamp(&["a", "b", "c"]));
        assert_ne!(stamp(&["a"]), stamp(&[]));
    }
}
