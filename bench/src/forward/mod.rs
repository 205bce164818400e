//! What stands between a client and a server: the gateway, as limits a bare reverse proxy and a raw pipe behind
//! HTTP, and gateways of others. One load drives all of them, and checks every answer.

#[cfg(feature = "ours")]
mod gateway;
mod hostile;
mod load;
mod nginx;
mod peers;
mod pipe;
mod program;
mod proxy;
mod started;
mod stream;

use clap::ValueEnum;
use tokio::sync::oneshot;

#[cfg(feature = "ours")]
pub use gateway::run as gateway;
pub use load::{Load, run as load};
pub use nginx::run as nginx;
pub use peers::{Peer, run as peer};
pub use pipe::run as pipe;
pub use proxy::run as proxy;

use crate::server::Era;
use crate::work::{ServerCommand, Work};

/// The token that the gateway wants of its clients over HTTP.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The side that clients come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Front {
    /// HTTP, on a port that is printed.
    Http,
    /// Stdin and stdout.
    Stream,
}

/// The side that the server is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Upstream {
    /// HTTP; the server speaks 2026-07-28.
    Http,
    /// The pipes of a child process; the server speaks 2025-11-25.
    Stdio,
}

impl Upstream {
    /// The command that starts the server, on `cpu` alone if one is named.
    pub fn command(self, server: &str, cpu: Option<usize>) -> ServerCommand {
        let (era, work) = match self {
            Self::Http => (Era::Modern, Work::HttpEcho),
            Self::Stdio => (Era::Legacy, Work::HostEcho),
        };
        let mut command = ServerCommand::new(server, cpu, era, work);
        if self == Self::Http {
            command.args.push("--echo".to_owned());
        }
        command
    }
}

/// Completes when stdin ends: that is how the programs are told to end.
fn input_ends() -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).ok();
        // What waits for it may have ended itself.
        ended.send(()).ok();
    });
    end
}

/// One call of the tool that echoes, as a client of an era sends it.
fn call(era: Era, id: u64, tool: &str, message: &str) -> String {
    let meta = match era {
        Era::Legacy => "",
        Era::Modern => concat!(
            r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{}}"#
        ),
    };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"message":"{message}"}}{meta}}}}}"#
    )
}

/// What begins a session of the legacy era.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#
);
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
