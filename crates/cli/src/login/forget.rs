//! The login of a server that is taken out of its config file.

use std::sync::Arc;

use switchboard::auth::{Logout, TokenStore};
use switchboard::config::Entry;
use switchboard::secret::SafeUrl;
use switchboard::text::shell_path;
use switchboard::transport::{Environment, HttpAuthFetch};

use super::authorizer_at;
use crate::ask;
use crate::lifecycle::runtime;
use crate::screen::Screen;
use crate::state;

/// The stored login of a server that is no longer in a config file.
pub(crate) struct LeftLogin {
    url: String,
    store: Arc<dyn TokenStore>,
}

impl LeftLogin {
    /// Looks up the login of the server that an entry describes. Returns `None` if there is none, or the store cannot
    /// be read.
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

    /// Asks the person whether to forget it, does so if they agree, and returns the outcome in words.
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
        let login = authorizer_at(&self.url, "", HttpAuthFetch::new(), &self.store);
        runtime().ok()?.block_on(login.ok()?.logout()).ok()
    }
}
