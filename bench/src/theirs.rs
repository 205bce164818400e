//! rmcp's client, used the way its documentation shows.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ContentBlock, JsonObject, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::TokioChildProcess;
use tokio::process::Command;

use crate::Fault;
use crate::drive::Client;
use crate::facts::check_tools;
use crate::server::Era;
use crate::work::ServerCommand;

/// A connection by rmcp.
#[derive(Clone)]
pub struct Theirs(pub(crate) Arc<RunningService<RoleClient, ()>>);

/// Returns rmcp's setting for the era, with which it does not probe.
pub(crate) fn lifecycle(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Modern => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    }
}

impl Client for Theirs {
    async fn connect(server: &ServerCommand) -> Result<Self, Fault> {
        let mut command = Command::new(&server.program);
        command.args(&server.args);
        let transport = TokioChildProcess::new(command)?;
        let service = ().serve_with_lifecycle(transport, lifecycle(server.era)).await?;
        Ok(Self(Arc::new(service)))
    }

    async fn call(
        &self,
        tool: &'static str,
        message: Option<&str>,
        check: impl Fn(&str) -> Result<(), Fault> + Send,
    ) -> Result<(), Fault> {
        let mut params = CallToolRequestParams::new(tool);
        if let Some(message) = message {
            let mut arguments = JsonObject::new();
            arguments.insert("message".to_owned(), message.into());
            params = params.with_arguments(arguments);
        }
        let result = self.0.call_tool(params).await?;
        let text = match result.content.first() {
            Some(ContentBlock::Text(text)) => &text.text,
            _ => return Err("no text in the result".into()),
        };
        check(text)
    }

    async fn list(&self, expected: usize) -> Result<(), Fault> {
        let tools = self.0.list_all_tools().await?;
        check_tools(tools.iter().map(|tool| tool.name.as_ref()), expected)
    }

    async fn close(self) -> Result<(), Fault> {
        let service = Arc::into_inner(self.0).ok_or("the connection is still in use")?;
        service.cancel().await?;
        Ok(())
    }
}
