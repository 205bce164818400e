//! Issuers and servers that want to be sent what is not theirs.

use super::*;

const METADATA_SERVICE: &str = "http://169.254.169.254/latest";

/// Tries to log in; gives the error and what was asked.
async fn attempt(net: &Arc<Net>, challenge: &str) -> (AuthError, Vec<String>) {
    let authorizer = authorizer(net);
    authorizer.note_challenge(&Challenge::parse_all([challenge]));
    let error = log_in(&authorizer).await.expect_err("a hostile row");
    (error, net.urls())
}

fn redirect(status: u16, location: &str) -> AuthResponse {
    let headers = vec![("location".to_owned(), location.to_owned())];
    AuthResponse::new(status, headers, Vec::new())
}

/// Addresses that no server may name.
const FORBIDDEN: &[&str] = &[
    METADATA_SERVICE,
    "https://169.254.169.254/x",
    "https://169.254.170.2/x",
    "https://[fd00:ec2::254]/x",
    "https://metadata.google.internal/x",
    "https://100.100.100.200/x",
    "https://127.0.0.1/x",
    "http://127.0.0.1:8080/x",
    "https://localhost/x",
    "https://10.1.2.3/x",
    "https://172.16.0.1/x",
    "https://192.168.1.1/x",
    "https://100.64.0.1/x",
    "https://[::1]/x",
    "https://[::ffff:10.0.0.1]/x",
    "https://[fc00::1]/x",
    "https://[fe80::1]/x",
    "https://0.0.0.0/x",
    "https://2130706433/x",
    "https://0x7f.1/x",
    "https://224.0.0.1/x",
    "http://as.example/x",
    "ftp://as.example/x",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "https://user:pass@as.example/x",
    "https://",
    "",
    "//as.example/x",
];

#[tokio::test]
async fn no_forbidden_address_is_asked_wherever_it_is_named() {
    let mut rows = 0;
    for address in FORBIDDEN {
        // In the challenge.
        let net = Net::with(&[]);
        let header = format!("Bearer resource_metadata=\"{address}\"");
        let (error, urls) = attempt(&net, &header).await;
        assert!(
            matches!(error, AuthError::Forbidden { .. }),
            "{address}: {error:?}"
        );
        assert!(urls.is_empty(), "{address}: {urls:?}");
        // As the issuer.
        let document = json!({"resource": SERVER, "authorization_servers": [address]});
        let net = Net::with(&[(RESOURCE_METADATA, ok(&document))]);
        let (error, urls) = attempt(&net, "Bearer").await;
        assert!(
            matches!(error, AuthError::Forbidden { .. }),
            "{address}: {error:?}"
        );
        assert_eq!(urls, [RESOURCE_METADATA], "{address}");
        // As each of the issuer's endpoints.
        for name in [
            "authorization_endpoint",
            "token_endpoint",
            "registration_endpoint",
        ] {
            let document = issuer_with(&json!({name: address}));
            let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
            let (error, urls) = attempt(&net, "Bearer").await;
            assert!(
                matches!(error, AuthError::Forbidden { .. }),
                "{name} {address}: {error:?}"
            );
            assert_eq!(
                urls,
                [RESOURCE_METADATA, ISSUER_METADATA],
                "{name} {address}"
            );
        }
        rows += 5;
    }
    assert!(rows >= 40, "{rows}");
}

