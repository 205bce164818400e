//! The table of all faults of an issuer.
//!
//! A fault strikes one endpoint and has one effect there, so the table says nearly all of it: the
//! endpoints apply [`Effect`]s without knowing which fault asked for them. Only the faults whose
//! effect is [`Effect::Special`] have code of their own.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of an issuer, or of the server behind it, that a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The `WWW-Authenticate` header of the server.
    Challenge,
    /// The metadata of the protected resource (RFC 9728).
    ResourceMetadata,
    /// The metadata of the authorization server (RFC 8414 and OpenID Connect).
    Metadata,
    /// Dynamic registration (RFC 7591).
    Registration,
    /// The redirect back to the client.
    Authorization,
    /// The answer to every grant but a refresh.
    Token,
    /// The answer to a refresh.
    Refresh,
    /// Device authorization (RFC 8628).
    Device,
    /// The server that takes the tokens.
    Resource,
}

impl Endpoint {
    /// Returns the heading above the faults of an endpoint.
    pub fn title(self) -> &'static str {
        match self {
            Self::Challenge => "Challenge",
            Self::ResourceMetadata => "Resource metadata",
            Self::Metadata => "Issuer metadata",
            Self::Registration => "Registration",
            Self::Authorization => "Authorization",
            Self::Token => "Token",
            Self::Refresh => "Refresh",
            Self::Device => "Device",
            Self::Resource => "Resource",
        }
    }
}

