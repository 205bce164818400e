//! Has a command that needs a login offer it to the person, and go on afterwards.

use switchboard::Error;
use switchboard::auth::NeedsLogin;

use super::flow::{Asking, Consent, NoLogin, log_in};
use crate::ask::Terminal;
use crate::hosting::Hosting;
use crate::report::Failure;

/// The most logins of one command: once to get in, and once more for scopes that a call demands.
const MOST_LOGINS: usize = 2;

/// Does something with a server. Where it fails for want of a login and a person is at the terminal, the login is
/// offered, and it is done again: what was refused with 401 or 403 was not done.
///
/// # Errors
/// When it fails for something else, or no person is there to log in.
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
    // At once, however short the time since the server refused. What comes of it is seen when it is used.
    drop(hosting.host.connect(server).await);
    Ok(())
}

/// The login that an error asks for.
fn need(error: &Error) -> Option<(String, NeedsLogin)> {
    let server = error.server()?.to_string();
    let needed = error.needs_login()?;
    Some((server, needed.clone()))
}