#[tokio::test]
async fn redirects_lead_nowhere_but_within_the_origin_of_a_question() {
    for status in [301, 302, 303, 307, 308] {
        for location in [
            METADATA_SERVICE,
            "https://evil.example/x",
            "javascript:x",
            "",
        ] {
            let net = Net::with(&[(RESOURCE_METADATA, redirect(status, location))]);
            let (error, urls) = attempt(&net, "Bearer").await;
            assert!(
                matches!(error, AuthError::Forbidden { .. }),
                "{status} {location}: {error:?}"
            );
            assert!(
                urls.iter().all(|url| url == RESOURCE_METADATA),
                "{status} {location}: {urls:?}"
            );
        }
        // A request with secrets follows no redirect at all.
        let net = Net::with(&[(TOKEN, redirect(status, "https://as.example/other"))]);
        let (error, urls) = attempt(&net, "Bearer").await;
        assert!(
            matches!(error, AuthError::Forbidden { .. }),
            "{status}: {error:?}"
        );
        assert_eq!(urls.last().map(String::as_str), Some(TOKEN));
    }
    let moved = "https://mcp.example/moved";
    let net = Net::with(&[
        (RESOURCE_METADATA, redirect(308, "/moved")),
        (moved, ok(&resource())),
    ]);
    log_in(&authorizer(&net))
        .await
        .expect("a redirect within the origin");
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let net = Net::with(&[(RESOURCE_METADATA, redirect(307, RESOURCE_METADATA))]);
    let (error, urls) = attempt(&net, "Bearer").await;
    assert!(matches!(error, AuthError::Forbidden { .. }), "{error:?}");
    assert_eq!(urls.len(), 6);
}

#[tokio::test]
async fn documents_that_are_none_are_refused_by_name() {
    let bodies: [&[u8]; 8] = [
        b"",
        b"null",
        b"[]",
        b"\"x\"",
        b"{",
        b"\xff\xfe",
        b"<html></html>",
        b"{\"resource\": 7, \"issuer\": 7}",
    ];
    for body in bodies {
        let broken = AuthResponse::new(200, Vec::new(), body.to_vec());
        let net = Net::with(&[(RESOURCE_METADATA, broken.clone())]);
        let (error, _) = attempt(&net, "Bearer").await;
        assert!(
            matches!(
                error,
                AuthError::Metadata { .. } | AuthError::ResourceMismatch { .. }
            ),
            "{error:?}"
        );
        let net = Net::with(&[(ISSUER_METADATA, broken.clone())]);
        let (error, _) = attempt(&net, "Bearer").await;
        assert!(matches!(error, AuthError::Metadata { .. }), "{error:?}");
        for place in [REGISTER, TOKEN] {
            let net = Net::with(&[(place, broken.clone())]);
            let (error, _) = attempt(&net, "Bearer").await;
            assert!(
                matches!(error, AuthError::Metadata { .. }),
                "{place}: {error:?}"
            );
        }
    }
}

