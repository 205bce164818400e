//! The activity of a server that is being connected, as far as its launcher shows it.

use std::time::Duration;

use switchboard::host::Host;
use switchboard::spec::ServerName;
use switchboard::spec::packages::{Package, launched};
use switchboard::transport::is_fetching;
use tokio::time::Instant;

/// A launcher that has been silent for this long is probably downloading: most report it only at the end.
const SILENCE: Duration = Duration::from_secs(3);

/// A server that is being connected.
pub(super) struct Starting {
    pub(super) since: Instant,
    /// The package that a launcher may have to download first.
    package: Option<Package>,
    heard: Heard,
}

/// The kind of the last line on stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing,
    /// The launcher reports a download.
    Fetching,
    /// Anything else: the server is up, or about to fail.
    Other,
}

impl Starting {
    pub(super) fn new(host: &Host, server: &ServerName) -> Self {
        let identity = host.server(server.as_str()).ok();
        let identity = identity.and_then(|status| status.identity);
        Self::of(identity.as_deref().unwrap_or_default())
    }

    /// Parses the identity `stdio:CMD:ARGS` of a server.
    fn of(identity: &str) -> Self {
        let command = identity.strip_prefix("stdio:");
        let package = command.and_then(|command| {
            let (command, args) = command.split_once(':').unwrap_or((command, ""));
            launched(command, &args.split_whitespace().collect::<Vec<_>>())
        });
        Self {
            since: Instant::now(),
            package,
            heard: Heard::Nothing,
        }
    }

    /// Notes a line that the server or its launcher writes to stderr.
    pub(super) fn hear(&mut self, line: &str) {
        self.heard = if is_fetching(line) {
            Heard::Fetching
        } else {
            Heard::Other
        };
    }

    /// Describes a download, if there is one or there seems to be.
    pub(super) fn fetching(&self, elapsed: Duration) -> Option<String> {
        let package = self.package.as_ref()?;
        let verb = match self.heard {
            Heard::Fetching => "is fetching",
            Heard::Nothing if elapsed >= SILENCE => "may be fetching",
            Heard::Nothing | Heard::Other => return None,
        };
        Some(format!("{} {verb} {}", package.runner, package.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_that_fetches_is_told_from_a_server_that_starts() {
        let brief = Duration::from_secs(1);
        let mut npx = Starting::of("stdio:npx:-y @playwright/mcp@latest");
        assert_eq!(npx.fetching(brief), None);
        npx.hear("npm warn exec The following package was not found and will be installed: x");
        let words = "npx is fetching @playwright/mcp".to_owned();
        assert_eq!(npx.fetching(brief), Some(words));
        npx.hear("Playwright listens");
        assert_eq!(npx.fetching(SILENCE), None);
        let uvx = Starting::of("stdio:uvx:mcp-server-time");
        assert_eq!(uvx.fetching(brief), None);
        let words = "uvx may be fetching mcp-server-time".to_owned();
        assert_eq!(uvx.fetching(SILENCE), Some(words));
        for other in ["stdio:node:server.js", "http:https://example.com", ""] {
            let mut other = Starting::of(other);
            other.hear("Downloading");
            assert_eq!(other.fetching(SILENCE), None);
        }
    }
}