/// The change that a fault makes to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Leaves out a member of the document, or a parameter of the redirect.
    Remove(&'static str),
    /// Sets a member to this JSON, or a parameter to this text.
    Set(&'static str, &'static str),
    /// Sends a parameter of the redirect twice.
    Twice(&'static str),
    /// Refuses before anything is processed, with this status and error.
    Refuse(u16, &'static str),
    /// Replaces the answer after everything was processed, with a page of this status.
    Status(u16),
    /// Redirects to this address.
    Redirect(&'static str),
    /// Answers with a page of HTML and status 200.
    Html,
    /// Answers with nothing and status 200.
    Empty,
    /// Appends 64 MiB of spaces to the answer.
    Huge,
    /// Answers with arrays nested 100,000 levels deep.
    Deep,
    /// Sends the answer a byte at a time, five bytes a second.
    Drip,
    /// Processes the request and never answers.
    Never,
    /// Processes the request and resets the connection.
    Reset,
    /// Has code of its own.
    Special,
}

macro_rules! faults {
    ($( $endpoint:ident $fault:ident $name:literal $effect:expr, $about:literal; )*) => {
        /// One thing that can be wrong with an issuer or with the server that trusts it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FaultKind {
            $( #[doc = $about] $fault, )*
        }

        impl FaultKind {
            /// All of them, endpoint by endpoint.
            pub const ALL: &[Self] = &[$( Self::$fault, )*];

            /// Returns the name as it is written.
            pub fn name(self) -> &'static str {
                match self { $( Self::$fault => $name, )* }
            }

            /// Returns the endpoint that it strikes.
            pub fn endpoint(self) -> Endpoint {
                match self { $( Self::$fault => Endpoint::$endpoint, )* }
            }

            /// Describes it in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $( Self::$fault => $about, )* }
            }

            pub(crate) fn effect(self) -> Effect {
                match self { $( Self::$fault => $effect, )* }
            }
        }
    };
}

use Effect::{
    Deep, Drip, Empty, Html, Huge, Never, Redirect, Refuse, Remove, Reset, Set, Special, Status,
    Twice,
};

/// The address at which clouds keep the secrets of a machine.
const METADATA_SERVICE: &str = "http://169.254.169.254/latest/meta-data/";
/// A machine in a private network.
const PRIVATE: &str = "http://10.0.0.1/internal";

faults! {
    Challenge ChallengeMissing "challenge-missing" Special, "Answers 401 without `WWW-Authenticate`.";
    Challenge ChallengeBroken "challenge-broken" Set("header", "Bearer resource_metadata=\"http://127.0.0.1, scope=\\"), "Answers 401 with a challenge whose quotes do not end.";
    Challenge ChallengeHuge "challenge-huge" Special, "Answers 401 with a challenge of 48 KiB.";
    Challenge ChallengeMany "challenge-many" Special, "Answers 401 with Basic and Negotiate challenges before its own, in one header.";
    Challenge LinkMetadataService "link-metadata-service" Set("header", "Bearer resource_metadata=\"http://169.254.169.254/latest/meta-data/\""), "Names a cloud's metadata service as the place of the resource metadata.";
    Challenge LinkPrivate "link-private" Set("header", "Bearer resource_metadata=\"https://192.168.0.1/.well-known/oauth-protected-resource\""), "Names a private address as the place of the resource metadata.";
    Challenge LinkFile "link-file" Set("header", "Bearer resource_metadata=\"file:///etc/passwd\""), "Names a file as the place of the resource metadata.";
    Challenge LinkPlainHttp "link-plain-http" Set("header", "Bearer resource_metadata=\"http://metadata.example/resource.json\""), "Names a place without TLS on another host.";
    Challenge ChallengeRepeats "challenge-repeats" Special, "Answers 401 with a challenge that repeats the token.";
    ResourceMetadata ResourceMismatch "resource-mismatch" Set("resource", "\"https://other.example/mcp\""), "The metadata is about another server.";
    ResourceMetadata ResourceMissing "resource-missing" Remove("resource"), "The metadata does not say which server it is about.";
    ResourceMetadata ResourceNumber "resource-number" Set("resource", "7"), "The metadata has a number in place of the server.";
    ResourceMetadata ServersMissing "servers-missing" Remove("authorization_servers"), "The metadata names no issuer.";
    ResourceMetadata ServersEmpty "servers-empty" Set("authorization_servers", "[]"), "The metadata has an empty list of issuers.";
    ResourceMetadata ServersMetadataService "servers-metadata-service" Set("authorization_servers", "[\"http://169.254.169.254\"]"), "The issuer is a cloud's metadata service.";
    ResourceMetadata ServersPrivate "servers-private" Set("authorization_servers", "[\"https://10.0.0.1\"]"), "The issuer is a private address.";
    ResourceMetadata ServersPlainHttp "servers-plain-http" Set("authorization_servers", "[\"http://issuer.example\"]"), "The issuer is another host without TLS.";
    ResourceMetadata ServersFile "servers-file" Set("authorization_servers", "[\"file:///etc\"]"), "The issuer is a folder.";
    ResourceMetadata ServersMany "servers-many" Special, "The metadata lists 10,000 issuers before the right one.";
    ResourceMetadata ResourceHtml "resource-html" Html, "The resource metadata is a page of HTML.";
    ResourceMetadata ResourceHuge "resource-huge" Huge, "The resource metadata has 64 MiB.";
    ResourceMetadata ResourceDrip "resource-drip" Drip, "The resource metadata comes a byte at a time.";
    ResourceMetadata ResourceNever "resource-never" Never, "The request for the resource metadata is never answered.";
    ResourceMetadata ResourceRedirectMetadataService "resource-redirect-metadata-service" Redirect(METADATA_SERVICE), "The resource metadata redirects to a cloud's metadata service.";
    ResourceMetadata ResourceRedirectPrivate "resource-redirect-private" Redirect(PRIVATE), "The resource metadata redirects to a private address.";
    ResourceMetadata ResourceRedirectLoop "resource-redirect-loop" Redirect(""), "The resource metadata redirects to itself.";
    Metadata IssuerWrong "issuer-wrong" Set("issuer", "\"https://evil.example\""), "The metadata is of another issuer.";
    Metadata IssuerSlash "issuer-slash" Special, "The issuer in the metadata has one more slash at its end.";
    Metadata IssuerMissing "issuer-missing" Remove("issuer"), "The metadata does not name its issuer.";
    Metadata NoPkce "no-pkce" Remove("code_challenge_methods_supported"), "The metadata does not mention PKCE.";
    Metadata PlainPkce "plain-pkce" Set("code_challenge_methods_supported", "[\"plain\"]"), "The metadata offers PKCE without hashing alone.";
    Metadata NoAuthorizationEndpoint "no-authorization-endpoint" Remove("authorization_endpoint"), "The metadata has no authorization endpoint.";
    Metadata NoTokenEndpoint "no-token-endpoint" Remove("token_endpoint"), "The metadata has no token endpoint.";
    Metadata AuthorizeFile "authorize-file" Set("authorization_endpoint", "\"file:///etc/passwd\""), "The authorization endpoint is a file.";
    Metadata AuthorizeJavascript "authorize-javascript" Set("authorization_endpoint", "\"javascript:alert(1)\""), "The authorization endpoint is a script.";
    Metadata AuthorizeData "authorize-data" Set("authorization_endpoint", "\"data:text/html,<script>alert(1)</script>\""), "The authorization endpoint is a page in its own address.";
    Metadata AuthorizePlainHttp "authorize-plain-http" Set("authorization_endpoint", "\"http://login.example/authorize\""), "The authorization endpoint is another host without TLS.";
    Metadata AuthorizeShell "authorize-shell" Set("authorization_endpoint", "\"https://login.example/$(touch${IFS}pwned)`id`;&|\""), "The authorization endpoint is written to be run by a shell.";
    Metadata AuthorizeUserinfo "authorize-userinfo" Set("authorization_endpoint", "\"https://accounts.example@evil.example/authorize\""), "The authorization endpoint hides its host behind a user's name.";
    Metadata TokenPrivate "token-private" Set("token_endpoint", "\"https://10.0.0.1/token\""), "The token endpoint is a private address.";
    Metadata TokenMetadataService "token-metadata-service" Set("token_endpoint", "\"http://169.254.169.254/token\""), "The token endpoint is a cloud's metadata service.";
    Metadata TokenPlainHttp "token-plain-http" Set("token_endpoint", "\"http://token.example/token\""), "The token endpoint is another host without TLS.";
    Metadata TokenFile "token-file" Set("token_endpoint", "\"file:///dev/null\""), "The token endpoint is a file.";
    Metadata RegisterPrivate "register-private" Set("registration_endpoint", "\"https://172.16.0.1/register\""), "The registration endpoint is a private address.";
    Metadata MetadataHtml "metadata-html" Html, "The issuer's metadata is a page of HTML.";
    Metadata MetadataEmpty "metadata-empty" Empty, "The issuer's metadata is empty.";
    Metadata MetadataHuge "metadata-huge" Huge, "The issuer's metadata has 64 MiB.";
    Metadata MetadataDeep "metadata-deep" Deep, "The issuer's metadata is nested 100,000 levels deep.";
    Metadata MetadataDrip "metadata-drip" Drip, "The issuer's metadata comes a byte at a time.";
    Metadata MetadataNever "metadata-never" Never, "The request for the issuer's metadata is never answered.";
    Metadata MetadataReset "metadata-reset" Reset, "The connection is reset in place of the issuer's metadata.";
    Metadata Metadata500 "metadata-500" Status(500), "The issuer's metadata is answered with status 500.";
    Metadata MetadataRedirectMetadataService "metadata-redirect-metadata-service" Redirect(METADATA_SERVICE), "The issuer's metadata redirects to a cloud's metadata service.";
    Metadata MetadataRedirectPrivate "metadata-redirect-private" Redirect(PRIVATE), "The issuer's metadata redirects to a private address.";
    Metadata MetadataRedirectFile "metadata-redirect-file" Redirect("file:///etc/passwd"), "The issuer's metadata redirects to a file.";
    Registration RegisterRefuses "register-refuses" Refuse(400, "invalid_client_metadata"), "Registration is refused.";
    Registration RegisterForbidden "register-forbidden" Refuse(403, "access_denied"), "Registration is forbidden.";
    Registration RegisterNoId "register-no-id" Remove("client_id"), "A registration is answered without a client id.";
    Registration RegisterHtml "register-html" Html, "A registration is answered with a page of HTML.";
    Registration RegisterHuge "register-huge" Huge, "A registration is answered with 64 MiB.";
    Registration RegisterNever "register-never" Never, "A registration is never answered.";
    Registration RegisterExpired "register-expired" Set("client_secret_expires_at", "1"), "A registration's secret expired in 1970.";
    Registration RegisterOtherRedirect "register-other-redirect" Set("redirect_uris", "[\"https://evil.example/callback\"]"), "A registration is answered with another redirect address.";
    Registration RegisterForgets "register-forgets" Special, "Every client is forgotten when the next one registers.";
    Authorization StateMissing "state-missing" Remove("state"), "The redirect has no `state`.";
    Authorization StateWrong "state-wrong" Set("state", "state-of-another-login"), "The redirect has another `state`.";
    Authorization StateTwice "state-twice" Twice("state"), "The redirect has its `state` twice.";
    Authorization CodeMissing "code-missing" Remove("code"), "The redirect has no code.";
    Authorization CodeTwice "code-twice" Twice("code"), "The redirect has its code twice.";
    Authorization CodeWrong "code-wrong" Set("code", "a-code-that-was-never-issued"), "The redirect has a code that was never issued.";
    Authorization CodeExpired "code-expired" Special, "Every code has expired when it arrives.";
    Authorization IssMissing "iss-missing" Remove("iss"), "The redirect has no `iss` though the metadata promises it.";
    Authorization IssWrong "iss-wrong" Set("iss", "https://evil.example"), "The redirect is of another issuer.";
    Authorization IssSlash "iss-slash" Special, "The `iss` of the redirect has one more slash at its end.";
    Authorization IssUnexpected "iss-unexpected" Special, "The redirect is of another issuer, and the metadata does not mention `iss`.";
    Authorization ErrorWrongIss "error-wrong-iss" Special, "The redirect carries an error of another issuer.";
    Authorization ErrorHostile "error-hostile" Special, "The redirect carries an error with escape sequences and 32 KiB of text.";
    Authorization ConsentRefused "consent-refused" Refuse(302, "access_denied"), "The person refuses.";
    Authorization AuthorizeUnavailable "authorize-unavailable" Refuse(302, "temporarily_unavailable"), "The issuer says that it is overloaded.";
    Token TokenNoType "token-no-type" Remove("token_type"), "The answer has no `token_type`.";
    Token TokenWrongType "token-wrong-type" Set("token_type", "\"mac\""), "The answer has a `token_type` that does not exist.";
    Token TokenMissing "token-missing" Remove("access_token"), "The answer has no token.";
    Token TokenEmpty "token-empty" Set("access_token", "\"\""), "The token is empty.";
    Token TokenNewline "token-newline" Set("access_token", "\"good\\r\\nx-injected: yes\""), "The token has a line break and another header in it.";
    Token TokenNumber "token-number" Set("access_token", "12345"), "The token is a number.";
    Token TokenHugeValue "token-huge-value" Special, "The token has a mebibyte.";
    Token LifeNegative "life-negative" Set("expires_in", "-1"), "The token expired a second ago.";
    Token LifeZero "life-zero" Set("expires_in", "0"), "The token expires at once.";
    Token LifeText "life-text" Set("expires_in", "\"3600\""), "The life of the token is text.";
    Token LifeWords "life-words" Set("expires_in", "\"soon\""), "The life of the token is a word.";
    Token LifeHuge "life-huge" Set("expires_in", "1e300"), "The life of the token is longer than any number of seconds.";
    Token LifeMissing "life-missing" Remove("expires_in"), "The answer does not say how long the token lives.";
    Token ScopeMore "scope-more" Special, "The answer grants a scope that was not asked for.";
    Token ScopeLess "scope-less" Set("scope", "\"\""), "The answer grants none of the scopes.";
    Token ScopeList "scope-list" Set("scope", "[\"tools\"]"), "The answer has a list of scopes in place of a text.";
    Token TokenHtml "token-html" Html, "The answer is a page of HTML.";
    Token TokenNothing "token-nothing" Empty, "The answer is empty.";
    Token TokenError200 "token-error-200" Refuse(200, "invalid_grant"), "The answer is an error with status 200.";
    Token TokenHuge "token-huge" Huge, "The answer has 64 MiB.";
    Token TokenDeep "token-deep" Deep, "The answer is nested 100,000 levels deep.";
    Token TokenDrip "token-drip" Drip, "The answer comes a byte at a time.";
    Token TokenNever "token-never" Never, "The request is processed and never answered.";
    Token Token500 "token-500" Status(500), "The request is processed and answered with status 500.";
    Token Token429 "token-429" Refuse(429, "slow_down"), "The request is refused with status 429.";
    Token TokenInvalidClient "token-invalid-client" Refuse(401, "invalid_client"), "The issuer no longer knows the client.";
    Token TokenInvalidGrant "token-invalid-grant" Refuse(400, "invalid_grant"), "The issuer refuses every grant.";
    Token TokenRedirect "token-redirect" Redirect("https://evil.example/token"), "The request is redirected to another host.";
    Token TokenRedirectMetadataService "token-redirect-metadata-service" Redirect(METADATA_SERVICE), "The request is redirected to a cloud's metadata service.";
    Token TokenHostileError "token-hostile-error" Special, "The request is refused with escape sequences and 32 KiB of text.";
    Token TokenRepeats "token-repeats" Special, "The request is refused with all secrets that were in it.";
    Refresh RefreshTimeout "refresh-timeout" Never, "A refresh is processed and never answered.";
    Refresh RefreshReset "refresh-reset" Reset, "A refresh is processed and the connection reset.";
    Refresh Refresh500 "refresh-500" Status(500), "A refresh is processed and answered with status 500.";
    Refresh RefreshUnavailable "refresh-unavailable" Refuse(503, "temporarily_unavailable"), "A refresh is refused with status 503, and nothing is processed.";
    Refresh RefreshInvalidGrant "refresh-invalid-grant" Refuse(400, "invalid_grant"), "Every refresh is refused.";
    Refresh RefreshInvalidClient "refresh-invalid-client" Refuse(401, "invalid_client"), "The issuer no longer knows the client when it refreshes.";
    Refresh RefreshKeeps "refresh-keeps" Special, "A refresh is answered without a new refresh token; the old one stays valid.";
    Refresh RefreshScopeMore "refresh-scope-more" Special, "A refresh grants a scope that was not asked for.";
    Refresh RefreshHtml "refresh-html" Html, "A refresh is processed and answered with a page of HTML.";
    Refresh RefreshNoType "refresh-no-type" Remove("token_type"), "A refresh is answered without a `token_type`.";
    Refresh RefreshRepeats "refresh-repeats" Special, "A refresh is refused with all secrets that were in it.";
    Device DeviceDenied "device-denied" Special, "The person refuses on the other device.";
    Device DeviceExpired "device-expired" Special, "The device code expires at once.";
    Device DeviceSlowDown "device-slow-down" Special, "Every poll is answered with `slow_down`.";
    Device DevicePending "device-pending" Special, "Every poll is answered with `authorization_pending`.";
    Device DeviceJavascript "device-javascript" Set("verification_uri_complete", "\"javascript:alert(1)\""), "The address to visit is a script.";
    Device DeviceHostileCode "device-hostile-code" Set("user_code", "\"\\u001b]0;owned\\u0007AAAA\""), "The code to type has escape sequences.";
    Device DeviceNoUri "device-no-uri" Remove("verification_uri"), "The answer does not say where to go.";
    Device DeviceIntervalZero "device-interval-zero" Set("interval", "0"), "The answer allows polls without a pause.";
    Resource Always401 "always-401" Special, "The server refuses every token with 401.";
    Resource Always403 "always-403" Special, "The server asks for the same scope with 403, whatever the token has.";
    Resource ScopeLadder "scope-ladder" Special, "The server asks for another new scope with each 403.";
    Resource NonceLoop "nonce-loop" Special, "The server and the issuer ask for a new DPoP nonce each time.";
}

/// A fault, and the number of its strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssuerFault {
    /// The fault.
    pub kind: FaultKind,
    /// Strikes that many times and never again; `None` for always.
    pub times: Option<u64>,
}

