//! Pins on disk and in memory. Owners, modes, links and locks are the private store's, which the store of approvals holds to its
//! promises; here is what must not be lost on the way.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{full, name, whole, with};
use crate::pins::{PinLimits, Pinned, Pins, Standing, StoreError, StoreLimits, Which};
use crate::spec::Identity;

struct Place {
    _folder: TempDir,
    state: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/switchboard");
        Self {
            _folder: folder,
            state,
        }
    }

    fn pins(&self) -> Pins {
        Pins::at(&self.state)
    }

    /// Pins with one server in them.
    fn used(&self) -> Pins {
        let pins = self.pins();
        pins.set(&one(), &name("s"), Pinned::of(&whole().build(None)))
            .unwrap();
        pins
    }

    fn file(&self) -> PathBuf {
        self.state.join(format!("pins-{}.json", one()))
    }
}

fn one() -> Identity {
    Identity::new([1; 32])
}

fn two() -> Identity {
    Identity::new([2; 32])
}

/// Holds that nothing works or changes; gives the error of reading.
#[track_caller]
fn refused(place: &Place) -> String {
    let pins = place.pins();
    let error = pins.baseline(&one()).unwrap_err();
    assert!(pins.list().is_err());
    assert!(pins.approve(&one(), []).is_err());
    assert!(pins.set(&one(), &name("s"), Pinned::default()).is_err());
    assert!(pins.begin(&one(), &name("s"), Pinned::default()).is_err());
    assert!(pins.revoke(&Which::Identity(one())).is_err());
    error.to_string()
}

#[test]
fn nothing_is_made_before_the_first_approval() {
    let place = Place::new();
    let pins = place.pins();
    assert_eq!(pins.baseline(&one()).unwrap(), None);
    assert_eq!(pins.list().unwrap(), []);
    assert_eq!(pins.revoke(&Which::Server(name("s"))).unwrap(), []);
    assert_eq!(pins.revoke(&Which::Identity(one())).unwrap(), []);
    assert!(!place.state.exists());
}

#[test]
fn what_was_approved_outlives_the_program() {
    let place = Place::new();
    place.used();
    let part = whole().build(None);
    let kept = place.pins().baseline(&one()).unwrap().unwrap();
    assert_eq!(*kept, Pinned::of(&part));
    assert_eq!(kept.compare(&part), []);
    assert_eq!(place.pins().baseline(&two()).unwrap(), None);
    let listed = place.pins().list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].identity, listed[0].server.as_str()),
        (one(), "s")
    );
}

#[test]
fn one_drift_or_all_are_approved() {
    let mut other = full();
    other["description"] = json!("Other.");
    let extra = json!({"name": "zap", "inputSchema": {}});
    let after = with(&[other, extra]);
    for (pins, _place) in both() {
        let kept = pins.baseline(&one()).unwrap().unwrap();
        let drifts = kept.compare(&after);
        let add = drifts.iter().filter(|drift| drift.name == "add");
        let kept = pins.approve(&one(), add).unwrap().unwrap();
        assert_eq!(kept.tool(after.tool("add").unwrap()), Standing::Pinned);
        assert_eq!(kept.tool(after.tool("zap").unwrap()), Standing::Added);
        assert_eq!(pins.baseline(&one()).unwrap().unwrap(), kept);
        let kept = pins.approve(&one(), &drifts).unwrap().unwrap();
        assert_eq!(kept.compare(&after), []);
        // Of what was never begun, or was revoked, no part is approved.
        assert_eq!(pins.approve(&two(), &drifts).unwrap(), None);
        assert_eq!(pins.baseline(&two()).unwrap(), None);
    }
}

fn both() -> Vec<(Pins, Option<Place>)> {
    let place = Place::new();
    let memory = Pins::in_memory();
    memory
        .set(&one(), &name("s"), Pinned::of(&whole().build(None)))
        .unwrap();
    vec![(place.used(), Some(place)), (memory, None)]
}

