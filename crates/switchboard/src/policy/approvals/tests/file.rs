//! The file of approvals: kept, replaced, refused, and used by several at once.

use super::*;
use crate::policy::{Item, Kind, Verb};

/// Holds that nothing works, changes or is approved; gives the error of looking.
#[track_caller]
fn refused(approvals: &Approvals) -> String {
    let one = ask("a", ("s", 1), "x");
    let error = standing(approvals, &one).unwrap_err();
    assert!(always(approvals, &ask("b", ("s", 1), "x")).is_err());
    assert!(approvals.list().is_err());
    assert!(approvals.revoke(&Which::default()).is_err());
    error.to_string()
}

#[test]
fn what_is_for_good_is_read_as_it_was_written() {
    let place = Place::new();
    let time = std::time::UNIX_EPOCH + Duration::from_millis(1_800_000_000_700);
    let items = [
        (Verb::Call, Some(Kind::Tool), "x"),
        (Verb::Complete, Some(Kind::Resource), "f:{\"é\u{1b}}"),
        (Verb::Prompt, Some(Kind::Prompt), ""),
        (Verb::List, None, ""),
    ];
    let items = items.map(|(verb, kind, name)| {
        Covers::Item(Item {
            verb,
            kind,
            name: name.to_owned(),
        })
    });
    for covers in items.into_iter().chain([Covers::Server]) {
        let one = ask("a", ("s", 7), "x");
        let approvals = place.approvals();
        approvals
            .remember_at(&one, covers.clone(), Lasts::Always, time)
            .unwrap();
        let expected = Approval {
            caller: one.caller.id().clone(),
            server: one.server.clone(),
            origin: one.origin.clone(),
            identity: one.identity,
            covers,
            lasts: Lasts::Always,
            approved: std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000),
        };
        assert!(place.approvals().list().unwrap().contains(&expected));
    }
    assert_eq!(place.approvals().list().unwrap().len(), 5);
}

#[test]
fn an_approval_replaces_the_one_for_what_the_server_was_before() {
    let place = Place::new();
    let approvals = place.used();
    always(&approvals, &ask("a", ("s", 2), "x")).unwrap();
    let [one] = &approvals.list().unwrap()[..] else {
        panic!("there is more than one");
    };
    assert_eq!(one.identity, identity(2));
    // Going back asks again.
    assert_eq!(
        standing(&approvals, &ask("a", ("s", 1), "x")).unwrap(),
        None
    );
}

#[test]
fn what_one_program_approves_or_revokes_counts_for_the_others() {
    let place = Place::new();
    let (one, two) = (place.approvals(), place.approvals());
    let call = ask("a", ("s", 1), "x");
    for _ in 0..20 {
        assert_eq!(standing(&two, &call).unwrap(), None);
        always(&one, &call).unwrap();
        assert_eq!(standing(&two, &call).unwrap(), Some(Lasts::Always));
        assert_eq!(one.revoke(&Which::default()).unwrap().len(), 1);
    }
    always(&one, &call).unwrap();
    assert_eq!(standing(&two, &call).unwrap(), Some(Lasts::Always));
    std::fs::remove_file(&place.file).unwrap();
    assert_eq!(standing(&two, &call).unwrap(), None);
}

#[test]
fn many_who_approve_at_once_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let approvals = place.approvals();
                for number in 0..8 {
                    let agent = format!("agent-{thread}-{number}");
                    always(&approvals, &ask(&agent, ("s", 1), "x")).unwrap();
                }
            });
        }
    });
    assert_eq!(place.approvals().list().unwrap().len(), 32);
}

