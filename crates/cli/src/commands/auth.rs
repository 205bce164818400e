//! `switchboard auth status`.

use serde::Serialize;
use switchboard::text::sanitise_line;

use super::login::{authorizer, for_the_person, server};
use crate::args::{Auth, AuthStatus, AuthVerb};
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::login::{LoginDocument, LoginState};
use crate::report::{Failure, Report};

/// The logins of all servers, in the document of `auth status --json`: see `docs/auth.md`.
#[derive(Serialize)]
struct AuthReport {
    logins: Vec<LoginDocument>,
}

/// The server that it is about.
pub(crate) fn selector(args: &Auth) -> Selector<'_> {
    let AuthVerb::Status(args) = &args.verb;
    Selector::from_name(args.server.as_deref())
}

/// Does what is asked for about logins.
pub(crate) async fn run_on(args: &Auth, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    for_the_person(hosting, "see logins")?;
    let AuthVerb::Status(args) = &args.verb;
    status(args, hosting).await
}

async fn status(args: &AuthStatus, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let screen = hosting.screen;
    if hosting.one(args.server.as_deref()).is_some() {
        let server = server(args.server.as_deref(), hosting)?;
        let login = login_of(server, hosting).await?;
        if screen.is_json() {
            screen.result(&screen.json_line(&login)?)?;
        } else {
            screen.result(&block(&login))?;
        }
        return Ok(match login.state {
            LoginState::LoggedIn | LoginState::Automatic => Exit::Ok,
            _ => Exit::Authorization,
        });
    }
    let mut logins = Vec::new();
    for status in hosting.host.servers() {
        let server = status.name.as_str();
        if !hosting.is_remote(server) || status.is_disabled() {
            continue;
        }
        // The person is not asked to approve a server in order to see that it has no login.
        let login = match hosting.host.question(server) {
            Ok(None) => login_of(server, hosting).await,
            Ok(Some(_)) => Err(not_approved(server)),
            Err(error) => Err(error.into()),
        };
        logins.push(login.unwrap_or_else(|report| LoginDocument {
            state: LoginState::Unknown,
            problem: Some(report.message().to_owned()),
            ..LoginDocument::without(server, None, hosting.tokens.describe())
        }));
    }
    if screen.is_json() {
        screen.result(&screen.json_line(&AuthReport { logins })?)?;
        return Ok(Exit::Ok);
    }
    if logins.is_empty() {
        screen.warn("no configured server has a URL");
    }
    screen.result(&logins.iter().map(block).collect::<String>())?;
    Ok(Exit::Ok)
}

/// The login of one server.
async fn login_of(server: &str, hosting: &Hosting<'_>) -> Result<LoginDocument, Failure> {
    let authorizer = authorizer(server, hosting).await?;
    let store = hosting.tokens.describe();
    let stored = authorizer.stored().await;
    let stored = stored.map_err(|error| hosting.login_failure(&error, server))?;
    let settings = authorizer.settings();
    let profile = Some(settings.profile.as_str()).filter(|profile| !profile.is_empty());
    let mut login = match stored {
        Some(credential) => LoginDocument::of(server, &credential, store),
        None => LoginDocument::without(server, profile, store),
    };
    // Also where a token is stored: one that has expired is no reason for a login.
    if settings.grant.is_unattended() {
        login.state = LoginState::Automatic;
    }
    Ok(login)
}

fn not_approved(server: &str) -> Failure {
    let title = "the server is not approved";
    Report::new(Exit::Denied, "untrusted", title).server(server)
}

fn block(login: &LoginDocument) -> String {
    let mut text = format!(
        "{}: {}\n",
        sanitise_line(&login.server),
        login.state.words()
    );
    for line in login.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}
