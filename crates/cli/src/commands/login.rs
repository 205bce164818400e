//! `switchboard login`.

use std::io::Read as _;

use serde::Serialize;
use switchboard::ErrorKind;
use switchboard::auth::{AuthorizationRequest, Authorizer, Credential, DeviceRequest};
use switchboard::secret::Secret;
use switchboard::text::{sanitise_line, shell_word};

use crate::args::Login;
use crate::blocking::run_blocking;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::login::{
    Asking, Consent, LoginDocument, NoLogin, begin_elsewhere, device_lines, finish, log_in,
    log_in_by_device,
};
use crate::report::{Failure, Report};
use crate::role;
use crate::screen::talk;
use crate::timestamp;

/// The longest address that is read from stdin.
const MOST_BYTES: u64 = 64 * 1024;

/// Logs in to a server.
pub(crate) async fn run_on(args: &Login, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    for_the_person(hosting, "log in")?;
    let server = server(args.server.as_deref(), hosting)?;
    // Asks for an approval that is missing, and starts nothing.
    let authorizer = authorizer(server, hosting).await?;
    if args.finish.is_none() && is_logged_in(args, server, &authorizer, hosting).await? {
        return Ok(Exit::Ok);
    }
    if authorizer.settings().grant.is_unattended() {
        return Err(unattended(server, hosting));
    }
    let asking = Asking {
        server,
        authorizer: &authorizer,
        scopes: args.scopes(),
        is_forced: args.force,
        consent: if args.yes {
            Consent::Given
        } else {
            Consent::Ask
        },
    };
    if args.no_browser {
        let request = begin_elsewhere(&asking, hosting).await?;
        show_request(server, &request, hosting)?;
        return Ok(Exit::Ok);
    }
    let credential = if let Some(address) = &args.finish {
        let address = address_of(address).await?;
        finish(&asking, address.expose(), hosting).await?
    } else if args.device || authorizer.settings().prefers_device {
        let show = |request: &DeviceRequest| show_device(server, request, hosting);
        log_in_by_device(&asking, hosting, show).await?
    } else {
        log_in(&asking, hosting)
            .await
            .map_err(|ended| match ended {
                NoLogin::Failed(report) => report,
                NoLogin::Declined => declined(server),
            })?
    };
    show(server, &credential, hosting)?;
    Ok(Exit::Ok)
}

/// Refuses what only the person may do.
///
/// # Errors
/// Fails if an agent acts.
pub(super) fn for_the_person(hosting: &Hosting<'_>, what: &str) -> Result<(), Failure> {
    role::person_only(what)?;
    if hosting.is_agent() {
        let message = format!("agents may not {what}: only the person can");
        return Err(Report::new(Exit::Denied, "denied", message));
    }
    Ok(())
}

/// Returns the server that a login is about.
///
/// # Errors
/// Fails if none is named.
pub(super) fn server<'a>(
    named: Option<&'a str>,
    hosting: &'a Hosting<'_>,
) -> Result<&'a str, Failure> {
    hosting.one(named).ok_or_else(|| {
        let report = Report::usage("no server was named");
        report.hint("`switchboard auth status` lists servers with logins")
    })
}

/// Returns the login of a server.
///
/// # Errors
/// Fails if it has none, or must not be used.
pub(super) async fn authorizer(server: &str, hosting: &Hosting<'_>) -> Result<Authorizer, Failure> {
    hosting.authorizer(server).await.map_err(|error| {
        let is_without = error.kind() == ErrorKind::Configuration && error.auth_error().is_none();
        let report = Failure::from(error);
        if is_without {
            report.hint("`switchboard auth status` lists servers with logins")
        } else {
            report
        }
    })
}

/// Returns true if nothing is to be done: the server accepts the login that is stored, which is shown then.
///
/// # Errors
/// Fails if the store cannot be read.
async fn is_logged_in(
    args: &Login,
    server: &str,
    authorizer: &Authorizer,
    hosting: &Hosting<'_>,
) -> Result<bool, Failure> {
    let stored = async || {
        let stored = authorizer.stored().await;
        stored.map_err(|error| hosting.login_failure(&error, server))
    };
    let is_replaced = args.force || args.scopes().is_some();
    // A login that is replaced is not tried first.
    if is_replaced && stored().await?.is_some() {
        return Ok(false);
    }
    // If the server refuses, its answer says how to log in. Any other error shows up again when the login begins.
    if hosting.host.connect(server).await.is_err() || is_replaced {
        return Ok(false);
    }
    let Some(credential) = stored().await? else {
        return Ok(false);
    };
    show(server, &credential, hosting)?;
    if !hosting.screen.is_json() && !hosting.screen.is_quiet() {
        let again = hosting.words.login(server, "--force");
        talk(&format!(
            "already logged in; `{}` logs in again\n",
            sanitise_line(&again)
        ));
    }
    Ok(true)
}

