//! Tests of the whole module over a scripted network.

mod canary;
mod discovery;
mod grants;
mod hostile;
mod listener;
#[cfg(unix)]
mod processes;
mod renewal;
#[cfg(unix)]
mod store;
mod tokens;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard_core::limits::Limits;
use switchboard_core::secret::Secret;
use url::{Url, form_urlencoded};

use super::authorize::{
    Authorize, Authorizing, Decision, RequestAuthorization, RequestRefusal, RequestTarget,
};
use super::fetch::{AuthFetch, AuthFetchError, AuthFetching, AuthRequest, AuthResponse};
use super::login::{Login, LoginOptions};
use super::settings::OAuthSettings;
use super::store::{Credential, MemoryStore, TokenStore};
use super::{AuthError, Authorizer, Challenge};

pub(super) const SERVER: &str = "https://mcp.example/mcp";
pub(super) const ISSUER: &str = "https://as.example";
pub(super) const CALLBACK: &str = "http://127.0.0.1:7777/callback";

type Script = Box<dyn Fn(&Seen) -> Result<AuthResponse, AuthFetchError> + Send + Sync>;

/// A request that was made.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) url: String,
    pub(super) headers: HashMap<String, String>,
    pub(super) form: HashMap<String, String>,
    pub(super) json: Value,
}

/// A network that answers as it is told.
pub(super) struct Net {
    script: Script,
    seen: Mutex<Vec<Seen>>,
}

impl Net {
    pub(super) fn new(
        script: impl Fn(&Seen) -> Result<AuthResponse, AuthFetchError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            script: Box::new(script),
            seen: Mutex::default(),
        })
    }

    /// The usual network, but for the documents and answers that a test puts in their places.
    pub(super) fn with(changes: &[(&str, AuthResponse)]) -> Arc<Self> {
        let changes: HashMap<String, AuthResponse> = changes
            .iter()
            .map(|(url, answer)| ((*url).to_owned(), answer.clone()))
            .collect();
        Self::new(move |seen| match changes.get(&seen.url) {
            Some(answer) => Ok(answer.clone()),
            None => Ok(usual(seen)),
        })
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }

    pub(super) fn urls(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.url).collect()
    }

    /// The requests to a URL.
    pub(super) fn to(&self, url: &str) -> Vec<Seen> {
        let seen = self.seen().into_iter();
        seen.filter(|seen| seen.url == url).collect()
    }
}

impl AuthFetch for Net {
    fn fetch(&self, request: AuthRequest) -> AuthFetching<'_> {
        let body = request.body.as_ref();
        let content = body
            .map(|body| body.content.expose().clone())
            .unwrap_or_default();
        let seen = Seen {
            url: request.url.expose().to_string(),
            headers: request
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.expose().clone()))
                .collect(),
            form: form_urlencoded::parse(&content)
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
            json: serde_json::from_slice(&content).unwrap_or_default(),
        };
        self.seen.lock().expect("not poisoned").push(seen.clone());
        let answer = (self.script)(&seen);
        Box::pin(async move {
            tokio::task::yield_now().await;
            answer
        })
    }
}

pub(super) fn ok(document: &Value) -> AuthResponse {
    AuthResponse::new(200, Vec::new(), document.to_string().into_bytes())
}

pub(super) fn status(status: u16) -> AuthResponse {
    AuthResponse::new(status, Vec::new(), Vec::new())
}

pub(super) fn refused(code: &str) -> AuthResponse {
    let body = json!({"error": code}).to_string();
    AuthResponse::new(400, Vec::new(), body.into_bytes())
}

/// The metadata of the server.
pub(super) fn resource() -> Value {
    json!({"resource": SERVER, "authorization_servers": [ISSUER]})
}

/// The metadata of an issuer.
pub(super) fn issuer_at(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "device_authorization_endpoint": format!("{issuer}/device"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    })
}

/// The metadata of the issuer, with some members changed.
pub(super) fn issuer_with(changes: &Value) -> Value {
    let mut document = issuer_at(ISSUER);
    if let (Some(document), Some(changes)) = (document.as_object_mut(), changes.as_object()) {
        document.extend(changes.clone());
    }
    document
}

