//! What floods over HTTP cost a host: memory within bounds, and one call at most.
//!
//! Each flood has a host of its own, whose memory is nobody else's.

use std::collections::BTreeMap;

use switchboard::protocol::Era;
use switchboard_tests::soak_size;

use crate::support::http;

const HOST: &str = env!("CARGO_BIN_EXE_http-flood-host");

/// What any flood may add to a host, in KiB.
const MOST_KIB: u64 = 64 * 1024;

/// The bound is the same for any flood; smaller ones only take less time.
fn mib() -> u64 {
    soak_size(192, 1024)
}

fn comments() -> u64 {
    soak_size(200_000, 10_000_000)
}

async fn seen(era: Era, flag: &str) -> BTreeMap<String, String> {
    let server = http::server_of(era, &[flag]).await;
    let mut host = tokio::process::Command::new(HOST);
    let output = host.arg(server.url()).kill_on_drop(true).output().await;
    let output = output.unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{flag} in {era:?}: {words}");
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.to_owned(), value.to_owned())
    };
    text.lines().map(pair).collect()
}

async fn costs_no_more_than_its_call(flag: &str, words: &str) {
    for era in http::ERAS {
        let seen = seen(era, flag).await;
        let (outcome, next) = (&seen["outcome"], &seen["next"]);
        assert!(outcome.contains(words), "{flag} in {era:?}: {seen:?}");
        assert_eq!(next, "3");
        let grown: u64 = seen["grown-kib"].parse().unwrap();
        assert!(grown <= MOST_KIB, "{flag} in {era:?}: {grown} KiB");
    }
}

#[tokio::test]
async fn a_body_of_a_gigabyte_is_cut_off_at_the_limit() {
    let words = "longer than the limit of 10485760 bytes";
    costs_no_more_than_its_call(&format!("huge-body={}@echo", mib()), words).await;
}

#[tokio::test]
async fn a_gigabyte_that_came_packed_is_not_unpacked() {
    let words = "a body in gzip, which was not asked for";
    costs_no_more_than_its_call(&format!("gzip-bomb={}@echo", mib()), words).await;
}

#[tokio::test]
async fn an_error_of_a_gigabyte_is_not_read() {
    let words = "answered with status 500";
    costs_no_more_than_its_call(&format!("huge-error-body={}@echo", mib()), words).await;
}

#[tokio::test]
async fn an_event_of_a_gigabyte_is_cut_off_at_the_limit() {
    let words = "longer than the limit of 10485760 bytes";
    costs_no_more_than_its_call(&format!("sse-huge-event={}@echo", mib()), words).await;
}

#[tokio::test]
async fn headers_without_end_are_not_read() {
    costs_no_more_than_its_call("huge-headers=30000@echo", "was lost").await;
}

#[tokio::test]
async fn comments_before_an_answer_take_no_room() {
    let flag = format!("sse-comment-flood={}@echo", comments());
    costs_no_more_than_its_call(&flag, "ok hello").await;
}
