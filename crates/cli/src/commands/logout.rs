//! `switchboard logout`.

use std::sync::Arc;

use serde::Serialize;
use switchboard::Limits;
use switchboard::auth::{
    AuthError, CredentialKey, Logout as Outcome, SealedFile, TokenStoreError, logout_all,
};
use switchboard::text::sanitise_line;
use switchboard::transport::HttpAuthFetch;

use super::login::{authorizer, for_the_person, server};
use crate::args::Logout;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::live::{Waiting, waiting};
use crate::report::Failure;
use crate::state;

/// The outcome of a logout, in the document of `logout --json`: see `docs/auth.md`.
#[derive(Serialize)]
struct LoggedOut {
    server: Option<String>,
    issuer: Option<String>,
    resource: Option<String>,
    outcome: &'static str,
    /// The reason why the issuer did not revoke it.
    problem: Option<String>,
}

#[derive(Serialize)]
struct LogoutReport {
    logins: Vec<LoggedOut>,
}

impl LoggedOut {
    fn of(server: Option<&str>, key: Option<&CredentialKey>, outcome: &Outcome) -> Self {
        let (word, problem) = match outcome {
            Outcome::NothingStored => ("not_logged_in", None),
            Outcome::Revoked => ("revoked", None),
            Outcome::Forgotten => ("forgotten", None),
            Outcome::NotRevoked(error) => ("not_revoked", Some(error.to_string())),
            _ => ("forgotten", None),
        };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self {
            server: server.map(str::to_owned),
            issuer: key.and_then(|key| some(&key.issuer)),
            resource: key.and_then(|key| some(&key.resource)),
            outcome: word,
            problem,
        }
    }

    fn line(&self) -> String {
        let name = self.server.as_deref().or(self.resource.as_deref());
        let name = name.or(self.issuer.as_deref()).unwrap_or_default();
        match (self.outcome, &self.problem) {
            ("not_logged_in", _) => format!("{name}: no login was stored"),
            ("revoked", _) => format!("{name}: logged out, and revoked at the issuer"),
            ("not_revoked", Some(problem)) => {
                format!(
                    "{name}: logged out here, but the issuer did not revoke the login: {problem}"
                )
            }
            _ => format!("{name}: logged out here; the issuer offers no way to revoke the login"),
        }
    }
}

/// Forgets logins.
pub(crate) async fn run_on(args: &Logout, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    for_the_person(hosting, "log out")?;
    let screen = hosting.screen;
    if args.all {
        let logins = everything(hosting).await?;
        let lines: Vec<String> = logins.iter().map(LoggedOut::line).collect();
        let all = LogoutReport { logins };
        return show(&all, &lines, "no logins were stored", hosting);
    }
    let server = server(args.server.as_deref(), hosting)?;
    let authorizer = authorizer(server, hosting).await?;
    let failed = |error: &AuthError| hosting.login_failure(error, server);
    let stored = authorizer.stored().await.map_err(|error| failed(&error))?;
    let words = Waiting::to("asking the issuer to revoke the login");
    let done = waiting(hosting, words, Box::pin(authorizer.logout())).await;
    let done = done.map_err(|error| failed(&error))?;
    let key = stored.as_ref().map(|stored| stored.key());
    let done = LoggedOut::of(Some(server), key, &done);
    let line = done.line();
    if screen.is_json() {
        screen.result(&screen.json_line(&done)?)?;
    } else {
        screen.result(&format!("{}\n", sanitise_line(&line)))?;
    }
    Ok(Exit::Ok)
}

fn show(
    document: &impl Serialize,
    lines: &[String],
    nothing: &str,
    hosting: &Hosting<'_>,
) -> Result<Exit, Failure> {
    let screen = hosting.screen;
    if screen.is_json() {
        screen.result(&screen.json_line(document)?)?;
        return Ok(Exit::Ok);
    }
    if lines.is_empty() {
        screen.warn(nothing);
    }
    let lines = lines
        .iter()
        .map(|line| format!("{}\n", sanitise_line(line)));
    screen.result(&lines.collect::<String>())?;
    Ok(Exit::Ok)
}

/// Forgets every login, and removes the files of the store.
async fn everything(hosting: &Hosting<'_>) -> Result<Vec<LoggedOut>, Failure> {
    let fetch = Arc::new(HttpAuthFetch::new());
    let limits = Limits::default();
    let words = Waiting::to("asking the issuers to revoke the logins");
    let forgetting = Box::pin(logout_all(&hosting.tokens, fetch, &limits));
    let outcomes = match waiting(hosting, words, forgetting).await {
        Ok(outcomes) => outcomes,
        Err(error) if is_beyond_opening(&error) => {
            hosting
                .screen
                .warn(&format!("nothing could be revoked: {error}"));
            Vec::new()
        }
        Err(error) => return Err(hosting.login_failure(&AuthError::Store(error), "all")),
    };
    // The key goes too: the next login looks for the keyring again.
    if let Some(folder) = state::tokens_folder(&hosting.environment)
        && let Err(error) = SealedFile::remove(&folder)
    {
        let folder = folder.display();
        let text = format!("the files of stored logins in {folder} could not be removed: {error}");
        hosting.screen.warn(&text);
    }
    let outcomes = outcomes.iter();
    let logins = outcomes.map(|(key, outcome)| LoggedOut::of(None, Some(key), outcome));
    Ok(logins.collect())
}

/// Returns true if unlocking cannot help: the key is gone, or the keyring is switched off.
fn is_beyond_opening(error: &TokenStoreError) -> bool {
    match error {
        TokenStoreError::Sealed { .. } | TokenStoreError::Key(_) => true,
        TokenStoreError::Locked(_) => {
            state::is_keyring_off(&switchboard::transport::Environment::of_process())
        }
        _ => false,
    }
}