impl From<FaultKind> for IssuerFault {
    fn from(kind: FaultKind) -> Self {
        Self { kind, times: None }
    }
}

impl fmt::Display for IssuerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        self.times.map_or(Ok(()), |times| write!(f, "={times}"))
    }
}

/// Reads `NAME`, or `NAME=TIMES`.
impl FromStr for IssuerFault {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, times) = match text.split_once('=') {
            Some((name, times)) => (name, Some(times)),
            None => (text, None),
        };
        let known = FaultKind::ALL.iter().find(|kind| kind.name() == name);
        let kind = *known.ok_or_else(|| {
            ParseFaultError(format!(
                "{name:?} names no fault of an issuer; --list-issuer-faults lists them"
            ))
        })?;
        let times = times.map(str::parse).transpose();
        let times =
            times.map_err(|_| ParseFaultError(format!("{name} takes a whole number of times")))?;
        Ok(Self { kind, times })
    }
}

/// A text that does not name a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseFaultError(String);

impl fmt::Display for ParseFaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseFaultError {}

/// Returns the table of all faults as people read it.
pub fn table() -> String {
    let mut text = String::new();
    let mut above = None;
    for kind in FaultKind::ALL {
        if above != Some(kind.endpoint()) {
            if above.is_some() {
                text.push('\n');
            }
            above = Some(kind.endpoint());
            text.push_str(kind.endpoint().title());
            text.push('\n');
        }
        text.push_str(&format!("  {:<36}{}\n", kind.name(), kind.summary()));
    }
    text
}

