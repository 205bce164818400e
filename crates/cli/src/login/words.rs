//! The command that logs in to a server, as people paste it.

use switchboard::text::{shell_path, shell_word};

use crate::args::Connection;

/// The words behind `switchboard login` that name the same server again.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoginWords {
    /// The URL, where the command line describes the server.
    url: Option<String>,
    /// Options.
    options: String,
}

impl LoginWords {
    /// The words for the servers of a command.
    pub(crate) fn of(connection: &Connection) -> Self {
        let mut options = String::new();
        if let Some(file) = &connection.config {
            options.push_str(&format!(
                " --config {}",
                shell_path(&file.display().to_string())
            ));
        }
        if let Some(file) = &connection.remote.ca_file {
            options.push_str(&format!(
                " --ca-file {}",
                shell_path(&file.display().to_string())
            ));
        }
        if connection.remote.proxy_from_env {
            options.push_str(" --proxy-from-env");
        }
        if let Some(profile) = &connection.profile {
            options.push_str(&format!(" --profile {}", shell_word(profile)));
        }
        Self {
            url: connection.remote.url.clone(),
            options,
        }
    }

    /// The command that logs in to a server, with more words behind it.
    pub(crate) fn login(&self, server: &str, more: &str) -> String {
        self.command("login", server, more)
    }

    /// A command about a server.
    pub(crate) fn command(&self, verb: &str, server: &str, more: &str) -> String {
        let server = match &self.url {
            Some(url) => format!("--url {}", shell_path(url)),
            None => shell_word(server).into_owned(),
        };
        let more = match more {
            "" => String::new(),
            more => format!(" {more}"),
        };
        format!("switchboard {verb} {server}{}{more}", self.options)
    }
}

/// Returns the reason why a login is needed, and the options of the command that logs in. `reason` is that of the
/// event `login_needed`.
pub(crate) fn needed_words(reason: &str, scopes: &[String]) -> (&'static str, String) {
    match reason {
        // What is stored looks good, so that without it nothing would be done.
        "rejected" => ("the server rejects the stored login", "--force".to_owned()),
        "revoked" => ("the issuer has ended the login", String::new()),
        "insufficient_scope" => (
            "the login lacks scopes that the server requires",
            scopes_option(scopes),
        ),
        _ => ("the server requires a login", String::new()),
    }
}

/// The option that asks for scopes.
pub(super) fn scopes_option(scopes: &[String]) -> String {
    if scopes.is_empty() {
        return String::new();
    }
    format!("--scopes {}", shell_word(&scopes.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_same_server_and_survives_a_shell() {
        let plain = LoginWords::default();
        assert_eq!(plain.login("tickets", ""), "switchboard login tickets");
        let scopes = scopes_option(&["a:b".to_owned(), "c d;e".to_owned()]);
        assert_eq!(
            plain.login("my tickets", &scopes),
            "switchboard login 'my tickets' --scopes 'a:b c d;e'"
        );
        let described = LoginWords {
            url: Some("https://example.com/mcp?a=1&b=2".to_owned()),
            options: " --profile work".to_owned(),
        };
        assert_eq!(
            described.login("http", "--force"),
            "switchboard login --url 'https://example.com/mcp?a=1&b=2' --profile work --force"
        );
    }
}
