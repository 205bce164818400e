//! Every credential that must not count, in one table, and the proof that none reaches a server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use switchboard_gateway::http::NamedTokens;

use super::issuer::{ISSUER, Issuer, Keys, claims, encoded, header, now, signed};
use super::{Gate, RESOURCE, gate, granted, with};
use crate::support::{Ask, TOKEN, until};

/// A credential that is refused, and how.
type Case = (&'static str, u16, Ask);

fn bearer(name: &'static str, token: &str) -> Case {
    (name, 401, with(Ask::modern_echo("x"), token))
}

/// Tokens whose signature is not one of the issuer.
fn forged(issuer: &Issuer) -> Vec<Case> {
    let (own, stranger) = (&issuer.own, &issuer.stranger);
    let good = issuer.token("rsa", &json!({}));
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (head, _) = message.split_once('.').unwrap();
    let other = issuer.token("rsa", &json!({"sub": "bob"}));
    let (_, other_signature) = other.rsplit_once('.').unwrap();
    let more = encoded(&claims(&json!({"sub": "root"})));
    let mut bits = URL_SAFE_NO_PAD.decode(signature).unwrap();
    bits[7] ^= 1;
    let bits = URL_SAFE_NO_PAD.encode(bits);
    let usual = claims(&json!({}));
    let named = |alg: &str, kid: &str| json!({"alg": alg, "kid": kid});
    let public = issuer.published();
    let modulus = public[0]["n"].as_str().unwrap();
    let unsigned = |alg: &str| format!("{}.{}.", encoded(&named(alg, "rsa")), encoded(&usual));
    let embedded = {
        let mut header = header("ec");
        header["jwk"] = json!({"kty": "oct", "k": modulus});
        header["kid"] = "mine".into();
        header
    };
    let elsewhere = {
        let mut header = header("ec");
        header["jku"] = "https://stranger.example/keys".into();
        header
    };
    let headless = format!("{}.{}", encoded(&named("RS256", "rsa")), encoded(&usual));
    let set = json!({ "keys": public }).to_string();
    let by = |keys: &Keys, how: &str, header: &Value| signed(keys, how, header, &usual);
    let theirs = |kind: &str| by(stranger, kind, &header(kind));
    let saying = |how: &str, alg: &str, kid: &str| by(own, how, &named(alg, kid));
    let cases = [
        ("forged with another RSA key", theirs("rsa")),
        ("forged with another EC key", theirs("ec")),
        ("forged with another Ed25519 key", theirs("ed")),
        ("claims changed", format!("{head}.{more}.{signature}")),
        ("header changed", format!("{headless}.{signature}")),
        (
            "another's signature",
            format!("{message}.{other_signature}"),
        ),
        ("a changed bit", format!("{message}.{bits}")),
        ("cut short", good[..good.len() - 8].to_owned()),
        ("no signature", format!("{message}.")),
        ("no signature part", message.to_owned()),
        ("none", unsigned("none")),
        ("None", unsigned("None")),
        ("none, and signed", saying("rsa", "none", "rsa")),
        ("HS256 with the modulus", saying(modulus, "HS256", "rsa")),
        ("HS256 with the set", saying(&set, "HS256", "rsa")),
        ("HS256, shared key", saying("shared", "HS256", "shared")),
        ("RS256 with the EC name", saying("rsa", "RS256", "ec")),
        ("ES256 with the RSA name", saying("ec", "ES256", "rsa")),
        ("EdDSA with the EC name", saying("ed", "EdDSA", "ec")),
        ("EC that says RS256", saying("ec", "RS256", "rsa")),
        ("RS512", saying("rsa512", "RS512", "rsa")),
        ("PS256", saying("pss", "PS256", "rsa")),
        ("PSS that says RS256", saying("pss", "RS256", "rsa")),
        (
            "an unknown key",
            by(stranger, "rsa", &named("RS256", "none")),
        ),
        (
            "a key for encryption",
            by(stranger, "rsa", &named("RS256", "enc-rsa")),
        ),
        ("a key in the header", by(stranger, "ec", &embedded)),
        ("keys elsewhere", by(stranger, "ec", &elsewhere)),
    ];
    cases.map(|(name, token)| bearer(name, &token)).into()
}

/// Tokens that the issuer has signed for something else.
fn misused(issuer: &Issuer) -> Vec<Case> {
    let changed = |name, change: Value| bearer(name, &issuer.token("ec", &change));
    let headed = |name, more: &[(&str, Value)]| {
        let mut header = header("ec");
        for (key, value) in more {
            header[*key] = value.clone();
        }
        bearer(
            name,
            &signed(&issuer.own, "ec", &header, &claims(&json!({}))),
        )
    };
    let forbidden = |name, change: Value| {
        let (name, _, ask) = changed(name, change);
        (name, 403, ask)
    };
    vec![
        changed("another issuer", json!({"iss": "https://other.example"})),
        changed(
            "the issuer with a slash",
            json!({"iss": format!("{ISSUER}/")}),
        ),
        changed("the issuer in a list", json!({"iss": [ISSUER]})),
        changed("no issuer", json!({"iss": null})),
        changed(
            "another audience",
            json!({"aud": "https://other.example/mcp"}),
        ),
        changed(
            "an audience that begins alike",
            json!({"aud": format!("{RESOURCE}2")}),
        ),
        changed(
            "an audience below",
            json!({"aud": format!("{RESOURCE}/s/demo")}),
        ),
        changed(
            "another service of the same host",
            json!({"aud": "http://localhost"}),
        ),
        changed(
            "an audience in other letters",
            json!({"aud": RESOURCE.to_uppercase()}),
        ),
        changed("an empty list of audiences", json!({"aud": []})),
        changed("an audience in an object", json!({"aud": {"a": RESOURCE}})),
        changed("no audience", json!({"aud": null})),
        changed("expired", json!({"exp": now() - 40})),
        changed("expired long ago", json!({"exp": 5})),
        changed("no end", json!({"exp": null})),
        changed(
            "an end that is no number",
            json!({"exp": (now() + 300).to_string()}),
        ),
        changed("an end before all time", json!({"exp": -1})),
        changed("not yet valid", json!({"nbf": now() + 120})),
        changed("a beginning that is no number", json!({"nbf": "now"})),
        changed("no subject", json!({"sub": null})),
        changed("an empty subject", json!({"sub": ""})),
        changed("a subject that is no text", json!({"sub": 7})),
        headed(
            "a critical extension",
            &[("crit", json!(["b64"])), ("b64", json!(false))],
        ),
        headed("a proof and no token", &[("typ", json!("dpop+jwt"))]),
        headed("a logout token", &[("typ", json!("logout+jwt"))]),
        headed("a name of a key that is no text", &[("kid", json!(["ec"]))]),
        forbidden("no scope", json!({"scope": null})),
        forbidden("another scope", json!({"scope": "mcp2 openid"})),
        forbidden("no agent for it", json!({"tenant": "theirs"})),
    ]
}

/// Requests that carry a good token in a way that does not count, and texts that are none.
fn misplaced(issuer: &Issuer) -> Vec<Case> {
    let good = issuer.token("ed", &json!({}));
    let echo = || Ask::modern_echo("x").without("Authorization");
    let long = format!("{good}{}", "A".repeat(17 << 10));
    let at = |path: String| echo().at(&path);
    vec![
        ("nothing", 401, echo()),
        ("two Authorization headers", 401, {
            let twice = echo().header("Authorization", &format!("Bearer {good}"));
            twice.header("Authorization", &format!("Bearer {TOKEN}"))
        }),
        ("in the query", 401, at(format!("/mcp?access_token={good}"))),
        (
            "the gateway's token in the query",
            401,
            at(format!("/mcp?token={TOKEN}")),
        ),
        (
            "in a cookie",
            401,
            echo().header("Cookie", &format!("access_token={good}")),
        ),
        (
            "in another header",
            401,
            echo().header("X-Authorization", &format!("Bearer {good}")),
        ),
        (
            "with another scheme",
            401,
            echo().header("Authorization", &format!("DPoP {good}")),
        ),
        (
            "as a password",
            401,
            echo().header("Authorization", "Basic YW5uOmFubg=="),
        ),
        (
            "without a scheme",
            401,
            echo().header("Authorization", &good),
        ),
        (
            "an empty token",
            401,
            echo().header("Authorization", "Bearer "),
        ),
        bearer("a token and more", &format!("{good} {good}")),
        bearer("a token that is too long", &long),
        bearer("an encrypted token", "e30.e30.e30.e30.e30"),
        bearer("no JSON", "AAAA.AAAA.AAAA"),
        bearer("another base64", &good.replace('.', "=.")),
        bearer("any text", "0123456789abcdef0123456789abcdef"),
    ]
}

/// Named tokens that do not count any more, or never did.
fn withdrawn(tokens: &NamedTokens, issued: &[String; 2]) -> Vec<Case> {
    let file = std::fs::read_to_string(tokens.path()).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let digest = file["tokens"][0]["sha256"].as_str().unwrap();
    let good = tokens.add(granted("good")).unwrap();
    vec![
        bearer("revoked", &issued[0]),
        bearer("rotated", &issued[1]),
        bearer("its digest", digest),
        bearer("its name", "rotated"),
        bearer("a part of it", &good[1..]),
        bearer("more than it", &format!("{good}A")),
        bearer("in other letters", &good.to_lowercase()),
    ]
}

#[tokio::test]
async fn credentials_that_do_not_count_are_refused_and_reach_no_server() {
    let Gate {
        front,
        issuer,
        tokens,
        _folder,
    } = gate().await;
    let revoked = tokens.add(granted("revoked")).unwrap();
    let rotated = tokens.add(granted("rotated")).unwrap();
    // Used before, so that a memory of them would show.
    for token in [&revoked, &rotated] {
        let echo = with(Ask::modern_echo("x"), token);
        assert_eq!(front.ask(&echo).await.text(), "x");
    }
    let opened = front
        .ask(&with(Ask::initialize("2025-11-25"), &revoked))
        .await;
    let replayed = Ask::legacy_echo("x").session(opened.session().unwrap());
    let theirs = issuer.token("rsa", &json!({}));
    let opened = front
        .ask(&with(Ask::initialize("2025-11-25"), &theirs))
        .await;
    let taken = Ask::legacy_echo("x").session(opened.session().unwrap());
    tokens.revoke("revoked").unwrap();
    tokens.rotate("rotated").unwrap();
    until("the session of the revoked token to end", || {
        front.service.stats().sessions == 1
    })
    .await;

    let mut cases = forged(&issuer);
    cases.extend(misused(&issuer));
    cases.extend(misplaced(&issuer));
    cases.extend(withdrawn(&tokens, &[revoked.clone(), rotated]));
    let bob = issuer.token("rsa", &json!({"sub": "bob"}));
    cases.extend([
        (
            "a session of a revoked token",
            401,
            with(replayed.clone(), &revoked),
        ),
        (
            "a session of a revoked token, by another",
            404,
            with(replayed, &bob),
        ),
        (
            "a session of another subject",
            404,
            with(taken.clone(), &bob),
        ),
        ("a session of another client", 404, taken),
    ]);
    assert!(cases.len() >= 80, "{}", cases.len());
    let before = front.record.len();
    for (name, status, ask) in cases {
        let refused = front.ask(&ask).await;
        assert_eq!(refused.status, status, "{name}: {refused:?}");
        if status < 404 {
            let challenge = refused.header("www-authenticate").unwrap_or_default();
            assert!(
                challenge.contains("resource_metadata="),
                "{name}: {refused:?}"
            );
        }
    }
    assert_eq!(front.record.since(before), [Value::Null; 0]);
    // Unknown keys were named, and the issuer was asked once: a minute has not passed.
    assert_eq!(issuer.fetches(), 1);
    let echo = with(Ask::modern_echo("still"), &theirs);
    assert_eq!(front.ask(&echo).await.text(), "still");
}
