//! The session of this project, used the way its documentation shows.

use switchboard::protocol::Raw;
use switchboard::transport::{Environment, Stdio};
use switchboard::{CallOptions, Session, SessionOptions};

use crate::Fault;
use crate::drive::Client;
use crate::facts::check_tools;
use crate::work::ServerCommand;

/// The arguments of the tool that is called.
#[derive(serde::Serialize)]
struct Echo<'a> {
    message: &'a str,
}

/// A connection by our session.
#[derive(Clone)]
pub struct Ours(pub(crate) Session);

impl Client for Ours {
    async fn connect(server: &ServerCommand) -> Result<Self, Fault> {
        let stdio = Stdio::new(&server.program)
            .args(&server.args)
            .environment(&Environment::of_process());
        // The era is found out, as it is by default: one question more than rmcp asks.
        let session = Session::connect(&stdio, SessionOptions::default()).await?;
        Ok(Self(session))
    }

    async fn call(
        &self,
        tool: &'static str,
        message: Option<&str>,
        check: impl Fn(&str) -> Result<(), Fault> + Send,
    ) -> Result<(), Fault> {
        let arguments = message.map(|message| Raw::of(&Echo { message }));
        let result = self
            .0
            .call_tool(tool, arguments.transpose()?, CallOptions::default())
            .await?;
        let text = result.content().first().and_then(|block| block.as_text());
        check(text.ok_or("no text in the result")?)
    }

    async fn list(&self, expected: usize) -> Result<(), Fault> {
        let tools = self.0.list_tools().await?;
        check_tools(tools.items.iter().map(|tool| tool.name()), expected)
    }

    async fn close(self) -> Result<(), Fault> {
        self.0.close().await;
        Ok(())
    }
}