#[test]
fn the_first_of_two_who_begin_is_kept() {
    for (pins, _place) in both() {
        let first = pins.baseline(&one()).unwrap().unwrap();
        let kept = pins.begin(&one(), &name("s"), Pinned::default()).unwrap();
        assert_eq!(kept, first);
        let kept = pins.begin(&two(), &name("t"), Pinned::default()).unwrap();
        assert_eq!(*kept, Pinned::default());
        assert_eq!(pins.list().unwrap().len(), 2);
    }
}

#[test]
fn servers_are_revoked_by_identity_and_by_name() {
    for (pins, _place) in both() {
        pins.set(&two(), &name("s"), Pinned::default()).unwrap();
        assert_eq!(pins.revoke(&Which::Server(name("t"))).unwrap(), []);
        assert_eq!(pins.revoke(&Which::Identity(two())).unwrap().len(), 1);
        assert_eq!(pins.list().unwrap().len(), 1);
        pins.set(&two(), &name("s"), Pinned::default()).unwrap();
        assert_eq!(pins.revoke(&Which::Server(name("s"))).unwrap().len(), 2);
        assert_eq!(pins.list().unwrap(), []);
        assert_eq!(pins.baseline(&one()).unwrap(), None);
    }
}

#[test]
fn a_broken_file_is_an_error_that_names_it_and_stays_as_it_is() {
    let good = {
        let place = Place::new();
        place.used();
        std::fs::read_to_string(place.file()).unwrap()
    };
    let edit = |pointer: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&good).unwrap();
        *document.pointer_mut(pointer).unwrap() = value;
        document.to_string()
    };
    let broken = [
        String::new(),
        "{}".to_owned(),
        good.chars().take(good.len() / 2).collect(),
        format!("{good}{good}"),
        edit("/version", json!(2)),
        edit("/identity", json!(two().to_string())),
        edit("/server", json!("a/b")),
        edit("/approved", json!(-1)),
        edit("/approved", json!(u64::MAX)),
        edit("/tools/add/hash", json!("sha256:00")),
        // The text that would be shown has to be the one that was approved.
        edit("/tools/add/text", json!("{}")),
        edit("/instructions/text", json!("\"\"")),
        good.replace("\"prompts\"", "\"promts\""),
    ];
    for text in broken {
        let place = Place::new();
        place.used();
        std::fs::write(place.file(), &text).unwrap();
        let error = refused(&place);
        assert!(error.contains(place.file().to_str().unwrap()), "{error}");
        assert_eq!(std::fs::read_to_string(place.file()).unwrap(), text);
    }
}

#[test]
fn a_store_holds_as_much_as_its_bounds_say() {
    let few = StoreLimits {
        records: 1,
        ..Pins::default_limits()
    };
    for (pins, _place) in both() {
        let pins = pins.limits(few);
        let error = pins.set(&two(), &name("t"), Pinned::default()).unwrap_err();
        assert!(matches!(error, StoreError::Full { most: 1 }), "{error}");
        pins.set(&one(), &name("s"), Pinned::default()).unwrap();
        assert_eq!(pins.list().unwrap().len(), 1);
    }
    let place = Place::new();
    place.used();
    let size = usize::try_from(std::fs::metadata(place.file()).unwrap().len()).unwrap();
    let within = |file_bytes| StoreLimits {
        file_bytes,
        ..Pins::default_limits()
    };
    assert!(place.pins().limits(within(size)).baseline(&one()).is_ok());
    let small = place.pins().limits(within(size - 1));
    assert!(matches!(
        small.baseline(&one()),
        Err(StoreError::Broken { .. })
    ));
    let pinned = Pinned::of(&whole().build(None));
    let error = small.set(&two(), &name("s"), pinned).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
}

#[test]
fn the_largest_server_fits_into_its_file() {
    let bounds = PinLimits::default();
    // Quotes take the most room: they are escaped in the text, and the text is escaped in the file.
    let definitions: Vec<Value> = (0..110)
        .map(|at| json!({"name": format!("t{at}"), "description": "\"".repeat(20_000), "inputSchema": {}}))
        .collect();
    let pinned = Pinned::of(&with(&definitions));
    let kept: usize = pinned.tools.values().map(|pin| pin.text.len()).sum();
    assert!(
        kept > bounds.server_bytes - bounds.definition_bytes,
        "{kept}"
    );
    let place = Place::new();
    place
        .pins()
        .set(&one(), &name("s"), pinned.clone())
        .unwrap();
    assert_eq!(*place.pins().baseline(&one()).unwrap().unwrap(), pinned);
}

