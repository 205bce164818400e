//! oidc-provider before a fastmcp server, whose tokens live for seconds and whose refresh tokens rotate: the ways to
//! log in, and renewals.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::partners::{self, Launch};

use super::{Partner, Stage};

/// An issuer and a server that lets in its tokens.
pub(super) struct Site {
    pub(super) issuer: Partner,
    pub(super) server: Partner,
}

impl Site {
    /// With variables for the issuer and for the server.
    pub(super) fn new(issuer_env: &[(&str, &str)], server_env: &[(&str, &str)]) -> Self {
        let with = |mut launch: Launch, env: &[(&str, &str)]| {
            for (name, value) in env {
                launch = launch.env(*name, *value);
            }
            launch
        };
        let issuer = Partner::start(|port| with(partners::oidc_issuer(port), issuer_env));
        let server =
            Partner::start(|port| with(partners::fastmcp_behind(issuer.url(), port), server_env));
        Self { issuer, server }
    }

    pub(super) fn stage(&self, oauth: &Value) -> Stage {
        Stage::new(self.server.url(), oauth)
    }

    /// Number of token requests with this grant that went well.
    pub(super) fn granted(&self, grant: &str) -> usize {
        self.issuer.said(&format!("granted {grant}"))
    }

    pub(super) fn refused(&self) -> usize {
        self.issuer.said("refused ")
    }
}

#[test]
fn a_login_with_a_browser_at_oidc_provider_is_renewed_unasked() {
    let site = Site::new(&[("OAUTH_CONSENT", "page")], &[]);
    let stage = site.stage(&json!({}));
    stage.log_in_with_browser();
    stage.call();
    let status = stage.status();
    assert_eq!(status["issuer"], site.issuer.url());
    assert_eq!(status["is_renewable"], true);
    assert_eq!(site.granted("refresh_token"), 0);
    // Only time ends a token of this issuer: it lives for 20 seconds.
    std::thread::sleep(Duration::from_secs(21));
    stage.call();
    assert_eq!(site.granted("refresh_token"), 1);
    assert_eq!(site.granted("authorization_code"), 1);
    assert_eq!(site.refused(), 0);
    assert_ne!(stage.status()["expires_at"], status["expires_at"]);
}

#[test]
fn processes_share_a_login_whose_refresh_tokens_rotate_at_oidc_provider() {
    const ROUNDS: usize = 4;
    let site = Site::new(&[("OAUTH_LIFE", "3")], &[]);
    let stage = site.stage(&json!({}));
    stage.log_in_in_two_processes();
    for _ in 0..ROUNDS {
        // Only time ends a token of this issuer.
        std::thread::sleep(Duration::from_secs(4));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| stage.call());
            }
        });
    }
    // A refresh token that came twice would have ended the login, and been refused.
    assert!(site.granted("refresh_token") >= ROUNDS);
    assert_eq!(site.granted("authorization_code"), 1);
    assert_eq!(site.refused(), 0);
}

#[test]
fn a_pasted_address_finishes_a_login_at_oidc_provider() {
    let site = Site::new(&[], &[]);
    let stage = site.stage(&json!({}));
    stage.log_in_by_paste();
    stage.call();
    assert_eq!(site.granted("authorization_code"), 1);
}

#[test]
fn two_processes_log_in_at_oidc_provider_and_a_logout_revokes() {
    let site = Site::new(&[], &[]);
    let stage = site.stage(&json!({}));
    stage.log_in_in_two_processes();
    stage.call();
    let out = stage.run(&["logout", "tickets"]);
    assert_eq!(
        out.stdout, "tickets: logged out, and revoked at the issuer\n",
        "{}",
        out.stderr
    );
    let called = stage.run(&["call", "tickets/echo", "message=hello"]);
    assert_eq!(called.code, Some(3), "{}", called.stderr);
}

#[test]
fn a_login_on_another_device_at_oidc_provider_is_good_for_calls() {
    let site = Site::new(&[], &[]);
    // With a client that registers itself, and with one that is known.
    for oauth in [json!({}), json!({"clientId": "app"})] {
        let stage = site.stage(&oauth);
        stage.log_in_by_device();
        stage.call();
    }
    let grant = "urn:ietf:params:oauth:grant-type:device_code";
    assert_eq!(site.granted(grant), 2);
}
