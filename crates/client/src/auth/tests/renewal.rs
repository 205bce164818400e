//! Renewing tokens without losing them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::auth::LoginReason;
use crate::auth::store::change;
use crate::auth::token::now;

const REJECTED: &str = "Bearer error=\"invalid_token\"";

/// An issuer that rotates refresh tokens, and counts those that come twice.
struct Rotating {
    issued: AtomicUsize,
    stale: AtomicUsize,
    is_down: AtomicBool,
    life: usize,
}

impl Rotating {
    fn net(life: usize) -> (Arc<Self>, Arc<Net>) {
        let issuer = Arc::new(Self {
            issued: AtomicUsize::new(1),
            stale: AtomicUsize::new(0),
            is_down: AtomicBool::new(false),
            life,
        });
        let at = Arc::clone(&issuer);
        let net = Net::new(move |seen| at.answer(seen));
        (issuer, net)
    }

    fn answer(&self, seen: &Seen) -> Result<AuthResponse, AuthFetchError> {
        let is_refresh = seen.form.get("grant_type").map(String::as_str) == Some("refresh_token");
        if seen.url != TOKEN {
            return Ok(usual(seen));
        }
        if self.is_down.load(Ordering::SeqCst) {
            return Err(AuthFetchError::TimedOut(Duration::from_secs(45)));
        }
        let current = self.issued.load(Ordering::SeqCst);
        if is_refresh {
            let expected = format!("refresh-{current}");
            if seen.form.get("refresh_token") != Some(&expected) {
                self.stale.fetch_add(1, Ordering::SeqCst);
                return Ok(refused("invalid_grant"));
            }
            self.issued.fetch_add(1, Ordering::SeqCst);
        }
        let current = self.issued.load(Ordering::SeqCst);
        Ok(ok(&json!({
            "access_token": format!("access-{current}"),
            "refresh_token": format!("refresh-{current}"),
            "expires_in": self.life,
        })))
    }

    fn stale(&self) -> usize {
        self.stale.load(Ordering::SeqCst)
    }
}

/// Makes the stored token, and the one in use, so old that it has lived this part of an hour.
async fn age(authorizer: &Authorizer, seconds: u64) {
    let key = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token")
        .key()
        .clone();
    change(&*authorizer.inner.store, move |set| {
        let known = set.get_mut(&key).expect("a token");
        known.issued_at = now() - seconds;
        known.expires_at = Some(now() - seconds + 3600);
    })
    .await
    .expect("a store");
    let aged = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    authorizer.adopt(aged).expect("a token");
}

/// Two processes that share a store.
fn authorizers_of_one_store(net: &Arc<Net>) -> (Authorizer, Authorizer) {
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let one = authorizer_with(net, OAuthSettings::default(), Arc::clone(&store));
    (one, authorizer_with(net, OAuthSettings::default(), store))
}

#[tokio::test]
async fn a_rejected_token_is_renewed_once_and_the_request_sent_again() {
    let (issuer, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    assert!(matches!(
        refuse(&authorizer, 401, REJECTED).await,
        Decision::Retry
    ));
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-2");
    let sent = net.to(TOKEN);
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[1].form["resource"], SERVER);
    assert_eq!(sent[1].form["client_id"], "registered");
    // The same request, refused with the new token as well.
    let used = headers(&authorizer).await.expect("headers");
    let mut refusal = RequestRefusal::new(401, Challenge::parse_all([REJECTED]), &used);
    refusal.repeated = 1;
    let error = gave_up(authorizer.on_refusal(refusal).await);
    assert_eq!(
        error.needs_login().expect("a login").reason,
        LoginReason::Rejected
    );
    assert_eq!((net.to(TOKEN).len(), issuer.stale()), (2, 0));
}

