//! Clients of every kind, devices, and tokens that are bound to a key.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, DEVICE, Got, Key, basic, hash, now};

#[tokio::test]
async fn a_client_proves_itself_in_the_way_that_it_registered() {
    let client = Client::with(&["client=app:s/e c"], &[]).await;
    let resource = client.resource();
    let grant = [
        ("grant_type", "client_credentials"),
        ("resource", resource.as_str()),
    ];
    let good = basic("app", "s/e c");
    let tokens = client.token(&[("authorization", &good)], &grant).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    assert_eq!(tokens.text("refresh_token"), "");
    assert_eq!(
        client.call_with(&tokens.text("access_token")).await.status,
        200
    );
    let wrong = client
        .token(&[("authorization", &basic("app", "x"))], &grant)
        .await;
    assert_eq!(
        (wrong.status, wrong.error()),
        (401, "invalid_client".to_owned())
    );
    let junk = client.token(&[("authorization", "Basic ?")], &grant).await;
    assert!(junk.header("www-authenticate").is_some());
    let post = [
        grant[0],
        grant[1],
        ("client_id", "app"),
        ("client_secret", "s/e c"),
    ];
    assert_eq!(client.token(&[], &post).await.error(), "invalid_client");
    let both = client.token(&[("authorization", &good)], &post).await;
    assert_eq!(both.error(), "invalid_request");
    let other = [grant[0], grant[1], ("client_id", "other")];
    let two = client.token(&[("authorization", &good)], &other).await;
    assert_eq!(two.error(), "invalid_request");
}

#[tokio::test]
async fn a_secret_in_the_form_is_for_clients_that_registered_for_it() {
    let client = Client::with(&[], &[]).await;
    let changes = json!({"token_endpoint_auth_method": "client_secret_post"});
    let registered = client.register(&changes).await;
    let (id, secret) = (
        registered.text("client_id"),
        registered.text("client_secret"),
    );
    let code = client.authorize(&id, &[]).await.param("code").unwrap();
    let none = client.exchange(&id, &code, &[]).await;
    assert_eq!(none.error(), "invalid_client");
    let tokens = client
        .exchange(&id, &code, &[("client_secret", &secret)])
        .await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
}

#[tokio::test]
async fn an_assertion_is_good_once_and_only_for_this_issuer() {
    let key = Key::new();
    let setting = format!("client-key=robot:{}", key.public());
    let client = Client::with(&[&setting], &[]).await;
    let issuer = client.origin();
    let good = json!({
        "iss": "robot", "sub": "robot", "aud": issuer, "jti": "1", "iat": now(), "exp": now() + 60,
    });
    let ask = async |key: &Key, claims: &Value| -> Got {
        let assertion = key.sign(&json!({"alg": "ES256"}), claims);
        let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        let resource = client.resource();
        let pairs = [
            ("grant_type", "client_credentials"),
            ("client_assertion_type", kind),
            ("client_assertion", assertion.as_str()),
            ("resource", resource.as_str()),
        ];
        client.token(&[], &pairs).await
    };
    for (member, value) in [
        ("aud", json!("https://other.example")),
        ("aud", json!([issuer, "https://other.example"])),
        ("iss", json!("other")),
        ("exp", json!(now() - 1)),
        ("exp", json!(now() + 100_000)),
        ("jti", json!(null)),
    ] {
        let mut claims = good.clone();
        claims[member] = value;
        assert_eq!(
            ask(&key, &claims).await.error(),
            "invalid_client",
            "{member}"
        );
    }
    assert_eq!(ask(&Key::new(), &good).await.error(), "invalid_client");
    assert_eq!(ask(&key, &good).await.status, 200);
    assert_eq!(ask(&key, &good).await.error(), "invalid_client");
}

