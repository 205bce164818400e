//! The sealed file.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::auth::store::change;
use crate::auth::{CredentialSet, KeyFile, KeySource, SealedFile, TokenStoreError};

pub(super) fn sealed(folder: &Path) -> SealedFile {
    let folder = folder.join("auth");
    let key = Arc::new(KeyFile::at(folder.clone()));
    SealedFile::at(folder, key, &Limits::default())
}

async fn logged_in(folder: &Path) -> Authorizer {
    let store = Arc::new(sealed(folder));
    let authorizer = authorizer_with(&Net::with(&[]), OAuthSettings::default(), store);
    log_in(&authorizer).await.expect("a login");
    authorizer
}

#[tokio::test]
async fn what_is_stored_is_read_again_and_shown_to_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorizer = logged_in(folder.path()).await;
    let stored = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    let again = sealed(folder.path()).read().await.expect("a store");
    assert_eq!(again.get(stored.key()), Some(&stored));
    let whole = CredentialSet::from_json(again.to_json().expose().as_bytes()).expect("its form");
    assert_eq!(whole, *again);
    for entry in std::fs::read_dir(folder.path().join("auth")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let mode = std::fs::metadata(&path)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        let text = std::fs::read(&path).expect("a file");
        let text = String::from_utf8_lossy(&text);
        for canary in ["access-1", "refresh-1", "as.example", "registered"] {
            assert!(!text.contains(canary), "{}: {canary}", path.display());
        }
    }
    let mode = std::fs::metadata(folder.path().join("auth")).expect("a folder");
    assert_eq!(mode.permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_file_that_was_changed_or_has_another_key_is_never_an_empty_one() {
    let folder = tempfile::tempdir().expect("a folder");
    logged_in(folder.path()).await;
    let file = folder.path().join("auth/tokens.json");
    let text = std::fs::read_to_string(&file).expect("a file");
    let at = text.find("\"sealed\":\"").expect("the content") + 20;
    let mut damaged = text.clone().into_bytes();
    damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
    for broken in [
        damaged.as_slice(),
        b"",
        b"{}",
        b"{\"version\":2,\"nonce\":\"\",\"sealed\":\"\"}",
    ] {
        std::fs::write(&file, broken).expect("a file");
        let error = sealed(folder.path())
            .read()
            .await
            .expect_err("a damaged file");
        let is_named = matches!(
            error,
            TokenStoreError::Sealed { .. } | TokenStoreError::File(_)
        );
        assert!(is_named, "{error:?}");
        let kept = sealed(folder.path()).change(Box::new(|_| ())).await;
        assert!(kept.is_err(), "a damaged file is not written over");
        assert_eq!(std::fs::read(&file).expect("a file"), broken);
    }
    std::fs::write(&file, text).expect("a file");
    std::fs::remove_file(folder.path().join("auth/tokens.key")).expect("the key");
    let error = sealed(folder.path()).read().await.expect_err("another key");
    assert!(matches!(error, TokenStoreError::Sealed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_removed_store_leaves_no_file_and_begins_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("auth");
    // There is nothing to remove yet.
    SealedFile::remove(&path).expect("no folder");
    logged_in(folder.path()).await;
    std::fs::write(path.join("tokens.json"), "damaged").expect("a file");
    SealedFile::remove(&path).expect("a folder");
    for file in ["tokens.json", "tokens.key"] {
        assert!(!path.join(file).exists(), "{file}");
    }
    logged_in(folder.path()).await;
    let set = sealed(folder.path()).read().await.expect("a new store");
    assert!(set.of_server(SERVER, "").is_some());
    // A file that cannot be removed is an error, and the others go.
    std::fs::remove_file(path.join("tokens.json")).expect("a file");
    std::fs::create_dir(path.join("tokens.json")).expect("a folder");
    assert!(SealedFile::remove(&path).is_err());
    assert!(!path.join("tokens.key").exists());
}

#[tokio::test]
async fn two_writers_lose_nothing_of_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorizer = logged_in(folder.path()).await;
    let credential = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    let writers = (0..8).map(|writer| {
        let (store, mut credential) = (sealed(folder.path()), credential.clone());
        tokio::spawn(async move {
            for n in 0..5 {
                credential.key.profile = format!("{writer}-{n}");
                let kept = credential.clone();
                change(&store, move |set| set.put(kept, &Limits::default()))
                    .await
                    .expect("a store");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a task");
    }
    let set = sealed(folder.path()).read().await.expect("a store");
    assert_eq!(set.credentials().len(), 41);
}

#[tokio::test]
async fn a_set_that_is_too_large_leaves_the_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorizer = logged_in(folder.path()).await;
    let credential = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    let mut limits = Limits::default();
    limits.auth_store_bytes = 4000;
    let path = folder.path().join("auth");
    let small = SealedFile::at(path.clone(), Arc::new(KeyFile::at(path)), &limits);
    let mut large = credential.clone();
    large.key.profile = "x".repeat(5000);
    let error = change(&small, move |set| set.put(large, &Limits::default())).await;
    assert!(error.is_err());
    let set = sealed(folder.path()).read().await.expect("a store");
    assert_eq!(set.credentials(), [credential]);
}

#[tokio::test]
async fn the_lock_of_a_token_is_held_by_one_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorizer = logged_in(folder.path()).await;
    let key = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token")
        .key()
        .clone();
    let (first, second) = (sealed(folder.path()), sealed(folder.path()));
    let held = first
        .lock(&key, Duration::from_secs(5))
        .await
        .expect("a lock");
    let error = second
        .lock(&key, Duration::from_millis(50))
        .await
        .expect_err("it is held");
    assert_eq!(error, TokenStoreError::Busy);
    let mut other = key.clone();
    other.profile = "other".to_owned();
    drop(
        second
            .lock(&other, Duration::from_secs(5))
            .await
            .expect("another lock"),
    );
    drop(held);
    drop(
        second
            .lock(&key, Duration::from_secs(5))
            .await
            .expect("a lock"),
    );
}

#[tokio::test]
async fn no_more_is_kept_than_the_limits_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorizer = logged_in(folder.path()).await;
    let credential = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    let mut limits = Limits::default();
    limits.auth_credentials = 3;
    let mut set = CredentialSet::default();
    for n in 0..5 {
        let mut credential = credential.clone();
        credential.key.profile = n.to_string();
        set.put(credential, &limits);
    }
    let profiles: Vec<&str> = set
        .credentials()
        .iter()
        .map(|c| c.key.profile.as_str())
        .collect();
    assert_eq!(profiles, ["2", "3", "4"]);
}

#[test]
fn a_key_is_made_once_and_a_damaged_one_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("auth");
    let key = KeyFile::at(path.clone()).key().expect("a key");
    assert_eq!(key.expose().len(), 32);
    assert_eq!(KeyFile::at(path.clone()).key().expect("the key"), key);
    std::fs::write(path.join("tokens.key"), "short").expect("a file");
    let error = KeyFile::at(path).key().expect_err("a damaged key");
    assert!(matches!(error, TokenStoreError::Key(_)), "{error:?}");
}

#[tokio::test]
async fn a_login_that_was_begun_in_one_process_is_finished_in_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = Net::with(&[]);
    let at = |net: &Arc<Net>| {
        let store = Arc::new(sealed(folder.path()));
        authorizer_with(net, OAuthSettings::default(), store)
    };
    let options = LoginOptions::default().redirect_uri(CALLBACK);
    let request = Login::new(&at(&net))
        .begin(options)
        .await
        .expect("a request");
    let callback = format!("{CALLBACK}?code=c&state={}", request.state.expose());
    let other = Net::with(&[]);
    Login::new(&at(&other))
        .finish(&callback)
        .await
        .expect("a login");
    assert_eq!(other.urls(), [TOKEN]);
    assert_eq!(token_in_use(&at(&net)).await, "Bearer access-1");
}

#[tokio::test]
async fn accounts_of_one_server_are_kept_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |profile: &str, token: &'static str| {
        let mut settings = OAuthSettings::default();
        settings.profile = profile.to_owned();
        let net = Net::with(&[(TOKEN, ok(&json!({"access_token": token})))]);
        authorizer_with(&net, settings, Arc::new(sealed(folder.path())))
    };
    log_in(&at("work", "w")).await.expect("a login");
    log_in(&at("home", "h")).await.expect("a login");
    assert_eq!(token_in_use(&at("work", "")).await, "Bearer w");
    assert_eq!(token_in_use(&at("home", "")).await, "Bearer h");
    assert_eq!(token_in_use(&at("", "")).await, "");
}
