//! A server that is killed while it is being asked what it speaks.

use switchboard::protocol::Era;
use switchboard::session::{Session, SessionOptions};
use switchboard::transport::{Environment, Stdio};

/// Is killed by its first question when it is started for the first time, and serves from then on.
const SCRIPT: &str = r#"
if [ -e "$1/started" ]; then exec "$0"; fi
touch "$1/started"
read -r question
kill -KILL $$
"#;

#[tokio::test]
async fn a_server_that_was_killed_on_the_probe_is_asked_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let server = env!("CARGO_BIN_EXE_endure-server");
    let stdio = Stdio::new("/bin/sh")
        .args(["-c", SCRIPT, server, folder])
        .environment(&Environment::of_process());
    let session = Session::connect(&stdio, SessionOptions::default())
        .await
        .unwrap();
    assert_eq!(session.negotiated().era(), Era::Modern);
    session.close().await;
}
