//! Discovery: one row for each scenario of the conformance suite, and the rules between them.

use super::*;
use crate::auth::settings::{NamedBy, ResourceSetting};
use crate::auth::{CallbackProblem, LoginReason};

const PATH_OIDC: &str = "https://as.example/tenant/.well-known/openid-configuration";

/// Begins a login after the server refused with a challenge; gives the parameters of the authorization request.
async fn begin(net: &Arc<Net>, challenge: &str) -> Result<HashMap<String, String>, AuthError> {
    begin_with(net, challenge, OAuthSettings::default()).await
}

async fn begin_with(
    net: &Arc<Net>,
    challenge: &str,
    settings: OAuthSettings,
) -> Result<HashMap<String, String>, AuthError> {
    let authorizer = authorizer_with(net, settings, Arc::new(MemoryStore::new()));
    authorizer.note_challenge(&Challenge::parse_all([challenge]));
    let options = LoginOptions::default().redirect_uri(CALLBACK);
    let request = Login::new(&authorizer).begin(options).await?;
    Ok(parameters(request.url.expose()))
}

#[tokio::test]
async fn metadata_default_is_found_by_the_header_and_registers() {
    let net = Net::with(&[]);
    let header = format!("Bearer resource_metadata=\"{RESOURCE_METADATA}\"");
    let asked = begin(&net, &header).await.expect("a request");
    assert_eq!(net.urls(), [RESOURCE_METADATA, ISSUER_METADATA, REGISTER]);
    assert_eq!(asked["resource"], SERVER);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["client_id"], "registered");
    assert_eq!(asked["redirect_uri"], CALLBACK);
    let registered = &net.to(REGISTER)[0].json;
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["redirect_uris"], json!([CALLBACK]));
    assert_eq!(
        registered["grant_types"],
        json!([
            "authorization_code",
            "refresh_token",
            crate::auth::client_id::DEVICE_GRANT
        ])
    );
}

#[tokio::test]
async fn metadata_var1_probes_the_path_first_and_takes_openid() {
    let oidc = "https://as.example/.well-known/openid-configuration";
    let net = Net::with(&[
        (ISSUER_METADATA, status(404)),
        (oidc, ok(&issuer_at(ISSUER))),
    ]);
    begin(&net, "Bearer").await.expect("a request");
    assert_eq!(
        net.urls(),
        [RESOURCE_METADATA, ISSUER_METADATA, oidc, REGISTER]
    );
}

#[tokio::test]
async fn metadata_var2_takes_the_root_document_and_the_tenants_places_alone() {
    let root = "https://mcp.example/.well-known/oauth-protected-resource";
    let tenant = "https://as.example/tenant";
    let place = "https://as.example/.well-known/oauth-authorization-server/tenant";
    let document = json!({"resource": "https://mcp.example", "authorization_servers": [tenant]});
    let net = Net::with(&[
        (RESOURCE_METADATA, status(404)),
        (root, ok(&document)),
        (place, ok(&issuer_at(tenant))),
        (
            "https://as.example/tenant/register",
            ok(&json!({"client_id": "x"})),
        ),
    ]);
    let asked = begin(&net, "Bearer").await.expect("a request");
    assert_eq!(net.urls()[..3], [RESOURCE_METADATA, root, place]);
    assert_eq!(asked["resource"], "https://mcp.example");
    let net = Net::with(&[
        (
            RESOURCE_METADATA,
            ok(&json!({"resource": SERVER, "authorization_servers": [tenant]})),
        ),
        (PATH_OIDC, ok(&issuer_at(tenant))),
        (
            "https://as.example/tenant/register",
            ok(&json!({"client_id": "x"})),
        ),
    ]);
    begin(&net, "Bearer").await.expect("a request");
    assert_eq!(
        net.urls()[1..4],
        [
            place,
            "https://as.example/.well-known/openid-configuration/tenant",
            PATH_OIDC
        ]
    );
}

