//! Attacks on a store, and two who use it at once.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::spec::Layer;

/// A folder to keep a store in, and the store.
struct Place {
    _folder: TempDir,
    state: PathBuf,
    file: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/switchboard");
        let file = state.join("trust.json");
        Self {
            _folder: folder,
            state,
            file,
        }
    }

    fn store(&self) -> Store {
        Store::at(&self.state)
    }

    /// A store with one approval in it.
    fn used(&self) -> Store {
        let store = self.store();
        store.approve(&claim("one", "sh")).unwrap();
        store
    }
}

fn claim(name: &str, command: &str) -> Claim {
    let server = ServerName::parse(name).unwrap();
    let entry = json!({"command": command});
    Claim::new(server, "/src/app/.mcp.json", Layer::Project, entry)
}

/// Holds that nothing works, changes or is approved; gives the error of reading.
#[track_caller]
fn refused(place: &Place) -> String {
    let store = place.store();
    let error = store.standing(&claim("one", "sh")).unwrap_err();
    assert!(store.approve(&claim("two", "sh")).is_err());
    assert!(store.list().is_err());
    let which = Which::Server(ServerName::parse("one").unwrap());
    assert!(store.revoke(&which).is_err());
    error.to_string()
}

#[test]
fn nothing_is_made_before_the_first_approval() {
    let place = Place::new();
    let store = place.store();
    assert_eq!(store.standing(&claim("one", "sh")).unwrap(), Standing::New);
    assert_eq!(store.list().unwrap(), []);
    let which = Which::File("/src/app/.mcp.json".into());
    assert_eq!(store.revoke(&which).unwrap(), []);
    assert!(!place.state.exists());
}

#[test]
fn an_approval_outlives_the_program() {
    let place = Place::new();
    let claim = claim("one", "sh");
    let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    place.store().approve_at(&claim, time).unwrap();
    let store = place.store();
    assert_eq!(store.standing(&claim).unwrap(), Standing::Approved);
    let expected = Approval {
        server: claim.server.clone(),
        file: claim.file.clone(),
        fingerprint: claim.fingerprint(),
        approved: time,
    };
    assert_eq!(store.list().unwrap(), [expected]);
}

#[test]
fn an_approval_replaces_the_one_before_and_no_other() {
    for store in [Place::new().used(), Store::in_memory()] {
        store.approve(&claim("one", "a")).unwrap();
        store.approve(&claim("one", "b")).unwrap();
        store.approve(&claim("two", "b")).unwrap();
        let mut elsewhere = claim("one", "b");
        elsewhere.file = "/src/other/.mcp.json".into();
        store.approve(&elsewhere).unwrap();
        assert_eq!(store.list().unwrap().len(), 3);
        assert_eq!(
            store.standing(&claim("one", "a")).unwrap(),
            Standing::Changed(vec![Difference {
                pointer: "/command".into(),
                before: Some("\"b\"".into()),
                after: Some("\"a\"".into()),
            }])
        );
    }
}

#[test]
fn approvals_are_revoked_by_name_file_and_fingerprint() {
    let fill = || {
        let store = Store::in_memory();
        let mut other = claim("one", "sh");
        other.file = "/src/other/.mcp.json".into();
        for claim in [claim("one", "sh"), claim("two", "sh"), other] {
            store.approve(&claim).unwrap();
        }
        store
    };
    let fingerprint = claim("two", "sh").fingerprint();
    let prefix = fingerprint.short().parse().unwrap();
    for (which, gone) in [
        (Which::Server(ServerName::parse("one").unwrap()), 2),
        (Which::File("/src/app/.mcp.json".into()), 2),
        (Which::Fingerprint(prefix), 1),
        (Which::Server(ServerName::parse("three").unwrap()), 0),
    ] {
        let store = fill();
        let revoked = store.revoke(&which).unwrap();
        assert_eq!(revoked.len(), gone, "{which:?}");
        assert!(revoked.iter().all(|approval| which.means(approval)));
        assert_eq!(store.list().unwrap().len(), 3 - gone);
    }
    let place = Place::new();
    let store = place.used();
    let which = Which::Server(ServerName::parse("one").unwrap());
    assert_eq!(store.revoke(&which).unwrap().len(), 1);
    assert_eq!(
        place.store().standing(&claim("one", "sh")).unwrap(),
        Standing::New
    );
}

#[test]
fn a_broken_file_is_an_error_that_names_it() {
    let good = {
        let place = Place::new();
        place.used();
        std::fs::read_to_string(&place.file).unwrap()
    };
    let edit = |pointer: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&good).unwrap();
        *document.pointer_mut(pointer).unwrap() = value;
        document.to_string()
    };
    let mut twice: Value = serde_json::from_str(&good).unwrap();
    let first = twice["approvals"][0].clone();
    twice["approvals"].as_array_mut().unwrap().push(first);
    let broken = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        "\u{feff}{}".to_owned(),
        good.replace("\"approved\"", "\"unknown\""),
        format!("{good}{good}"),
        good.chars().take(good.len() / 2).collect(),
        edit("/version", json!(2)),
        edit("/approvals", json!({})),
        edit("/approvals/0/fingerprint", json!("sha256:00")),
        edit("/approvals/0/server", json!("a/b")),
        edit("/approvals/0/file", json!("%")),
        edit("/approvals/0/approved", json!(-1)),
        twice.to_string(),
    ];
    for text in broken {
        let place = Place::new();
        place.used();
        std::fs::write(&place.file, &text).unwrap();
        let error = refused(&place);
        assert!(error.contains(place.file.to_str().unwrap()), "{error}");
        assert_eq!(std::fs::read_to_string(&place.file).unwrap(), text);
    }
}

