//! Where the outer parts of a large text end, noted while the text was checked.
//!
//! Lists are read part by part: the page, its items, the members of each. Without this, every
//! level would pass over the whole text below it again to find where its parts end.

use std::sync::Arc;

/// How many levels are noted: a result, its list, an item, and what an item holds.
pub(crate) const LEVELS: usize = 4;

/// Texts smaller than this are passed over faster than they are noted.
const LARGE: usize = 2048;

/// Parts shorter than this are passed over faster than they are looked up.
const LONG: u32 = 48;

/// Where objects and arrays begin and end, in the order of their beginnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    /// Where the text itself begins: places are counted from there.
    origin: usize,
    places: Vec<(u32, u32)>,
    /// Which of the places are still open.
    open: [u32; LEVELS],
}

impl Ends {
    /// Notes of the value that begins at `at`; none where they are not worth it.
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
        let is_last = index + 1 == self.places.len();
        if let Some(noted) = self.places.get_mut(index) {
            noted.1 = end;
            if is_last && end - noted.0 < LONG {
                self.places.pop();
            }
        }
    }

    /// The notes, to be kept with the text.
    pub(crate) fn into_shared(self) -> Option<Arc<[(u32, u32)]>> {
        (!self.places.is_empty()).then(|| Arc::from(self.places))
    }
}

fn place(at: usize, origin: usize) -> Option<u32> {
    u32::try_from(at.checked_sub(origin)?).ok()
}

/// Looks up where the part that begins at `start` ends.
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