#[tokio::test]
async fn metadata_var3_never_asks_the_root_where_the_header_says_where() {
    let place = "https://mcp.example/custom/metadata.json";
    let net = Net::with(&[(place, ok(&resource()))]);
    let header = format!("Bearer resource_metadata=\"{place}\"");
    begin(&net, &header).await.expect("a request");
    assert_eq!(net.urls(), [place, ISSUER_METADATA, REGISTER]);
}

#[tokio::test]
async fn a_client_document_is_used_where_the_issuer_takes_it() {
    let document = issuer_with(&json!({"client_id_metadata_document_supported": true}));
    let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
    let mut settings = OAuthSettings::default();
    settings.client_metadata_url = Some("https://app.example/client.json".to_owned());
    let asked = begin_with(&net, "Bearer", settings.clone())
        .await
        .expect("a request");
    assert_eq!(asked["client_id"], "https://app.example/client.json");
    assert!(net.to(REGISTER).is_empty());
    let net = Net::with(&[]);
    let asked = begin_with(&net, "Bearer", settings)
        .await
        .expect("a request");
    assert_eq!(asked["client_id"], "registered");
}

#[tokio::test]
async fn scopes_come_from_the_challenge_then_the_metadata_then_nowhere() {
    let mut listed = resource();
    listed["scopes_supported"] = json!(["mcp:basic", "mcp:read"]);
    let net = Net::with(&[(RESOURCE_METADATA, ok(&listed))]);
    let asked = begin(&net, "Bearer scope=\"mcp:one\"")
        .await
        .expect("a request");
    assert_eq!(asked["scope"], "mcp:one");
    let asked = begin(&net, "Bearer").await.expect("a request");
    assert_eq!(asked["scope"], "mcp:basic mcp:read");
    let asked = begin(&Net::with(&[]), "Bearer").await.expect("a request");
    assert_eq!(asked.get("scope"), None);
    let mut settings = OAuthSettings::default();
    settings.scopes = Some(vec!["mine".to_owned()]);
    let asked = begin_with(&net, "Bearer", settings)
        .await
        .expect("a request");
    assert_eq!(asked["scope"], "mine");
}

#[tokio::test]
async fn offline_access_is_asked_for_only_if_the_issuer_lists_it() {
    let mut listed = resource();
    listed["scopes_supported"] = json!(["mcp:basic", "offline_access"]);
    let net = Net::with(&[(RESOURCE_METADATA, ok(&listed))]);
    let asked = begin(&net, "Bearer").await.expect("a request");
    assert_eq!(asked["scope"], "mcp:basic");
    let issuer = issuer_with(&json!({"scopes_supported": ["offline_access"]}));
    let net = Net::with(&[(ISSUER_METADATA, ok(&issuer))]);
    let asked = begin(&net, "Bearer scope=\"a\"").await.expect("a request");
    assert_eq!(asked["scope"], "a offline_access");
    assert_eq!(asked["prompt"], "consent");
    let asked = begin(&net, "Bearer").await.expect("a request");
    assert_eq!(asked.get("scope"), None);
}

