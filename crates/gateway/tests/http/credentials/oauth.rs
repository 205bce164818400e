//! Tokens of an issuer that count, and what clients without one are told.

use serde_json::json;

use super::{Gate, RESOURCE, gate, with};
use crate::support::{Ask, front};

#[tokio::test]
async fn tokens_of_an_issuer_stand_for_the_agents_of_its_rules() {
    let Gate { front, issuer, .. } = gate().await;
    for kind in ["rsa", "ec", "ed"] {
        let token = issuer.token(kind, &json!({}));
        let answer = front.ask(&with(Ask::modern_echo(kind), &token)).await;
        assert_eq!(answer.text(), kind);
    }
    assert_eq!(issuer.fetches(), 1);
    // Several audiences, a renewed token, and clocks that differ a little.
    for change in [
        json!({"aud": ["other", RESOURCE]}),
        json!({"exp": super::issuer::now() - 5}),
        json!({"nbf": super::issuer::now() + 5}),
    ] {
        let token = issuer.token("ec", &change);
        let answer = front.ask(&with(Ask::modern_echo("x"), &token)).await;
        assert_eq!(answer.status, 200, "{change}: {answer:?}");
    }
    // Without grants, and without a word of the policy on its agent, it may use nothing.
    let unknown = issuer.token("ec", &json!({"tenant": null, "groups": ["guests"]}));
    for _ in 0..2 {
        let list = Ask::modern("tools/list", json!({}));
        let list = front.ask(&with(list, &unknown)).await.json();
        assert_eq!(list["result"]["tools"], json!([]), "{list}");
    }
    let narrow = issuer.token("ec", &json!({"groups": ["narrow"]}));
    let list = Ask::modern("tools/list", json!({}));
    let list = front.ask(&with(list, &narrow)).await.json();
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{list}");
    assert_eq!(front.ask(&Ask::modern_echo("own")).await.text(), "own");
}

#[tokio::test]
async fn a_renewed_token_keeps_the_session_of_its_subject() {
    let Gate { front, issuer, .. } = gate().await;
    let first = issuer.token("rsa", &json!({}));
    let opened = front
        .ask(&with(Ask::initialize("2025-11-25"), &first))
        .await;
    let echo = Ask::legacy_echo("x").session(opened.session().unwrap());
    let renewed = issuer.token("ec", &json!({"exp": super::issuer::now() + 600}));
    assert_eq!(front.ask(&with(echo.clone(), &renewed)).await.text(), "x");
    let other = issuer.token("ec", &json!({"sub": "bob"}));
    assert_eq!(front.ask(&with(echo, &other)).await.status, 404);
}

#[tokio::test]
async fn clients_without_a_token_are_told_where_to_get_one() {
    let Gate { front, .. } = gate().await;
    let refused = front
        .ask(&Ask::modern_echo("x").without("Authorization"))
        .await;
    assert_eq!(refused.status, 401, "{refused:?}");
    let path = "/.well-known/oauth-protected-resource/mcp";
    let challenge = format!(
        "Bearer realm=\"switchboard\", resource_metadata=\"http://localhost{path}\", scope=\"mcp\""
    );
    assert_eq!(refused.header("www-authenticate"), Some(challenge.as_str()));
    for path in [path, "/.well-known/oauth-protected-resource"] {
        let ask = Ask::new("GET", path).without("Authorization");
        let answer = front.ask(&ask).await;
        let expected = json!({
            "resource": RESOURCE,
            "authorization_servers": [super::ISSUER],
            "bearer_methods_supported": ["header"],
            "resource_name": "Switchboard",
            "scopes_supported": ["mcp"],
        });
        assert_eq!(answer.json(), expected, "{path}");
        let ask = Ask::new("POST", path).without("Authorization");
        assert_eq!(front.ask(&ask).await.status, 405);
    }
    let elsewhere = Ask::new("GET", "/.well-known/oauth-protected-resource/x");
    assert_eq!(front.ask(&elsewhere).await.status, 404);
}

#[tokio::test]
async fn without_an_issuer_there_is_no_metadata() {
    let front = front().await;
    let ask = Ask::new("GET", "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(front.ask(&ask).await.status, 404);
}
