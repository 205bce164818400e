//! Who is asked, and what an answer does.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::claim;
use crate::trust::{Admission, Only, Question, ServerApproval, Standing, Store, StoreError, admit};

/// Answers always the same, and counts.
struct Says(ServerApproval, AtomicUsize);

impl Says {
    fn new(answer: ServerApproval) -> Self {
        Self(answer, AtomicUsize::new(0))
    }

    async fn answer(&self, _question: Question) -> ServerApproval {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0
    }
}

/// Refuses everything.
async fn refuse(_question: Question) -> ServerApproval {
    ServerApproval::Refuse
}

#[tokio::test]
async fn without_an_answer_nothing_is_admitted() {
    let (store, claim) = (Store::in_memory(), claim(json!({"command": "sh"})));
    let Admission::Refused(question) = admit(&store, &claim, refuse).await.unwrap() else {
        panic!("nobody said yes");
    };
    assert_eq!(question.claim, claim);
    assert_eq!(question.fingerprint, claim.fingerprint());
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test]
async fn a_yes_for_good_is_asked_for_once() {
    let (store, claim) = (Store::in_memory(), claim(json!({"command": "sh"})));
    let yes = Says::new(ServerApproval::Approve);
    for _ in 0..3 {
        assert!(
            admit(&store, &claim, |question| yes.answer(question))
                .await
                .unwrap()
                .is_admitted()
        );
    }
    assert_eq!(yes.1.into_inner(), 1);
    assert_eq!(store.standing(&claim).unwrap(), Standing::Approved);
}

#[tokio::test]
async fn a_yes_for_once_is_not_remembered() {
    let (store, claim) = (Store::in_memory(), claim(json!({"command": "sh"})));
    let yes = Says::new(ServerApproval::ApproveOnce);
    assert!(
        admit(&store, &claim, |question| yes.answer(question))
            .await
            .unwrap()
            .is_admitted()
    );
    assert_eq!(store.standing(&claim).unwrap(), Standing::New);
    let no = Says::new(ServerApproval::Refuse);
    assert!(
        !admit(&store, &claim, |question| no.answer(question))
            .await
            .unwrap()
            .is_admitted()
    );
}

#[tokio::test]
async fn one_changed_value_is_asked_about_with_the_change() {
    let store = Store::in_memory();
    store
        .approve(&claim(json!({"command": "sh", "args": ["a"]})))
        .unwrap();
    let changed = claim(json!({"command": "sh", "args": ["b"]}));
    let Admission::Refused(question) = admit(&store, &changed, refuse).await.unwrap() else {
        panic!("it is another one");
    };
    assert!(
        question
            .lines()
            .contains(&r#"changed: /args/0: "a" -> "b""#.to_owned()),
        "{:?}",
        question.lines()
    );
}

#[tokio::test]
async fn only_takes_exactly_its_fingerprint() {
    let store = Store::in_memory();
    let (one, other) = (
        claim(json!({"command": "a"})),
        claim(json!({"command": "b"})),
    );
    let only = Only(vec![one.fingerprint()]);
    let admitted = async |claim, only: &Only| {
        let ask = async |question: Question| only.answer(&question);
        admit(&store, claim, ask).await.unwrap().is_admitted()
    };
    assert!(admitted(&one, &only).await);
    assert!(!admitted(&other, &only).await);
    assert!(!admitted(&one, &Only(Vec::new())).await);
    assert_eq!(store.list().unwrap(), []);
    // A question that says another fingerprint than it has.
    let mut forged = Question::new(other, Vec::new());
    forged.fingerprint = one.fingerprint();
    assert_eq!(only.answer(&forged), ServerApproval::Refuse);
}

#[tokio::test]
async fn a_yes_that_cannot_be_written_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let store = Store::at(blocked);
    let yes = Says::new(ServerApproval::Approve);
    let asked = admit(&store, &claim(json!({"command": "sh"})), |question| {
        yes.answer(question)
    })
    .await;
    assert!(matches!(asked, Err(StoreError::Unsafe { .. })), "{asked:?}");
}