#[tokio::test]
async fn a_step_up_asks_for_the_union_and_a_demand_for_the_same_ends() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    authorizer.note_challenge(&Challenge::parse_all(["Bearer scope=\"basic\""]));
    log_in(&authorizer).await.expect("a login");
    let demand = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    let error = gave_up(refuse(&authorizer, 403, demand).await);
    let needed = error.needs_login().expect("a login");
    assert_eq!(needed.scopes, ["basic", "write"]);
    assert_eq!(needed.reason, LoginReason::InsufficientScope);
    let options = LoginOptions::default().redirect_uri(CALLBACK);
    let request = Login::new(&authorizer)
        .begin(options)
        .await
        .expect("a request");
    assert_eq!(request.scopes, ["basic", "write"]);
    log_in(&authorizer).await.expect("a login");
    let error = gave_up(refuse(&authorizer, 403, demand).await);
    assert!(
        matches!(error, AuthError::ScopeNotGranted { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_server_that_demands_ever_more_is_refused_after_a_few_times() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    let mut logins = 0;
    for step in 0..10 {
        let demand = format!("Bearer error=\"insufficient_scope\", scope=\"s{step}\"");
        match gave_up(refuse(&authorizer, 403, &demand).await) {
            AuthError::NeedsLogin(_) => {
                logins += 1;
                log_in(&authorizer).await.expect("a login");
            }
            error => {
                assert!(
                    matches!(error, AuthError::ScopeNotGranted { .. }),
                    "{error:?}"
                );
                break;
            }
        }
    }
    assert_eq!(logins, Limits::default().auth_step_ups);
}

#[tokio::test]
async fn a_client_proves_itself_as_the_issuer_advertises() {
    let rows = [
        ("client_secret_basic", Some("Basic aSUyRmQ6cyUzQWM="), None),
        ("client_secret_post", None, Some("s:c")),
        ("none", None, None),
    ];
    for (method, header, in_form) in rows {
        let document = issuer_with(&json!({"token_endpoint_auth_methods_supported": [method]}));
        let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
        let mut settings = OAuthSettings::default();
        settings.client_id = Some("i/d".to_owned());
        settings.client_secret = Some(secret("s:c"));
        let authorizer = authorizer_with(&net, settings, Arc::new(MemoryStore::new()));
        log_in(&authorizer).await.expect("a login");
        let sent = &net.to(TOKEN)[0];
        assert_eq!(
            sent.headers.get("authorization").map(String::as_str),
            header,
            "{method}"
        );
        assert_eq!(
            sent.form.get("client_secret").map(String::as_str),
            in_form,
            "{method}"
        );
        assert_eq!(sent.form["resource"], SERVER);
        assert!(net.to(REGISTER).is_empty());
    }
}

#[tokio::test]
async fn a_registered_client_proves_itself_as_it_was_registered() {
    let methods = ["client_secret_basic", "client_secret_post"];
    let document = issuer_with(&json!({"token_endpoint_auth_methods_supported": methods}));
    for method in methods {
        let given =
            json!({"client_id": "r", "client_secret": "s", "token_endpoint_auth_method": method});
        let net = Net::with(&[(ISSUER_METADATA, ok(&document)), (REGISTER, ok(&given))]);
        log_in(&authorizer(&net)).await.expect("a login");
        // In the form, where issuers on the Python SDK look for the client id.
        assert_eq!(
            net.to(REGISTER)[0].json["token_endpoint_auth_method"],
            "client_secret_post"
        );
        // The issuer's own choice counts, whatever was asked for.
        let sent = &net.to(TOKEN)[0];
        let is_basic = method == "client_secret_basic";
        assert_eq!(sent.headers.contains_key("authorization"), is_basic);
        assert_eq!(sent.form.contains_key("client_secret"), !is_basic);
    }
}

/// Logs a configured client in at an issuer that advertises both ways to send a secret, and answers `refusal` to a
/// request with the secret in the header.
async fn log_in_with_secret(refusal: (u16, &'static str)) -> (Arc<Net>, Authorizer, bool) {
    let methods = ["client_secret_post", "client_secret_basic"];
    let document = issuer_with(&json!({"token_endpoint_auth_methods_supported": methods}));
    let net = Net::new(move |seen| {
        if seen.url == ISSUER_METADATA {
            return Ok(ok(&document));
        }
        if seen.url == TOKEN && seen.headers.contains_key("authorization") {
            let (status, code) = refusal;
            let body = json!({"error": code}).to_string();
            return Ok(AuthResponse::new(status, Vec::new(), body.into_bytes()));
        }
        Ok(usual(seen))
    });
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("id".to_owned());
    settings.client_secret = Some(secret("s"));
    let authorizer = authorizer_with(&net, settings, Arc::new(MemoryStore::new()));
    let is_in = log_in(&authorizer).await.is_ok();
    (net, authorizer, is_in)
}

#[tokio::test]
async fn a_secret_goes_in_the_form_where_the_header_is_refused() {
    // The second is what older issuers on the Python SDK answer.
    for refusal in [(401, "invalid_client"), (401, "unauthorized_client")] {
        let (net, authorizer, is_in) = log_in_with_secret(refusal).await;
        assert!(is_in, "{refusal:?}");
        let sent = net.to(TOKEN);
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[0].form["client_id"], "id");
        assert!(!sent[0].form.contains_key("client_secret"));
        assert!(!sent[1].headers.contains_key("authorization"));
        assert_eq!(sent[1].form["client_secret"], "s");
        assert_eq!(sent[0].form["code"], sent[1].form["code"]);
        // A renewal begins with the way that was accepted.
        refuse(&authorizer, 401, "Bearer error=\"invalid_token\"").await;
        let sent = net.to(TOKEN);
        assert_eq!(sent.len(), 3);
        assert_eq!(sent[2].form["grant_type"], "refresh_token");
        assert_eq!(sent[2].form["client_secret"], "s");
    }
}

#[tokio::test]
async fn a_secret_is_sent_once_where_the_client_is_not_what_is_refused() {
    for refusal in [
        (400, "invalid_grant"),
        (400, "unauthorized_client"),
        (401, "invalid_grant"),
        (503, "temporarily_unavailable"),
    ] {
        let (net, _, is_in) = log_in_with_secret(refusal).await;
        assert!(!is_in, "{refusal:?}");
        assert_eq!(net.to(TOKEN).len(), 1, "{refusal:?}");
    }
}

#[tokio::test]
async fn another_resource_stops_the_login_before_it_begins() {
    for found in [
        "https://evil.example/mcp",
        "https://mcp.example/other",
        "https://mcp.example/mc",
        "https://mcp.example/mcp/deeper",
        "https://mcp.example/mcp#part",
        "http://mcp.example/mcp",
        "https://mcp.example:444/mcp",
        "https://u@mcp.example/mcp",
        "mcp",
        "",
    ] {
        let document = json!({"resource": found, "authorization_servers": [ISSUER]});
        let net = Net::with(&[(RESOURCE_METADATA, ok(&document))]);
        let error = begin(&net, "Bearer").await.expect_err(found);
        assert!(
            matches!(error, AuthError::ResourceMismatch { .. }),
            "{found}: {error:?}"
        );
        assert_eq!(net.urls(), [RESOURCE_METADATA], "{found}");
    }
}

#[tokio::test]
async fn a_new_issuer_gets_a_new_registration_and_never_the_old_client() {
    let other = "https://other.example";
    let moved = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let has_moved = Arc::clone(&moved);
    let net = Net::new(move |seen| {
        let is_moved = has_moved.load(std::sync::atomic::Ordering::Relaxed);
        Ok(match seen.url.as_str() {
            RESOURCE_METADATA if is_moved => {
                ok(&json!({"resource": SERVER, "authorization_servers": [other]}))
            }
            "https://other.example/.well-known/oauth-authorization-server" => ok(&issuer_at(other)),
            "https://other.example/register" => ok(&json!({"client_id": "second"})),
            "https://other.example/token" => ok(&json!({"access_token": "access-2"})),
            _ => usual(seen),
        })
    });
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    moved.store(true, std::sync::atomic::Ordering::Relaxed);
    let credential = log_in(&authorizer).await.expect("a login");
    assert_eq!(credential.key().issuer, other);
    assert_eq!(credential.key().client_id, "second");
    for seen in net.seen() {
        if seen.url.starts_with(other) {
            assert!(!format!("{seen:?}").contains("registered"), "{seen:?}");
        }
    }
    assert_eq!(token_in_use(&authorizer).await, "Bearer access-2");
}

#[tokio::test]
async fn a_configured_client_is_never_shown_to_another_issuer() {
    let other = "https://other.example";
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("mine".to_owned());
    settings.client_secret = Some(secret("canary"));
    let first = authorizer_with(&Net::with(&[]), settings.clone(), Arc::clone(&store));
    log_in(&first).await.expect("a login");
    let document = json!({"resource": SERVER, "authorization_servers": [other]});
    let net = Net::with(&[
        (RESOURCE_METADATA, ok(&document)),
        (
            "https://other.example/.well-known/oauth-authorization-server",
            ok(&issuer_at(other)),
        ),
    ]);
    let second = authorizer_with(&net, settings, store);
    let error = log_in(&second).await.expect_err("another issuer");
    assert!(
        matches!(error, AuthError::IssuerChanged { .. }),
        "{error:?}"
    );
    assert!(net.seen().iter().all(|seen| !seen.url.contains("/token")));
    let options = LoginOptions::default().redirect_uri(CALLBACK).force();
    Login::new(&second)
        .begin(options)
        .await
        .expect("the person insists");
}

#[tokio::test]
async fn answers_are_checked_for_their_issuer_before_the_code_is_sent() {
    let rows: [(bool, Option<&str>, bool); 8] = [
        (true, Some(ISSUER), true),
        (true, None, false),
        (true, Some("https://evil.example"), false),
        (true, Some("https://as.example/"), false),
        (true, Some("https://AS.example"), false),
        (false, Some(ISSUER), true),
        (false, Some("https://as.example:443"), false),
        (false, None, true),
    ];
    for (advertised, iss, passes) in rows {
        let document =
            issuer_with(&json!({"authorization_response_iss_parameter_supported": advertised}));
        let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
        for outcome in [("code", "c"), ("error", "access_denied")] {
            let mut answer = vec![outcome];
            answer.extend(iss.map(|iss| ("iss", iss)));
            let done = log_in_with(&authorizer(&net), &answer).await;
            let row = format!("{advertised} {iss:?} {outcome:?}: {done:?}");
            match (passes, outcome.0) {
                (true, "code") => assert!(done.is_ok(), "{row}"),
                (true, _) => assert!(matches!(done, Err(AuthError::Refused { .. })), "{row}"),
                (false, _) => {
                    assert!(matches!(done, Err(AuthError::Callback(_))), "{row}");
                    assert!(!format!("{done:?}").contains("access_denied"), "{row}");
                }
            }
        }
        assert_eq!(net.to(TOKEN).is_empty(), !passes);
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_is_refused() {
    for found in [
        "https://evil.example",
        "https://as.example/",
        "https://as.example:443",
        "",
    ] {
        let document = issuer_with(&json!({"issuer": found}));
        let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
        let error = begin(&net, "Bearer").await.expect_err(found);
        assert!(
            matches!(error, AuthError::IssuerMismatch { .. }),
            "{found}: {error:?}"
        );
        assert!(net.to(REGISTER).is_empty());
    }
}

#[tokio::test]
async fn servers_of_2025_03_26_have_their_metadata_at_the_root() {
    let place = "https://mcp.example/.well-known/oauth-authorization-server";
    let mut document = issuer_at("https://mcp.example");
    document["authorization_endpoint"] = json!("https://mcp.example/oauth/authorize");
    for issuer in ["https://mcp.example", "https://mcp.example/"] {
        document["issuer"] = json!(issuer);
        let net = Net::with(&[
            (RESOURCE_METADATA, status(404)),
            (place, ok(&document)),
            (
                "https://mcp.example/register",
                ok(&json!({"client_id": "x"})),
            ),
        ]);
        let asked = begin(&net, "Bearer").await.expect("a request");
        assert_eq!(asked.get("resource"), None);
        assert_eq!(net.urls()[2], place);
    }
}

#[tokio::test]
async fn servers_of_2025_03_26_without_metadata_have_fixed_endpoints() {
    let net = Net::with(&[
        (RESOURCE_METADATA, status(404)),
        (
            "https://mcp.example/register",
            ok(&json!({"client_id": "x"})),
        ),
        ("https://mcp.example/token", ok(&tokens())),
    ]);
    let credential = log_in(&authorizer(&net)).await.expect("a login");
    assert_eq!(credential.key().issuer, "https://mcp.example");
    assert_eq!(net.to("https://mcp.example/token").len(), 1);
}

#[tokio::test]
async fn a_server_in_trouble_is_not_taken_for_an_old_one() {
    let net = Net::with(&[(RESOURCE_METADATA, status(503))]);
    let error = begin(&net, "Bearer").await.expect_err("a fault");
    assert!(
        matches!(error, AuthError::Status { status: 503, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_issuer_without_pkce_is_refused_unless_the_person_vouches_for_it() {
    let document = issuer_with(&json!({"code_challenge_methods_supported": ["plain"]}));
    let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
    let error = begin(&net, "Bearer").await.expect_err("no PKCE");
    assert!(matches!(error, AuthError::NoPkce { .. }), "{error:?}");
    let mut settings = OAuthSettings::default();
    settings.issuer = Some(ISSUER.to_owned());
    let asked = begin_with(&net, "Bearer", settings.clone())
        .await
        .expect("a request");
    assert_eq!(asked["code_challenge_method"], "S256");
    settings.named_by = NamedBy::Project;
    let error = begin_with(&net, "Bearer", settings)
        .await
        .expect_err("no PKCE");
    assert!(matches!(error, AuthError::NoPkce { .. }), "{error:?}");
}

#[tokio::test]
async fn a_configured_issuer_or_endpoint_replaces_discovery() {
    let net = Net::with(&[]);
    let mut settings = OAuthSettings::default();
    settings.issuer = Some(ISSUER.to_owned());
    let asked = begin_with(&net, "Bearer", settings)
        .await
        .expect("a request");
    assert_eq!(net.urls(), [ISSUER_METADATA, REGISTER]);
    assert_eq!(asked["resource"], SERVER);
    let net = Net::with(&[]);
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("mine".to_owned());
    settings.authorization_endpoint = Some("https://10.0.0.7/authorize".to_owned());
    settings.token_endpoint = Some("https://10.0.0.7/token".to_owned());
    let asked = begin_with(&net, "Bearer", settings.clone())
        .await
        .expect("a request");
    assert!(net.urls().is_empty());
    assert_eq!(asked["client_id"], "mine");
    settings.named_by = NamedBy::Project;
    let error = begin_with(&net, "Bearer", settings)
        .await
        .expect_err("a private address");
    assert!(matches!(error, AuthError::Forbidden { .. }), "{error:?}");
}

#[tokio::test]
async fn the_resource_is_left_out_or_replaced_as_the_person_says() {
    let mut settings = OAuthSettings::default();
    settings.resource = ResourceSetting::Omit;
    let asked = begin_with(&Net::with(&[]), "Bearer", settings.clone())
        .await
        .expect("a request");
    assert_eq!(asked.get("resource"), None);
    settings.resource = ResourceSetting::Value("api://x".to_owned());
    let asked = begin_with(&Net::with(&[]), "Bearer", settings)
        .await
        .expect("a request");
    assert_eq!(asked["resource"], "api://x");
}

#[tokio::test]
async fn without_any_client_id_the_error_lists_all_three_ways() {
    let document = issuer_with(&json!({"registration_endpoint": null}));
    let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
    let error = begin(&net, "Bearer").await.expect_err("no client id");
    let text = error.to_string();
    assert!(matches!(error, AuthError::NoClientId { .. }), "{error:?}");
    for way in ["clientId", "clientMetadataUrl", "dynamic registration"] {
        assert!(text.contains(way), "{text}");
    }
}

#[tokio::test]
async fn where_nothing_is_known_the_server_is_asked_first() {
    let net = Net::with(&[]);
    log_in(&authorizer(&net)).await.expect("a login");
    assert_eq!(net.urls()[..2], [SERVER, RESOURCE_METADATA]);
    assert_eq!(net.seen()[0].json["method"], "ping");
    assert!(!net.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_login_is_finished_once_and_only_by_its_own_answer() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    let login = Login::new(&authorizer);
    let options = || LoginOptions::default().redirect_uri(CALLBACK);
    let first = login.begin(options()).await.expect("a request");
    let second = login.begin(options()).await.expect("a request");
    assert_ne!(first.state, second.state);
    let callback = |state: &str| format!("{CALLBACK}?code=c&state={state}");
    let wrong = |error: AuthError, expected: CallbackProblem| {
        assert_eq!(error, AuthError::Callback(expected));
    };
    for (address, problem) in [
        (callback("guessed"), CallbackProblem::UnknownState),
        (format!("{CALLBACK}?code=c"), CallbackProblem::UnknownState),
        ("nonsense".to_owned(), CallbackProblem::OtherAddress),
        (
            format!("{}&state=x", callback(first.state.expose())),
            CallbackProblem::Twice("state"),
        ),
    ] {
        wrong(login.finish(&address).await.expect_err("not ours"), problem);
    }
    let elsewhere = callback(second.state.expose()).replace("/callback", "/other");
    let error = login.finish(&elsewhere).await.expect_err("elsewhere");
    wrong(error, CallbackProblem::OtherAddress);
    login
        .finish(&callback(first.state.expose()))
        .await
        .expect("a login");
    let error = login
        .finish(&callback(first.state.expose()))
        .await
        .expect_err("twice");
    wrong(error, CallbackProblem::UnknownState);
    assert_eq!(net.to(TOKEN).len(), 1);
}

#[tokio::test]
async fn a_login_that_took_too_long_is_not_finished() {
    let net = Net::with(&[]);
    let mut limits = Limits::default();
    limits.auth_login = std::time::Duration::ZERO;
    let fetch: Arc<dyn AuthFetch> = Arc::clone(&net) as _;
    let store = Arc::new(MemoryStore::new());
    let authorizer = Authorizer::new(SERVER, OAuthSettings::default(), fetch, store, &limits);
    let error = log_in(&authorizer.expect("settings"))
        .await
        .expect_err("too late");
    assert_eq!(error, AuthError::Callback(CallbackProblem::TooLate));
    assert!(net.to(TOKEN).is_empty());
}

#[tokio::test]
async fn a_registration_names_the_scopes_and_the_grants_that_are_used() {
    let document = json!({"resource": SERVER, "authorization_servers": [ISSUER], "scopes_supported": ["a", "b"]});
    let net = Net::with(&[(RESOURCE_METADATA, ok(&document))]);
    begin(&net, "Bearer scope=\"a\"").await.expect("a login");
    let sent = net.to(REGISTER);
    assert_eq!(sent[0].json["scope"], "a b");
    assert_eq!(
        sent[0].json["grant_types"],
        json!([
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code"
        ])
    );
    // Nothing is named where nothing is known, and no grant that the issuer does not offer.
    let document = issuer_with(&json!({"device_authorization_endpoint": null}));
    let net = Net::with(&[(ISSUER_METADATA, ok(&document))]);
    begin(&net, "Bearer").await.expect("a login");
    let sent = net.to(REGISTER);
    assert_eq!(sent[0].json.get("scope"), None);
    let grants = &sent[0].json["grant_types"];
    assert_eq!(*grants, json!(["authorization_code", "refresh_token"]));
}

#[tokio::test]
async fn a_client_is_registered_anew_only_for_scopes_that_it_does_not_have() {
    let net = Net::with(&[]);
    let authorizer = authorizer(&net);
    let login = Login::new(&authorizer);
    let options = |scopes: &[&str]| {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let options = LoginOptions::default().redirect_uri(CALLBACK);
        options.scopes(scopes)
    };
    for (scopes, registrations) in [(&["a", "b"][..], 1), (&["a"], 1), (&["a", "c"], 2)] {
        login.begin(options(scopes)).await.expect("a login");
        assert_eq!(net.to(REGISTER).len(), registrations, "{scopes:?}");
    }
}
