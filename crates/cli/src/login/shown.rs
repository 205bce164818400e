//! A login as it is shown: never what is in it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use switchboard::auth::Credential;
use switchboard::text::sanitise_line;

use crate::timestamp;

/// The state of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LoginState {
    /// There are tokens, which are good or can be renewed.
    LoggedIn,
    /// There is a token, which has expired and cannot be renewed.
    Expired,
    /// There are no tokens.
    NotLoggedIn,
    /// Tokens are got without a person.
    Automatic,
    /// It cannot be told, because the store or the server's entry cannot be used.
    Unknown,
}

impl LoginState {
    /// The state in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::LoggedIn => "logged in",
            Self::Expired => "expired",
            Self::NotLoggedIn => "not logged in",
            Self::Automatic => "no login needed: tokens are obtained automatically",
            Self::Unknown => "unknown",
        }
    }
}

/// A login, in the documents of `login` and `auth status`: see `docs/auth.md`.
#[derive(Debug, Serialize)]
pub(crate) struct LoginDocument {
    pub(crate) server: String,
    pub(crate) state: LoginState,
    pub(crate) profile: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) resource: Option<String>,
    pub(crate) client_id: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) issued_at: Option<String>,
    pub(crate) expires_at: Option<String>,
    /// The token can be renewed without a person.
    pub(crate) is_renewable: bool,
    /// The start of a renewal whose outcome is not known.
    pub(crate) unfinished_renewal: Option<String>,
    pub(crate) store: String,
    /// The reason why it cannot be told.
    pub(crate) problem: Option<String>,
}

impl LoginDocument {
    /// A server without a login.
    pub(crate) fn without(server: &str, profile: Option<&str>, store: String) -> Self {
        Self {
            server: server.to_owned(),
            state: LoginState::NotLoggedIn,
            profile: profile.map(str::to_owned),
            issuer: None,
            resource: None,
            client_id: None,
            scopes: Vec::new(),
            issued_at: None,
            expires_at: None,
            is_renewable: false,
            unfinished_renewal: None,
            store,
            problem: None,
        }
    }

    /// The login of a credential.
    pub(crate) fn of(server: &str, credential: &Credential, store: String) -> Self {
        let key = credential.key();
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let has_expired = credential.expires_at().is_some_and(|at| at <= now());
        let is_renewable = credential.has_refresh_token();
        Self {
            state: if has_expired && !is_renewable {
                LoginState::Expired
            } else {
                LoginState::LoggedIn
            },
            profile: some(&key.profile),
            issuer: some(&key.issuer),
            resource: some(&key.resource),
            client_id: some(&key.client_id),
            scopes: credential.scopes().to_vec(),
            issued_at: Some(timestamp(credential.issued_at())),
            expires_at: credential.expires_at().map(timestamp),
            is_renewable,
            unfinished_renewal: credential.unfinished_renewal().map(timestamp),
            ..Self::without(server, None, store)
        }
    }

    /// The lines that a person reads about it, besides its name and state.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("{name}: {}", sanitise_line(&value))));
        };
        add("problem", self.problem.clone());
        add("profile", self.profile.clone());
        add("issuer", self.issuer.clone());
        add("resource", self.resource.clone());
        if self.issuer.is_some() {
            let scopes = self.scopes.join(" ");
            let scopes = if scopes.is_empty() { "none" } else { &scopes };
            add("scopes", Some(scopes.to_owned()));
            add("expires", Some(self.expiry()));
            add("last refresh", Some(self.last_refresh()));
        }
        add("store", Some(self.store.clone()));
        lines
    }

    /// The end of the login, in words.
    pub(crate) fn expiry(&self) -> String {
        match (&self.expires_at, self.is_renewable) {
            (Some(at), false) if self.state == LoginState::Automatic => {
                format!("{at}, then a new token is requested")
            }
            (Some(at), true) => format!("{at}, renewed automatically"),
            (Some(at), false) => format!("{at}, then a new login is needed"),
            (None, _) => "the issuer does not say".to_owned(),
        }
    }

    fn last_refresh(&self) -> String {
        let issued = self.issued_at.as_deref().unwrap_or_default();
        match &self.unfinished_renewal {
            Some(began) => format!("began at {began}, and its outcome is unknown"),
            None => format!("{issued}, or the login itself"),
        }
    }
}

fn timestamp(seconds: u64) -> String {
    let at = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    at.map(timestamp::utc_seconds).unwrap_or_default()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map(|since| since.as_secs()).unwrap_or_default()
}
