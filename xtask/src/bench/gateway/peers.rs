//! Gateways of others that stand beside ours.

use std::path::PathBuf;
use std::process::Command;

use super::Through;
use crate::partners::clients::{self, CommandLineClient};
use crate::{partners, workspace};

/// The crate that is installed for this alone.
const MCP_PROXY: (&str, &str) = ("mcp-proxy", "0.6.0");

/// A gateway of others, and the words that start it.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) through: Through,
    pub(super) words: Vec<PathBuf>,
}

/// Installs them. One that cannot be installed is left out, and said to be.
pub(super) fn prepare() -> Vec<Peer> {
    let all = [
        (Through::McpProxy, mcp_proxy()),
        (Through::Fastmcp, fastmcp()),
        (Through::Mcporter, mcporter()),
    ];
    let mut peers = Vec::new();
    for (through, words) in all {
        match words {
            Ok(words) => peers.push(Peer { through, words }),
            Err(error) => eprintln!("{}: {} is left out: {error}", super::NAME, through.name()),
        }
    }
    peers
}

fn mcp_proxy() -> Result<Vec<PathBuf>, String> {
    let (name, version) = MCP_PROXY;
    let folder = workspace::partners().join(name);
    let program = folder.join("bin").join(name);
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut install = Command::new(cargo);
        install.args(["install", name, "--version", version, "--locked", "--quiet"]);
        // Beside our own artefacts it would rebuild half of them.
        install.arg("--target-dir").arg(folder.join("target"));
        install.arg("--root").arg(&folder);
        let installed = install.status().map_err(|error| error.to_string())?;
        std::fs::remove_dir_all(folder.join("target")).ok();
        if !installed.success() {
            return Err(format!("`cargo install {name}` failed with {installed}"));
        }
    }
    Ok(vec![program])
}

fn fastmcp() -> Result<Vec<PathBuf>, String> {
    partners::install_venv("fastmcp")?;
    let root = workspace::root();
    let python = workspace::partners().join("fastmcp/bin/python");
    Ok(vec![python, root.join("bench/peers/fastmcp_proxy.py")])
}

fn mcporter() -> Result<Vec<PathBuf>, String> {
    clients::install()?;
    let command = CommandLineClient::Mcporter.command()?;
    let program = PathBuf::from(command.get_program());
    let rest = command.get_args().map(PathBuf::from);
    Ok(std::iter::once(program).chain(rest).collect())
}
