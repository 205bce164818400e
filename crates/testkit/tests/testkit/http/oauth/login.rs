//! Codes, tokens, and what becomes of them.

use std::time::Duration;

use serde_json::json;

use super::client::{Client, REDIRECT, STATE, encode};

#[tokio::test]
async fn a_login_gives_a_token_that_lets_calls_in() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    let redirect = client.authorize(&id, &[]).await;
    assert_eq!(redirect.status, 302);
    assert!(redirect.header("location").unwrap().starts_with(REDIRECT));
    assert_eq!(redirect.param("state").as_deref(), Some(STATE));
    assert_eq!(redirect.param("iss"), Some(client.origin()));
    let tokens = client
        .exchange(&id, &redirect.param("code").unwrap(), &[])
        .await;
    assert_eq!(tokens.header("cache-control"), Some("no-store"));
    let answer = tokens.json();
    assert_eq!(
        (
            &answer["token_type"],
            &answer["expires_in"],
            &answer["scope"]
        ),
        (&json!("Bearer"), &json!(3600), &json!("tools"))
    );
    assert_eq!(
        client.call_with(&tokens.text("access_token")).await.status,
        200
    );
    let counts = client.issuer.counts();
    assert_eq!((counts.prompts, counts.logins, counts.admitted), (1, 1, 1));
}

#[tokio::test]
async fn an_authorization_request_is_strict_about_every_parameter() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "invalid_request"),
        ("response_mode", "fragment", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("state", "", "invalid_request"),
        ("state", "short", "invalid_request"),
        ("scope", "tools root", "invalid_scope"),
        ("scope", "tools  admin", "invalid_scope"),
        ("resource", "", "invalid_target"),
        ("resource", "https://other.example/mcp", "invalid_target"),
        ("audience", "x", "invalid_request"),
    ] {
        let got = client.authorize(&id, &[(name, value)]).await;
        assert_eq!(got.param("error").as_deref(), Some(error), "{name}={value}");
        assert_eq!(got.param("code"), None);
    }
    assert_eq!(client.issuer.counts().prompts, 0);
}

#[tokio::test]
async fn nothing_is_redirected_to_an_address_that_is_not_the_clients() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    for changes in [
        ("redirect_uri", "https://evil.example/callback"),
        ("redirect_uri", "http://127.0.0.1:1/other"),
        ("redirect_uri", ""),
        ("client_id", "nobody"),
    ] {
        let got = client.authorize(&id, &[changes]).await;
        assert!(got.status >= 400, "{changes:?}");
        assert_eq!(got.header("location"), None);
    }
    let twice = format!(
        "/authorize?client_id={id}&client_id={id}&redirect_uri={}",
        encode(REDIRECT)
    );
    assert_eq!(client.get(&twice).await.status, 400);
}

#[tokio::test]
async fn a_code_is_good_once_for_its_client_and_its_verifier() {
    let client = Client::with(&[], &[]).await;
    let (id, other) = (client.public().await, client.public().await);
    let code = client.authorize(&id, &[]).await.param("code").unwrap();
    for (changes, error) in [
        (("code", "unknown"), "invalid_grant"),
        (("client_id", other.as_str()), "invalid_grant"),
        (("client_id", "nobody"), "invalid_client"),
        (("client_id", ""), "invalid_request"),
        (
            (
                "code_verifier",
                "another-verifier-that-is-long-enough-for-the-rfc",
            ),
            "invalid_grant",
        ),
        (("code_verifier", "short"), "invalid_grant"),
        (("code_verifier", ""), "invalid_request"),
        (
            ("redirect_uri", "http://127.0.0.1:1/callback"),
            "invalid_grant",
        ),
        (("scope", "admin"), "invalid_request"),
        (("grant_type", "password"), "unauthorized_client"),
        (("grant_type", ""), "invalid_request"),
        (("client_secret", "x"), "invalid_client"),
    ] {
        let got = client.exchange(&id, &code, &[changes]).await;
        assert_eq!(got.error(), error, "{changes:?}");
    }
    let tokens = client.exchange(&id, &code, &[]).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    // The second use ends the tokens of the first.
    assert_eq!(
        client.exchange(&id, &code, &[]).await.error(),
        "invalid_grant"
    );
    assert_eq!(
        client.call_with(&tokens.text("access_token")).await.status,
        401
    );
    let counts = client.issuer.counts();
    assert_eq!((counts.replayed_codes, counts.revoked_families), (1, 1));
}

