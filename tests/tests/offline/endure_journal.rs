//! The journal of the test server has what was run, and nothing else.

use serde_json::json;
use switchboard::session::Session;
use switchboard::spec::Protocol;
use switchboard::transport::Memory;
use switchboard_testkit::{Journal, Options};

use crate::chaos_support::{ERAS, add, call, echo, options};

async fn open(journal: &Journal, faults: &[&str], protocol: Protocol) -> Session {
    let server = Options {
        journal: Some(journal.clone()),
        chaos: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        ..Options::default()
    };
    let memory = Memory::new("journal", move |input, output| {
        let server = server.clone();
        async move {
            switchboard_testkit::serve(input, output, server).await.ok();
        }
    });
    Session::connect(&memory, options(protocol)).await.unwrap()
}

const ECHO: &str = "{\"tool\":\"echo\",\"arguments\":{\"message\":\"hello\"}}\n";
const ADD: &str = "{\"tool\":\"add\",\"arguments\":{\"a\":1,\"b\":2}}\n";

#[tokio::test(start_paused = true)]
async fn each_call_that_is_run_has_a_line_and_files_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let journal = Journal::open(&path).unwrap();
    for protocol in ERAS {
        let session = open(&journal, &[], protocol).await;
        echo(&session).await.unwrap();
        add(&session).await.unwrap();
        call(&session, "nothing", json!({})).await.unwrap_err();
        session.list_tools().await.unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, [ECHO, ADD, ECHO, ADD].concat());
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_answer_is_lost_has_run_and_one_that_is_kept_back_has_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let journal = Journal::open(&path).unwrap();
    for protocol in ERAS {
        let session = open(&journal, &["no-reply=echo", "die-on-call=add"], protocol).await;
        assert!(echo(&session).await.unwrap_err().is_timeout());
        add(&session).await.unwrap_err();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        [ECHO, ECHO].concat()
    );
}

#[test]
fn a_journal_that_cannot_be_opened_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Journal::open(folder.path().join("no/such/folder")).is_err());
}
