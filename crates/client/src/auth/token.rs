//! Requests to a token endpoint, and the parsing of its answers.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_core::limits::Limits;
use switchboard_core::secret::{Redactor, SafeUrl, Secret};
use url::form_urlencoded;

use super::client_id::{ClientAuth, ClientIdentity};
use super::fetch::{self, AuthBody, AuthFetch, AuthRequest, AuthResponse, Endpoint};
use super::jose::{DpopKey, Proof, random_text};
use super::metadata;
use super::scope;
use super::settings::OAuthSettings;
use crate::auth_error::{AuthError, Purpose};

/// Maximum length of a token, which must fit into a header.
const TOKEN_BYTES: usize = 16 * 1024;
/// Maximum lifetime that is believed.
const LONGEST_LIFE: u64 = 10 * 365 * 24 * 3600;
/// Lifetime of our client assertions, in seconds.
const ASSERTION_LIFE: u64 = 120;
/// Maximum length of a nonce.
const NONCE_BYTES: usize = 1024;

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map(|now| now.as_secs()).unwrap_or_default()
}

/// The scheme that a token is sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TokenType {
    Bearer,
    Dpop,
}

impl TokenType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Dpop => "dpop",
        }
    }
}

/// The tokens in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) access_token: Secret<String>,
    pub(crate) token_type: TokenType,
    pub(crate) refresh_token: Option<Secret<String>>,
    /// The time before the request was sent, in seconds since 1970. The life of the token counts from here: counted
    /// from the answer, a slow answer would let us use it after the issuer has let it expire.
    pub(crate) requested_at: u64,
    /// In seconds; `None` if it is not stated.
    pub(crate) expires_in: Option<u64>,
    /// `None` if not stated: then they are the requested ones.
    pub(crate) scopes: Option<Vec<String>>,
    /// The client authentication that the issuer accepted.
    pub(crate) client_auth: ClientAuth,
}

impl Tokens {
    /// The time from which the access token is not to be used, in seconds since 1970.
    pub(crate) fn expires_at(&self) -> Option<u64> {
        self.expires_in
            .map(|life| self.requested_at.saturating_add(life))
    }
}

/// The context that requests to one issuer share.
pub(crate) struct TokenClient<'a> {
    pub(crate) fetch: &'a dyn AuthFetch,
    pub(crate) settings: &'a OAuthSettings,
    pub(crate) limits: &'a Limits,
    /// The last nonce of the issuer (RFC 9449, 8).
    pub(crate) nonce: &'a Mutex<Option<String>>,
}

/// One request for tokens.
pub(crate) struct TokenRequest<'a> {
    pub(crate) purpose: Purpose,
    pub(crate) endpoint: &'a Endpoint,
    /// The issuer, for our client assertions.
    pub(crate) issuer: &'a str,
    pub(crate) client: &'a ClientIdentity,
    pub(crate) dpop: Option<&'a DpopKey>,
    /// The grant type and its parameters.
    pub(crate) form: Vec<(&'static str, Secret<String>)>,
}

