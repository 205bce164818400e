//! Authorization before the suite's servers: a person's browser is played here, everything else is the library's.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use switchboard::auth::{
    Assertion, Authorizer, Enterprise, Grant, Login, LoginOptions, MemoryStore, OAuthSettings,
    SigningKey,
};
use switchboard::secret::Secret;
use switchboard::transport::HttpAuthFetch;
use switchboard::{Limits, ServerError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Task;

/// The address that the suite knows as our client id metadata document.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// The address that the browser is sent to in the end; nothing listens there.
const CALLBACK: &str = "http://127.0.0.1:53682/callback";
/// Logins that one operation may take.
const LOGINS: usize = 4;
/// Longest answer of the suite's login page.
const PAGE_BYTES: u64 = 64 * 1024;

/// Authorization as the context of a scenario says.
///
/// # Errors
/// When the context cannot be used.
pub(super) fn authorizer(task: &Task, limits: &Limits) -> Result<Authorizer, Box<dyn Error>> {
    let said = |name: &str| {
        let context = task.context.as_ref()?;
        context.member(name)?.as_text()
    };
    let secret = |name: &str| said(name).map(Secret::new);
    let mut settings = OAuthSettings::default();
    settings.client_id = said("client_id");
    settings.client_secret = secret("client_secret");
    if task.scenario == "auth/basic-cimd" {
        settings.client_metadata_url = Some(DOCUMENT.to_owned());
    }
    if let Some(pem) = secret("private_key_pem") {
        settings.client_key = Some(Arc::new(SigningKey::from_pem(&pem)?));
    }
    if task.scenario.starts_with("auth/client-credentials") {
        settings.grant = Grant::ClientCredentials;
    }
    if let Some(assertion) = secret("valid_jwt") {
        settings.grant = Grant::Workload {
            assertion: Assertion::Fixed(assertion),
        };
    }
    if let (Some(token), Some(endpoint)) = (secret("idp_id_token"), said("idp_token_endpoint")) {
        settings.grant = Grant::Enterprise(Arc::new(Enterprise {
            token_endpoint: endpoint,
            client_id: said("idp_client_id").unwrap_or_default(),
            client_secret: None,
            id_token: Assertion::Fixed(token),
        }));
    }
    Ok(Authorizer::new(
        &task.url,
        settings,
        Arc::new(HttpAuthFetch::new()),
        Arc::new(MemoryStore::new()),
        limits,
    )?)
}

/// Does something with a server, and logs in where it is told to.
///
/// # Errors
/// When the server or the login fails, or logins come to nothing.
pub(super) async fn with_login<T, F: Future<Output = Result<T, ServerError>>>(
    authorizer: &Authorizer,
    work: impl Fn() -> F,
) -> Result<T, Box<dyn Error>> {
    for _ in 0..LOGINS {
        let error = match work().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        if error
            .auth_error()
            .and_then(|error| error.needs_login())
            .is_none()
        {
            return Err(error.into());
        }
        log_in(authorizer).await?;
    }
    Err("logins come to nothing".into())
}

async fn log_in(authorizer: &Authorizer) -> Result<(), Box<dyn Error>> {
    let login = Login::new(authorizer);
    let request = login
        .begin(LoginOptions::default().redirect_uri(CALLBACK))
        .await?;
    let callback = browse(request.url.expose().as_str()).await?;
    login.finish(&callback).await?;
    Ok(())
}

/// Opens the suite's login page, which sends the browser on at once; gives where to.
async fn browse(address: &str) -> Result<String, Box<dyn Error>> {
    let rest = address
        .strip_prefix("http://")
        .ok_or("not a page of the suite")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut stream = tokio::net::TcpStream::connect(host).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(PAGE_BYTES).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let location = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim())
    });
    Ok(location
        .ok_or("the page sends the browser nowhere")?
        .to_owned())
}
