//! Several processes that renew one token over the sealed store, before an issuer that rotates.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::store::sealed;
use super::*;
use crate::auth::store::change;
use crate::auth::token::now;

/// Tells the copies of this test what they are.
const FOLDER: &str = "SWITCHBOARD_AUTH_TEST_FOLDER";
const PROCESSES: usize = 4;
const ROUNDS: usize = 8;

/// An issuer that all processes share: its state is a file, which one request at a time changes.
///
/// Each refresh token is good once. A second use revokes all of them, as strict issuers do.
fn answer(folder: &Path, seen: &Seen) -> AuthResponse {
    if seen.url != TOKEN {
        return usual(seen);
    }
    let vault = switchboard_core::private_store::PrivateStore::at(folder.join("issuer"), "issuer");
    let lock = loop {
        if let Some(lock) = vault.try_hold("issuer.lock").expect("a lock") {
            break lock;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    let file = folder.join("issuer/state");
    let state = std::fs::read_to_string(&file).unwrap_or_else(|_| "1 0".to_owned());
    let (current, stale) = state.split_once(' ').expect("two numbers");
    let (mut current, mut stale): (u64, u64) = (
        current.parse().expect("a number"),
        stale.parse().expect("a number"),
    );
    if let Some(shown) = seen.form.get("refresh_token") {
        if *shown == format!("refresh-{current}") && stale == 0 {
            current += 1;
        } else {
            stale += 1;
        }
        std::fs::write(&file, format!("{current} {stale}")).expect("a file");
    }
    drop(lock);
    if stale > 0 {
        return refused("invalid_grant");
    }
    ok(&json!({
        "access_token": format!("access-{current}"),
        "refresh_token": format!("refresh-{current}"),
        "expires_in": 3600,
    }))
}

fn one(folder: PathBuf) -> Authorizer {
    let store = Arc::new(sealed(&folder));
    let net = Net::new(move |seen| Ok(answer(&folder, seen)));
    authorizer_with(&net, OAuthSettings::default(), store)
}

/// One of the processes: has its token rejected again and again.
#[tokio::test]
#[ignore = "started by the test below, in processes of its own"]
async fn a_process_renews_when_it_is_told_to() {
    let folder = std::env::var_os(FOLDER).expect("the test below");
    let authorizer = one(PathBuf::from(folder));
    for _ in 0..ROUNDS {
        assert!(
            token_in_use(&authorizer)
                .await
                .starts_with("Bearer access-")
        );
        // As if it had expired for all of them.
        let key = authorizer
            .stored()
            .await
            .expect("a store")
            .expect("a token")
            .key()
            .clone();
        change(&*authorizer.inner.store, move |set| {
            if let Some(known) = set.get_mut(&key) {
                known.expires_at = Some(now());
            }
        })
        .await
        .expect("a store");
        let decision = refuse(&authorizer, 401, "Bearer error=\"invalid_token\"").await;
        assert!(matches!(decision, Decision::Retry), "{decision:?}");
    }
}

#[tokio::test]
async fn processes_that_renew_the_same_token_never_use_it_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = one(folder.path().to_owned());
    log_in(&first).await.expect("a login");
    let program = std::env::current_exe().expect("this program");
    let start = || {
        Command::new(&program)
            .args([
                "--ignored",
                "--exact",
                "auth::tests::processes::a_process_renews_when_it_is_told_to",
            ])
            .env(FOLDER, folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process")
    };
    let processes: Vec<_> = (0..PROCESSES).map(|_| start()).collect();
    for process in processes {
        let output = process.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }
    let state = std::fs::read_to_string(folder.path().join("issuer/state")).expect("a file");
    let (issued, stale) = state.split_once(' ').expect("two numbers");
    assert_eq!(stale, "0", "a refresh token was used twice");
    let issued: usize = issued.parse().expect("a number");
    assert!(issued > ROUNDS, "{issued}");
    let stored = first.stored().await.expect("a store").expect("a token");
    assert_eq!(stored.access_token, secret(&format!("access-{issued}")));
}