impl TokenClient<'_> {
    /// Requests tokens.
    ///
    /// # Errors
    /// Fails when there is no answer, the endpoint refuses, or its answer is invalid.
    pub(crate) async fn tokens(&self, request: &TokenRequest<'_>) -> Result<Tokens, AuthError> {
        let requested_at = now();
        let posted = self.post(request).await?;
        let url = &request.endpoint.url;
        let tokens = parse(request.purpose, url, &posted, requested_at)?;
        if request.dpop.is_some() && tokens.token_type != TokenType::Dpop {
            return Err(AuthError::Metadata {
                purpose: request.purpose,
                url: url.to_string(),
                problem: "the token is not bound to the key that was proven".to_owned(),
            });
        }
        if request.dpop.is_none() && tokens.token_type == TokenType::Dpop {
            return Err(AuthError::Metadata {
                purpose: request.purpose,
                url: url.to_string(),
                problem: "the token is bound to a key, and none was proven".to_owned(),
            });
        }
        Ok(tokens)
    }

    /// Posts a form as a client. If the issuer refuses the client by one authentication and advertises another, posts
    /// it once more with that one.
    ///
    /// # Errors
    /// Fails when there is no answer.
    pub(crate) async fn post(
        &self,
        request: &TokenRequest<'_>,
    ) -> Result<TokenResponse, AuthError> {
        let auth = request.client.auth;
        if auth != ClientAuth::BasicOrPost {
            return self.post_as(request, auth).await;
        }
        let posted = self.post_as(request, ClientAuth::Basic).await?;
        // RFC 6749, 5.2: the client was not authenticated, so nothing of the grant was used.
        if !posted.refuses_client() {
            return Ok(posted);
        }
        let second = self.post_as(request, ClientAuth::Post).await?;
        let is_refused_again = second.refuses_client();
        Ok(if is_refused_again { posted } else { second })
    }

    /// Posts a form with a client authentication, and once more if the issuer demands a nonce in the proof.
    async fn post_as(
        &self,
        request: &TokenRequest<'_>,
        auth: ClientAuth,
    ) -> Result<TokenResponse, AuthError> {
        let posted = self.post_once(request, auth).await?;
        let answer = &posted.answer;
        // RFC 9449, 8: the nonce of any answer is for the next request.
        let given = answer.header("dpop-nonce").filter(|nonce| is_nonce(nonce));
        let Some(given) = given.map(str::to_owned) else {
            return Ok(posted);
        };
        *self.nonce() = Some(given);
        let wants_nonce = request.dpop.is_some()
            && !answer.is_success()
            && error_code(answer).as_deref() == Some("use_dpop_nonce");
        if wants_nonce {
            return self.post_once(request, auth).await;
        }
        Ok(posted)
    }

    fn nonce(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        let nonce = self.nonce.lock();
        nonce.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn post_once(
        &self,
        request: &TokenRequest<'_>,
        auth: ClientAuth,
    ) -> Result<TokenResponse, AuthError> {
        let (request, sent) = self.build(request, auth)?;
        let answer = fetch::send(self.fetch, request).await?;
        Ok(TokenResponse { answer, sent, auth })
    }

    /// Builds a request with client authentication. Also returns the secrets in it, for redaction.
    fn build(
        &self,
        request: &TokenRequest<'_>,
        auth: ClientAuth,
    ) -> Result<(AuthRequest, Vec<Secret<String>>), AuthError> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &request.form {
            form.append_pair(name, value.expose());
        }
        let mut headers: Vec<(&'static str, Secret<String>)> =
            vec![("accept", "application/json".into())];
        let client = request.client;
        // The secret of a registration, else that of the settings.
        let secret = client.client_secret.as_ref();
        let secret = secret.or(self.settings.client_secret.as_ref());
        let secrets = request.form.iter();
        let secrets = secrets.filter(|(name, _)| is_secret_parameter(name));
        // Remember what is secret in this request: answers may quote it, and errors must not.
        let mut sent: Vec<Secret<String>> = secrets.map(|(_, value)| value.clone()).collect();
        sent.extend(secret.cloned());
        match (auth, secret) {
            (ClientAuth::Basic | ClientAuth::BasicOrPost, Some(secret)) => {
                // RFC 6749, 3.2.1 allows the id in the form too, and issuers on the Python SDK find the client by it.
                form.append_pair("client_id", &client.client_id);
                headers.push(("authorization", basic(&client.client_id, secret)));
            }
            (ClientAuth::Post, Some(secret)) => {
                form.append_pair("client_id", &client.client_id);
                form.append_pair("client_secret", secret.expose());
            }
            (ClientAuth::PrivateKeyJwt, _) => {
                let assertion = self.assertion(request)?;
                form.append_pair("client_id", &client.client_id);
                form.append_pair(
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                );
                form.append_pair("client_assertion", assertion.expose());
                sent.push(assertion);
            }
            (ClientAuth::None, _) => {
                form.append_pair("client_id", &client.client_id);
            }
            (ClientAuth::Basic | ClientAuth::Post | ClientAuth::BasicOrPost, None) => {
                return Err(AuthError::Setting {
                    key: "clientSecret",
                    problem: "is missing: the stored login was made with one".to_owned(),
                });
            }
        }
        // The proof last: it contains the time and the newest nonce.
        if let Some(key) = request.dpop {
            let nonce = self.nonce().clone();
            let proof = key.prove(&Proof {
                method: "POST",
                url: request.endpoint.url.expose(),
                nonce: nonce.as_deref(),
                token: None,
                now: now(),
            })?;
            sent.push(proof.clone());
            headers.push(("dpop", proof));
        }
        let request = AuthRequest {
            purpose: request.purpose,
            url: request.endpoint.url.clone(),
            reach: request.endpoint.reach,
            body: Some(AuthBody {
                content_type: "application/x-www-form-urlencoded",
                content: Secret::new(form.finish().into_bytes()),
            }),
            headers,
            limit_bytes: self.limits.auth_token_bytes,
            timeout: self.limits.auth_request,
        };
        Ok((request, sent))
    }

    /// Signs a client assertion (RFC 7523, 2.2).
    fn assertion(&self, request: &TokenRequest<'_>) -> Result<Secret<String>, AuthError> {
        let Some(key) = &self.settings.client_key else {
            return Err(AuthError::Key {
                what: "the private key",
                problem: "it is missing: the stored login was made with one".to_owned(),
            });
        };
        let (id, now) = (&request.client.client_id, now());
        key.sign(&json!({
            "iss": id,
            "sub": id,
            // RFC 7523bis: the issuer as audience, so that another endpoint cannot use it.
            "aud": request.issuer,
            "jti": random_text()?,
            "iat": now,
            "exp": now.saturating_add(ASSERTION_LIFE),
        }))
    }
}