#[tokio::test]
async fn many_refusals_at_once_are_one_renewal() {
    let (issuer, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    let used = headers(&authorizer).await.expect("headers");
    let refusals = (0..50).map(|_| {
        let (authorizer, used) = (authorizer.clone(), used.clone());
        tokio::spawn(async move {
            let refusal = RequestRefusal::new(401, Challenge::parse_all([REJECTED]), &used);
            matches!(authorizer.on_refusal(refusal).await, Decision::Retry)
        })
    });
    for refusal in refusals.collect::<Vec<_>>() {
        assert!(refusal.await.expect("a task"));
    }
    assert_eq!((net.to(TOKEN).len(), issuer.stale()), (2, 0));
}

#[tokio::test]
async fn two_that_share_a_store_renew_once_and_adopt() {
    let (issuer, net) = Rotating::net(3600);
    let (first, second) = authorizers_of_one_store(&net);
    log_in(&first).await.expect("a login");
    assert_eq!(token_in_use(&second).await, "Bearer access-1");
    let (one, two) = tokio::join!(
        refuse(&first, 401, REJECTED),
        refuse(&second, 401, REJECTED)
    );
    assert!(matches!((one, two), (Decision::Retry, Decision::Retry)));
    assert_eq!((net.to(TOKEN).len(), issuer.stale()), (2, 0));
    assert_eq!(token_in_use(&first).await, token_in_use(&second).await);
}

#[tokio::test]
async fn a_token_of_another_process_that_has_expired_is_renewed_and_not_adopted() {
    let (issuer, net) = Rotating::net(3600);
    let (one, other) = authorizers_of_one_store(&net);
    log_in(&one).await.expect("a login");
    assert_eq!(token_in_use(&other).await, "Bearer access-1");
    assert!(matches!(refuse(&one, 401, REJECTED).await, Decision::Retry));
    // The second token expires before the other process gets its turn.
    age(&one, 3601).await;
    assert!(matches!(
        refuse(&other, 401, REJECTED).await,
        Decision::Retry
    ));
    assert_eq!(token_in_use(&other).await, "Bearer access-3");
    assert_eq!((net.to(TOKEN).len(), issuer.stale()), (3, 0));
}

#[tokio::test]
async fn a_token_of_another_process_that_is_refused_too_is_renewed() {
    let (issuer, net) = Rotating::net(3600);
    let (one, other) = authorizers_of_one_store(&net);
    log_in(&one).await.expect("a login");
    assert_eq!(token_in_use(&other).await, "Bearer access-1");
    assert!(matches!(refuse(&one, 401, REJECTED).await, Decision::Retry));
    // The server has revoked both tokens.
    assert!(matches!(
        refuse(&other, 401, REJECTED).await,
        Decision::Retry
    ));
    assert_eq!(token_in_use(&other).await, "Bearer access-2");
    let used = headers(&other).await.expect("headers");
    let mut refusal = RequestRefusal::new(401, Challenge::parse_all([REJECTED]), &used);
    refusal.repeated = 1;
    let decision = other.on_refusal(refusal).await;
    assert!(matches!(decision, Decision::Retry), "{decision:?}");
    assert_eq!(token_in_use(&other).await, "Bearer access-3");
    assert_eq!((net.to(TOKEN).len(), issuer.stale()), (3, 0));
}

#[tokio::test]
async fn a_cancelled_caller_does_not_stop_a_renewal() {
    let (issuer, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    {
        let refusal = refuse(&authorizer, 401, REJECTED);
        let mut refusal = std::pin::pin!(refusal);
        for _ in 0..3 {
            tokio::select! {
                biased;
                _ = &mut refusal => break,
                () = tokio::task::yield_now() => {}
            }
        }
    }
    authorizer.settle().await;
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-2");
    let stored = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    assert_eq!(stored.access_token, secret("access-2"));
    assert_eq!(issuer.stale(), 0);
}

#[tokio::test]
async fn a_token_is_renewed_ahead_of_time_and_used_meanwhile() {
    let (_, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    age(&authorizer, 2870).await;
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-1");
    authorizer.settle().await;
    assert_eq!(net.to(TOKEN).len(), 1);
    age(&authorizer, 2881).await;
    // Not held up by the renewal that it sets off.
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-1");
    authorizer.settle().await;
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-2");
    assert_eq!(net.to(TOKEN).len(), 2);
}

#[tokio::test]
async fn an_expired_token_is_renewed_before_it_is_sent() {
    let (_, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    age(&authorizer, 4000).await;
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-2");
}

#[tokio::test]
async fn a_provider_that_does_not_answer_costs_no_token() {
    let (issuer, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    let before = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    issuer.is_down.store(true, Ordering::SeqCst);
    let error = gave_up(refuse(&authorizer, 401, REJECTED).await);
    assert!(matches!(error, AuthError::Unreachable { .. }), "{error:?}");
    let after = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    assert_eq!(after.access_token, before.access_token);
    assert_eq!(after.refresh_token, before.refresh_token);
    issuer.is_down.store(false, Ordering::SeqCst);
    assert!(matches!(
        refuse(&authorizer, 401, REJECTED).await,
        Decision::Retry
    ));
    assert_eq!(issuer.stale(), 0);
}

#[tokio::test]
async fn a_failure_ahead_of_time_leaves_the_good_token_in_use() {
    let (issuer, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    issuer.is_down.store(true, Ordering::SeqCst);
    age(&authorizer, 3000).await;
    for _ in 0..3 {
        assert_eq!(token_in_use(&authorizer).await, "Bearer access-1");
        authorizer.settle().await;
    }
    // Not at every request.
    assert_eq!(net.to(TOKEN).len(), 2);
}

#[tokio::test]
async fn a_refused_refresh_token_is_removed_and_nothing_else() {
    let (issuer, net) = Rotating::net(3600);
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let authorizer = authorizer_with(&net, OAuthSettings::default(), Arc::clone(&store));
    log_in(&authorizer).await.expect("a login");
    // Another server's token, which has nothing to do with it.
    let mut other = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    other.key.resource = "https://other.example".to_owned();
    let kept = other.clone();
    change(&*store, move |set| set.put(kept, &Limits::default()))
        .await
        .expect("a store");
    issuer.issued.store(7, Ordering::SeqCst);
    // Ahead of time: the access token is still good.
    age(&authorizer, 3000).await;
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-1");
    authorizer.settle().await;
    let stored = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    assert!(!stored.has_refresh_token());
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-1");
    // Then the server rejects it.
    let error = gave_up(refuse(&authorizer, 401, REJECTED).await);
    assert!(error.needs_login().is_some(), "{error:?}");
    let set = store.read().await.expect("a store");
    assert_eq!(set.get(other.key()), Some(&other));
    assert_eq!(issuer.stale(), 1);
}

#[tokio::test]
async fn a_rejected_token_whose_renewal_is_refused_is_gone() {
    let (issuer, net) = Rotating::net(3600);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    issuer.issued.store(7, Ordering::SeqCst);
    let error = gave_up(refuse(&authorizer, 401, REJECTED).await);
    let needed = error.needs_login().expect("a login");
    assert_eq!(needed.reason, LoginReason::Revoked);
    assert_eq!(authorizer.stored().await.expect("a store"), None);
    assert_eq!(token_in_use(&authorizer).await, "");
    // Once, not at every request.
    let error = gave_up(refuse(&authorizer, 401, REJECTED).await);
    assert!(error.needs_login().is_some(), "{error:?}");
    assert_eq!(issuer.stale(), 1);
}

#[tokio::test]
async fn an_issuer_that_gives_no_new_refresh_token_keeps_the_old_one() {
    let net = Net::new(|seen| {
        let is_refresh = seen.form.get("grant_type").map(String::as_str) == Some("refresh_token");
        Ok(match seen.url.as_str() {
            TOKEN if is_refresh => ok(&json!({"access_token": "access-2", "expires_in": 60})),
            _ => usual(seen),
        })
    });
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    assert!(matches!(
        refuse(&authorizer, 401, REJECTED).await,
        Decision::Retry
    ));
    let stored = authorizer
        .stored()
        .await
        .expect("a store")
        .expect("a token");
    assert_eq!(stored.refresh_token, Some(secret("refresh-1")));
    assert_eq!(stored.access_token, secret("access-2"));
}

#[tokio::test]
async fn live_sessions_pick_up_the_token_of_a_new_login() {
    let net = Net::with(&[(TOKEN, ok(&json!({"access_token": "access-1"})))]);
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let session = authorizer_with(&net, OAuthSettings::default(), Arc::clone(&store));
    assert_eq!(token_in_use(&session).await, "");
    let error = gave_up(refuse(&session, 401, "Bearer").await);
    assert_eq!(
        error.needs_login().expect("a login").reason,
        LoginReason::NoToken
    );
    // Another process logs in.
    let other = authorizer_with(&net, OAuthSettings::default(), store);
    log_in(&other).await.expect("a login");
    assert!(matches!(
        refuse(&session, 401, "Bearer").await,
        Decision::Retry
    ));
    assert_eq!(token_in_use(&session).await, "Bearer access-1");
}

#[tokio::test]
async fn a_refusal_that_has_nothing_to_do_with_tokens_stands() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    assert!(matches!(refuse(&authorizer, 403, "").await, Decision::Pass));
    assert!(matches!(
        refuse(&authorizer, 403, REJECTED).await,
        Decision::Pass
    ));
    assert!(matches!(
        refuse(&authorizer, 401, "Basic realm=\"x\"").await,
        Decision::Pass
    ));
}

/// A store that cannot be written after a while.
struct Full {
    store: MemoryStore,
    is_full: AtomicBool,
}

impl TokenStore for Full {
    fn read(&self) -> crate::auth::Storing<'_, Arc<crate::auth::CredentialSet>> {
        self.store.read()
    }

    fn change(&self, change: crate::auth::Change) -> crate::auth::Storing<'_, ()> {
        if self.is_full.load(Ordering::SeqCst) {
            let error = crate::auth::TokenStoreError::File("no space left".to_owned());
            return Box::pin(std::future::ready(Err(error)));
        }
        self.store.change(change)
    }

    fn lock<'a>(
        &'a self,
        key: &'a crate::auth::CredentialKey,
        patience: Duration,
    ) -> crate::auth::Storing<'a, crate::auth::RenewalLock> {
        self.store.lock(key, patience)
    }

    fn describe(&self) -> String {
        "full".to_owned()
    }
}

#[tokio::test]
async fn a_store_that_is_full_spends_no_refresh_token() {
    let (issuer, net) = Rotating::net(3600);
    let store = Arc::new(Full {
        store: MemoryStore::new(),
        is_full: AtomicBool::new(false),
    });
    let authorizer = authorizer_with(&net, OAuthSettings::default(), Arc::clone(&store) as _);
    log_in(&authorizer).await.expect("a login");
    store.is_full.store(true, Ordering::SeqCst);
    let error = gave_up(refuse(&authorizer, 401, REJECTED).await);
    assert!(matches!(error, AuthError::Store(_)), "{error:?}");
    assert_eq!(net.to(TOKEN).len(), 1);
    store.is_full.store(false, Ordering::SeqCst);
    assert!(matches!(
        refuse(&authorizer, 401, REJECTED).await,
        Decision::Retry
    ));
    assert_eq!(issuer.stale(), 0);
}

#[tokio::test]
async fn a_logout_forgets_here_and_revokes_there() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    assert_eq!(
        authorizer.logout().await,
        Ok(crate::auth::Logout::NothingStored)
    );
    log_in(&authorizer).await.expect("a login");
    assert_eq!(authorizer.logout().await, Ok(crate::auth::Logout::Revoked));
    let sent = &net.to("https://as.example/revoke")[0].form;
    assert_eq!(sent["token"], "refresh-1");
    assert_eq!(sent["token_type_hint"], "refresh_token");
    assert_eq!(authorizer.stored().await.expect("a store"), None);
    assert_eq!(token_in_use(&authorizer).await, "");
}

