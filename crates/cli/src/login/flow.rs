//! A login with a person: in a browser that comes back to this machine, by a pasted address, or on another device.

use std::future::pending;
use std::io;
use std::time::{Duration, SystemTime};

use switchboard::auth::{
    AuthError, AuthorizationRequest, Authorizer, CallbackListener, CallbackProblem, Credential,
    DeviceLogin, DeviceRequest, Login, LoginOptions,
};
use switchboard::secret::{SafeUrl, Secret};
use switchboard::talk::{ElicitLimits, Link};
use switchboard::text::sanitise_line;

use super::failure;
use crate::ask::{Dialogue, Terminal, is_yes_in};
use crate::browser;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::live::{Waiting, waiting};
use crate::report::{Failure, Report};
use crate::screen::talk;

/// A login that is wanted.
pub(crate) struct Asking<'a> {
    pub(crate) server: &'a str,
    pub(crate) authorizer: &'a Authorizer,
    pub(crate) scopes: Option<Vec<String>>,
    /// Nothing of an earlier login counts.
    pub(crate) is_forced: bool,
    pub(crate) consent: Consent,
}

/// The person's agreement to the issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The person is to be asked.
    Ask,
    /// The command line says so.
    Given,
}

/// The reason why there is no login.
#[derive(Debug)]
pub(crate) enum NoLogin {
    /// The person does not want it.
    Declined,
    /// It failed.
    Failed(Failure),
}

impl From<Failure> for NoLogin {
    fn from(report: Failure) -> Self {
        Self::Failed(report)
    }
}

impl Asking<'_> {
    fn options(&self) -> LoginOptions {
        let mut options = LoginOptions::default();
        options.scopes.clone_from(&self.scopes);
        if self.is_forced {
            options = options.force();
        }
        options
    }

    fn failed(&self, error: &AuthError, hosting: &Hosting<'_>) -> Failure {
        failure(error, self.server, &hosting.words)
    }
}

/// Logs in with a browser, or by the address that one ended at.
///
/// # Errors
/// Fails if the person does not want it, does not finish, or the issuer refuses.
pub(crate) async fn log_in(
    asking: &Asking<'_>,
    hosting: &Hosting<'_>,
) -> Result<Credential, NoLogin> {
    let failed = |error: &AuthError| asking.failed(error, hosting);
    // Before anything is sent: without a person there is nothing to begin.
    let is_attended = Terminal::is_available(hosting.screen);
    if !is_attended && asking.consent == Consent::Ask {
        return Err(unattended(asking, hosting).into());
    }
    let browser_login = begin(asking, hosting).await?;
    let request = &browser_login.request;
    let mut dialogue = if is_attended {
        Some(Dialogue::begin().await)
    } else {
        None
    };
    if let Some(dialogue) = &mut dialogue {
        dialogue.say(&introduction(
            asking.server,
            &request.issuer,
            &request.scopes,
        ));
        let is_wanted = asking.consent == Consent::Given
            || dialogue
                .ask("Log in there? [y/N] ")
                .await
                .is_some_and(|answer| is_yes_in(&answer));
        if !is_wanted {
            return Err(NoLogin::Declined);
        }
    }
    let is_opened = browser::is_likely(&hosting.environment)
        && browser::open(request.url.expose().as_str(), &hosting.environment);
    if !is_opened && dialogue.is_none() {
        return Err(no_browser(asking, hosting).into());
    }
    let said = address_lines(request, is_opened);
    match &mut dialogue {
        Some(dialogue) => dialogue.say(&said),
        None if hosting.screen.is_json() || hosting.screen.is_quiet() => {}
        None => talk(&said),
    }
    let returned = browser_login.wait(dialogue.as_mut());
    let finished = tokio::time::timeout(time_left(request), returned).await;
    match finished {
        Ok(Ok(Some(credential))) => Ok(credential),
        Ok(Ok(None)) => Err(NoLogin::Declined),
        Ok(Err(error)) => Err(failed(&error).into()),
        Err(_) => {
            talk("\n");
            Err(failed(&AuthError::Expired).into())
        }
    }
}

/// A login in a browser that has begun.
struct BrowserLogin {
    login: Login,
    request: AuthorizationRequest,
    /// Waits for the browser; `None` if the entry names another redirect address.
    listener: Option<CallbackListener>,
}

