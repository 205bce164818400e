//! The order and the room in which resources are read for a model with a limited context.

use std::fmt;

use switchboard_wire::Resource;

/// The priority of a resource that does not say.
const PRIORITY: f64 = 0.5;

/// The room that is left for the texts of resources while they are read one after the other.
///
/// A resource without a size is read to learn it, so what turns out not to fit was read in vain. That is
/// bounded too: once it is as much as `most_in_vain`, only resources with a size are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    left: u64,
    in_vain: u64,
    most_in_vain: u64,
}

impl Room {
    /// Room for so many bytes, and for so many that are read in vain.
    pub(crate) fn new(bytes: u64, most_in_vain: u64) -> Self {
        Self {
            left: bytes,
            in_vain: 0,
            most_in_vain,
        }
    }

    /// Decides by its size, if its server states one, whether a resource is read.
    ///
    /// # Errors
    /// Returns the reason if it is not.
    pub(crate) fn admit(&self, size: Option<u64>) -> Result<(), LeftOut> {
        let left = self.left;
        match size {
            Some(bytes) if bytes > left => Err(LeftOut::NoRoom { bytes, left }),
            None if left == 0 || self.in_vain >= self.most_in_vain => Err(LeftOut::NotTried),
            _ => Ok(()),
        }
    }

    /// Takes the room for a text that was read.
    ///
    /// # Errors
    /// Returns the reason if it does not fit.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), LeftOut> {
        let left = self.left;
        match left.checked_sub(bytes) {
            Some(rest) => {
                self.left = rest;
                Ok(())
            }
            None => {
                self.in_vain = self.in_vain.saturating_add(bytes);
                Err(LeftOut::NoRoom { bytes, left })
            }
        }
    }
}

/// The reason that a resource was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// It is for people only.
    NotForModels,
    /// It does not fit into what is left.
    NoRoom {
        /// Its size.
        bytes: u64,
        /// The space that was left.
        left: u64,
    },
    /// Its size is not known, and there is no room to read it.
    NotTried,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotForModels => f.write_str("it is for people"),
            Self::NoRoom { bytes, left } => write!(f, "it has {bytes} bytes, and {left} are left"),
            Self::NotTried => f.write_str("its size is not known, and there is no room to read it"),
        }
    }
}

/// Orders resources by what their servers say about them, and returns their numbers, each with the reason
/// if it is not for models.
///
/// The important ones come first, of these the newer ones. Equals are taken by address, then in the order
/// they came, so the same resources always give the same order.
pub(crate) fn rank(resources: &[&Resource]) -> Vec<(usize, Option<LeftOut>)> {
    let mut ranked: Vec<(usize, Rank<'_>)> = resources
        .iter()
        .enumerate()
        .map(|(number, resource)| (number, Rank::of(resource)))
        .collect();
    ranked.sort_by(|(_, a), (_, b)| {
        let by_priority = b.priority.total_cmp(&a.priority);
        let by_time = b.modified.cmp(&a.modified);
        by_priority.then(by_time).then_with(|| a.uri.cmp(b.uri))
    });
    let reason = |rank: &Rank<'_>| (!rank.is_for_models).then_some(LeftOut::NotForModels);
    ranked
        .iter()
        .map(|(number, rank)| (*number, reason(rank)))
        .collect()
}

struct Rank<'a> {
    is_for_models: bool,
    priority: f64,
    /// Seconds and nanoseconds; nothing is older than everything.
    modified: Option<(i64, u32)>,
    uri: &'a str,
}

impl<'a> Rank<'a> {
    fn of(resource: &'a Resource) -> Self {
        let annotations = resource.annotations();
        let audience = annotations.map(|said| said.audience()).unwrap_or_default();
        let priority = annotations.and_then(|said| said.priority());
        Self {
            is_for_models: audience.is_empty() || audience.iter().any(|who| who == "assistant"),
            priority: priority.unwrap_or(PRIORITY).clamp(0.0, 1.0),
            modified: annotations.and_then(|said| said.last_modified_time()),
            uri: resource.uri(),
        }
    }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::{FromRaw as _, Raw};

    use super::*;

    fn resource(uri: &str, size: &str, annotations: &str) -> Resource {
        let text =
            format!(r#"{{"uri":"{uri}","name":"n","size":{size},"annotations":{annotations}}}"#);
        Resource::from_raw(&Raw::parse(&text).unwrap()).unwrap()
    }

    fn ranked(resources: &[Resource]) -> Vec<(usize, Option<LeftOut>)> {
        rank(&resources.iter().collect::<Vec<_>>())
    }

    #[test]
    fn the_important_come_first_then_the_new_then_by_address() {
        let all = [
            resource("z:1", "1", "{}"),
            resource("a:1", "1", r#"{"priority":0.2}"#),
            resource(
                "b:1",
                "1",
                r#"{"priority":0.9,"lastModified":"2025-01-01T00:00:00Z"}"#,
            ),
            resource(
                "c:1",
                "1",
                r#"{"priority":0.9,"lastModified":"2025-06-01T00:00:00Z"}"#,
            ),
            resource("y:1", "1", r#"{"priority":0.5}"#),
            resource("d:1", "1", r#"{"priority":0.9}"#),
        ];
        let order: Vec<_> = ranked(&all).iter().map(|(number, _)| *number).collect();
        assert_eq!(order, [3, 2, 5, 4, 0, 1]);
    }

    #[test]
    fn what_is_for_people_only_is_left_out() {
        let all = [
            resource("a:1", "1", r#"{"audience":["user"]}"#),
            resource("b:1", "1", r#"{"audience":["user","assistant"]}"#),
            resource("c:1", "1", r#"{"audience":[]}"#),
        ];
        let for_people = Some(LeftOut::NotForModels);
        assert_eq!(ranked(&all), [(0, for_people), (1, None), (2, None)]);
    }

    #[test]
    fn what_does_not_fit_is_passed_over_for_what_does() {
        let mut room = Room::new(100, 1000);
        assert_eq!(room.admit(Some(60)), Ok(()));
        assert_eq!(room.take(60), Ok(()));
        let no_room = |bytes| Err(LeftOut::NoRoom { bytes, left: 40 });
        assert_eq!(room.admit(Some(41)), no_room(41));
        assert_eq!(room.admit(Some(u64::MAX)), no_room(u64::MAX));
        assert_eq!(room.admit(Some(40)), Ok(()));
        // The text counts, and not what its server said of it.
        assert_eq!(room.take(41), no_room(41));
        assert_eq!(room.take(40), Ok(()));
        assert_eq!(room.left, 0);
        assert_eq!(room.admit(Some(0)), Ok(()));
        assert_eq!(room.admit(None), Err(LeftOut::NotTried));
    }

    #[test]
    fn only_so_much_is_read_in_vain() {
        let mut room = Room::new(100, 202);
        for _ in 0..2 {
            assert_eq!(room.admit(None), Ok(()));
            room.take(101).unwrap_err();
        }
        assert_eq!(room.admit(None), Err(LeftOut::NotTried));
        // What has a size is still read.
        assert_eq!(room.admit(Some(100)), Ok(()));
    }
}
