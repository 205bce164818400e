//! rmcp's client, to hold our own servers against an implementation that is not ours.

use rmcp3::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use rmcp3::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService};
use rmcp3::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp3::{ClientHandler, RoleClient};
use tokio::sync::watch;

use crate::partners::Launch;

/// The crate itself, so that a test can name rmcp's types.
pub use rmcp3 as rmcp;

/// How rmcp's client opens a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// `initialize`, as every version before 2026-07-28 wants it.
    Legacy,
    /// `server/discover`, and requests that describe themselves.
    Modern,
    /// A probe with `server/discover` that falls back to `initialize`.
    Auto,
}

/// Starts `server` as a child process and connects rmcp's client to it.
///
/// # Errors
///
/// Says why the process did not start or what rmcp found wrong with its answers.
pub async fn connect(
    server: &Launch,
    opening: Opening,
) -> Result<RunningService<RoleClient, Watching>, Box<dyn std::error::Error>> {
    let mut command = tokio::process::Command::new(&server.program);
    command.args(&server.args);
    command.envs(server.env.iter().cloned());
    if let Some(cwd) = &server.cwd {
        command.current_dir(cwd);
    }
    let transport = TokioChildProcess::new(command)?;
    let client = Watching::default();
    Ok(client
        .serve_with_lifecycle(transport, lifecycle(opening))
        .await?)
}

/// Connects rmcp's client to the server at `url`.
///
/// # Errors
///
/// Says what rmcp found wrong with the answers.
pub async fn connect_http(
    url: &str,
    opening: Opening,
) -> Result<RunningService<RoleClient, Watching>, Box<dyn std::error::Error>> {
    // The HTTP client that rmcp makes is built for TLS without a provider. Somebody else in this
    // process may have named one already.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().ok();
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = Watching::default();
    Ok(client
        .serve_with_lifecycle(transport, lifecycle(opening))
        .await?)
}

/// A client that sees progress.
#[derive(Debug, Default)]
pub struct Watching {
    /// What was reported last.
    pub progress: watch::Sender<f64>,
}

impl ClientHandler for Watching {
    fn get_info(&self) -> ClientConfig {
        config()
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.send_replace(params.progress);
    }
}

fn config() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("rmcp3-client", "3.8.0"),
    )
}

fn lifecycle(opening: Opening) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match opening {
        Opening::Legacy => ClientLifecycleMode::Initialize,
        Opening::Modern => ClientLifecycleMode::Discover { preferred_versions },
        Opening::Auto => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer;
    use crate::partners;

    /// The Python SDK is on the other side, so that what is shown here is the helper and not us.
    async fn tools(server: &Launch, opening: Opening) -> (String, Vec<String>) {
        let client = connect(server, opening).await.unwrap();
        let version = client.peer_info().unwrap().protocol_version.to_string();
        let tools = client.list_all_tools().await.unwrap();
        client.cancel().await.unwrap();
        let names = tools.into_iter().map(|tool| tool.name.into_owned());
        (version, names.collect())
    }

    #[tokio::test]
    async fn each_opening_reaches_a_server_that_speaks_both_eras() {
        let server = partners::python_v2();
        for (opening, version) in [
            (Opening::Legacy, "2025-11-25"),
            (Opening::Modern, "2026-07-28"),
            (Opening::Auto, "2026-07-28"),
        ] {
            let offered = vec![offer::ECHO.to_owned(), offer::ADD.to_owned()];
            assert_eq!(
                tools(&server, opening).await,
                (version.to_owned(), offered),
                "{opening:?}"
            );
        }
    }

    #[tokio::test]
    async fn auto_falls_back_to_the_legacy_era() {
        let (version, _) = tools(&partners::python_v1(), Opening::Auto).await;
        assert_eq!(version, "2025-11-25");
    }
}