/// An answer, and the secrets that were sent for it.
pub(crate) struct TokenResponse {
    pub(crate) answer: AuthResponse,
    sent: Vec<Secret<String>>,
    /// The client authentication of the request.
    auth: ClientAuth,
}

impl TokenResponse {
    /// Returns true if the issuer did not accept the client authentication. Older issuers on the Python SDK answer with
    /// the code of another error, so the status counts too.
    fn refuses_client(&self) -> bool {
        const UNAUTHORIZED: u16 = 401;
        if self.answer.is_success() {
            return false;
        }
        match error_code(&self.answer).as_deref() {
            Some("invalid_client") => true,
            Some("unauthorized_client") => self.answer.status == UNAUTHORIZED,
            _ => false,
        }
    }

    /// Makes the error of a refusal.
    pub(crate) fn refusal(&self, purpose: Purpose, url: &SafeUrl) -> AuthError {
        refusal(purpose, url, &self.answer, &self.sent)
    }
}

/// Encodes a client id and its secret for Basic authentication (RFC 6749, 2.3.1).
fn basic(id: &str, secret: &Secret<String>) -> Secret<String> {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Secret::new(format!("{}:{}", encode(id), encode(secret.expose())));
    Secret::new(format!("Basic {}", STANDARD.encode(pair.expose())))
}

