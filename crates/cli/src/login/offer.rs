//! Offers a login to the person when a command needs one, and lets the command go on afterwards.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use switchboard::Error;
use switchboard::auth::NeedsLogin;

use super::flow::{Asking, Consent, NoLogin, log_in};
use crate::ask::Terminal;
use crate::hosting::Hosting;
use crate::report::Failure;

/// The most logins of one command: once to get in, and once more for scopes that a call demands.
const MOST_LOGINS: usize = 2;

/// The time that a person has spent on the logins of a command, which does not count as the command's own.
#[derive(Debug, Default)]
pub(crate) struct LoginTime(Mutex<Spent>);

#[derive(Debug, Default)]
struct Spent {
    before: Duration,
    /// The beginning of the login that is under way.
    since: Option<Instant>,
}

impl LoginTime {
    /// Returns the time so far, with that of a login that is under way.
    pub(crate) fn total(&self) -> Duration {
        let spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spent.before + spent.since.map(|at| at.elapsed()).unwrap_or_default()
    }

    /// Counts the time until the returned guard is dropped.
    fn start(&self) -> Timed<'_> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spent.since = Some(Instant::now());
        Timed(self)
    }
}

/// Counts the time of a login while it exists.
struct Timed<'t>(&'t LoginTime);

impl Drop for Timed<'_> {
    fn drop(&mut self) {
        let total = self.0.total();
        let mut spent = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        (spent.before, spent.since) = (total, None);
    }
}

/// Runs work with a server. If it fails because a login is needed and a person is at the terminal, offers the login
/// and runs the work again: a request that was refused with 401 or 403 was not executed.
///
/// # Errors
/// Fails if the work fails for another reason, or no person is there to log in.
pub(crate) async fn with_login<T>(
    hosting: &Hosting<'_>,
    work: impl AsyncFn() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut logins = 0;
    loop {
        let error = match work().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let Some((server, needed)) = need(&error) else {
            return Err(error);
        };
        if logins == MOST_LOGINS || hosting.is_agent() || !Terminal::is_available(hosting.screen) {
            return Err(error);
        }
        logins += 1;
        let _timed = hosting.login_time.start();
        match try_login(&server, &needed, hosting).await {
            Ok(()) => {}
            Err(NoLogin::Declined) => return Err(error),
            Err(NoLogin::Failed(report)) => {
                hosting.screen.fail(&report);
                return Err(error);
            }
        }
    }
}

async fn try_login(
    server: &str,
    needed: &NeedsLogin,
    hosting: &Hosting<'_>,
) -> Result<(), NoLogin> {
    let authorizer = hosting.authorizer(server).await.map_err(Failure::from)?;
    let asking = Asking {
        server,
        authorizer: &authorizer,
        scopes: Some(needed.scopes.clone()).filter(|scopes| !scopes.is_empty()),
        is_forced: false,
        consent: Consent::Ask,
    };
    Box::pin(log_in(&asking, hosting)).await?;
    // At once, without the wait after a refused connection. A failure shows when the work runs again.
    drop(hosting.host.connect(server).await);
    Ok(())
}

/// Returns the server and the login that an error asks for.
fn need(error: &Error) -> Option<(String, NeedsLogin)> {
    let server = error.server()?.to_string();
    let needed = error.needs_login()?;
    Some((server, needed.clone()))
}
