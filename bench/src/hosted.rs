//! The host of this project: the same calls by a tool's name for models, with its arguments checked
//! and a listener to the events.

use std::time::{Duration, Instant};

use switchboard::Limits;
use switchboard::catalog::exposed;
use switchboard::host::{Caller, Host, View};
use switchboard::policy::{AgentPolicy, CallerId, Grants, Level, Policy};
use switchboard::protocol::Raw;
use switchboard::spec::{NameStyle, ServerSpec};
use switchboard::transport::Environment;

use crate::Fault;
use crate::drive::Client;
use crate::facts::check_tools;
use crate::sample::Sample;
use crate::work::{SERVERS, ServerCommand};

/// The arguments of the tool that is called.
#[derive(serde::Serialize)]
struct Echo<'a> {
    message: &'a str,
}

/// A connection by our host: the person's, or that of an agent with a policy, with pins and an audit.
#[derive(Clone)]
pub struct Hosted<const AGENT: bool> {
    host: Host,
    view: View,
}

pub(crate) fn spec(name: &str, server: &ServerCommand) -> Result<ServerSpec, Fault> {
    Ok(ServerSpec::stdio(name, &server.program)?.args(&server.args))
}

/// Returns the policy of a typical agent.
pub(crate) fn policy() -> Result<Policy, Fault> {
    let grants = Grants::parse([
        "mcp:github:get_*",
        "mcp:github:list_*",
        "mcp:files:read",
        "mcp:bench:search_*",
        "mcp:bench:echo",
    ])?;
    let agent = AgentPolicy::new(Level::Yolo).grants(grants);
    Ok(Policy::none().agent(CallerId::parse("bench")?, agent))
}

impl<const AGENT: bool> Client for Hosted<AGENT> {
    async fn connect(server: &ServerCommand) -> Result<Self, Fault> {
        let host = Host::builder()
            .environment(&Environment::of_process())
            .server(spec("bench", server)?)
            .policy(policy()?)
            .build()?;
        let mut events = host.events();
        drop(tokio::spawn(
            async move { while events.recv().await.is_ok() {} },
        ));
        host.connect("bench").await?;
        let caller = if AGENT {
            Caller::agent("bench")?
        } else {
            Caller::owner()
        };
        let view = host.view(caller);
        Ok(Self { host, view })
    }

    async fn call(
        &self,
        tool: &'static str,
        message: Option<&str>,
        check: impl Fn(&str) -> Result<(), Fault> + Send,
    ) -> Result<(), Fault> {
        let arguments = match message {
            Some(message) => Raw::of(&Echo { message })?,
            None => Raw::empty_object(),
        };
        let name = match tool {
            // As a model says it, without making it anew each time.
            "echo" => "mcp__bench__echo",
            other => &exposed("bench", other, NameStyle::default()),
        };
        let tool = self.view.tool(name)?;
        let result = tool.call_raw(arguments).await?;
        let text = result.content().first().and_then(|block| block.as_text());
        check(text.ok_or("no text in the result")?)
    }

    async fn list(&self, expected: usize) -> Result<(), Fault> {
        self.host.refresh("bench").await?;
        let tools = self.view.tools();
        check_tools(tools.iter().map(|tool| tool.raw_name()), expected)
    }

    async fn close(self) -> Result<(), Fault> {
        self.host.shutdown().await;
        Ok(())
    }
}

/// Connects one host to so many servers, each of which takes its time to start, `count` times.
///
/// # Errors
/// Fails if one cannot be connected to.
pub fn connect(servers: Servers, count: u32, server: &ServerCommand) -> Result<Sample, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let servers = match servers {
        Servers::One => 1,
        Servers::Many => SERVERS,
    };
    let mut elapsed = Duration::ZERO;
    for _ in 0..count {
        let mut builder = Host::builder()
            .environment(&Environment::of_process())
            .limits(Limits::default());
        for number in 0..servers {
            builder = builder.server(spec(&format!("bench{number}"), server)?);
        }
        let host = builder.build()?;
        elapsed += runtime.block_on(async {
            let began = Instant::now();
            let statuses = host.connect_all().await;
            let took = began.elapsed();
            host.shutdown().await;
            if statuses.iter().all(|status| status.is_ready()) {
                Ok(took)
            } else {
                Err(Fault::from("a server could not be connected to"))
            }
        })?;
    }
    Ok(Sample {
        elapsed,
        ops: count,
    })
}

/// Number of servers that a host connects to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Servers {
    /// One.
    One,
    /// Twenty.
    Many,
}