#[tokio::test]
async fn a_metadata_document_stands_for_a_registration() {
    let url = "https://app.example/client.json";
    let document = json!({
        "client_id": url,
        "client_name": "An app",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let setting = format!("document={document}");
    let client = Client::with(&[&setting, "registration=no"], &[]).await;
    let metadata = client.get("/.well-known/oauth-authorization-server").await;
    assert_eq!(
        metadata.json()["client_id_metadata_document_supported"],
        true
    );
    assert_eq!(metadata.json().get("registration_endpoint"), None);
    assert_eq!(client.login(url, "tools").await.status, 200);
    let other = client
        .authorize("https://app.example/other.json", &[])
        .await;
    assert_eq!(other.status, 401);
}

async fn poll(client: &Client, id: &str, code: &str) -> Got {
    let pairs = [
        ("grant_type", DEVICE),
        ("client_id", id),
        ("device_code", code),
    ];
    client.token(&[], &pairs).await
}

#[tokio::test]
async fn a_device_waits_for_the_person_and_keeps_its_pause() {
    let client = Client::with(&["device-polls=1", "device-interval=2"], &[]).await;
    let id = client.public().await;
    let resource = client.resource();
    let asked = [
        ("client_id", id.as_str()),
        ("scope", "tools"),
        ("resource", &resource),
    ];
    let device = client.form("/device", &asked).await;
    assert_eq!(device.json()["interval"], 2);
    let code = device.text("device_code");
    assert_eq!(
        poll(&client, &id, &code).await.error(),
        "authorization_pending"
    );
    assert_eq!(poll(&client, &id, &code).await.error(), "slow_down");
    client.issuer.advance(Duration::from_secs(7));
    let tokens = poll(&client, &id, &code).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    assert_eq!(
        client.call_with(&tokens.text("access_token")).await.status,
        200
    );
    assert_eq!(poll(&client, &id, &code).await.error(), "invalid_grant");
}

#[tokio::test]
async fn a_person_approves_a_device_at_the_page() {
    let client = Client::with(&["device-polls=page"], &[]).await;
    let id = client.public().await;
    let resource = client.resource();
    let asked = [
        ("client_id", id.as_str()),
        ("scope", "tools"),
        ("resource", &resource),
    ];
    for (decision, error) in [("approve", ""), ("refuse", "access_denied")] {
        let device = client.form("/device", &asked).await;
        let code = device.text("device_code");
        assert_eq!(
            poll(&client, &id, &code).await.error(),
            "authorization_pending"
        );
        let user_code = device.text("user_code");
        let page = client
            .get(&format!("/device/page?user_code={user_code}"))
            .await;
        assert!(page.body.contains(&user_code));
        let decide = [("user_code", user_code.as_str()), ("decision", decision)];
        assert_eq!(client.form("/device/decide", &decide).await.status, 200);
        client.issuer.advance(Duration::from_secs(10));
        assert_eq!(poll(&client, &id, &code).await.error(), error);
    }
}

#[tokio::test]
async fn bound_tokens_need_a_fresh_proof_of_their_key() {
    let client = Client::with(&["dpop=required"], &[]).await;
    let id = client.public().await;
    let key = Key::new();
    let token_url = format!("{}/token", client.origin());
    let code = client.authorize(&id, &[]).await.param("code").unwrap();
    assert_eq!(
        client.exchange(&id, &code, &[]).await.error(),
        "invalid_dpop_proof"
    );
    let tokens = exchange(&client, &id, &code, &key.prove(&token_url, &json!({}))).await;
    assert_eq!(tokens.json()["token_type"], "DPoP", "{tokens:?}");
    let access = tokens.text("access_token");
    let header = format!("DPoP {access}");
    let call = async |proof: &str| -> Got {
        client
            .call("echo", &[("authorization", &header), ("dpop", proof)])
            .await
    };
    let ath = json!({"ath": hash(&access)});
    let proof = key.prove(&client.resource(), &ath);
    assert_eq!(call(&proof).await.status, 200);
    assert_eq!(call(&proof).await.status, 401, "a proof is good once");
    let without = key.prove(&client.resource(), &json!({}));
    assert_eq!(call(&without).await.status, 401);
    let other = Key::new().prove(&client.resource(), &ath);
    assert_eq!(call(&other).await.status, 401);
    assert_eq!(
        client.call_with(&access).await.status,
        401,
        "not as a bearer"
    );
    // A refresh needs the same key.
    let refresh = async |proof: String| -> Got {
        let (token, resource) = (tokens.text("refresh_token"), client.resource());
        let pairs = [
            ("grant_type", "refresh_token"),
            ("client_id", id.as_str()),
            ("refresh_token", &token),
            ("resource", &resource),
        ];
        client.token(&[("dpop", &proof)], &pairs).await
    };
    let stolen = refresh(Key::new().prove(&token_url, &json!({}))).await;
    assert_eq!(stolen.error(), "invalid_dpop_proof");
    assert_eq!(refresh(key.prove(&token_url, &json!({}))).await.status, 200);
}

async fn exchange(client: &Client, id: &str, code: &str, proof: &str) -> Got {
    let resource = client.resource();
    let pairs = [
        ("grant_type", "authorization_code"),
        ("client_id", id),
        ("code", code),
        ("code_verifier", super::client::VERIFIER),
        ("redirect_uri", super::client::REDIRECT),
        ("resource", resource.as_str()),
    ];
    client.token(&[("dpop", proof)], &pairs).await
}

#[tokio::test]
async fn a_proof_without_the_nonce_gets_one_at_both_ends() {
    let client = Client::with(&["dpop=required", "dpop-nonces=yes"], &[]).await;
    let id = client.public().await;
    let key = Key::new();
    let token_url = format!("{}/token", client.origin());
    let code = client.authorize(&id, &[]).await.param("code").unwrap();
    let asked = exchange(&client, &id, &code, &key.prove(&token_url, &json!({}))).await;
    assert_eq!(asked.error(), "use_dpop_nonce");
    let nonce = asked.header("dpop-nonce").unwrap().to_owned();
    let proof = key.prove(&token_url, &json!({"nonce": nonce}));
    let tokens = exchange(&client, &id, &code, &proof).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    let access = tokens.text("access_token");
    let header = format!("DPoP {access}");
    let call = async |claims: Value| -> Got {
        let proof = key.prove(&client.resource(), &claims);
        client
            .call("echo", &[("authorization", &header), ("dpop", &proof)])
            .await
    };
    let asked = call(json!({"ath": hash(&access)})).await;
    assert_eq!(asked.status, 401);
    let challenge = asked.header("www-authenticate").unwrap();
    assert!(
        challenge.starts_with("DPoP error=\"use_dpop_nonce\""),
        "{challenge}"
    );
    let nonce = asked.header("dpop-nonce").unwrap();
    let good = call(json!({"ath": hash(&access), "nonce": nonce})).await;
    assert_eq!(good.status, 200);
    assert_eq!(client.issuer.counts().nonce_challenges, 2);
}

#[tokio::test]
async fn an_issuer_can_refuse_or_ignore_the_resource() {
    let refuses = Client::with(&["resource=refused"], &[]).await;
    let id = refuses.public().await;
    let got = refuses.authorize(&id, &[]).await;
    assert_eq!(got.param("error").as_deref(), Some("invalid_request"));
    assert!(
        got.param("error_description")
            .unwrap()
            .starts_with("AADSTS9010010")
    );
    let got = refuses.authorize(&id, &[("resource", "")]).await;
    let code = got.param("code").unwrap();
    let tokens = refuses.exchange(&id, &code, &[("resource", "")]).await;
    assert_eq!(tokens.status, 200);
    let ignores = Client::with(&["resource=optional"], &[]).await;
    let id = ignores.public().await;
    assert!(
        ignores
            .authorize(&id, &[("resource", "")])
            .await
            .param("code")
            .is_some()
    );
}
