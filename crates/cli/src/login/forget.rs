//! The login of a server that is taken out of its config file.

use std::sync::Arc;

use switchboard::Limits;
use switchboard::auth::{Authorizer, Logout, OAuthSettings, TokenStore};
use switchboard::config::Entry;
use switchboard::secret::SafeUrl;
use switchboard::text::shell_path;
use switchboard::transport::{Environment, HttpAuthFetch};

use crate::ask;
use crate::lifecycle::runtime;
use crate::screen::Screen;
use crate::state;

/// A login that would be left behind.
pub(crate) struct LeftLogin {
    url: String,
    store: Arc<dyn TokenStore>,
}

impl LeftLogin {
    /// The login of the server that an entry describes, if there is one and it can be looked up.
    pub(crate) fn of(entry: &Entry, environment: &Environment) -> Option<Self> {
        let url = entry.value().get("url")?.as_str()?;
        let mut normal = SafeUrl::parse(url).ok()?.expose().clone();
        normal.set_fragment(None);
        let store = state::tokens(environment, |_| {});
        let set = runtime().ok()?.block_on(store.read()).ok()?;
        set.of_server(normal.as_str(), "")?;
        Some(Self {
            url: url.to_owned(),
            store,
        })
    }

    /// Forgets it where the person wants that; says what became of it.
    pub(crate) fn settle(self, name: &str, screen: &Screen) -> String {
        let question = format!("Forget the login of {name}, too?");
        if screen.is_json() || ask::is_yes(&question) != Some(true) {
            return format!(
                "its login is still stored: `switchboard logout --url {}` forgets it",
                shell_path(&self.url)
            );
        }
        match self.forget() {
            Some(Logout::NotRevoked(error)) => {
                format!("its login is forgotten, but the issuer did not revoke it: {error}")
            }
            Some(_) => "its login is forgotten".to_owned(),
            None => "its login could not be forgotten".to_owned(),
        }
    }

    fn forget(self) -> Option<Logout> {
        let fetch = Arc::new(HttpAuthFetch::new());
        let limits = Limits::default();
        let login = Authorizer::new(
            &self.url,
            OAuthSettings::default(),
            fetch,
            self.store,
            &limits,
        );
        runtime().ok()?.block_on(login.ok()?.logout()).ok()
    }
}
