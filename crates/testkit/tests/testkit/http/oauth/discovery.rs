//! Challenges, metadata and registration.

use serde_json::json;

use super::client::Client;

#[tokio::test]
async fn a_request_without_a_token_is_challenged() {
    let client = Client::with(&["challenge-scope=tools"], &[]).await;
    let got = client.call("echo", &[]).await;
    assert_eq!(got.status, 401);
    let expected = format!(
        "Bearer scope=\"tools\", resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"",
        client.origin()
    );
    assert_eq!(got.header("www-authenticate"), Some(expected.as_str()));
    assert_eq!(client.issuer.counts().challenges, 1);
}

#[tokio::test]
async fn the_metadata_of_the_resource_has_one_place_only() {
    let places = [
        ("path", "/.well-known/oauth-protected-resource/mcp"),
        ("root", "/.well-known/oauth-protected-resource"),
        ("custom", "/custom/metadata/location.json"),
        ("nowhere", "-"),
    ];
    for (setting, path) in places {
        let client = Client::with(&[&format!("resource-place={setting}")], &[]).await;
        for (_, other) in &places[..3] {
            let got = client.get(other).await;
            assert_eq!(
                got.status,
                if *other == path { 200 } else { 404 },
                "{setting}"
            );
        }
    }
    let client = Client::with(&[], &[]).await;
    let got = client.get(places[0].1).await;
    let expected = json!({
        "resource": client.resource(),
        "authorization_servers": [client.origin()],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["tools"],
    });
    assert_eq!(got.json(), expected);
}

#[tokio::test]
async fn the_metadata_of_the_issuer_is_where_the_setting_says() {
    let places = [
        ("oauth", "/.well-known/oauth-authorization-server/tenant"),
        ("oidc-inserted", "/.well-known/openid-configuration/tenant"),
        ("oidc-appended", "/tenant/.well-known/openid-configuration"),
    ];
    for (setting, path) in places {
        let place = format!("metadata-place={setting}");
        let client = Client::with(&["path=/tenant", &place], &[]).await;
        for (_, other) in places {
            let got = client.get(other).await;
            assert_eq!(
                got.status,
                if other == path { 200 } else { 404 },
                "{setting}"
            );
        }
        let got = client.get(path).await;
        assert_eq!(got.text("issuer"), format!("{}/tenant", client.origin()));
        assert_eq!(
            got.text("token_endpoint"),
            format!("{}/tenant/token", client.origin())
        );
    }
}

#[tokio::test]
async fn an_issuer_with_a_port_of_its_own_answers_there_alone() {
    let client = Client::with(&["elsewhere=yes"], &[]).await;
    let resource = client
        .get("/.well-known/oauth-protected-resource/mcp")
        .await;
    let issuer = resource.json()["authorization_servers"][0].clone();
    assert_ne!(issuer, client.origin());
    let here = client.get("/.well-known/oauth-authorization-server").await;
    assert_eq!(here.status, 404);
}

#[tokio::test]
async fn metadata_is_not_for_credentials_or_cookies() {
    let client = Client::with(&[], &[]).await;
    let path = "/.well-known/oauth-authorization-server";
    for header in [("authorization", "Bearer x"), ("cookie", "a=b")] {
        assert_eq!(client.send("GET", path, &[header], "").await.status, 400);
    }
    assert_eq!(client.send("POST", path, &[], "").await.status, 405);
}

#[tokio::test]
async fn a_registration_is_strict_about_its_members() {
    let client = Client::with(&[], &[]).await;
    let good = client.register(&json!({})).await;
    assert_eq!(
        (good.status, good.text("client_secret")),
        (201, String::new())
    );
    let secret = client
        .register(&json!({"token_endpoint_auth_method": "client_secret_basic"}))
        .await;
    assert!(secret.text("client_secret").starts_with("secret-"));
    for changes in [
        json!({"application_type": "desktop"}),
        json!({"application_type": "web"}),
        json!({"redirect_uris": ["https://app.example/callback"]}),
        json!({"redirect_uris": ["http://app.example/callback"]}),
        json!({"redirect_uris": ["http://127.0.0.1/callback#x"]}),
        json!({"redirect_uris": []}),
        json!({"redirect_uris": "http://127.0.0.1/callback"}),
        json!({"grant_types": ["implicit"]}),
        json!({"response_types": ["token"]}),
        json!({"token_endpoint_auth_method": "private_key_jwt"}),
        json!({"client_name": ""}),
        json!({"redirect_uri": "http://127.0.0.1/callback"}),
    ] {
        assert_eq!(client.register(&changes).await.status, 400, "{changes}");
    }
    assert_eq!(client.issuer.counts().registrations, 2);
}

#[tokio::test]
async fn a_registration_in_the_wrong_form_is_refused() {
    let client = Client::with(&[], &[]).await;
    assert_eq!(
        client
            .form("/register", &[("client_name", "x")])
            .await
            .status,
        400
    );
    let closed = Client::with(&["registration=no"], &[]).await;
    assert_eq!(closed.register(&json!({})).await.status, 404);
}