#[tokio::test]
async fn a_token_request_in_the_wrong_form_is_refused() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    let body = format!("grant_type=refresh_token&client_id={id}&refresh_token=x");
    let form = ("content-type", "application/x-www-form-urlencoded");
    for (path, header, body) in [
        (
            "/token",
            ("content-type", "application/json"),
            "{}".to_owned(),
        ),
        ("/token?x=1", form, body.clone()),
        ("/token", form, format!("{body}&client_id={id}")),
        ("/token", form, format!("{body}&extra=1")),
    ] {
        let got = client.send("POST", path, &[header], &body).await;
        assert_eq!(
            (got.status, got.error()),
            (400, "invalid_request".to_owned()),
            "{body}"
        );
    }
    assert_eq!(client.get("/token").await.status, 405);
}

#[tokio::test]
async fn codes_and_tokens_expire() {
    let client = Client::with(&["access-life=2", "code-life=5"], &[]).await;
    let id = client.public().await;
    let code = client.authorize(&id, &[]).await.param("code").unwrap();
    client.issuer.advance(Duration::from_secs(6));
    assert_eq!(
        client.exchange(&id, &code, &[]).await.error(),
        "invalid_grant"
    );
    let tokens = client.login(&id, "tools").await;
    let access = tokens.text("access_token");
    assert_eq!(client.call_with(&access).await.status, 200);
    client.issuer.advance(Duration::from_secs(3));
    let got = client.call_with(&access).await;
    assert_eq!(got.status, 401);
    let challenge = got.header("www-authenticate").unwrap();
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
}

#[tokio::test]
async fn a_refresh_rotates_and_a_stale_token_revokes_its_family() {
    let client = Client::with(&[], &[]).await;
    let (id, other) = (client.public().await, client.public().await);
    let first = client.login(&id, "tools").await;
    let old = first.text("refresh_token");
    for (changes, error) in [
        (("scope", "tools admin"), "invalid_scope"),
        (("resource", ""), "invalid_target"),
        (("client_id", other.as_str()), "invalid_grant"),
        (("refresh_token", "unknown"), "invalid_grant"),
    ] {
        let got = client.refresh(&id, &old, &[changes]).await;
        assert_eq!(got.error(), error, "{changes:?}");
    }
    let second = client.refresh(&id, &old, &[]).await;
    assert_eq!(second.status, 200, "{second:?}");
    assert_ne!(second.text("refresh_token"), old);
    assert_eq!(client.issuer.counts().stale_refreshes, 0);
    // The old one comes again: both the thief and the client lose everything.
    assert_eq!(
        client.refresh(&id, &old, &[]).await.error(),
        "invalid_grant"
    );
    let newest = second.text("refresh_token");
    assert_eq!(
        client.refresh(&id, &newest, &[]).await.error(),
        "invalid_grant"
    );
    for tokens in [&first, &second] {
        assert_eq!(
            client.call_with(&tokens.text("access_token")).await.status,
            401
        );
    }
    let counts = client.issuer.counts();
    assert_eq!(
        (
            counts.refreshes,
            counts.stale_refreshes,
            counts.revoked_families
        ),
        (1, 1, 1)
    );
}

#[tokio::test]
async fn refresh_tokens_are_only_for_who_asked_for_them() {
    let client = Client::with(&["offline-access=yes"], &[]).await;
    let id = client.public().await;
    assert_eq!(client.login(&id, "tools").await.text("refresh_token"), "");
    let tokens = client.login(&id, "tools offline_access").await;
    assert_ne!(tokens.text("refresh_token"), "");
    let changes = json!({"grant_types": ["authorization_code"]});
    let id = client.register(&changes).await.text("client_id");
    let tokens = client.login(&id, "tools offline_access").await;
    assert_eq!(tokens.text("refresh_token"), "");
}

#[tokio::test]
async fn a_revoked_token_takes_its_family_with_it() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    let tokens = client.login(&id, "tools").await;
    let (access, refresh) = (tokens.text("access_token"), tokens.text("refresh_token"));
    let other = client.public().await;
    let stolen = [("token", refresh.as_str()), ("client_id", other.as_str())];
    assert_eq!(client.form("/revoke", &stolen).await.status, 400);
    let own = [("token", refresh.as_str()), ("client_id", id.as_str())];
    assert_eq!(client.form("/revoke", &own).await.status, 200);
    assert_eq!(client.form("/revoke", &own).await.status, 200);
    assert_eq!(client.call_with(&access).await.status, 401);
    assert_eq!(
        client.refresh(&id, &refresh, &[]).await.error(),
        "invalid_grant"
    );
    assert_eq!(client.issuer.counts().stale_refreshes, 0);
}

