//! Login with a code on another device (RFC 8628).

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use switchboard_core::secret::{SafeUrl, Secret};
use tokio::time::Instant;

use super::authorizer::Authorizer;
use super::client_id::{ClientIdentity, DEVICE_GRANT};
use super::discovery::Discovered;
use super::fetch::Endpoint;
use super::jose::DpopKey;
use super::login::{LoginOptions, Prepared, credential_of};
use super::metadata;
use super::store::{Credential, CredentialKey};
use super::token::TokenRequest;
use crate::auth_error::{AuthError, Purpose};

/// Default interval between polls.
const INTERVAL: Duration = Duration::from_secs(5);
/// Minimum and maximum interval that an issuer may set.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));
/// Added to the interval when the issuer answers `slow_down` (RFC 8628, 3.5).
const SLOWER: Duration = Duration::from_secs(5);
/// The redirect URI of a registration for a device login; no browser is sent there.
const REDIRECT: &str = "http://127.0.0.1/callback";
/// Maximum length of a user code.
const CODE_BYTES: usize = 64;

/// A login with a code on another device.
#[derive(Debug, Clone)]
pub struct DeviceLogin {
    authorizer: Authorizer,
}

/// A device login in progress: the page and code for the person, and the state to poll with.
pub struct DeviceRequest {
    /// The code to enter.
    pub user_code: String,
    /// The page to open.
    pub verification_uri: String,
    /// The page with the code filled in.
    pub verification_uri_complete: Option<String>,
    /// The issuer, to be shown to the person.
    pub issuer: String,
    /// The lifetime of the code.
    pub expires_in: Duration,
    device_code: Secret<String>,
    interval: Duration,
    asked: Instant,
    found: Discovered,
    client: ClientIdentity,
    scopes: Vec<String>,
}

impl fmt::Debug for DeviceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceRequest")
            .field("issuer", &self.issuer)
            .field("expires_in", &self.expires_in)
            .finish_non_exhaustive()
    }
}

impl DeviceLogin {
    /// Creates a login for the server of an authorizer.
    pub fn new(authorizer: &Authorizer) -> Self {
        Self {
            authorizer: authorizer.clone(),
        }
    }

    /// Requests a code from the issuer.
    ///
    /// # Cancel safety
    /// Dropping the future begins no login; a client may have been registered.
    ///
    /// # Errors
    /// Fails when the issuer cannot be found, does not offer device logins, or refuses.
    pub async fn begin(&self, options: LoginOptions) -> Result<DeviceRequest, AuthError> {
        let begun = Box::pin(self.ask(options)).await;
        self.authorizer.report_login(begun)
    }

