//! The record of every secret that passes an issuer, for tests that look for them where they must not be.

use serde::Serialize;
use serde_json::Value;

use super::IssuerRequest;
use super::encoding::{Params, decode, from_base64};
use super::reply::{IssuerReply, ReplyBody};

/// The parameters of a request that are secret.
const SENT: &[&str] = &[
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "device_code",
    "refresh_token",
    "state",
    "subject_token",
    "token",
];
/// The members of an answer that are secret.
const ISSUED: &[&str] = &[
    "access_token",
    "client_secret",
    "device_code",
    "id_token",
    "refresh_token",
    "registration_access_token",
];

/// A secret that passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PassedSecret {
    /// The parameter, the member or the header that it was in.
    pub(super) kind: String,
    pub(super) value: String,
    /// `client` or `issuer`.
    pub(super) from: &'static str,
}

impl PassedSecret {
    fn new(kind: &str, value: impl Into<String>, from: &'static str) -> Self {
        Self {
            kind: kind.to_owned(),
            value: value.into(),
            from,
        }
    }
}

/// Collects the secrets of a request.
pub(super) fn of_request(asked: &IssuerRequest<'_>) -> Vec<PassedSecret> {
    let mut found = Vec::new();
    let mut add = |kind: &str, value: &str| found.push(PassedSecret::new(kind, value, "client"));
    let header = asked.header("authorization").unwrap_or_default();
    match header.split_once(' ') {
        Some(("Basic", pair)) => {
            let pair = from_base64(pair).and_then(|bytes| String::from_utf8(bytes).ok());
            let secret = pair.as_deref().and_then(|pair| pair.split_once(':'));
            // RFC 6749, 2.3.1: it is encoded as in a form.
            if let Some(secret) = secret.and_then(|(_, secret)| decode(secret)) {
                add("client_secret", &secret);
            }
        }
        Some((_, token)) => add("access_token", token),
        None => {}
    }
    if let Some(proof) = asked.header("dpop") {
        add("dpop", proof);
    }
    let body = std::str::from_utf8(asked.body).unwrap_or_default();
    for text in [asked.query, body] {
        let params = Params::parse(text).unwrap_or_default();
        for name in SENT {
            if let Some(value) = params.get(name) {
                add(name, value);
            }
        }
    }
    found
}

/// Collects the secrets of an answer.
pub(super) fn of_reply(reply: &IssuerReply) -> Vec<PassedSecret> {
    let mut found = Vec::new();
    if let ReplyBody::Json(document) = &reply.body {
        for name in ISSUED {
            if let Some(value) = document.get(name).and_then(Value::as_str) {
                found.push(PassedSecret::new(name, value, "issuer"));
            }
        }
    }
    let mut headers = reply.headers.iter();
    let location = headers.find_map(|(name, value)| (*name == "location").then_some(value));
    let query = location.and_then(|location| location.split_once('?'));
    let params = query.and_then(|(_, query)| Params::parse(query).ok());
    if let Some(code) = params.as_ref().and_then(|params| params.get("code")) {
        found.push(PassedSecret::new("code", code, "issuer"));
    }
    found
}

/// Returns all that a request has to tell of itself, as an issuer that repeats it would.
pub(super) fn repeat(asked: &IssuerRequest<'_>) -> String {
    let values = of_request(asked).into_iter().map(|secret| secret.value);
    values.collect::<Vec<_>>().join(" ")
}