#[tokio::test]
async fn a_refresh_that_is_refused_with_status_401_needs_a_login() {
    let net = Net::new(|seen| {
        let is_refresh = seen.form.get("grant_type").map(String::as_str) == Some("refresh_token");
        if seen.url != TOKEN || !is_refresh {
            return Ok(usual(seen));
        }
        let body = json!({"error": "invalid_grant"}).to_string();
        Ok(AuthResponse::new(401, Vec::new(), body.into_bytes()))
    });
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    let error = gave_up(refuse(&authorizer, 401, REJECTED).await);
    let needed = error.needs_login().expect("a login");
    assert_eq!(needed.reason, LoginReason::Revoked);
    assert_eq!(authorizer.stored().await.expect("a store"), None);
}

#[tokio::test]
async fn a_needed_login_is_known_until_another_one_took_place() {
    let (_, net) = Rotating::net(3600);
    let (one, other) = authorizers_of_one_store(&net);
    assert_eq!(one.needed_login(), None);
    let error = gave_up(refuse(&one, 401, "Bearer scope=\"a\"").await);
    assert_eq!(one.needed_login().as_ref(), error.needs_login());
    assert!(!one.has_new_login().await);
    // In another process, say.
    log_in(&other).await.expect("a login");
    assert!(one.has_new_login().await);
    assert_eq!(one.needed_login(), None);
    assert_eq!(token_in_use(&one).await, "Bearer access-1");
}
