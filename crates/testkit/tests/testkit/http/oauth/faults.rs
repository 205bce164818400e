//! Every fault shows, and shows where the table says so.

use serde_json::json;
use switchboard_testkit::issuer::{Endpoint, FaultKind};

use super::client::{Client, DEVICE, Got, Key, encode, hash};

/// One step of a login, and what came of it.
type Step = (Endpoint, String);

/// Replaces what differs from run to run.
fn mask(client: &Client, got: &Got) -> String {
    // One tells the time, the other how many digits the port has.
    let told = ["date", "content-length"];
    let headers = got.headers.iter();
    let headers = headers.filter(|(name, _)| !told.contains(&name.as_str()));
    let headers: Vec<_> = headers.collect();
    let mut text = format!("{} {headers:?} {}", got.status, got.body);
    let host = client.server.addr().to_string();
    text = text.replace(&host, "HOST").replace(&encode(&host), "HOST");
    let mut masked = String::new();
    let mut run = String::new();
    let flush = |run: &mut String, masked: &mut String| {
        let is_random = run.len() >= 40 || run.parse::<u64>().is_ok_and(|it| it > 1_000_000_000);
        let is_user_code = run.len() == 9
            && run.as_bytes()[4] == b'-'
            && run
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_uppercase());
        masked.push_str(if is_random || is_user_code {
            "RANDOM"
        } else {
            run
        });
        run.clear();
    };
    // What is long on purpose is told from what is random by its size.
    if text.len() > 20_000 {
        return format!("{} {} characters", got.status, text.len() / 1000);
    }
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || "-_".contains(letter) {
            run.push(letter);
        } else {
            flush(&mut run, &mut masked);
            masked.push(letter);
        }
    }
    flush(&mut run, &mut masked);
    masked
}

/// Goes through everything, whatever comes back on the way.
async fn transcript(faults: &[&str]) -> Vec<Step> {
    let client = Client::with(&["device-polls=0", "device-interval=1"], faults).await;
    let mut steps = Vec::new();
    let mut note = |endpoint: Endpoint, got: &Got| {
        let masked = mask(&client, got);
        steps.push((endpoint, masked));
    };
    note(Endpoint::Challenge, &client.call("echo", &[]).await);
    let resource = "/.well-known/oauth-protected-resource/mcp";
    note(Endpoint::ResourceMetadata, &client.get(resource).await);
    let metadata = "/.well-known/oauth-authorization-server";
    note(Endpoint::Metadata, &client.get(metadata).await);
    let registered = client.register(&json!({})).await;
    note(Endpoint::Registration, &registered);
    // A registration that is spoilt has a client all the same.
    let events = client.issuer.events();
    let id = events.iter().find_map(|event| event.client.clone());
    let id = id.unwrap_or_default();
    let redirect = client.authorize(&id, &[]).await;
    note(Endpoint::Authorization, &redirect);
    let code = redirect.param("code").unwrap_or_default();
    let tokens = client.exchange(&id, &code, &[]).await;
    note(Endpoint::Token, &tokens);
    let used = client.call_with(&tokens.text("access_token")).await;
    note(Endpoint::Resource, &used);
    let refreshed = client
        .refresh(&id, &tokens.text("refresh_token"), &[])
        .await;
    note(Endpoint::Refresh, &refreshed);
    let place = client.resource();
    let asked = [
        ("client_id", id.as_str()),
        ("scope", "tools"),
        ("resource", &place),
    ];
    let device = client.form("/device", &asked).await;
    note(Endpoint::Device, &device);
    let polled = [
        ("grant_type", DEVICE),
        ("client_id", id.as_str()),
        ("device_code", &device.text("device_code")),
    ];
    note(Endpoint::Device, &client.token(&[], &polled).await);
    client.public().await;
    let again = client.refresh(&id, "another", &[]).await;
    note(Endpoint::Registration, &again);
    steps
}

#[tokio::test]
async fn two_logins_without_a_fault_look_the_same() {
    assert_eq!(transcript(&[]).await, transcript(&[]).await);
}

#[tokio::test]
async fn every_fault_shows_at_its_endpoint_first() {
    let good = transcript(&[]).await;
    let mut quiet = Vec::new();
    for kind in FaultKind::ALL {
        match kind {
            // Shown by the test below: it needs proofs.
            FaultKind::NonceLoop => continue,
            // Shown by the tests of secrets: it needs a token that is refused.
            FaultKind::ChallengeRepeats => continue,
            _ => {}
        }
        let bad = transcript(&[kind.name()]).await;
        let differs = good.iter().zip(&bad).find(|(good, bad)| good != bad);
        let at = differs.map(|((endpoint, _), _)| *endpoint);
        // These show in the metadata, or in the request after the one that they strike.
        let expected = match kind {
            FaultKind::IssUnexpected => Endpoint::Metadata,
            FaultKind::CodeExpired => Endpoint::Token,
            FaultKind::DeviceExpired => Endpoint::Device,
            kind => kind.endpoint(),
        };
        if at != Some(expected) {
            quiet.push((kind.name(), at));
        }
    }
    assert_eq!(quiet, []);
}

#[tokio::test]
async fn a_nonce_loop_never_ends() {
    let client = Client::with(&["dpop=required", "dpop-nonces=yes"], &["nonce-loop"]).await;
    let id = client.public().await;
    let key = Key::new();
    let url = format!("{}/token", client.origin());
    let mut nonce = hash("none");
    for _ in 0..5 {
        let proof = key.prove(&url, &json!({"nonce": nonce}));
        let pairs = [
            ("grant_type", "authorization_code"),
            ("client_id", id.as_str()),
        ];
        let got = client.token(&[("dpop", &proof)], &pairs).await;
        assert_eq!(got.error(), "use_dpop_nonce");
        assert_ne!(got.header("dpop-nonce"), Some(nonce.as_str()));
        nonce = got.header("dpop-nonce").unwrap().to_owned();
    }
}

#[tokio::test]
async fn a_refresh_that_times_out_has_been_processed() {
    let client = Client::with(&[], &["refresh-timeout=1"]).await;
    let id = client.public().await;
    let token = client.login(&id, "tools").await.text("refresh_token");
    assert_eq!(client.refresh(&id, &token, &[]).await.status, 0);
    assert_eq!(client.issuer.counts().refreshes, 1);
    // The client that tries again with what it has is taken for a thief.
    assert_eq!(
        client.refresh(&id, &token, &[]).await.error(),
        "invalid_grant"
    );
    assert_eq!(client.issuer.counts().stale_refreshes, 1);
}

#[tokio::test]
async fn a_refresh_that_is_refused_for_now_can_be_repeated() {
    let client = Client::with(&[], &["refresh-unavailable=1"]).await;
    let id = client.public().await;
    let token = client.login(&id, "tools").await.text("refresh_token");
    assert_eq!(client.refresh(&id, &token, &[]).await.status, 503);
    assert_eq!(client.refresh(&id, &token, &[]).await.status, 200);
    assert_eq!(client.issuer.counts().stale_refreshes, 0);
}
