//! Gateways of others, each started as its documentation says, in front of one server on a pipe.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::ValueEnum;

use super::started::{self, Folder};
use crate::Fault;
use crate::work::ServerCommand;

/// Time that a gateway has to listen: two of them start an interpreter first.
const START: Duration = Duration::from_secs(60);

/// A gateway of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Peer {
    /// The crate of that name.
    McpProxy,
    /// The proxy of fastmcp.
    Fastmcp,
    /// `mcporter serve`.
    Mcporter,
}

/// Runs a gateway in front of one server until stdin ends. Its process is printed beside its address.
///
/// `program` is what starts it: the program, or an interpreter and its script.
///
/// # Errors
/// Fails if it does not start.
pub fn run(peer: Peer, program: &[PathBuf], server: &ServerCommand) -> Result<(), Fault> {
    let folder = Folder::new()?;
    let address = started::free_address()?;
    let (name, text) = match peer {
        Peer::McpProxy => ("proxy.toml", toml(address, server)?),
        Peer::Fastmcp | Peer::Mcporter => ("mcp.json", mcp_json(peer, server).to_string()),
    };
    let config = folder.path().join(name);
    std::fs::write(&config, text)?;
    let mut command = start(peer, program, &config, address)?;
    command
        .env("HOME", folder.path())
        .current_dir(folder.path());
    let served = started::run(command.stderr(Stdio::null()), address, START);
    if peer == Peer::Mcporter {
        // Its servers belong to a process of their own, which outlives it.
        let mut stop = words(program)?;
        stop.arg("--config").arg(&config).args(["daemon", "stop"]);
        stop.env("HOME", folder.path())
            .stdout(Stdio::null())
            .status()?;
    }
    served
}

fn mcp_json(peer: Peer, server: &ServerCommand) -> serde_json::Value {
    let mut entry = serde_json::json!({"command": server.program, "args": server.args});
    if peer == Peer::Mcporter
        && let Some(entry) = entry.as_object_mut()
    {
        // It serves no others.
        entry.insert("lifecycle".to_owned(), "keep-alive".into());
    }
    serde_json::json!({"mcpServers": {"bench": entry}})
}

/// The config file of mcp-proxy: only there has it a port. A string of JSON is one of TOML too.
fn toml(address: SocketAddr, server: &ServerCommand) -> Result<String, Fault> {
    let program = serde_json::to_string(&server.program)?;
    let args = serde_json::to_string(&server.args)?;
    Ok(format!(
        "[proxy]
name = \"bench\"
separator = \"__\"
[proxy.listen]
host = \"127.0.0.1\"
port = {}
[[backends]]
name = \"bench\"
transport = \"stdio\"
command = {program}
args = {args}
",
        address.port()
    ))
}

fn words(program: &[PathBuf]) -> Result<Command, Fault> {
    let (program, rest) = program.split_first().ok_or("no program to start")?;
    let mut command = Command::new(program);
    command.args(rest);
    Ok(command)
}

fn start(
    peer: Peer,
    program: &[PathBuf],
    config: &Path,
    address: SocketAddr,
) -> Result<Command, Fault> {
    let mut command = words(program)?;
    let port = address.port().to_string();
    match peer {
        Peer::McpProxy => {
            command.arg("--config").arg(config);
        }
        Peer::Fastmcp => {
            command.arg(config).arg(port);
        }
        Peer::Mcporter => {
            command.arg("--config").arg(config);
            command.args(["serve", "--http", &port]);
        }
    }
    Ok(command)
}
