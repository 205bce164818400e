//! Odd answers of token endpoints.

use super::*;

async fn given(answer: AuthResponse) -> Result<Credential, AuthError> {
    let net = Net::with(&[(TOKEN, answer)]);
    log_in(&authorizer(&net)).await
}

#[tokio::test]
async fn answers_without_a_usable_token_are_refused() {
    for document in [
        json!({}),
        json!({"access_token": ""}),
        json!({"access_token": 7}),
        json!({"access_token": null}),
        json!({"access_token": "a b"}),
        json!({"access_token": "a\r\nx: y"}),
        json!({"access_token": "\u{e9}"}),
        json!({"access_token": "x".repeat(20_000)}),
        json!({"access_token": "a", "token_type": "mac"}),
        json!({"access_token": "a", "token_type": "DPoP"}),
        json!({"access_token": "a", "refresh_token": 7}),
        json!({"access_token": "a", "refresh_token": "b c"}),
    ] {
        let error = given(ok(&document)).await.expect_err("an odd answer");
        assert!(
            matches!(error, AuthError::Metadata { .. }),
            "{document}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_lifetime_is_read_in_all_its_forms_and_bounded() {
    for (value, expected) in [
        (json!(3600), Some(3600)),
        (json!("3600"), Some(3600)),
        (json!(3600.7), Some(3600)),
        (json!(0), Some(0)),
        (json!(-5), Some(0)),
        (json!(1e300), Some(10 * 365 * 24 * 3600)),
        (json!(u64::MAX), Some(10 * 365 * 24 * 3600)),
        (json!("soon"), None),
        (json!(null), None),
        (json!([1]), None),
    ] {
        let document = json!({"access_token": "a", "expires_in": value});
        let credential = given(ok(&document)).await.expect("a token");
        let life = credential
            .expires_at()
            .map(|at| at - credential.issued_at());
        assert_eq!(life, expected, "{value}");
    }
}

#[tokio::test]
async fn a_token_without_a_type_or_scope_is_taken_as_it_was_asked_for() {
    let net = Net::with(&[(TOKEN, ok(&json!({"access_token": "a"})))]);
    let authorizer = authorizer(&net);
    authorizer.note_challenge(&Challenge::parse_all(["Bearer scope=\"x y\""]));
    let credential = log_in(&authorizer).await.expect("a token");
    assert_eq!(credential.scopes(), ["x", "y"]);
    let credential = given(ok(
        &json!({"access_token": "a", "token_type": "bEARER", "scope": "z"}),
    ));
    assert_eq!(credential.await.expect("a token").scopes(), ["z"]);
}

#[tokio::test]
async fn refusals_are_named_by_their_code_whatever_their_status() {
    let body = json!({"error": "invalid_grant", "error_description": "the code has expired"});
    for status in [200, 400, 401, 500] {
        let answer = AuthResponse::new(status, Vec::new(), body.to_string().into_bytes());
        match given(answer).await.expect_err("a refusal") {
            AuthError::Refused {
                code, description, ..
            } => {
                assert_eq!(code, "invalid_grant");
                assert_eq!(description.as_deref(), Some("the code has expired"));
            }
            error => panic!("{status}: {error:?}"),
        }
    }
    for body in ["", "<html>", "{\"error\": 7}", "{\"error\": \"a\\nb\"}"] {
        let answer = AuthResponse::new(502, Vec::new(), body.as_bytes().to_vec());
        let error = given(answer).await.expect_err("a refusal");
        assert!(
            matches!(error, AuthError::Status { status: 502, .. }),
            "{body}: {error:?}"
        );
    }
}

#[tokio::test]
async fn what_was_sent_is_taken_out_of_an_issuers_words() {
    let net = Net::new(|seen| {
        if seen.url != TOKEN {
            return Ok(usual(seen));
        }
        let words = format!(
            "bad {} and {}",
            seen.form["code"], seen.form["code_verifier"]
        );
        let body = json!({"error": "invalid_grant", "error_description": words});
        Ok(AuthResponse::new(
            400,
            Vec::new(),
            body.to_string().into_bytes(),
        ))
    });
    let error = log_in_with(&authorizer(&net), &[("code", "canary-code-7f3a9b")]).await;
    let error = error.expect_err("a refusal");
    let verifier = net.to(TOKEN)[0].form["code_verifier"].clone();
    for text in [format!("{error}"), format!("{error:?}")] {
        assert!(!text.contains("canary-code"), "{text}");
        assert!(!text.contains(&verifier), "{text}");
        assert!(text.contains("bad ***"), "{text}");
    }
}

#[tokio::test]
async fn the_verifier_fits_the_challenge_and_is_sent_to_the_token_endpoint_alone() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    let login = Login::new(&authorizer);
    let options = LoginOptions::default().redirect_uri(CALLBACK);
    let request = login.begin(options).await.expect("a request");
    let challenge = parameters(request.url.expose())["code_challenge"].clone();
    let callback = format!("{CALLBACK}?code=c&state={}", request.state.expose());
    login.finish(&callback).await.expect("a login");
    let sent = &net.to(TOKEN)[0].form;
    assert_eq!(
        crate::auth::jose::pkce_challenge(&sent["code_verifier"]),
        challenge
    );
    assert_eq!(sent["grant_type"], "authorization_code");
    assert_eq!(sent["redirect_uri"], CALLBACK);
    assert_eq!(sent["client_id"], "registered");
    for seen in net.seen() {
        let is_there = format!("{seen:?}").contains(&sent["code_verifier"]);
        assert_eq!(is_there, seen.url == TOKEN);
    }
}

#[tokio::test]
async fn the_type_of_a_token_is_compared_without_its_case() {
    for kind in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        let document = json!({"access_token": "a", "token_type": kind});
        given(ok(&document)).await.expect(kind);
    }
}