#[test]
fn many_who_approve_at_once_lose_nothing() {
    let place = Place::new();
    place.used();
    let after = with(
        &(0..8)
            .map(|at| json!({"name": format!("t{at}"), "inputSchema": {}}))
            .collect::<Vec<_>>(),
    );
    let drifts = place
        .pins()
        .baseline(&one())
        .unwrap()
        .unwrap()
        .compare(&after);
    std::thread::scope(|scope| {
        for drift in drifts.chunks(1) {
            let place = &place;
            scope.spawn(move || place.pins().approve(&one(), drift).unwrap());
        }
    });
    let kept = place.pins().baseline(&one()).unwrap().unwrap();
    assert_eq!(kept.compare(&after), []);
}

#[cfg(unix)]
#[test]
fn files_are_for_the_person_alone_and_others_are_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let mode = |path: &PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let place = Place::new();
    place.used();
    assert_eq!(mode(&place.state), 0o700);
    assert_eq!(mode(&place.file()), 0o600);
    assert_eq!(mode(&place.state.join("pins.lock")), 0o600);

    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(place.file(), open).unwrap();
    assert!(refused(&place).contains("chmod"));

    let place = Place::new();
    place.used();
    let aside = place.state.join("aside.json");
    std::fs::rename(place.file(), &aside).unwrap();
    symlink(&aside, place.file()).unwrap();
    assert!(refused(&place).contains("it is a link"));
    std::fs::remove_file(place.file()).unwrap();
    symlink("nowhere", place.file()).unwrap();
    assert!(refused(&place).contains("it is a link"));

    let place = Place::new();
    place.used();
    std::fs::set_permissions(&place.state, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(refused(&place).contains("chmod"));
}

#[test]
fn pins_that_were_deleted_are_no_new_beginning() {
    let place = Place::new();
    place.used();
    std::fs::remove_file(place.file()).unwrap();
    let pins = place.pins();
    let is_lost = |error: StoreError| {
        let StoreError::Lost { lost } = &error else {
            panic!("{error}");
        };
        assert_eq!(lost.path, place.file());
        assert_eq!(lost.note.servers(), ["s"]);
    };
    is_lost(pins.baseline(&one()).unwrap_err());
    is_lost(
        pins.begin(&one(), &name("s"), Pinned::default())
            .unwrap_err(),
    );
    assert!(!place.file().exists());
    assert_eq!(pins.lost_files().unwrap().len(), 1);
    // Another server is not concerned, and the person may approve what there is now.
    assert_eq!(pins.baseline(&two()).unwrap(), None);
    pins.begin(&two(), &name("t"), Pinned::default()).unwrap();
    pins.set(&one(), &name("s"), Pinned::default()).unwrap();
    assert!(pins.baseline(&one()).unwrap().is_some());
    assert_eq!(pins.lost_files().unwrap(), []);
}

#[test]
fn pins_that_were_revoked_are_not_missed_and_lost_ones_can_be_revoked() {
    let place = Place::new();
    for which in [Which::Identity(one()), Which::Server(name("s"))] {
        place.used();
        place.pins().revoke(&which).unwrap();
        assert_eq!(place.pins().baseline(&one()).unwrap(), None);
        place.used();
        std::fs::remove_file(place.file()).unwrap();
        place.pins().revoke(&which).unwrap();
        assert_eq!(place.pins().baseline(&one()).unwrap(), None);
        assert_eq!(place.pins().lost_files().unwrap(), []);
    }
}

#[test]
fn pins_of_a_version_without_notes_are_noted_without_a_complaint() {
    let place = Place::new();
    place.used();
    std::fs::remove_file(place.state.join("pins.kept")).unwrap();
    assert!(place.pins().baseline(&one()).unwrap().is_some());
    assert_eq!(place.pins().lost_files().unwrap(), []);
    std::fs::remove_file(place.file()).unwrap();
    assert_eq!(place.pins().lost_files().unwrap().len(), 1);
}
