//! A login from beginning to end in one call, with a listener of this program.

use std::future::Future;
use std::io;
use std::time::SystemTime;

use super::callback::CallbackListener;
use super::login::{AuthorizationRequest, Login, LoginOptions};
use super::store::Credential;
use crate::auth_error::{AuthError, LoginReason};

impl Login {
    /// Logs in with a browser: listens on 127.0.0.1, passes the request to `open`, which shows its address to the
    /// person, and waits until the browser comes back, [`AuthorizationRequest::expires`] at the latest.
    ///
    /// `open` returns false if the person does not want to log in.
    ///
    /// ```no_run
    /// use switchboard_client::auth::{AuthError, Authorizer, Login, LoginOptions};
    ///
    /// # async fn example(authorizer: &Authorizer) -> Result<(), AuthError> {
    /// let login = Login::new(authorizer);
    /// login
    ///     .with_browser(LoginOptions::default(), async |request| {
    ///         eprintln!("{} asks you to log in: {}", request.issuer, request.url.expose());
    ///         true
    ///     })
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails as [`Login::begin`] and [`Login::finish`] do, if the port cannot be listened on or the redirect URI of the
    /// settings is not that of a listener, with [`AuthError::NeedsLogin`] if the person does not want to, and with
    /// [`AuthError::Expired`] if the browser does not come back.
    ///
    /// # Cancel safety
    /// Dropping the future ends the login; the listener is closed.
    pub async fn with_browser<F>(
        &self,
        mut options: LoginOptions,
        open: impl FnOnce(AuthorizationRequest) -> F,
    ) -> Result<Credential, AuthError>
    where
        F: Future<Output = bool>,
    {
        if self.authorizer().settings().redirect_uri.is_some() {
            return Err(AuthError::Setting {
                key: "redirectUri",
                problem: "is not listened on by this program: finish the login with the address \
                          that the browser ends at"
                    .to_owned(),
            });
        }
        let listener = self.listen().await?;
        let listener = listener.map_err(|error| cannot_listen(&error))?;
        options.redirect_uri = Some(listener.redirect_uri());
        let request = self.begin(options).await?;
        let (state, expires) = (request.state.clone(), request.expires);
        if !open(request).await {
            let authorizer = self.authorizer();
            return Err(authorizer.needs_login(LoginReason::NoToken, &[]));
        }
        let left = expires.duration_since(SystemTime::now());
        let callback = tokio::time::timeout(left.unwrap_or_default(), listener.wait(&state)).await;
        let callback = callback.map_err(|_| AuthError::Expired)?;
        let callback = callback.map_err(|error| cannot_listen(&error))?;
        self.finish(callback.expose()).await
    }

    /// Listens on the port of the settings; else on that of the last login, which saves a registration; else on any.
    ///
    /// # Errors
    /// Fails when the store cannot be read; the inner error says why the port cannot be listened on.
    #[doc(hidden)]
    pub async fn listen(&self) -> Result<io::Result<CallbackListener>, AuthError> {
        if let Some(port) = self.authorizer().settings().callback_port {
            return Ok(CallbackListener::bind(Some(port)).await);
        }
        // The one that is registered is not worth waiting for.
        if let Some(port) = self.registered_port().await?
            && let Ok(bound) = CallbackListener::bind(Some(port)).await
        {
            return Ok(Ok(bound));
        }
        Ok(CallbackListener::bind(None).await)
    }
}

fn cannot_listen(error: &io::Error) -> AuthError {
    AuthError::Setting {
        key: "callbackPort",
        problem: format!("cannot be listened on: {error}"),
    }
}
