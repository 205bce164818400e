//! What came with a folder and tries to get more than the yes that it was given.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::config::Config;
use switchboard::host::Host;
use switchboard::trust::{Only, Store};

use crate::host_support::cloned::{Cloned, Person, builder, host, tried};
use crate::support::alone::is_alone;

#[tokio::test]
async fn another_program_of_the_same_name_asks_again() {
    let cloned = Cloned::new();
    cloned.write_program(&cloned.path("other/tool"), "good");
    cloned.write_one(&json!({"command": "tool"}));
    let path = format!(
        "{}:{}",
        cloned.path("bin").display(),
        cloned.path("other").display()
    );
    let environment = [("PATH".to_owned(), path)].into_iter().collect();
    let made = |person: &Person| {
        let builder = builder(&cloned).environment(&environment);
        builder.operator(person.clone()).build().unwrap()
    };
    let host = made(&Person::trusting(&["one"]));
    host.connect("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    cloned.clear();
    cloned.write_program(&cloned.path("bin/tool"), "evil");
    // What was approved is what runs, for as long as the host is there.
    host.connect("one").await.unwrap_err();
    host.restart("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    cloned.clear();
    let no = Person::default();
    let error = made(&no).connect("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    let changes = &no.asked()[0].changes;
    assert_eq!(changes[0].pointer, "program", "{changes:?}");
    assert_eq!(cloned.canaries(), [""; 0]);
}

#[tokio::test]
async fn a_program_that_was_not_there_when_it_was_approved_asks_again() {
    let cloned = Cloned::new();
    cloned.write_one(&json!({"command": "tool"}));
    let person = Person::trusting(&["one"]);
    let host = host(&cloned, &person);
    let error = host.connect("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    cloned.write_program(&cloned.path("bin/tool"), "late");
    host.connect("one").await.unwrap_err();
    let asked = person.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(asked[1].claim.program, Some(cloned.path("bin/tool")));
    assert_eq!(cloned.canaries(), ["late"]);
}

#[tokio::test]
async fn what_was_read_and_approved_is_what_runs_whatever_the_file_says_by_then() {
    let cloned = Cloned::new();
    cloned.write_one(&cloned.touch("good"));
    let person = Person::trusting(&["one"]);
    let host = host(&cloned, &person);
    cloned.write_one(&cloned.touch("evil"));
    host.connect("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["good"]);
    assert!(person.asked()[0].lines().join("\n").contains("good"));
    cloned.clear();
    assert_eq!(tried(&cloned, &Person::default()).await, (false, 1));
}

#[tokio::test]
async fn a_yes_for_one_run_is_for_one_run_and_for_that_alone() {
    let cloned = Cloned::new();
    cloned.write_one(&cloned.touch("one"));
    let first = host(&cloned, &Person::default());
    let question = first.question("one").unwrap().unwrap();
    let host = builder(&cloned).operator(Only(vec![question.fingerprint]));
    host.build().unwrap().connect("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), ["one"]);
    cloned.clear();
    assert_eq!(tried(&cloned, &Person::default()).await, (false, 1));
    cloned.write_one(&cloned.touch("two"));
    let host = builder(&cloned).operator(Only(vec![question.fingerprint]));
    let error = host.build().unwrap().connect("one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    assert_eq!(cloned.canaries(), [""; 0]);
}

#[tokio::test]
async fn a_folder_that_is_a_link_does_not_borrow_the_approval_of_another() {
    let cloned = Cloned::new();
    let approved = cloned.path("home/work/good");
    let text = json!({"mcpServers": {"one": cloned.touch("one")}}).to_string();
    cloned.write(&approved.join(".switchboard/mcp.json"), &text);
    let good = |person: &Person| {
        let places = switchboard::config::Places::of(&cloned.environment(), &approved);
        let builder = Host::builder().trust(Store::at(cloned.path("state/trust")));
        let builder = builder.environment(&cloned.environment());
        let builder = builder.config(&Config::load(&places));
        builder.operator(person.clone()).build().unwrap()
    };
    good(&Person::trusting(&["one"]))
        .connect("one")
        .await
        .unwrap_err();
    assert_eq!(cloned.canaries(), ["one"]);
    cloned.clear();
    let link = cloned.folder().join(".switchboard");
    std::os::unix::fs::symlink("../good/.switchboard", link).unwrap();
    // A project's file is not read through a link, so there is nothing to ask about.
    assert_eq!(tried(&cloned, &Person::default()).await, (false, 0));
    assert!(good(&Person::default()).question("one").unwrap().is_none());
}

#[tokio::test]
async fn what_came_with_a_folder_runs_in_that_folder() {
    if !is_alone(&what_came_with_a_folder_runs_in_that_folder) {
        return;
    }
    let cloned = Cloned::new();
    let above = cloned.path("home/work");
    let text = json!({"mcpServers": {"one": {"command": "sh", "args": ["tool.sh"]}}}).to_string();
    cloned.write(&above.join(".mcp.json"), &text);
    cloned.write_program(&above.join("tool.sh"), "good");
    cloned.write_program(&cloned.folder().join("tool.sh"), "evil");
    let was = std::env::current_dir().unwrap();
    std::env::set_current_dir(cloned.folder()).unwrap();
    let outcome = tried(&cloned, &Person::trusting(&["one"])).await;
    let host = host(&cloned, &Person::default());
    host.connect("one").await.unwrap_err();
    std::env::set_current_dir(was).unwrap();
    assert_eq!(outcome, (true, 1));
    assert_eq!(cloned.canaries(), ["good"]);
}

#[tokio::test]
async fn approvals_are_on_disk_for_the_person_alone() {
    let cloned = Cloned::new();
    cloned.write_one(&cloned.touch("one"));
    assert_eq!(tried(&cloned, &Person::trusting(&["one"])).await, (true, 1));
    let mode = |file: &std::path::Path| file.metadata().unwrap().permissions().mode() & 0o777;
    let folder = cloned.path("state/trust");
    assert_eq!(mode(&folder), 0o700);
    for file in std::fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    let inside = |file: &std::path::Path| file.starts_with(cloned.path("home"));
    assert!(!inside(&folder), "nothing of it is in the project");
    // One that others could have written is not believed.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let host = host(&cloned, &Person::trusting(&["one"]));
    host.connect("one").await.unwrap_err();
    assert_eq!(cloned.canaries(), [""; 0]);
}