/// Finds the issuer and makes the address that a browser is to open.
///
/// # Errors
/// Fails if the issuer cannot be found or used, or no port can be listened on.
async fn begin(asking: &Asking<'_>, hosting: &Hosting<'_>) -> Result<BrowserLogin, Failure> {
    let login = Login::new(asking.authorizer);
    // Before the request is made: it names the port.
    let listener = listen(&login, asking, hosting).await?;
    let mut options = asking.options();
    options.redirect_uri = listener.as_ref().map(CallbackListener::redirect_uri);
    let words = Waiting::to("looking for the issuer");
    let begun = waiting(hosting, words, Box::pin(login.begin(options))).await;
    let request = begun.map_err(|error| asking.failed(&error, hosting))?;
    Ok(BrowserLogin {
        login,
        request,
        listener,
    })
}

impl BrowserLogin {
    /// Waits for the browser, or for the address that it ended at. Returns `None` if the person leaves the
    /// question.
    async fn wait(
        &self,
        mut dialogue: Option<&mut Dialogue>,
    ) -> Result<Option<Credential>, AuthError> {
        loop {
            let (callback, is_typed) = tokio::select! {
                callback = self.callback() => (callback, false),
                line = pasted(dialogue.as_deref_mut()) => match line {
                    None => return Ok(None),
                    Some(line) if line.expose().trim().is_empty() => continue,
                    Some(line) => (line, true),
                },
            };
            if let Some(dialogue) = dialogue.as_deref_mut().filter(|_| !is_typed) {
                // The question stays without an answer.
                dialogue.take_back().await;
            }
            let finished = Box::pin(self.login.finish(callback.expose())).await;
            match (finished, dialogue.as_deref_mut()) {
                // The login is still there: another address may be the right one.
                (
                    Err(AuthError::Callback(
                        problem @ (CallbackProblem::OtherAddress | CallbackProblem::UnknownState),
                    )),
                    Some(dialogue),
                ) if is_typed => dialogue.say(&format!("  {problem}\n")),
                (finished, _) => return finished.map(Some),
            }
        }
    }

    async fn callback(&self) -> Secret<String> {
        let Some(listener) = &self.listener else {
            return pending().await;
        };
        match listener.wait(&self.request.state).await {
            Ok(callback) => callback,
            // An address can be pasted still.
            Err(_) => pending().await,
        }
    }
}

/// Returns the address that the person pastes, or `None` if they leave the question.
async fn pasted(dialogue: Option<&mut Dialogue>) -> Option<Secret<String>> {
    match dialogue {
        Some(dialogue) => {
            let question = "Waiting for the browser; or paste the address that it ended at: ";
            dialogue.ask(question).await.map(Secret::new)
        }
        None => pending().await,
    }
}

/// Begins a login that is finished by another process. Nothing is opened.
///
/// # Errors
/// Fails if the issuer cannot be found or used.
pub(crate) async fn begin_elsewhere(
    asking: &Asking<'_>,
    hosting: &Hosting<'_>,
) -> Result<AuthorizationRequest, Failure> {
    // The port is only a name: nothing listens on it when the browser comes back.
    Ok(begin(asking, hosting).await?.request)
}

/// Finishes a login that another process began.
///
/// # Errors
/// Fails if the address is not an answer to one, or the issuer refuses.
pub(crate) async fn finish(
    asking: &Asking<'_>,
    callback: &str,
    hosting: &Hosting<'_>,
) -> Result<Credential, Failure> {
    let login = Login::new(asking.authorizer);
    let finished = waiting(
        hosting,
        Waiting::to("asking the issuer for a token"),
        Box::pin(login.finish(callback)),
    );
    let finished = finished.await;
    finished.map_err(|error| asking.failed(&error, hosting))
}

/// Logs in on another device. `show` shows the code to enter there.
///
/// # Errors
/// Fails if the issuer does not offer it or refuses, or the person does not finish.
pub(crate) async fn log_in_by_device(
    asking: &Asking<'_>,
    hosting: &Hosting<'_>,
    show: impl FnOnce(&DeviceRequest) -> Result<(), Failure>,
) -> Result<Credential, Failure> {
    let failed = |error: &AuthError| asking.failed(error, hosting);
    let login = DeviceLogin::new(asking.authorizer);
    let words = Waiting::to("looking for the issuer");
    let begun = waiting(hosting, words, Box::pin(login.begin(asking.options()))).await;
    let request = begun.map_err(|error| failed(&error))?;
    show(&request)?;
    let words = Waiting::to("waiting for you on the other device");
    let finished = waiting(hosting, words, Box::pin(login.finish(&request))).await;
    finished.map_err(|error| failed(&error))
}