#[tokio::test]
async fn a_tool_can_need_a_scope_of_its_own() {
    let client = Client::with(&["tool-scope=add:admin"], &[]).await;
    let id = client.public().await;
    let small = format!(
        "Bearer {}",
        client.login(&id, "tools").await.text("access_token")
    );
    let header = [("authorization", small.as_str())];
    assert_eq!(client.call("echo", &header).await.status, 200);
    let got = client.call("add", &header).await;
    assert_eq!(got.status, 403);
    let challenge = got.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("error=\"insufficient_scope\""),
        "{challenge}"
    );
    assert!(challenge.contains("scope=\"admin\""), "{challenge}");
    let large = client.login(&id, "tools admin").await.text("access_token");
    let large = format!("Bearer {large}");
    assert_eq!(
        client
            .call("add", &[("authorization", &large)])
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn tokens_count_only_in_the_header_and_only_once() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    let token = client.login(&id, "tools").await.text("access_token");
    let bearer = format!("Bearer {token}");
    let twice = [
        ("authorization", bearer.as_str()),
        ("authorization", bearer.as_str()),
    ];
    assert_eq!(client.call("echo", &twice).await.status, 400);
    let path = format!("/mcp?access_token={token}");
    assert_eq!(client.send("POST", &path, &[], "{}").await.status, 400);
    for wrong in ["Basic x", "DPoP x", "Bearer", "Bearer other"] {
        assert_eq!(
            client
                .call("echo", &[("authorization", wrong)])
                .await
                .status,
            401
        );
    }
}

#[tokio::test]
async fn a_page_asks_the_person_where_the_setting_says_so() {
    let client = Client::with(&["consent=page"], &[]).await;
    let id = client.public().await;
    let page = client.authorize(&id, &[]).await;
    assert_eq!(page.status, 200);
    let ticket = |page: &str| {
        let (_, rest) = page.split_once("name=\"ticket\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let first = ticket(&page.body);
    let approve = [("ticket", first.as_str()), ("decision", "approve")];
    let redirect = client.form("/authorize/decide", &approve).await;
    assert!(redirect.param("code").is_some());
    assert_eq!(client.form("/authorize/decide", &approve).await.status, 400);
    let second = ticket(&client.authorize(&id, &[]).await.body);
    let refuse = [("ticket", second.as_str()), ("decision", "refuse")];
    let redirect = client.form("/authorize/decide", &refuse).await;
    assert_eq!(redirect.param("error").as_deref(), Some("access_denied"));
}

#[tokio::test]
async fn every_request_is_in_the_journal_without_a_secret() {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("issuer-journal-{}", std::process::id()));
    let setting = format!("journal={}", file.display());
    let client = Client::with(&[&setting], &[]).await;
    let id = client.public().await;
    let tokens = client.login(&id, "tools").await;
    client.call_with(&tokens.text("access_token")).await;
    client.get("/.well-known/nothing").await;
    let events = client.issuer.events();
    let endpoints: Vec<_> = events.iter().map(|event| event.endpoint.as_str()).collect();
    assert_eq!(
        endpoints,
        ["register", "authorize", "token", "resource", "unknown"]
    );
    assert!(
        events
            .iter()
            .take(4)
            .all(|event| event.client.as_ref() == Some(&id))
    );
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(written.lines().count(), 5);
    let told = client.get("/test/journal").await;
    assert_eq!(told.json()["counts"]["logins"], 1);
    for text in [written, told.body] {
        assert!(
            !text.contains("access-") && !text.contains("code-"),
            "{text}"
        );
        assert!(!text.contains("refresh-"), "{text}");
    }
}

#[tokio::test]
async fn other_processes_can_expire_revoke_and_forget() {
    let client = Client::with(&[], &[]).await;
    let id = client.public().await;
    let tokens = client.login(&id, "tools").await;
    client.form("/test/expire", &[]).await;
    assert_eq!(
        client.call_with(&tokens.text("access_token")).await.status,
        401
    );
    let tokens = client
        .refresh(&id, &tokens.text("refresh_token"), &[])
        .await;
    assert_eq!(tokens.status, 200);
    client.form("/test/revoke", &[]).await;
    let refused = client
        .refresh(&id, &tokens.text("refresh_token"), &[])
        .await;
    assert_eq!(refused.error(), "invalid_grant");
    client.form("/test/forget", &[]).await;
    assert_eq!(
        client.refresh(&id, "x", &[]).await.error(),
        "invalid_client"
    );
}