/// Parses the answer of a token endpoint.
fn parse(
    purpose: Purpose,
    url: &SafeUrl,
    posted: &TokenResponse,
    requested_at: u64,
) -> Result<Tokens, AuthError> {
    let answer = &posted.answer;
    // A refusal first: its body is an error, not tokens.
    if !answer.is_success() {
        return Err(posted.refusal(purpose, url));
    }
    let bad = |problem: &str| AuthError::Metadata {
        purpose,
        url: url.to_string(),
        problem: problem.to_owned(),
    };
    let document = metadata::object(answer.body.expose()).map_err(|problem| bad(&problem))?;
    // Some endpoints refuse with status 200.
    if document.contains_key("error") {
        return Err(posted.refusal(purpose, url));
    }
    let token = |name: &str| match document.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(token)) if is_token(token) => Ok(Some(Secret::new(token.clone()))),
        Some(_) => Err(bad(&format!("its `{name}` is not a token"))),
    };
    let access_token = token("access_token")?.ok_or_else(|| bad("it has no `access_token`"))?;
    let kind = metadata::text(&document, "token_type");
    let token_type = match kind.as_deref().map(str::to_ascii_lowercase).as_deref() {
        // `n_a` is for exchanges to tokens that are not access tokens.
        None | Some("bearer" | "n_a") => TokenType::Bearer,
        Some("dpop") => TokenType::Dpop,
        Some(_) => return Err(bad("its `token_type` is neither Bearer nor DPoP")),
    };
    let expires_in = match document.get("expires_in") {
        Some(Value::Number(number)) => number
            .as_u64()
            // Fractions are cut off; negative values have expired.
            .or_else(|| number.as_f64().map(seconds)),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(Tokens {
        access_token,
        token_type,
        refresh_token: token("refresh_token")?,
        requested_at,
        expires_in: expires_in.map(|life| life.min(LONGEST_LIFE)),
        scopes: metadata::text(&document, "scope").map(|scopes| scope::parse(&scopes)),
        client_auth: posted.auth,
    })
}

/// The whole seconds of a fractional number.
fn seconds(number: f64) -> u64 {
    std::time::Duration::try_from_secs_f64(number)
        .map(|time| time.as_secs())
        .unwrap_or(if number > 0.0 { LONGEST_LIFE } else { 0 })
}

/// Returns true if a text can be sent as a token: visible ASCII that fits into a header.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= TOKEN_BYTES
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns true if a nonce can be sent back.
pub(crate) fn is_nonce(nonce: &str) -> bool {
    !nonce.is_empty() && nonce.len() <= NONCE_BYTES && nonce.bytes().all(|b| b.is_ascii_graphic())
}

/// The OAuth error code of an answer.
fn error_code(answer: &AuthResponse) -> Option<String> {
    let document = metadata::object(answer.body.expose()).ok()?;
    let code = metadata::text(&document, "error")?;
    is_code(&code).then_some(code)
}

fn is_code(code: &str) -> bool {
    const CODE_BYTES: usize = 64;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    !code.is_empty() && code.len() <= CODE_BYTES && code.bytes().all(fits)
}

/// Makes the error of a refusal, with the secrets that were sent redacted.
pub(crate) fn refusal(
    purpose: Purpose,
    url: &SafeUrl,
    answer: &AuthResponse,
    sent: &[Secret<String>],
) -> AuthError {
    let Some(code) = error_code(answer) else {
        return AuthError::Status {
            purpose,
            url: url.to_string(),
            status: answer.status,
        };
    };
    let document = metadata::object(answer.body.expose()).unwrap_or_default();
    let description = metadata::text(&document, "error_description");
    AuthError::Refused {
        purpose,
        code,
        description: description.map(|text| redact(&text, sent)),
    }
}

/// Redacts the secrets that were sent in a text of a third party, and shortens it.
pub(crate) fn redact(text: &str, sent: &[Secret<String>]) -> String {
    let mut redactor = Redactor::new();
    for secret in sent {
        redactor.add(secret.expose());
    }
    let text = redactor.redact(text);
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    metadata::shorten(&text)
}

/// Returns true if a parameter of a token request is a secret.
fn is_secret_parameter(name: &str) -> bool {
    matches!(
        name,
        "code"
            | "code_verifier"
            | "refresh_token"
            | "assertion"
            | "subject_token"
            | "device_code"
            | "token"
    )
}
