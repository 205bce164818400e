//! No secret is in any error or `Debug`.

use super::*;
use crate::auth::settings::{Assertion, Grant};

/// Every secret of these tests starts with this.
const CANARY: &str = "canary-9f8e7d";

fn shown(what: &str, value: &dyn std::fmt::Debug) {
    for text in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!text.contains(CANARY), "{what}: {text}");
    }
}

fn error_is_clean(what: &str, error: &AuthError) {
    shown(what, error);
    assert!(!error.to_string().contains(CANARY), "{what}: {error}");
}

/// An issuer that repeats whatever it is sent, in all its answers.
fn parrot(status: u16) -> Arc<Net> {
    Net::new(move |seen| {
        if seen.url != TOKEN && seen.url != REGISTER {
            return Ok(usual(seen));
        }
        if seen.url == REGISTER {
            return Ok(ok(
                &json!({"client_id": "c", "client_secret": format!("{CANARY}-secret")}),
            ));
        }
        let words: Vec<String> = seen
            .form
            .values()
            .chain(seen.headers.values())
            .cloned()
            .collect();
        let body = json!({"error": "invalid_grant", "error_description": words.join(" ")});
        Ok(AuthResponse::new(
            status,
            Vec::new(),
            body.to_string().into_bytes(),
        ))
    })
}

#[tokio::test]
async fn nothing_of_a_login_is_shown_by_anything() {
    let given = json!({
        "access_token": format!("{CANARY}-access"),
        "refresh_token": format!("{CANARY}-refresh"),
        "id_token": format!("{CANARY}-id"),
    });
    let net = Net::with(&[(TOKEN, ok(&given))]);
    let mut settings = OAuthSettings::default();
    settings.client_id = Some("c".to_owned());
    settings.client_secret = Some(secret(&format!("{CANARY}-secret")));
    shown("settings", &settings);
    let store = Arc::new(MemoryStore::new());
    let authorizer = authorizer_with(&net, settings, Arc::clone(&store) as _);
    shown("authorizer", &authorizer);
    let login = Login::new(&authorizer);
    shown("login", &login);
    let options = LoginOptions::default().redirect_uri(CALLBACK);
    let request = login.begin(options).await.expect("a request");
    let debug = format!("{request:?}");
    assert!(!debug.contains(request.state.expose()), "{debug}");
    let pending = format!("{store:?}");
    assert!(!pending.contains(request.state.expose()), "{pending}");
    let callback = format!(
        "{CALLBACK}?code={CANARY}-code&state={}",
        request.state.expose()
    );
    let credential = login.finish(&callback).await.expect("a login");
    shown("credential", &credential);
    shown("store", &store);
    shown("set", &*store.read().await.expect("a store"));
    shown("headers", &headers(&authorizer).await.expect("headers"));
    shown("decision", &refuse(&authorizer, 401, "Bearer").await);
    shown("authorizer", &authorizer);
}

#[tokio::test]
async fn nothing_that_was_sent_comes_back_in_an_error() {
    for status in [200, 400, 401, 500] {
        let net = parrot(status);
        let code = format!("{CANARY}-code");
        let error = log_in_with(&authorizer(&net), &[("code", &code)]).await;
        error_is_clean("code", &error.expect_err("a refusal"));
        let mut settings = OAuthSettings::default();
        settings.client_id = Some("c".to_owned());
        settings.grant = Grant::Workload {
            assertion: Assertion::Fixed(secret(&format!("{CANARY}-assertion"))),
        };
        let machine = authorizer_with(&net, settings, Arc::new(MemoryStore::new()));
        error_is_clean("assertion", &gave_up(refuse(&machine, 401, "Bearer").await));
    }
    let net = Net::with(&[]);
    let words = format!("{CANARY}-nothing");
    let callback = format!("{CALLBACK}?state={words}&code={words}");
    let error = Login::new(&authorizer(&net)).finish(&callback).await;
    error_is_clean("callback", &error.expect_err("an unknown state"));
}

#[tokio::test]
async fn a_refused_refresh_token_is_not_shown() {
    let net = Net::new(|seen| {
        let is_refresh = seen.form.contains_key("refresh_token");
        Ok(match seen.url.as_str() {
            TOKEN if is_refresh => {
                let words = seen.form["refresh_token"].clone();
                let body = json!({"error": "server_error", "error_description": words});
                AuthResponse::new(400, Vec::new(), body.to_string().into_bytes())
            }
            TOKEN => ok(&json!({
                "access_token": format!("{CANARY}-access"),
                "refresh_token": format!("{CANARY}-refresh"),
            })),
            _ => usual(seen),
        })
    });
    let authorizer = authorizer(&net);
    log_in(&authorizer).await.expect("a login");
    error_is_clean(
        "refresh",
        &gave_up(refuse(&authorizer, 401, "Bearer").await),
    );
}
