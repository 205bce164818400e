//! A choice of resources for a model with a limited context.

use switchboard_wire::Resource;

/// The priority of a resource that does not say.
const PRIORITY: f64 = 0.5;

/// The space that is available.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Room {
    /// Bytes in all.
    pub bytes: u64,
    /// The size assumed for a resource that does not state one.
    pub unknown_bytes: u64,
}

impl Room {
    /// Room for so many bytes.
    pub fn of(bytes: u64) -> Self {
        Self {
            bytes,
            unknown_bytes: 16 * 1024,
        }
    }
}

/// The chosen resources.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub struct Choice {
    /// Numbers of the resources to read, the most important one first.
    pub picked: Vec<usize>,
    /// Numbers of the others, in the same order, and why.
    pub left_out: Vec<(usize, LeftOut)>,
    /// Bytes that the picked ones take, as far as that is known.
    pub bytes: u64,
}

/// The reason why a resource was not chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub enum LeftOut {
    /// It is for people only.
    NotForModels,
    /// It does not fit into what is left.
    NoRoom {
        /// Its size, or what it was taken for.
        bytes: u64,
        /// The space that was left.
        left: u64,
    },
}

/// Chooses among resources by what their servers say about them.
///
/// Those for models (or without an audience), the important ones first, of these the newer
/// ones; what does not fit is passed over for what does. Equals are taken by address, then in the
/// order they came, so the same resources always give the same choice.
#[doc(hidden)]
pub fn choose(resources: &[&Resource], room: &Room) -> Choice {
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
    let mut choice = Choice {
        picked: Vec::new(),
        left_out: Vec::new(),
        bytes: 0,
    };
    for (number, rank) in ranked {
        let bytes = rank.bytes.unwrap_or(room.unknown_bytes);
        let left = room.bytes.saturating_sub(choice.bytes);
        if !rank.is_for_models {
            choice.left_out.push((number, LeftOut::NotForModels));
        } else if bytes > left {
            choice
                .left_out
                .push((number, LeftOut::NoRoom { bytes, left }));
        } else {
            choice.picked.push(number);
            choice.bytes += bytes;
        }
    }
    choice
}

struct Rank<'a> {
    is_for_models: bool,
    priority: f64,
    /// Seconds and nanoseconds; nothing is older than everything.
    modified: Option<(i64, u32)>,
    bytes: Option<u64>,
    uri: &'a str,
}

impl<'a> Rank<'a> {
    fn of(resource: &'a Resource) -> Self {
        let annotations = resource.annotations();
        let audience = annotations.map(|said| said.audience()).unwrap_or_default();
        let priority = annotations.and_then(|said| said.priority());
        let modified = annotations.and_then(|said| said.last_modified());
        Self {
            is_for_models: audience.is_empty() || audience.iter().any(|who| who == "assistant"),
            priority: priority.unwrap_or(PRIORITY).clamp(0.0, 1.0),
            modified: modified.and_then(instant),
            bytes: resource.size(),
            uri: resource.uri(),
        }
    }
}

/// Reads an ISO 8601 time such as `2025-01-12T15:00:58.5+01:00`, or a day alone.
fn instant(text: &str) -> Option<(i64, u32)> {
    let number = |text: &str| -> Option<i64> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let clock = |text: &str| -> Option<i64> {
        let mut parts = text.split(':').map(number);
        let (hours, minutes) = (parts.next()??, parts.next()??);
        let seconds = parts.next().unwrap_or(Some(0))?;
        let is_clock = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
        is_clock.then_some(hours * 3600 + minutes * 60 + seconds)
    };
    let (day, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00Z"));
    let mut parts = day.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some()
        || year > 9999
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
    {
        return None;
    }
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => time.split_at_checked(at)?,
        None => (time, "Z"),
    };
    let offset = match offset.split_at_checked(1)? {
        ("+", offset) => clock(offset)?,
        ("-", offset) => -clock(offset)?,
        (_, "") => 0,
        _ => return None,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let nanos = format!("{fraction:0<9}");
    let nanos = u32::try_from(number(nanos.get(..9)?)?).ok()?;
    // Days since the epoch; the year begins in March, so that the odd day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day
            - 719_469;
    Some((days * 86_400 + clock(time)? - offset, nanos))
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

    fn chosen(resources: &[Resource], room: &Room) -> Choice {
        choose(&resources.iter().collect::<Vec<_>>(), room)
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
        let choice = chosen(&all, &Room::of(100));
        assert_eq!(
            choice,
            Choice {
                picked: vec![3, 2, 5, 4, 0, 1],
                left_out: vec![],
                bytes: 6
            }
        );
    }

    #[test]
    fn what_is_for_people_only_is_left_out() {
        let all = [
            resource("a:1", "1", r#"{"audience":["user"]}"#),
            resource("b:1", "1", r#"{"audience":["user","assistant"]}"#),
            resource("c:1", "1", r#"{"audience":[]}"#),
        ];
        assert_eq!(
            chosen(&all, &Room::of(100)),
            Choice {
                picked: vec![1, 2],
                left_out: vec![(0, LeftOut::NotForModels)],
                bytes: 2
            }
        );
    }

    #[test]
    fn what_does_not_fit_is_passed_over_for_what_does() {
        let all = [
            resource("a:1", "60", r#"{"priority":1}"#),
            resource("b:1", "41", r#"{"priority":0.9}"#),
            resource("c:1", "40", r#"{"priority":0.8}"#),
            resource("d:1", "0", r#"{"priority":0.1}"#),
            resource("e:1", "18446744073709551615", "{}"),
        ];
        let no_room = |bytes, left| LeftOut::NoRoom { bytes, left };
        assert_eq!(
            chosen(&all, &Room::of(100)),
            Choice {
                picked: vec![0, 2, 3],
                left_out: vec![(1, no_room(41, 40)), (4, no_room(u64::MAX, 0))],
                bytes: 100
            }
        );
    }

    #[test]
    fn an_unknown_size_is_taken_for_a_page_or_two() {
        let all = [resource("a:1", "null", "{}"), resource("b:1", "null", "{}")];
        let room = Room::of(20 * 1024);
        let choice = chosen(&all, &room);
        assert_eq!(choice.picked, [0]);
        assert_eq!(choice.bytes, 16 * 1024);
    }

    #[test]
    fn times_are_compared_as_times() {
        assert_eq!(instant("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(instant("2000-03-01T00:00:00Z"), Some((951_868_800, 0)));
        assert_eq!(
            instant("2024-02-29T12:30:15.25Z"),
            Some((1_709_209_815, 250_000_000))
        );
        assert_eq!(
            instant("2025-01-12T15:00:58+01:00"),
            instant("2025-01-12T14:00:58Z")
        );
        assert_eq!(
            instant("2025-01-12T13:00:58-01:00"),
            instant("2025-01-12T14:00:58Z")
        );
        assert_eq!(instant("2025-01-12"), instant("2025-01-12T00:00Z"));
        for bad in [
            "",
            "yesterday",
            "2025-13-01",
            "2025-01-01T25:00Z",
            "2025-1",
            "٢٠٢٥-01-01",
        ] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }
}