#[tokio::test]
async fn issuers_that_are_none_are_refused() {
    for issuer in [
        "https://as.example?x=y",
        "https://as.example#x",
        &format!("https://as.example/{}", "x".repeat(5000)),
    ] {
        let document = json!({"resource": SERVER, "authorization_servers": [issuer]});
        let net = Net::with(&[(RESOURCE_METADATA, ok(&document))]);
        let (error, urls) = attempt(&net, "Bearer").await;
        assert!(
            matches!(error, AuthError::Forbidden { .. }),
            "{issuer}: {error:?}"
        );
        assert_eq!(urls, [RESOURCE_METADATA]);
    }
    for issuers in [
        json!([]),
        json!("https://as.example"),
        json!([7, null]),
        json!(null),
    ] {
        let document = json!({"resource": SERVER, "authorization_servers": issuers});
        let net = Net::with(&[(RESOURCE_METADATA, ok(&document))]);
        let (error, _) = attempt(&net, "Bearer").await;
        assert!(matches!(error, AuthError::Metadata { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_endpoint_cannot_bring_parameters_that_are_ours() {
    for name in [
        "redirect_uri",
        "state",
        "client_id",
        "code_challenge",
        "request_uri",
        "scope",
    ] {
        let endpoint = format!("https://as.example/authorize?{name}=evil");
        let document = issuer_with(&json!({"authorization_endpoint": endpoint}));
        let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
        let (error, urls) = attempt(&net, "Bearer").await;
        assert!(
            matches!(error, AuthError::Metadata { .. }),
            "{name}: {error:?}"
        );
        assert!(!urls.iter().any(|url| url == TOKEN));
    }
    let document = issuer_with(&json!({"authorization_endpoint": "https://as.example/a?tenant=x"}));
    let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
    log_in(&authorizer(&net))
        .await
        .expect("a parameter of its own");
}

#[tokio::test]
async fn a_server_on_this_machine_may_name_others_here_and_no_private_ones() {
    let here = "http://127.0.0.1:9000/mcp";
    let metadata = "http://127.0.0.1:9000/.well-known/oauth-protected-resource/mcp";
    for (issuer, passes) in [
        ("http://127.0.0.1:9001", true),
        ("http://localhost:9001", true),
        ("https://as.example", true),
        ("http://10.0.0.1:9001", false),
        ("https://10.0.0.1", false),
        ("http://as.example", false),
        ("https://169.254.169.254", false),
    ] {
        let document = json!({"resource": here, "authorization_servers": [issuer]});
        let place = format!("{issuer}/.well-known/oauth-authorization-server");
        let register = format!("{issuer}/register");
        let net = Net::with(&[
            (metadata, ok(&document)),
            (&place, ok(&issuer_at(issuer))),
            (&register, ok(&json!({"client_id": "x"}))),
        ]);
        let fetch: Arc<dyn AuthFetch> = Arc::clone(&net) as _;
        let store = Arc::new(MemoryStore::new());
        let limits = Limits::default();
        let authorizer = Authorizer::new(here, OAuthSettings::default(), fetch, store, &limits);
        let options = LoginOptions::default().redirect_uri(CALLBACK);
        let begun = Login::new(&authorizer.expect("settings"))
            .begin(options)
            .await;
        assert_eq!(begun.is_ok(), passes, "{issuer}: {begun:?}");
    }
}

#[tokio::test]
async fn a_server_without_tls_elsewhere_is_not_logged_in_to() {
    let net = Net::with(&[]);
    let fetch: Arc<dyn AuthFetch> = Arc::clone(&net) as _;
    let store = Arc::new(MemoryStore::new());
    let server = "http://192.168.1.7/mcp";
    let limits = Limits::default();
    let authorizer = Authorizer::new(server, OAuthSettings::default(), fetch, store, &limits);
    let error = log_in(&authorizer.expect("settings"))
        .await
        .expect_err("no TLS");
    assert!(matches!(error, AuthError::Forbidden { .. }), "{error:?}");
    assert!(net.urls().is_empty());
}

#[tokio::test]
async fn huge_and_slow_answers_end_with_a_named_error() {
    for (fault, maybe) in [
        (AuthFetchError::TooLarge { limit_bytes: 9 }, None),
        (
            AuthFetchError::TimedOut(std::time::Duration::from_secs(45)),
            Some(true),
        ),
        (AuthFetchError::Interrupted("reset".to_owned()), Some(true)),
        (AuthFetchError::NotSent("refused".to_owned()), Some(false)),
    ] {
        let fault = fault.clone();
        let net = Net::new(move |seen| match seen.url.as_str() {
            ISSUER_METADATA => Err(fault.clone()),
            _ => Ok(usual(seen)),
        });
        let (error, _) = attempt(&net, "Bearer").await;
        match (&error, maybe) {
            (
                AuthError::Unreachable {
                    maybe_processed, ..
                },
                Some(maybe),
            ) => {
                assert_eq!(*maybe_processed, maybe, "{error:?}");
            }
            (AuthError::Metadata { .. }, None) => {}
            _ => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn scopes_that_a_server_demands_are_bounded() {
    let many: Vec<String> = (0..5000).map(|n| format!("s{n}")).collect();
    let mut document = resource();
    document["scopes_supported"] = json!(many);
    let net = Net::with(&[(RESOURCE_METADATA, ok(&document))]);
    let options = LoginOptions::default().redirect_uri(CALLBACK);
    let request = Login::new(&authorizer(&net))
        .begin(options)
        .await
        .expect("a request");
    assert_eq!(request.scopes.len(), Limits::default().auth_scopes);
}