#[test]
fn a_store_holds_as_much_as_its_bounds_say() {
    let place = Place::new();
    let limits = |records, file_bytes| StoreLimits {
        records,
        file_bytes,
        ..StoreLimits::default()
    };
    for store in [Store::in_memory(), place.store()] {
        let store = store.limits(limits(2, 1 << 20));
        store.approve(&claim("one", "sh")).unwrap();
        store.approve(&claim("two", "sh")).unwrap();
        let error = store.approve(&claim("three", "sh")).unwrap_err();
        assert!(matches!(error, StoreError::Full { most: 2 }), "{error}");
        store.approve(&claim("two", "other")).unwrap();
        assert_eq!(store.list().unwrap().len(), 2);
    }
    let size = usize::try_from(std::fs::metadata(&place.file).unwrap().len()).unwrap();
    let at = place.store().limits(limits(2, size));
    assert_eq!(at.list().unwrap().len(), 2);
    let error = at.approve(&claim("two", "a longer command")).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    assert_eq!(at.list().unwrap().len(), 2);
    let under = place
        .store()
        .limits(limits(2, size - 1))
        .list()
        .unwrap_err();
    assert!(matches!(under, StoreError::Broken { .. }), "{under}");
    let fewer = place.store().limits(limits(1, size)).list().unwrap_err();
    assert!(matches!(fewer, StoreError::Broken { .. }), "{fewer}");
}

#[test]
fn a_time_before_all_times_is_written_as_the_first() {
    let store = Store::in_memory();
    let time = UNIX_EPOCH - Duration::from_secs(1);
    store.approve_at(&claim("one", "sh"), time).unwrap();
    let approved: Vec<SystemTime> = store
        .list()
        .unwrap()
        .iter()
        .map(|one| one.approved)
        .collect();
    assert_eq!(approved, [UNIX_EPOCH]);
}

#[test]
fn what_a_dead_writer_left_is_in_nobodys_way() {
    let place = Place::new();
    place.used();
    std::fs::write(place.state.join("trust.json.new"), "{").unwrap();
    place.store().approve(&claim("two", "sh")).unwrap();
    assert_eq!(place.store().list().unwrap().len(), 2);
    assert!(!place.state.join("trust.json.new").exists());
}

#[test]
fn many_who_approve_at_once_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let place = &place;
            scope.spawn(move || {
                // A store each, as processes have.
                let store = place.store();
                for at in 0..10 {
                    store
                        .approve(&claim(&format!("server-{writer}-{at}"), "sh"))
                        .unwrap();
                    assert!(store.list().unwrap().len() > at);
                }
            });
        }
    });
    assert_eq!(place.store().list().unwrap().len(), 80);
    let names: Vec<String> = names(&place.state);
    assert_eq!(names, ["trust.json", "trust.kept", "trust.lock"]);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[cfg(unix)]
mod unix;

#[test]
fn approvals_that_were_deleted_are_missed_until_something_is_approved() {
    let place = Place::new();
    let store = place.used();
    store.approve(&claim("two", "sh")).unwrap();
    assert_eq!(store.lost_file().unwrap(), None);
    std::fs::remove_file(&place.file).unwrap();
    let lost = place.store().lost_file().unwrap().unwrap();
    assert_eq!(lost.path, place.file);
    assert_eq!(lost.note.count(), 2);
    assert_eq!(lost.note.servers(), ["one", "two"]);
    // Nothing is approved by it, and what is approved again begins a new file.
    let standing = place.store().standing(&claim("one", "sh")).unwrap();
    assert_eq!(standing, Standing::New);
    place.used();
    assert_eq!(place.store().lost_file().unwrap(), None);

    std::fs::remove_file(&place.file).unwrap();
    place.store().forget_lost().unwrap();
    assert_eq!(place.store().lost_file().unwrap(), None);
}

#[test]
fn approvals_are_missed_with_their_whole_folder_where_the_note_is_elsewhere() {
    let place = Place::new();
    let store = || place.store().noted_in(place.state.with_file_name("kept"));
    store().approve(&claim("one", "sh")).unwrap();
    std::fs::remove_dir_all(&place.state).unwrap();
    assert_eq!(store().lost_file().unwrap().unwrap().note.count(), 1);
}

#[test]
fn approvals_of_a_version_without_notes_are_noted_without_a_complaint() {
    let place = Place::new();
    place.used();
    std::fs::remove_file(place.state.join("trust.kept")).unwrap();
    assert_eq!(place.store().lost_file().unwrap(), None);
    assert_eq!(place.store().list().unwrap().len(), 1);
    std::fs::remove_file(&place.file).unwrap();
    assert_eq!(place.store().lost_file().unwrap().unwrap().note.count(), 1);

    // Where there never was anything, nothing is missed, and nothing is made.
    let place = Place::new();
    assert_eq!(place.store().lost_file().unwrap(), None);
    assert!(!place.state.exists());
}

#[test]
fn approvals_that_were_all_revoked_are_not_missed() {
    let place = Place::new();
    let store = place.used();
    let one = Which::Server(ServerName::parse("one").unwrap());
    store.revoke(&one).unwrap();
    assert_eq!(place.store().lost_file().unwrap(), None);
}
