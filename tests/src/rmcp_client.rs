//! rmcp's client, to hold our own servers against an implementation that is not ours.

use rmcp3::RoleClient;
use rmcp3::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp3::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp3::transport::TokioChildProcess;

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
) -> Result<RunningService<RoleClient, ClientConfig>, Box<dyn std::error::Error>> {
    let mut command = tokio::process::Command::new(&server.program);
    command.args(&server.args);
    command.envs(server.env.iter().cloned());
    if let Some(cwd) = &server.cwd {
        command.current_dir(cwd);
    }
    let transport = TokioChildProcess::new(command)?;
    let client = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("rmcp3-client", "3.8.0"),
    );
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match opening {
        Opening::Legacy => ClientLifecycleMode::Initialize,
        Opening::Modern => ClientLifecycleMode::Discover { preferred_versions },
        Opening::Auto => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
    };
    Ok(client.serve_with_lifecycle(transport, lifecycle).await?)
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
