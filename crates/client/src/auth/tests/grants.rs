//! Grants without a browser, and tokens that are bound to a key.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::auth::settings::{Assertion, DpopSetting, Enterprise, Grant};
use crate::auth::{DeviceLogin, SigningKey};

const DEVICE: &str = "https://as.example/device";

/// A key for ES256, made for these tests.
fn key() -> Arc<SigningKey> {
    use base64::Engine as _;
    let random = ring::rand::SystemRandom::new();
    let algorithm = &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let der = ring::signature::EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
    let der = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n");
    Arc::new(
        SigningKey::from_pem(&Secret::new(pem))
            .expect("a key")
            .id("k1"),
    )
}

fn claims(token: &str) -> Value {
    let middle = token.split('.').nth(1).expect("a token");
    let bytes = crate::auth::jose::from_base64url(middle).expect("base64");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn unattended(grant: Grant) -> OAuthSettings {
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("machine".to_owned());
    settings.grant = grant;
    settings
}

async fn use_once(net: &Arc<Net>, settings: OAuthSettings) -> Decision {
    let authorizer = authorizer_with(net, settings, Arc::new(MemoryStore::new()));
    refuse(&authorizer, 401, "Bearer scope=\"a\"").await
}

#[tokio::test]
async fn client_credentials_are_proven_by_a_secret() {
    let document = issuer_with(&json!({
        "token_endpoint_auth_methods_supported": ["client_secret_basic"]
    }));
    let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
    let mut settings = unattended(Grant::ClientCredentials);
    settings.client_secret = Some(secret("s"));
    assert!(matches!(use_once(&net, settings).await, Decision::Retry));
    let sent = &net.to(TOKEN)[0];
    assert_eq!(sent.form["grant_type"], "client_credentials");
    assert_eq!(sent.form["scope"], "a");
    assert_eq!(sent.form["resource"], SERVER);
    assert!(sent.headers["authorization"].starts_with("Basic "));
    assert!(net.to(REGISTER).is_empty());
}

#[tokio::test]
async fn client_credentials_are_proven_by_a_signature() {
    let net = Net::with(&[]);
    let mut settings = unattended(Grant::ClientCredentials);
    settings.client_key = Some(key());
    assert!(matches!(use_once(&net, settings).await, Decision::Retry));
    let sent = &net.to(TOKEN)[0].form;
    let claims = claims(&sent["client_assertion"]);
    assert_eq!(claims["iss"], "machine");
    assert_eq!(claims["sub"], "machine");
    assert_eq!(claims["aud"], ISSUER);
    assert!(claims["exp"].as_u64() > claims["iat"].as_u64());
    assert_eq!(
        sent["client_assertion_type"],
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
}

#[tokio::test]
async fn a_machine_without_a_client_id_says_which_setting_is_missing() {
    let mut settings = unattended(Grant::ClientCredentials);
    settings.client_id = None;
    let error = gave_up(use_once(&Net::with(&[]), settings).await);
    assert!(
        matches!(
            error,
            AuthError::Setting {
                key: "clientId",
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_workloads_token_is_shown_once_and_a_refusal_is_final() {
    let net = Net::with(&[]);
    let assertion = Assertion::Fixed(secret("platform"));
    let settings = unattended(Grant::Workload { assertion });
    assert!(matches!(
        use_once(&net, settings.clone()).await,
        Decision::Retry
    ));
    let sent = &net.to(TOKEN)[0].form;
    assert_eq!(
        sent["grant_type"],
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(sent["assertion"], "platform");
    for code in ["invalid_grant", "invalid_scope", "unauthorized_client"] {
        let net = Net::with(&[(TOKEN, refused(code))]);
        let store = Arc::new(MemoryStore::new());
        let authorizer = authorizer_with(&net, settings.clone(), store);
        for _ in 0..3 {
            let error = gave_up(refuse(&authorizer, 401, "Bearer").await);
            assert!(
                matches!(error, AuthError::Refused { .. }),
                "{code}: {error:?}"
            );
        }
        assert_eq!(net.to(TOKEN).len(), 1, "{code}");
    }
}

#[tokio::test]
async fn a_workloads_token_in_a_file_is_read_again_when_it_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "first\n").expect("a file");
    let net = Net::new(|seen| {
        let is_second = seen.form.get("assertion").map(String::as_str) == Some("second");
        Ok(match seen.url.as_str() {
            TOKEN if !is_second => refused("invalid_grant"),
            _ => usual(seen),
        })
    });
    let assertion = Assertion::File(file.clone());
    let settings = unattended(Grant::Workload { assertion });
    let authorizer = authorizer_with(&net, settings, Arc::new(MemoryStore::new()));
    gave_up(refuse(&authorizer, 401, "Bearer").await);
    gave_up(refuse(&authorizer, 401, "Bearer").await);
    assert_eq!(net.to(TOKEN).len(), 1);
    std::fs::write(&file, "second\n").expect("a file");
    assert!(matches!(
        refuse(&authorizer, 401, "Bearer").await,
        Decision::Retry
    ));
}

#[tokio::test]
async fn an_enterprise_exchanges_its_id_token_and_then_asks_the_issuer() {
    const IDP: &str = "https://idp.example/token";
    let document = issuer_with(&json!({
        "token_endpoint_auth_methods_supported": ["client_secret_basic"]
    }));
    let grant = json!({
        "access_token": "jag", "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"
    });
    let net = Net::with(&[(ISSUER_METADATA, ok(&document)), (IDP, ok(&grant))]);
    let mut settings = unattended(Grant::Enterprise(Arc::new(Enterprise {
        token_endpoint: IDP.to_owned(),
        client_id: "at-idp".to_owned(),
        client_secret: None,
        id_token: Assertion::Fixed(secret("id-token")),
    })));
    settings.client_secret = Some(secret("s"));
    assert!(matches!(use_once(&net, settings).await, Decision::Retry));
    let exchange = &net.to(IDP)[0];
    let expected = [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        (
            "requested_token_type",
            "urn:ietf:params:oauth:token-type:id-jag",
        ),
        ("subject_token", "id-token"),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
        ("audience", ISSUER),
        ("resource", SERVER),
        ("client_id", "at-idp"),
    ];
    for (name, value) in expected {
        assert_eq!(exchange.form[name], value);
    }
    assert!(
        !exchange.headers.contains_key("authorization"),
        "the secret is not the provider's"
    );
    let bearer = &net.to(TOKEN)[0];
    assert_eq!(bearer.form["assertion"], "jag");
    assert!(bearer.headers["authorization"].starts_with("Basic "));
}

#[tokio::test]
async fn a_machines_token_is_got_anew_when_it_is_rejected() {
    let count = AtomicUsize::new(0);
    let net = Net::new(move |seen| {
        if seen.url != TOKEN {
            return Ok(usual(seen));
        }
        let count = count.fetch_add(1, Ordering::SeqCst);
        Ok(ok(&json!({"access_token": format!("machine-{count}")})))
    });
    let mut settings = unattended(Grant::ClientCredentials);
    settings.client_secret = Some(secret("s"));
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let authorizer = authorizer_with(&net, settings.clone(), Arc::clone(&store));
    assert!(matches!(
        refuse(&authorizer, 401, "Bearer").await,
        Decision::Retry
    ));
    assert_eq!(token_in_use(&authorizer).await, "Bearer machine-0");
    // Another process takes what is there.
    let other = authorizer_with(&net, settings, store);
    assert_eq!(token_in_use(&other).await, "Bearer machine-0");
    assert!(matches!(
        refuse(&authorizer, 401, "Bearer").await,
        Decision::Retry
    ));
    assert_eq!(token_in_use(&authorizer).await, "Bearer machine-1");
}

#[tokio::test(start_paused = true)]
async fn a_device_waits_for_the_person_as_the_issuer_says() {
    let asked = AtomicUsize::new(0);
    let net = Net::new(move |seen| {
        Ok(match seen.url.as_str() {
            DEVICE => ok(&json!({
                "device_code": "device-1", "user_code": "ABCD-EFGH", "expires_in": 600,
                "verification_uri": "https://as.example/activate", "interval": 2
            })),
            TOKEN => match asked.fetch_add(1, Ordering::SeqCst) {
                0 => refused("authorization_pending"),
                1 => refused("slow_down"),
                2 => return Err(AuthFetchError::NotSent("down".to_owned())),
                _ => ok(&tokens()),
            },
            _ => usual(seen),
        })
    });
    let authorizer = authorizer(&net);
    let login = DeviceLogin::new(&authorizer);
    let request = login
        .begin(LoginOptions::default())
        .await
        .expect("a request");
    assert_eq!(request.user_code, "ABCD-EFGH");
    assert!(!format!("{request:?}").contains("device-1"));
    let began = tokio::time::Instant::now();
    login.finish(&request).await.expect("a login");
    // 2 s, 2 s, then 5 s more, then twice that.
    assert_eq!(began.elapsed().as_secs(), 2 + 2 + 7 + 14);
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-1");
    let sent = &net.to(TOKEN)[0].form;
    assert_eq!(
        sent["grant_type"],
        "urn:ietf:params:oauth:grant-type:device_code"
    );
    assert_eq!(sent["device_code"], "device-1");
}

#[tokio::test(start_paused = true)]
async fn a_device_login_ends_when_it_is_refused_or_too_late() {
    let device = |uri: &str, life: u64| {
        ok(&json!({
            "device_code": "d", "user_code": "u", "expires_in": life, "verification_uri": uri
        }))
    };
    let page = "https://as.example/activate";
    for (code, is_late) in [("access_denied", false), ("expired_token", true)] {
        let net = Net::with(&[(DEVICE, device(page, 600)), (TOKEN, refused(code))]);
        let login = DeviceLogin::new(&authorizer(&net));
        let request = login
            .begin(LoginOptions::default())
            .await
            .expect("a request");
        let error = login.finish(&request).await.expect_err(code);
        assert_eq!(
            matches!(error, AuthError::Expired),
            is_late,
            "{code}: {error:?}"
        );
    }
    let net = Net::with(&[
        (DEVICE, device(page, 9)),
        (TOKEN, refused("authorization_pending")),
    ]);
    let login = DeviceLogin::new(&authorizer(&net));
    let request = login
        .begin(LoginOptions::default())
        .await
        .expect("a request");
    assert_eq!(login.finish(&request).await, Err(AuthError::Expired));
    for uri in ["javascript:x", "file:///x", "http://as.example/x", ""] {
        let net = Net::with(&[(DEVICE, device(uri, 9))]);
        let begun = DeviceLogin::new(&authorizer(&net))
            .begin(LoginOptions::default())
            .await;
        assert!(begun.is_err(), "{uri}");
    }
}

fn with_dpop() -> Value {
    issuer_with(&json!({"dpop_signing_alg_values_supported": ["ES256"]}))
}

#[tokio::test]
async fn a_bound_token_is_sent_with_a_new_proof_each_time() {
    let bound = json!({"access_token": "bound", "token_type": "DPoP", "refresh_token": "r"});
    let net = Net::with(&[(ISSUER_METADATA, ok(&with_dpop())), (TOKEN, ok(&bound))]);
    let authorizer = authorizer(&net);
    authorizer.note_challenge(&Challenge::parse_all(["DPoP algs=\"ES256\""]));
    log_in(&authorizer).await.expect("a login");
    let proof = claims(&net.to(TOKEN)[0].headers["dpop"]);
    assert_eq!(
        (&proof["htm"], &proof["htu"]),
        (&json!("POST"), &json!(TOKEN))
    );
    assert_eq!(token_in_use(&authorizer).await, "DPoP bound");
    let proof_of = |headers: RequestAuthorization| {
        let proof = headers.proof.expect("a proof");
        claims(proof.to_str().expect("text"))
    };
    let first = proof_of(headers(&authorizer).await.expect("headers"));
    let second = proof_of(headers(&authorizer).await.expect("headers"));
    assert_ne!(first["jti"], second["jti"]);
    assert_eq!(first["htu"], SERVER);
    let hash = crate::auth::jose::base64url(&crate::auth::jose::sha256(b"bound"));
    assert_eq!(first["ath"], hash);
    // The server wants a nonce.
    let used = headers(&authorizer).await.expect("headers");
    let challenges = Challenge::parse_all(["DPoP error=\"use_dpop_nonce\""]);
    let mut refusal = RequestRefusal::new(401, challenges, &used);
    refusal.nonce = Some("nonce-1".to_owned());
    assert!(matches!(
        authorizer.on_refusal(refusal).await,
        Decision::Retry
    ));
    let third = proof_of(headers(&authorizer).await.expect("headers"));
    assert_eq!(third["nonce"], "nonce-1");
    assert_eq!(net.to(TOKEN).len(), 1, "a nonce is not a reason to renew");
    // Renewed with the same key.
    assert!(matches!(
        refuse(&authorizer, 401, "DPoP").await,
        Decision::Retry
    ));
    assert!(net.to(TOKEN)[1].headers.contains_key("dpop"));
}

#[tokio::test]
async fn an_issuer_that_wants_a_nonce_is_asked_once_more() {
    let bound = json!({"access_token": "bound", "token_type": "DPoP"});
    let net = Net::new(move |seen| {
        Ok(match seen.url.as_str() {
            ISSUER_METADATA => ok(&with_dpop()),
            TOKEN if claims(&seen.headers["dpop"])["nonce"] == "n" => ok(&bound),
            TOKEN => {
                let headers = vec![("dpop-nonce".to_owned(), "n".to_owned())];
                let body = json!({"error": "use_dpop_nonce"}).to_string();
                AuthResponse::new(400, headers, body.into_bytes())
            }
            _ => usual(seen),
        })
    });
    let mut settings = OAuthSettings::default();
    settings.dpop = DpopSetting::Supported;
    let authorizer = authorizer_with(&net, settings, Arc::new(MemoryStore::new()));
    log_in(&authorizer).await.expect("a login");
    assert_eq!(net.to(TOKEN).len(), 2);
}

#[tokio::test]
async fn tokens_are_bound_only_where_both_sides_want_it() {
    let net = Net::with(&[(ISSUER_METADATA, ok(&with_dpop()))]);
    log_in(&authorizer(&net)).await.expect("a login");
    assert!(!net.to(TOKEN)[0].headers.contains_key("dpop"));
    // Asked for and not given: the token could be stolen.
    let authorizer = authorizer(&net);
    authorizer.note_challenge(&Challenge::parse_all(["DPoP"]));
    let error = log_in(&authorizer).await.expect_err("an unbound token");
    assert!(matches!(error, AuthError::Metadata { .. }), "{error:?}");
}