/// Formats the steps on another device.
pub(crate) fn device_lines(server: &str, request: &DeviceRequest) -> String {
    let mut lines = introduction(server, &request.issuer, &[]);
    let page = sanitise_line(&request.verification_uri);
    lines.push_str(&format!("  open this page on any device: {page}\n"));
    lines.push_str(&format!(
        "  and enter the code: {}\n",
        sanitise_line(&request.user_code)
    ));
    if let Some(whole) = &request.verification_uri_complete {
        lines.push_str(&format!("  or open: {}\n", sanitise_line(whole)));
    }
    lines
}

/// Listens for the browser. Returns `None` if the entry names another redirect address.
async fn listen(
    login: &Login,
    asking: &Asking<'_>,
    hosting: &Hosting<'_>,
) -> Result<Option<CallbackListener>, Failure> {
    let settings = asking.authorizer.settings();
    if settings.redirect_uri.is_some() {
        return Ok(None);
    }
    let bound = login.listen().await;
    let bound = bound.map_err(|error| asking.failed(&error, hosting))?;
    bound
        .map(Some)
        .map_err(|error| match settings.callback_port {
            Some(port) => port_taken(port, &error, asking.server),
            None => Report::new(
                Exit::Internal,
                "internal",
                "cannot listen on any local port",
            )
            .fact("the system says", error.to_string()),
        })
}

fn port_taken(port: u16, error: &io::Error, server: &str) -> Failure {
    let title = format!("the port {port} of `oauth.callbackPort` is taken");
    Report::new(Exit::Configuration, "configuration", title)
        .server(server)
        .fact("the system says", error.to_string())
        .hint(format!(
            "`ss -ltnp 'sport = :{port}'` shows which program has it"
        ))
        .hint(
            "end that program, or register another port at the issuer and write it into the entry",
        )
}

/// Formats the server and the issuer, with the issuer's whole host.
fn introduction(server: &str, issuer: &str, scopes: &[String]) -> String {
    let host = SafeUrl::parse(issuer).ok();
    let host = host
        .as_ref()
        .and_then(|url| url.expose().host_str().map(str::to_owned));
    let host = host.unwrap_or_else(|| issuer.to_owned());
    let mut lines = format!(
        "\nLogin to {} at {}\n  issuer: {}\n",
        sanitise_line(server),
        sanitise_line(&host),
        sanitise_line(issuer)
    );
    if let Ok(link) = Link::parse(issuer, &ElicitLimits::default()) {
        if let Some(unicode) = link.unicode_host() {
            lines.push_str(&format!("  the host reads {:?}\n", sanitise_line(unicode)));
        }
        for warning in link.warnings() {
            lines.push_str(&format!("  warning: {warning}\n"));
        }
    }
    if !scopes.is_empty() {
        lines.push_str(&format!("  scopes: {}\n", sanitise_line(&scopes.join(" "))));
    }
    lines
}

fn address_lines(request: &AuthorizationRequest, is_opened: bool) -> String {
    let address = sanitise_line(request.url.expose().as_str()).into_owned();
    if is_opened {
        format!("  your browser opens; if it does not, open this address:\n  {address}\n")
    } else {
        format!("  open this address in a browser, on this machine or on another:\n  {address}\n")
    }
}

fn time_left(request: &AuthorizationRequest) -> Duration {
    let left = request.expires.duration_since(SystemTime::now());
    left.unwrap_or_default()
}

fn unattended(asking: &Asking<'_>, hosting: &Hosting<'_>) -> Failure {
    let login = |more: &str| format!("`{}`", hosting.words.login(asking.server, more));
    Report::new(
        Exit::Authorization,
        "authorization",
        "a login needs a person at a terminal",
    )
    .server(asking.server)
    .hint(login("--no-browser"))
    .hint(format!("or on another device: {}", login("--device")))
}

fn no_browser(asking: &Asking<'_>, hosting: &Hosting<'_>) -> Failure {
    let login = |more: &str| format!("`{}`", hosting.words.login(asking.server, more));
    Report::new(
        Exit::Authorization,
        "authorization",
        "could not start a browser",
    )
    .server(asking.server)
    .hint(login("--no-browser"))
    .hint("or name one: `export BROWSER=/path/to/a/browser`")
}
