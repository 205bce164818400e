//! An issuer that replaces its keys.

use std::time::Duration;

use serde_json::json;

use super::{Gate, gate, with};
use crate::support::{Ask, Front};

/// The status of a call with a token, without sockets: the clock stands still.
async fn status(front: &Front, token: &str) -> u16 {
    let ask = with(Ask::modern_echo("x"), token);
    let answer = front.service.clone().handle(ask.request()).await;
    answer.status().as_u16()
}

#[tokio::test]
async fn new_keys_count_within_a_minute_and_the_old_ones_end() {
    let Gate { front, issuer, .. } = gate().await;
    let old = issuer.token("rsa", &json!({}));
    assert_eq!(status(&front, &old).await, 200);
    tokio::time::pause();
    issuer.replace_keys();
    let new = issuer.new_token("rsa");
    tokio::time::advance(Duration::from_secs(59)).await;
    // Any number of tokens with unknown keys, and the issuer is not asked.
    for kind in ["rsa", "ec", "ed", "rsa"] {
        assert_eq!(status(&front, &issuer.new_token(kind)).await, 401);
    }
    assert_eq!(status(&front, &old).await, 200);
    assert_eq!(issuer.fetches(), 1);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(status(&front, &new).await, 200);
    assert_eq!(issuer.fetches(), 2);
    // The old key is gone, and its token with it, although that was checked before.
    let calls = front.record.count("tools/call");
    assert_eq!(status(&front, &old).await, 401);
    assert_eq!(front.record.count("tools/call"), calls);
    for kind in ["ec", "ed"] {
        assert_eq!(status(&front, &issuer.new_token(kind)).await, 200);
    }
    assert_eq!(issuer.fetches(), 2);
}

#[tokio::test]
async fn a_key_that_was_withdrawn_ends_its_tokens_within_an_hour() {
    let Gate { front, issuer, .. } = gate().await;
    let old = issuer.token("ec", &json!({"exp": super::issuer::now() + 10_000}));
    assert_eq!(status(&front, &old).await, 200);
    tokio::time::pause();
    issuer.replace_keys();
    tokio::time::advance(Duration::from_secs(59 * 60)).await;
    assert_eq!(status(&front, &old).await, 200);
    // Nobody names a new key: the old ones are fetched again because of their age.
    tokio::time::advance(Duration::from_secs(2 * 60)).await;
    assert_eq!(status(&front, &old).await, 401);
    assert_eq!(issuer.fetches(), 2);
}
