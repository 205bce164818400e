//! Who is asked, and what an answer does.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::claim;
use crate::trust::{
    Admission, Answer, Nobody, Only, Question, Standing, Store, StoreError, Vouch, admit,
};

/// Answers always the same, and counts.
struct Says(Answer, AtomicUsize);

impl Says {
    fn new(answer: Answer) -> Self {
        Self(answer, AtomicUsize::new(0))
    }
}

impl Vouch for Says {
    fn vouch<'a>(
        &'a self,
        _question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(self.0))
    }
}

#[tokio::test]
async fn without_an_answer_nothing_is_admitted() {
    let (store, claim) = (Store::in_memory(), claim(json!({"command": "sh"})));
    let Admission::Refused(question) = admit(&store, &claim, &Nobody).await.unwrap() else {
        panic!("nobody said yes");
    };
    assert_eq!(question.claim, claim);
    assert_eq!(question.fingerprint, claim.fingerprint());
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test]
async fn a_yes_for_good_is_asked_for_once() {
    let (store, claim) = (Store::in_memory(), claim(json!({"command": "sh"})));
    let yes = Says::new(Answer::Approve);
    for _ in 0..3 {
        assert!(admit(&store, &claim, &yes).await.unwrap().is_admitted());
    }
    assert_eq!(yes.1.into_inner(), 1);
    assert_eq!(store.standing(&claim).unwrap(), Standing::Approved);
}

#[tokio::test]
async fn a_yes_for_once_is_not_remembered() {
    let (store, claim) = (Store::in_memory(), claim(json!({"command": "sh"})));
    let yes = Says::new(Answer::ApproveOnce);
    assert!(admit(&store, &claim, &yes).await.unwrap().is_admitted());
    assert_eq!(store.standing(&claim).unwrap(), Standing::New);
    let no = Says::new(Answer::Refuse);
    assert!(!admit(&store, &claim, &no).await.unwrap().is_admitted());
}

#[tokio::test]
async fn one_changed_value_is_asked_about_with_the_change() {
    let store = Store::in_memory();
    store
        .approve(&claim(json!({"command": "sh", "args": ["a"]})))
        .unwrap();
    let changed = claim(json!({"command": "sh", "args": ["b"]}));
    let Admission::Refused(question) = admit(&store, &changed, &Nobody).await.unwrap() else {
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
    assert!(admit(&store, &one, &only).await.unwrap().is_admitted());
    assert!(!admit(&store, &other, &only).await.unwrap().is_admitted());
    assert!(
        !admit(&store, &one, &Only(Vec::new()))
            .await
            .unwrap()
            .is_admitted()
    );
    assert_eq!(store.list().unwrap(), []);
    // A question that says another fingerprint than it has.
    let mut forged = Question::new(other, Vec::new());
    forged.fingerprint = one.fingerprint();
    assert_eq!(only.vouch(&forged).await, Answer::Refuse);
}

#[tokio::test]
async fn a_yes_that_cannot_be_written_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let store = Store::at(blocked);
    let yes = Says::new(Answer::Approve);
    let asked = admit(&store, &claim(json!({"command": "sh"})), &yes).await;
    assert!(matches!(asked, Err(StoreError::Unsafe { .. })), "{asked:?}");
}
