//! Starts that fail: which are tried again, and which are not.

use std::time::Duration;

use switchboard::host::Host;
use switchboard::spec::{Protocol, ServerSpec, Settings};
use switchboard::transport::Environment;

const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// A server whose first two starts fail with these words on stderr. Each start adds a line to a file.
fn flaky(file: &str, words: &str) -> ServerSpec {
    let script = format!(
        "echo start >> {file}; test $(wc -l < {file}) -gt 2 && exec {SERVER}; echo '{words}' >&2; exit 3"
    );
    let spec = ServerSpec::stdio("demo", "/bin/sh").unwrap();
    spec.args(["-c", &script])
}

/// Connects, and returns if that worked and how often the server was started.
async fn start(words: &str, max_retries: Option<u32>) -> (bool, usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("starts");
    let mut settings = Settings::default();
    // The probe for the newer era would start a server twice.
    settings.protocol = Protocol::Legacy;
    settings.max_retries = max_retries;
    settings.retry_backoff = Some(Duration::from_millis(10));
    let spec = flaky(file.to_str().unwrap(), words).settings(settings);
    let host = Host::builder().environment(&Environment::of_process());
    let host = host.server(spec).build().unwrap();
    let is_connected = host.connect("demo").await.is_ok();
    host.shutdown().await;
    let starts = std::fs::read_to_string(&file).unwrap();
    (is_connected, starts.lines().count())
}

#[tokio::test]
async fn a_failed_start_is_repeated_only_where_the_entry_says_so() {
    assert_eq!(start("not yet", Some(3)).await, (true, 3));
    assert_eq!(start("not yet", Some(1)).await, (false, 2));
    assert_eq!(start("not yet", None).await, (false, 1));
}

#[tokio::test]
async fn a_start_whose_stderr_names_a_cause_is_not_repeated() {
    let words = "Error: Cannot find module express";
    assert_eq!(start(words, Some(3)).await, (false, 1));
}

#[tokio::test]
async fn a_command_that_cannot_be_run_is_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("no-program");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    for command in ["switchboard-no-such-command", file.to_str().unwrap()] {
        // Were it repeated, this would take an hour.
        let mut settings = Settings::default();
        settings.max_retries = Some(3);
        settings.retry_backoff = Some(Duration::from_secs(3600));
        let spec = ServerSpec::stdio("demo", command).unwrap();
        let host = Host::builder().environment(&Environment::of_process());
        let host = host.server(spec.settings(settings)).build().unwrap();
        let patience = Duration::from_secs(60);
        let connected = tokio::time::timeout(patience, host.connect("demo")).await;
        connected.unwrap().unwrap_err();
    }
}