/// The faults of one issuer, each with the number of strikes that are left.
#[derive(Debug)]
pub(super) struct Faults(Vec<(IssuerFault, AtomicU64)>);

impl Faults {
    pub(super) fn new(faults: &[IssuerFault]) -> Self {
        let left = |fault: &IssuerFault| AtomicU64::new(fault.times.unwrap_or(u64::MAX));
        Self(faults.iter().map(|fault| (*fault, left(fault))).collect())
    }

    /// Tells whether a fault strikes now; a fault that strikes a number of times counts it.
    pub(super) fn strikes(&self, kind: FaultKind) -> bool {
        let mut faults = self.0.iter();
        let found = faults.find(|(fault, _)| fault.kind == kind);
        found.is_some_and(|(_, left)| take(left))
    }

    /// Tells whether there is such a fault, without counting.
    pub(super) fn has(&self, kind: FaultKind) -> bool {
        self.0.iter().any(|(fault, _)| fault.kind == kind)
    }

    /// Returns the effects that strike an endpoint now and are of the wanted sort.
    pub(super) fn effects(
        &self,
        endpoint: Endpoint,
        wanted: impl Fn(Effect) -> bool,
    ) -> Vec<Effect> {
        self.0
            .iter()
            .filter(|(fault, _)| fault.kind.endpoint() == endpoint)
            .filter(|(fault, _)| wanted(fault.kind.effect()))
            .filter(|(_, left)| take(left))
            .map(|(fault, _)| fault.kind.effect())
            .collect()
    }