/// The address of `--finish`.
async fn address_of(written: &str) -> Result<Secret<String>, Failure> {
    if written != "-" {
        return Ok(Secret::new(written.to_owned()));
    }
    let read = run_blocking(|| {
        let mut text = String::new();
        let stdin = std::io::stdin().lock();
        stdin
            .take(MOST_BYTES)
            .read_to_string(&mut text)
            .map(|_| text)
    });
    let text = read.await.map_err(|error| {
        let report = Report::usage("the address cannot be read from stdin");
        report.fact("the system says", error.to_string())
    })?;
    Ok(Secret::new(text))
}

/// A login that was begun for another process, in the document of `login --no-browser`.
#[derive(Serialize)]
struct Begun<'a> {
    server: &'a str,
    url: &'a str,
    state: &'a str,
    redirect_uri: &'a str,
    issuer: &'a str,
    scopes: &'a [String],
    expires_at: String,
    /// The command that goes on, with ADDRESS for the address that the browser ends at.
    finish: String,
}

fn show_request(
    server: &str,
    request: &AuthorizationRequest,
    hosting: &Hosting<'_>,
) -> Result<(), Failure> {
    let screen = hosting.screen;
    let begun = Begun {
        server,
        url: request.url.expose().as_str(),
        state: request.state.expose(),
        redirect_uri: &request.redirect_uri,
        issuer: &request.issuer,
        scopes: &request.scopes,
        expires_at: timestamp::utc_seconds(request.expires),
        finish: hosting.words.login(server, "--finish ADDRESS"),
    };
    if screen.is_json() {
        return screen.result(&screen.json_line(&begun)?);
    }
    screen.result(&format!("{}\n", sanitise_line(begun.url)))?;
    if !screen.is_quiet() {
        let finish = hosting.words.login(server, "--finish 'ADDRESS'");
        talk(&format!(
            "issuer: {}\nopen the address, log in until {}, and finish with the address that the browser ends at:\n  {}\n",
            sanitise_line(begun.issuer),
            begun.expires_at,
            sanitise_line(&finish)
        ));
    }
    Ok(())
}

/// The steps on another device, in the document of `login --device`.
#[derive(Serialize)]
struct OnDevice<'a> {
    server: &'a str,
    issuer: &'a str,
    user_code: &'a str,
    verification_uri: &'a str,
    verification_uri_complete: Option<&'a str>,
    expires_in_seconds: u64,
}

fn show_device(
    server: &str,
    request: &DeviceRequest,
    hosting: &Hosting<'_>,
) -> Result<(), Failure> {
    let screen = hosting.screen;
    if screen.is_json() {
        return screen.result(&screen.json_line(&OnDevice {
            server,
            issuer: &request.issuer,
            user_code: &request.user_code,
            verification_uri: &request.verification_uri,
            verification_uri_complete: request.verification_uri_complete.as_deref(),
            expires_in_seconds: request.expires_in.as_secs(),
        })?);
    }
    talk(&device_lines(server, request));
    Ok(())
}

/// Shows a login that succeeded.
fn show(server: &str, credential: &Credential, hosting: &Hosting<'_>) -> Result<(), Failure> {
    let screen = hosting.screen;
    let login = LoginDocument::of(server, credential, hosting.tokens.describe());
    if screen.is_json() {
        return screen.result(&screen.json_line(&login)?);
    }
    let issuer = login.issuer.clone().unwrap_or_default();
    let line = format!(
        "logged in to {server} at {issuer}, until {}",
        login.expiry()
    );
    screen.result(&format!("{}\n", sanitise_line(&line)))
}

fn declined(server: &str) -> Failure {
    Report::new(Exit::Authorization, "authorization", "login cancelled").server(server)
}

fn unattended(server: &str, hosting: &Hosting<'_>) -> Failure {
    let tools = hosting.words.command("tools", server, "");
    Report::usage("this server needs no login: `grant` of its entry obtains tokens automatically")
        .server(server)
        .hint(format!(
            "tokens are obtained when the server is used: `{tools}`"
        ))
        .hint(format!(
            "`switchboard config show {}` shows its entry",
            shell_word(server)
        ))
}
