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
