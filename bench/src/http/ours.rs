//! Our session over HTTP, used the way its documentation shows.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use switchboard::auth::{Authorizer, CredentialSet, MemoryStore, OAuthSettings, TokenStore as _};
use switchboard::transport::{Header, Http, HttpAuthFetch};
use switchboard::{Limits, Session, SessionOptions};

use super::Hosted;
use crate::Fault;
use crate::drive::Client;
use crate::work::{Authorization, ServerCommand};

/// The token of requests with one.
const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A connection over HTTP.
#[derive(Clone)]
pub struct Ours {
    client: crate::ours::Ours,
    hosted: Arc<Hosted>,
}

impl Client for Ours {
    async fn connect(server: &ServerCommand) -> Result<Self, Fault> {
        let hosted = Hosted::start(server)?;
        let http = Http::new(&hosted.url())?;
        let http = match server.authorization {
            Authorization::None => http,
            Authorization::Header => {
                http.header(Header::new("Authorization", format!("Bearer {TOKEN}"))?)?
            }
            Authorization::StoredToken => {
                http.authorization(Arc::new(with_stored_token(&hosted.url()).await?))
            }
        };
        // The era is found out, as it is by default.
        let session = Session::connect(&http, SessionOptions::default()).await?;
        Ok(Self {
            client: crate::ours::Ours(session),
            hosted: Arc::new(hosted),
        })
    }

    async fn call(
        &self,
        tool: &'static str,
        message: Option<&str>,
        check: impl Fn(&str) -> Result<(), Fault> + Send,
    ) -> Result<(), Fault> {
        self.client.call(tool, message, check).await
    }

    async fn list(&self, expected: usize) -> Result<(), Fault> {
        self.client.list(expected).await
    }

    async fn close(self) -> Result<(), Fault> {
        self.client.close().await?;
        let hosted = Arc::into_inner(self.hosted).ok_or("the server is still in use")?;
        hosted.end()
    }
}

/// Authorizes with a token as an earlier login leaves it: good for a day, with a refresh token.
async fn with_stored_token(url: &str) -> Result<Authorizer, Fault> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let issuer = "https://issuer.example";
    let key = json!({"issuer": issuer, "resource": url, "client_id": "bench", "profile": ""});
    let set = json!({
        "version": 1,
        "credentials": [{
            "key": key,
            "access_token": TOKEN,
            "token_type": "bearer",
            "refresh_token": "fedcba9876543210",
            "scopes": ["tools"],
            "requested_scopes": ["tools"],
            "issued_at": now,
            "expires_at": now + 86_400,
            "token_endpoint": {"url": format!("{issuer}/token"), "reach": "server"},
            "resource": url,
            "client": {"client_id": "bench", "auth": "none", "source": "registered"},
        }],
        "bindings": [{"server": url, "profile": "", "key": key}],
    });
    let set = CredentialSet::from_json(set.to_string().as_bytes())?;
    let store = MemoryStore::new();
    store.change(Box::new(move |stored| *stored = set)).await?;
    let authorizer = Authorizer::new(
        url,
        OAuthSettings::default(),
        Arc::new(HttpAuthFetch::new()),
        Arc::new(store),
        &Limits::default(),
    )?;
    // Without the token the row would measure requests that are not authorized at all.
    let stored = authorizer.stored().await?;
    stored.ok_or("the stored token is not found")?;
    Ok(authorizer)
}
