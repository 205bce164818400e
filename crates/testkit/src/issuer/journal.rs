//! The record of every request that an issuer and its resource server saw.

use serde::Serialize;

/// One request. No token, code or secret is in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct IssuerEvent {
    /// The number of the request, counted from 1.
    pub number: u64,
    /// The endpoint: `resource-metadata`, `metadata`, `register`, `authorize`, `token`, `device`, `revoke`, `page`,
    /// `resource` or `unknown`.
    pub endpoint: String,
    /// The path.
    pub path: String,
    /// The client, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The grant type of a token request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The scopes that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// `ok`, or the error.
    pub outcome: String,
    /// A sentence about the error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// The counts of an issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct IssuerCounts {
    /// Requests of any kind, to the issuer and to the resource server.
    pub requests: u64,
    /// Requests for either kind of metadata that found it.
    pub discoveries: u64,
    /// Clients that registered.
    pub registrations: u64,
    /// Authorization and device requests that were shown to a person: each is a prompt.
    pub prompts: u64,
    /// Codes that were exchanged.
    pub logins: u64,
    /// Codes that came a second time.
    pub replayed_codes: u64,
    /// Refreshes that went well.
    pub refreshes: u64,
    /// Refresh tokens that came a second time, each of which revoked its family.
    pub stale_refreshes: u64,
    /// Families of tokens that were revoked, for whatever reason.
    pub revoked_families: u64,
    /// Tokens that clients had for themselves.
    pub client_credentials: u64,
    /// Polls of devices.
    pub device_polls: u64,
    /// Revocation requests that went well.
    pub revocations: u64,
    /// Token requests that were refused.
    pub refused_tokens: u64,
    /// Requests with a good token.
    pub admitted: u64,
    /// Requests that were answered with 401.
    pub challenges: u64,
    /// Requests that were answered with 403.
    pub step_ups: u64,
    /// Proofs that were refused for the sake of their nonce.
    pub nonce_challenges: u64,
}
