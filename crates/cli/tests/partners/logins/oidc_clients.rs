//! The kinds of clients that oidc-provider knows: registered by hand, by a document, for themselves, and with a key
//! that tokens are bound to.

use std::time::Duration;

use serde_json::json;

use super::oidc::Site;

/// A private key that no client but the one of these tests has.
const ROBOT_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJF3Yi/ZkPjT9vqcB
rBL4kZx3hHwJuRjuTFbdy6TG6AmhRANCAASvSGcNpLav7KBoRd6SHF3nWRt8vxGU
+eQK6JkGPSdGJl0BxE3jT6x1n8mDCfNFKiD+eoz/AzW7lVB5vT8XLa9m
-----END PRIVATE KEY-----
";
const ROBOT_PUBLIC_KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"r0hnDaS2r-ygaEXekhxd51kbfL8RlPnkCuiZBj0nRiY","y":"XQHETeNPrHWfyYMJ80UqIP56jP8DNbuVUHm9Pxctr2Y"}"#;

#[test]
fn clients_that_are_registered_by_hand_log_in_at_oidc_provider() {
    let site = Site::new(&[], &[]);
    let public = site.stage(&json!({"clientId": "app"}));
    public.log_in_with_browser();
    public.call();
    assert_eq!(public.status()["client_id"], "app");
    let secret = "confidential-secret";
    let with_secret = site.stage(&json!({"clientId": "confidential", "clientSecret": secret}));
    with_secret.log_in_by_paste();
    with_secret.call();
    assert_eq!(with_secret.status()["client_id"], "confidential");
    assert_eq!(site.granted("authorization_code"), 2);
    let wrong = site.stage(&json!({"clientId": "confidential", "clientSecret": "another"}));
    let begun = wrong.run(&["login", "tickets", "--no-browser"]);
    let answer = super::end_of_visit(begun.stdout.trim());
    let refused = wrong.run(&["login", "tickets", "--finish", &answer]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    let title = "the issuer does not accept our client";
    assert!(refused.stderr.contains(title), "{}", refused.stderr);
}

#[test]
fn a_client_with_a_metadata_document_logs_in_at_oidc_provider() {
    let site = Site::new(&[], &[]);
    let document = "https://client.example/metadata.json";
    let stage = site.stage(&json!({"clientMetadataUrl": document}));
    stage.log_in_with_browser();
    stage.call();
    assert_eq!(stage.status()["client_id"], document);
    assert_eq!(site.granted("authorization_code"), 1);
}

#[test]
fn a_client_for_itself_needs_no_login_at_oidc_provider() {
    let site = Site::new(
        &[("OAUTH_ROBOT_KEY", ROBOT_PUBLIC_KEY), ("OAUTH_LIFE", "3")],
        &[],
    );
    let grant = "client_credentials";
    let machine = site.stage(&json!({
        "grant": grant, "clientId": "machine", "clientSecret": "machine-secret", "scopes": "tools",
    }));
    let robot = site.stage(&json!({
        "grant": grant, "clientId": "robot", "clientKey": ROBOT_KEY, "scopes": "tools",
    }));
    for stage in [machine, robot] {
        let mut before = site.granted(grant);
        for _ in 0..2 {
            stage.call();
            assert!(site.granted(grant) > before);
            before = site.granted(grant);
            // Only time ends a token of this issuer.
            std::thread::sleep(Duration::from_secs(4));
        }
        assert_eq!(stage.status()["state"], "automatic");
    }
    assert_eq!(site.refused(), 0);
}

#[test]
fn tokens_are_bound_to_a_key_where_the_server_demands_it() {
    let nonces = [("OAUTH_DPOP_NONCE", "1"), ("OAUTH_LIFE", "3")];
    let site = Site::new(&nonces, &[("OAUTH_DPOP", "required")]);
    let stage = site.stage(&json!({}));
    stage.log_in_with_browser();
    stage.call();
    assert!(site.server.said("proof good") > 0);
    // Only time ends a token of this issuer.
    std::thread::sleep(Duration::from_secs(4));
    stage.call();
    assert!(site.granted("refresh_token") > 0);
    assert_eq!(site.server.said("proof bad"), 0);
    assert_eq!(site.server.said("bearer token refused"), 0);
}