    async fn ask(&self, options: LoginOptions) -> Result<DeviceRequest, AuthError> {
        let authorizer = &self.authorizer;
        let Prepared { found, hint } = Box::pin(authorizer.prepare(&options)).await?;
        let issuer = &found.issuer;
        let Some(endpoint) = issuer.device.clone() else {
            return Err(AuthError::NotOffered {
                issuer: issuer.issuer.clone(),
                what: "a login on another device",
            });
        };
        let scopes = authorizer.login_scopes(&options, &hint, &found).await?;
        // The client before the code: a device code belongs to the client that asked for it.
        let client = authorizer.client(&found, REDIRECT, &scopes, options.force);
        let client = Box::pin(client).await?;
        let mut form: Vec<(&'static str, Secret<String>)> = Vec::new();
        if !scopes.is_empty() {
            form.push(("scope", scopes.join(" ").into()));
        }
        if let Some(resource) = &found.resource {
            form.push(("resource", resource.as_str().into()));
        }
        let request = TokenRequest {
            purpose: Purpose::Device,
            endpoint: &endpoint,
            issuer: &issuer.issuer,
            client: &client,
            dpop: None,
            form,
        };
        let posted = authorizer.token_client().post(&request).await?;
        if !posted.answer.is_success() {
            return Err(posted.refusal(Purpose::Device, &endpoint.url));
        }
        let body = posted.answer.body.expose();
        self.request(&endpoint.url, body, found, client, scopes)
    }

    fn request(
        &self,
        from: &SafeUrl,
        body: &[u8],
        found: Discovered,
        client: ClientIdentity,
        scopes: Vec<String>,
    ) -> Result<DeviceRequest, AuthError> {
        let bad = |problem: &str| AuthError::Metadata {
            purpose: Purpose::Device,
            url: from.to_string(),
            problem: problem.to_owned(),
        };
        let document = metadata::object(body).map_err(|problem| bad(&problem))?;
        let text = |name: &str| metadata::text(&document, name).filter(|text| !text.is_empty());
        let device_code = text("device_code").ok_or_else(|| bad("it has no `device_code`"))?;
        let user_code = text("user_code").ok_or_else(|| bad("it has no `user_code`"))?;
        let is_code = user_code.len() <= CODE_BYTES && !user_code.chars().any(char::is_control);
        if !is_code {
            return Err(bad("its `user_code` cannot be shown"));
        }
        // A person opens this page, so it must be one that a browser may be sent to.
        let page = |text: String| {
            let named = |_: &url::Url| crate::transport::guard::Reach::Person;
            let allowed = self.authorizer.inner.fetch.allowed();
            let endpoint = Endpoint::parse(Purpose::Verification, &text, named, allowed)?;
            Ok::<_, AuthError>(endpoint.url.expose().to_string())
        };
        // Some issuers use the older name.
        let uri = text("verification_uri").or_else(|| text("verification_url"));
        let uri = uri.ok_or_else(|| bad("it has no `verification_uri`"))?;
        let seconds = |name: &str| {
            let found = document.get(name).and_then(Value::as_u64);
            found.map(Duration::from_secs)
        };
        let longest = self.authorizer.inner.limits.auth_login;
        let (least, most) = INTERVALS;
        Ok(DeviceRequest {
            user_code,
            verification_uri: page(uri)?,
            verification_uri_complete: text("verification_uri_complete").map(page).transpose()?,
            issuer: found.issuer.issuer.clone(),
            expires_in: seconds("expires_in").unwrap_or(longest).min(longest),
            device_code: Secret::new(device_code),
            interval: seconds("interval").unwrap_or(INTERVAL).clamp(least, most),
            asked: Instant::now(),
            found,
            client,
            scopes,
        })
    }

    /// Polls until the person has finished on the other device.
    ///
    /// # Errors
    /// Fails when the person refuses, it takes too long, or the issuer gives no token.
    ///
    /// # Cancel safety
    /// Dropping the future stops waiting; it can be called again with the same request.
    pub async fn finish(&self, request: &DeviceRequest) -> Result<Credential, AuthError> {
        let finished = Box::pin(self.poll(request)).await;
        self.authorizer.report_login(finished)
    }

    async fn poll(&self, request: &DeviceRequest) -> Result<Credential, AuthError> {
        let authorizer = &self.authorizer;
        let issuer = &request.found.issuer;
        let Some(endpoint) = &issuer.token else {
            return Err(AuthError::NotOffered {
                issuer: issuer.issuer.clone(),
                what: "a token endpoint",
            });
        };
        let dpop = if request.found.wants_dpop {
            Some(DpopKey::generate()?)
        } else {
            None
        };
        let mut form: Vec<(&'static str, Secret<String>)> = vec![
            ("grant_type", DEVICE_GRANT.into()),
            ("device_code", request.device_code.clone()),
        ];
        if let Some(resource) = &request.found.resource {
            form.push(("resource", resource.as_str().into()));
        }
        let asked = TokenRequest {
            purpose: Purpose::Token,
            endpoint,
            issuer: &issuer.issuer,
            client: &request.client,
            dpop: dpop.as_ref(),
            form,
        };
        let mut interval = request.interval;
        loop {
            // Wait before the first poll too: the person needs time, and an early poll is answered
            // with `slow_down`.
            tokio::time::sleep(interval).await;
            if request.asked.elapsed() >= request.expires_in {
                return Err(AuthError::Expired);
            }
            let (_, most) = INTERVALS;
            match authorizer.token_client().tokens(&asked).await {
                Ok(tokens) => {
                    let key = CredentialKey {
                        issuer: issuer.issuer.clone(),
                        resource: request.found.resource.clone().unwrap_or_default(),
                        client_id: request.client.client_id.clone(),
                        profile: authorizer.inner.settings.profile.clone(),
                    };
                    let credential = credential_of(
                        key,
                        &request.client,
                        tokens,
                        &request.scopes,
                        &request.found,
                        dpop.as_ref(),
                    );
                    return authorizer.keep_login(credential).await;
                }
                Err(AuthError::Refused { code, .. }) if code == "authorization_pending" => {}
                Err(AuthError::Refused { code, .. }) if code == "slow_down" => {
                    interval = interval.saturating_add(SLOWER).min(most);
                }
                Err(AuthError::Refused { code, .. }) if code == "expired_token" => {
                    return Err(AuthError::Expired);
                }
                // RFC 8628, 3.5: poll an unreachable issuer less often.
                Err(AuthError::Unreachable { .. }) => {
                    interval = interval.saturating_mul(2).min(most);
                }
                Err(error) => return Err(error),
            }
        }
    }
}