#[test]
fn a_file_that_cannot_be_read_is_refused_and_left_alone() {
    let whole = {
        let place = Place::new();
        place.used();
        std::fs::read_to_string(&place.file).unwrap()
    };
    let half = whole.get(..whole.len() / 2).unwrap();
    for (text, why) in [
        (String::new(), "cannot be read"),
        (half.to_owned(), "cannot be read"),
        ("[]".to_owned(), "cannot be read"),
        (
            whole.replace("\"version\": 1", "\"version\": 2"),
            "has format 2",
        ),
        (
            whole.replace("\"agent\": \"a\"", "\"agent\": \"owner\""),
            "that is the person",
        ),
        (whole.replace("0101", "01"), "no identity"),
        (
            whole.replace("\"server\": \"s\"", "\"server\": \"a/b\""),
            "slash",
        ),
        (whole.replace("\"origin\"", "\"level\""), "unknown field"),
        (
            whole.replace("\"approved\": 1", "\"approved\": -1"),
            "invalid value",
        ),
        (
            whole.replace(
                "\"approved\"",
                "\"item\": {\"verb\": \"own\", \"kind\": \"tool\", \"name\": \"x\"}, \"approved\"",
            ),
            "unknown verb",
        ),
        (
            whole.replace(
                "\"approved\"",
                "\"item\": {\"verb\": \"call\", \"kind\": \"all\", \"name\": \"x\"}, \"approved\"",
            ),
            "unknown kind",
        ),
    ] {
        assert_ne!(text, whole, "{why}");
        let place = Place::new();
        // One that had read it when it was whole is not fooled either.
        let before = place.used();
        assert!(
            standing(&before, &ask("a", ("s", 1), "x"))
                .unwrap()
                .is_some()
        );
        std::fs::write(&place.file, &text).unwrap();
        for approvals in [before, place.approvals()] {
            let error = refused(&approvals);
            assert!(error.contains(why), "{why}: {error}");
        }
        assert_eq!(std::fs::read_to_string(&place.file).unwrap(), text);
    }
}

#[tokio::test]
async fn a_yes_for_good_that_cannot_be_written_is_none() {
    let place = Place::new();
    place.used();
    std::fs::write(&place.file, "{}").unwrap();
    let (approvals, call) = (place.approvals(), ask("b", ("s", 1), "x"));
    let says = Says::new(UseApproval::Always);
    assert!(
        approvals
            .settle(&call, |ask| says.answer(ask))
            .await
            .is_err()
    );
    assert_eq!(says.times(), 0);
    // Full, and so refused after asking.
    let place = Place::new();
    place.used();
    let limits = StoreLimits {
        records: 1,
        ..StoreLimits::default()
    };
    let approvals = place.approvals().limits(limits);
    assert!(
        approvals
            .settle(&call, |ask| says.answer(ask))
            .await
            .is_err()
    );
    assert_eq!(standing(&approvals, &call).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_file_that_others_could_have_written_is_refused_at_once() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    let place = Place::new();
    let approvals = place.used();
    let call = ask("a", ("s", 1), "x");
    assert!(standing(&approvals, &call).unwrap().is_some());
    let found = std::fs::metadata(&place.file).unwrap().permissions().mode();
    assert_eq!(found & 0o777, 0o600);
    std::fs::set_permissions(&place.file, mode(0o666)).unwrap();
    assert!(refused(&approvals).contains("chmod 600"));
    std::fs::set_permissions(&place.file, mode(0o600)).unwrap();
    assert!(standing(&approvals, &call).unwrap().is_some());
    let aside = place.state.join("aside.json");
    std::fs::rename(&place.file, &aside).unwrap();
    symlink(&aside, &place.file).unwrap();
    assert!(refused(&approvals).contains("it is a link"));
}

#[test]
fn an_identity_prints_and_parses() {
    let one = identity(0xab);
    assert_eq!(one.to_string(), "ab".repeat(32));
    assert_eq!(one.to_string().parse(), Ok(one));
    for bad in [
        "",
        "ab",
        &"é".repeat(32),
        &"+1".repeat(32),
        &"ab".repeat(33),
    ] {
        assert_eq!(
            bad.parse::<crate::spec::Identity>(),
            Err(crate::spec::ParseIdentityError),
            "{bad}"
        );
    }
}

#[test]
fn approvals_that_were_deleted_are_missed_and_older_ones_are_noted() {
    let place = Place::new();
    let approvals = place.used();
    let kept = approvals.list().unwrap().len();
    assert_eq!(approvals.lost_file().unwrap(), None);
    std::fs::remove_file(place.state.join("approvals.kept")).unwrap();
    assert_eq!(place.approvals().lost_file().unwrap(), None);
    std::fs::remove_file(&place.file).unwrap();
    let lost = place.approvals().lost_file().unwrap().unwrap();
    assert_eq!((lost.note.count(), lost.path), (kept, place.file.clone()));
    place.approvals().forget_lost().unwrap();
    assert_eq!(place.approvals().lost_file().unwrap(), None);
}
