//! Logins that the host runs, with an operator who opens the page.

use std::sync::Arc;

use super::{Host, HostInner, Member};
use crate::auth::{AuthError, Login, LoginOptions};
use crate::error::{Error, HostError};
use crate::talk::{LoginDecision, LoginRequest, Operator as _};

impl Host {
    /// Logs in to a server at a URL: finds its issuer, asks [`Operator::login`](crate::talk::Operator::login) to open the
    /// page, and waits until the person has logged in. The tokens go to the host's store, and the next request uses them.
    ///
    /// Agents cannot call this, and their calls never begin a login.
    ///
    /// ```no_run
    /// use switchboard::Host;
    /// use switchboard::spec::ServerSpec;
    /// use switchboard::talk::LoginDecision;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let host = Host::builder()
    ///     .server(ServerSpec::http("notes", "https://mcp.example.com/mcp")?)
    ///     .on_login(async |request| {
    ///         eprintln!("{} asks you to log in: {}", request.issuer, request.page.expose());
    ///         LoginDecision::PageOpened
    ///     })
    ///     .build()?;
    /// host.log_in("notes").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails as [`Host::authorizer`] does, with [`Error::needs_login`] if the operator does not offer logins or refuses
    /// this one, and with the cause if the issuer cannot be used or the person does not finish within
    /// [`Limits::auth_login`](crate::Limits::auth_login).
    pub async fn log_in(&self, server: &str) -> Result<(), Error> {
        let member = self.0.registry.find(server)?;
        self.0.log_in(&member).await
    }
}

impl HostInner {
    /// Returns true if an error can be mended by a login, and the operator offers one.
    pub(super) fn may_log_in(&self, error: &Error) -> bool {
        error.needs_login().is_some() && self.registry.operator().offers_login()
    }

    pub(super) async fn log_in(&self, member: &Arc<Member>) -> Result<(), Error> {
        let authorizer = self.registry.authorizer(member).await?;
        let mut options = LoginOptions::default();
        // Scopes that a call was refused for are requested along with those of the last login.
        if let Some(needed) = authorizer.needed_login()
            && !needed.scopes.is_empty()
        {
            options.scopes = Some(needed.scopes);
        }
        let operator = self.registry.operator();
        let login = Login::new(&authorizer);
        let login = login.with_browser(options, async |request| {
            let mut asked = LoginRequest::new(
                member.name.clone(),
                request.issuer.clone(),
                request.url.clone(),
            );
            asked.scopes.clone_from(&request.scopes);
            operator.login(asked).await == LoginDecision::PageOpened
        });
        let done: Result<_, AuthError> = Box::pin(login).await;
        match done {
            Ok(_) => Ok(()),
            Err(error) => Err(member.with_context(HostError::Auth(Box::new(error)))),
        }
    }
}
