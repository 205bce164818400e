//! End positions of the outer objects and arrays of a large text, noted while it is checked.
//!
//! Lists are read level by level: the page, its items, the members of each item. Without these
//! notes, every level would scan all of the text below it again to find the ends of its parts.

use std::sync::Arc;

/// Levels that are noted: a result, its list, an item, and the parts of an item.
pub(crate) const LEVELS: usize = 4;

/// Texts shorter than this are scanned again faster than they are noted.
const LARGE: usize = 2048;

/// Parts shorter than this are scanned faster than they are looked up.
const LONG: u32 = 48;

/// Start and end of objects and arrays, in the order of their starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The start of the text itself; positions are relative to it.
    origin: usize,
    places: Vec<(u32, u32)>,
    /// For each level, the index in `places` of the part that is still open.
    open: [u32; LEVELS],
}

impl Ends {
    /// Creates notes for the value that begins at `at`; `None` if the text is too short to profit.
    pub(crate) fn for_text(text: &str, at: usize) -> Option<Box<Self>> {
        let worth_it = text.len() >= LARGE && u32::try_from(text.len()).is_ok();
        worth_it.then(|| {
            Box::new(Self {
                origin: at,
                ..Self::default()
            })
        })
    }

    pub(crate) fn enter(&mut self, depth: usize, start: usize) {
        let Some(open) = self.open.get_mut(depth) else {
            return;
        };
        if let Some(start) = place(start, self.origin) {
            *open = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
            self.places.push((start, start));
        }
    }

    pub(crate) fn leave(&mut self, depth: usize, end: usize) {
        let Some(open) = self.open.get(depth) else {
            return;
        };
        let Some(end) = place(end, self.origin) else {
            return;
        };
        let index = usize::try_from(*open).unwrap_or(usize::MAX);
        // Forget short parts again, unless longer ones inside of them were noted.
        let is_last = index + 1 == self.places.len();
        if let Some(noted) = self.places.get_mut(index) {
            noted.1 = end;
            if is_last && end - noted.0 < LONG {
                self.places.pop();
            }
        }
    }

    /// The notes in the form that [`Raw`](crate::Raw) shares between its parts.
    pub(crate) fn into_shared(self) -> Option<Arc<[(u32, u32)]>> {
        (!self.places.is_empty()).then(|| Arc::from(self.places))
    }
}

fn place(at: usize, origin: usize) -> Option<u32> {
    u32::try_from(at.checked_sub(origin)?).ok()
}

/// Looks up the end of the part that begins at `start`.
pub(crate) fn find(places: &[(u32, u32)], start: usize) -> Option<usize> {
    let start = u32::try_from(start).ok()?;
    let index = places.binary_search_by_key(&start, |place| place.0).ok()?;
    places
        .get(index)
        .and_then(|place| usize::try_from(place.1).ok())
}

#[cfg(test)]
mod tests {
    use crate::{Checked, Raw, scan};

    /// Whatever is noted is what passing over the text finds.
    #[test]
    fn notes_agree_with_the_text() {
        let item = format!(
            r#"{{"name":"x","schema":{{"a":[1,2,{{"b":"{}"}}],"c":{{}}}},"tags":[]}}"#,
            "y".repeat(60)
        );
        let text = format!(
            r#" {{"items":[{}],"next":null}}"#,
            vec![item; 30].join(", ")
        );
        let checked = Checked::new(&text).unwrap();
        let inner = checked.as_str().to_owned();
        let places = checked.into_ends().unwrap().into_shared().unwrap();
        assert_eq!(places.len(), 2 + 30 * 2);
        for (start, end) in &*places {
            let (start, end) = (*start as usize, *end as usize);
            assert_eq!(scan::value_end(inner.as_bytes(), start), Some(end));
            assert_eq!(super::find(&places, start), Some(end));
        }
        assert_eq!(super::find(&places, 3), None);
        let raw = Raw::parse(&text).unwrap();
        assert_eq!(raw.member("items").unwrap().items().len(), 30);
    }

    #[test]
    fn small_texts_have_no_notes() {
        let checked = Checked::new(r#"{"a":[1]}"#).unwrap();
        assert_eq!(checked.into_ends(), None);
    }
}