pub(super) fn tokens() -> Value {
    json!({
        "access_token": "access-1",
        "token_type": "Bearer",
        "expires_in": 3600,
        "refresh_token": "refresh-1",
    })
}

pub(super) const RESOURCE_METADATA: &str =
    "https://mcp.example/.well-known/oauth-protected-resource/mcp";
pub(super) const ISSUER_METADATA: &str =
    "https://as.example/.well-known/oauth-authorization-server";
pub(super) const TOKEN: &str = "https://as.example/token";
pub(super) const REGISTER: &str = "https://as.example/register";

/// What a good server and a good issuer answer.
pub(super) fn usual(seen: &Seen) -> AuthResponse {
    match seen.url.as_str() {
        SERVER => AuthResponse::new(
            401,
            vec![("www-authenticate".to_owned(), "Bearer".to_owned())],
            Vec::new(),
        ),
        RESOURCE_METADATA => ok(&resource()),
        ISSUER_METADATA => ok(&issuer_at(ISSUER)),
        REGISTER => ok(&json!({"client_id": "registered"})),
        TOKEN => ok(&tokens()),
        "https://as.example/revoke" => status(200),
        _ => status(404),
    }
}

pub(super) fn authorizer_with(
    net: &Arc<Net>,
    settings: OAuthSettings,
    store: Arc<dyn TokenStore>,
) -> Authorizer {
    let fetch: Arc<dyn AuthFetch> = Arc::clone(net) as _;
    Authorizer::new(SERVER, settings, fetch, store, &Limits::default()).expect("settings")
}

pub(super) fn authorizer(net: &Arc<Net>) -> Authorizer {
    authorizer_with(net, OAuthSettings::default(), Arc::new(MemoryStore::new()))
}

/// Parameters of an address.
pub(super) fn parameters(url: &Url) -> HashMap<String, String> {
    url.query_pairs().into_owned().collect()
}

/// Logs in, as a browser would that is sent back with these parameters besides the state.
pub(super) async fn log_in_with(
    authorizer: &Authorizer,
    answer: &[(&str, &str)],
) -> Result<Credential, AuthError> {
    let login = Login::new(authorizer);
    let request = login
        .begin(LoginOptions::default().redirect_uri(CALLBACK))
        .await?;
    let mut url = Url::parse(CALLBACK).expect("a URL");
    url.query_pairs_mut()
        .append_pair("state", request.state.expose())
        .extend_pairs(answer);
    login.finish(url.as_str()).await
}

pub(super) async fn log_in(authorizer: &Authorizer) -> Result<Credential, AuthError> {
    log_in_with(authorizer, &[("code", "code-1")]).await
}

/// The headers that a request would be sent with.
pub(super) async fn headers(authorizer: &Authorizer) -> Result<RequestAuthorization, AuthError> {
    let url = Url::parse(SERVER).expect("a URL");
    let target = RequestTarget::new("POST", &url);
    match authorizer.authorize(&target) {
        Authorizing::Ready(ready) => ready,
        Authorizing::Later(later) => later.await,
    }
}

/// The token that a request would be sent with.
pub(super) async fn token_in_use(authorizer: &Authorizer) -> String {
    let headers = headers(authorizer).await.expect("headers");
    let value = headers.authorization.as_ref();
    let value = value.and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

/// Refuses what was sent last.
pub(super) async fn refuse(authorizer: &Authorizer, status: u16, challenge: &str) -> Decision {
    let used = headers(authorizer).await.expect("headers");
    let challenges = Challenge::parse_all([challenge]);
    authorizer
        .on_refusal(RequestRefusal::new(status, challenges, &used))
        .await
}

pub(super) fn gave_up(decision: Decision) -> AuthError {
    match decision {
        Decision::GiveUp(error) => error,
        other => panic!("{other:?}"),
    }
}

pub(super) fn secret(text: &str) -> Secret<String> {
    Secret::from(text)
}