    /// Returns the error that refuses a request before it is processed.
    pub(super) fn refusal(&self, endpoint: Endpoint) -> Option<(u16, &'static str)> {
        let effects = self.effects(endpoint, |effect| matches!(effect, Effect::Refuse(..)));
        effects.into_iter().find_map(|effect| match effect {
            Effect::Refuse(status, error) => Some((status, error)),
            _ => None,
        })
    }
}

fn take(left: &AtomicU64) -> bool {
    let less = |left: u64| match left {
        0 => None,
        u64::MAX => Some(u64::MAX),
        left => Some(left - 1),
    };
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_faults_and_each_name_is_used_once() {
        let mut names: Vec<_> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FaultKind::ALL.len());
        assert!(names.len() >= 100, "{}", names.len());
    }

    #[test]
    fn faults_are_read_as_they_are_written() {
        for text in ["iss-wrong", "refresh-timeout=1"] {
            let fault: IssuerFault = text.parse().unwrap();
            assert_eq!(fault.to_string(), text);
        }
        for text in ["", "iss", "iss-wrong=", "iss-wrong=many"] {
            assert!(text.parse::<IssuerFault>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_fault_with_a_number_strikes_that_many_times() {
        let faults = Faults::new(&["iss-wrong=2".parse().unwrap()]);
        let struck = (0..4)
            .filter(|_| faults.strikes(FaultKind::IssWrong))
            .count();
        assert_eq!(struck, 2);
        assert!(faults.has(FaultKind::IssWrong));
        assert!(!faults.strikes(FaultKind::IssMissing));
    }

    #[test]
    fn every_json_in_the_table_is_json() {
        for kind in FaultKind::ALL {
            // A redirect and a header carry text.
            let is_json = !matches!(
                kind.endpoint(),
                Endpoint::Authorization | Endpoint::Challenge
            );
            if let Effect::Set(_, json) = kind.effect()
                && is_json
            {
                assert!(
                    serde_json::from_str::<serde_json::Value>(json).is_ok(),
                    "{kind:?}"
                );
            }
        }
    }
}
