//! How to start each partner.
//!
//! Installed partners are looked up under `SWITCHBOARD_PARTNERS`, which `cargo xtask check` sets,
//! or else in `target/partners` of the workspace, where it installs them. A partner that is not
//! there makes the test panic with the command to run: a test never skips itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The variable that names the folder of the installed partners.
pub const VARIABLE: &str = "SWITCHBOARD_PARTNERS";

/// A program with its arguments, ready to be started by whoever tests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// What to run; an absolute path, or a name to look up in `PATH` (`node`).
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables to set beside those that a child gets anyway.
    pub env: Vec<(String, String)>,
    /// The folder to run it in, when that matters.
    pub cwd: Option<PathBuf>,
}

impl Launch {
    /// Describes a program without arguments, such as the path in `CARGO_BIN_EXE_rmcp3-server`.
    pub fn program(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the folder to run in.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }
}

/// Starts server-everything over stdio: the legacy era in full.
#[must_use]
pub fn everything() -> Launch {
    npm("server-everything").arg("stdio")
}

/// Starts server-filesystem, which serves the files under `root`.
#[must_use]
pub fn filesystem(root: &Path) -> Launch {
    npm("server-filesystem").arg(utf8(root))
}

/// Starts server-memory with its graph in `file`, an absolute path that the test owns: left alone,
/// it would write into its own installation.
#[must_use]
pub fn memory(file: &Path) -> Launch {
    npm("server-memory").env("MEMORY_FILE_PATH", utf8(file))
}

/// Starts server-sequential-thinking.
#[must_use]
pub fn sequential_thinking() -> Launch {
    npm("server-sequential-thinking")
}

/// Starts mcp-server-git on the repository at `repository`.
#[must_use]
pub fn git(repository: &Path) -> Launch {
    module("mcp2", "mcp_server_git")
        .arg("--repository")
        .arg(utf8(repository))
}

/// Starts mcp-server-time, told a zone so that it does not depend on the machine's.
#[must_use]
pub fn time() -> Launch {
    module("mcp2", "mcp_server_time")
        .arg("--local-timezone")
        .arg("UTC")
}

/// Starts our server on the Python SDK 1.30: legacy only.
#[must_use]
pub fn python_v1() -> Launch {
    script("mcp1", "server_v1.py")
}

/// Starts our server on the Python SDK 2.3: modern, and legacy for who asks for it.
#[must_use]
pub fn python_v2() -> Launch {
    script("mcp2", "server_v2.py")
}

/// Starts our server on rmcp 3.8 in both eras; `exe` is `env!("CARGO_BIN_EXE_rmcp3-server")`, which
/// only an integration test knows.
pub fn rmcp3(exe: impl Into<PathBuf>) -> Launch {
    Launch::program(exe)
}

/// Starts our server on rmcp 3.8 with the legacy versions alone; `exe` as for [`rmcp3`].
pub fn rmcp3_legacy(exe: impl Into<PathBuf>) -> Launch {
    Launch::program(exe).arg("--legacy")
}

/// Starts our server on rmcp 3.8 that talks back; `exe` as for [`rmcp3`]. What such servers offer is in
/// [`talk`](crate::talk).
pub fn rmcp3_talking(exe: impl Into<PathBuf>) -> Launch {
    Launch::program(exe).arg("--talking")
}

/// Starts our server on the Python SDK 2.3 that talks back.
#[must_use]
pub fn python_v2_talking() -> Launch {
    script("mcp2", "server_talking_v2.py")
}

/// The agent of the comparison in the guide, on fastmcp 4.1: a config file, and the URL of a model.
#[must_use]
pub fn fastmcp_agent() -> Launch {
    script("fastmcp", "agent_fastmcp.py")
}

/// Starts our server on fastmcp 4.1 that talks back. It tells nobody of changes.
#[must_use]
pub fn fastmcp_talking() -> Launch {
    script("fastmcp", "server_talking_fastmcp.py")
}

/// Starts our server on rmcp 1.8; `exe` is `env!("CARGO_BIN_EXE_rmcp1-server")`.
pub fn rmcp1(exe: impl Into<PathBuf>) -> Launch {
    Launch::program(exe)
}

/// Starts server-everything over HTTP; `mode` is `streamableHttp` or `sse`. Port 0 picks one.
#[must_use]
pub fn everything_http(mode: &str, port: u16) -> Launch {
    let entry = Path::new("server-everything/dist/index.js");
    node_on_port(entry, port).arg(mode)
}

/// Starts one of the example servers of the TypeScript SDK, by its name without `.js`. Port 0 picks one.
#[must_use]
pub fn typescript_example(name: &str, port: u16) -> Launch {
    let folder = Path::new("sdk/dist/esm/examples/server");
    node_on_port(&folder.join(format!("{name}.js")), port)
}

/// Starts our server on the Python SDK 1.30 over streamable HTTP. Port 0 picks one.
#[must_use]
pub fn python_v1_http(port: u16) -> Launch {
    script("mcp1", "server_http_v1.py").arg(port.to_string())
}

/// Starts our server on the Python SDK 1.30 over HTTP+SSE. Port 0 picks one.
#[must_use]
pub fn python_v1_sse(port: u16) -> Launch {
    python_v1_http(port).arg("sse")
}

/// Starts our server on the Python SDK 2.3 over streamable HTTP. Port 0 picks one.
#[must_use]
pub fn python_v2_http(port: u16) -> Launch {
    script("mcp2", "server_http_v2.py").arg(port.to_string())
}

/// Starts our server on fastmcp 4.1 over streamable HTTP. Port 0 picks one.
#[must_use]
pub fn fastmcp_http(port: u16) -> Launch {
    script("fastmcp", "server_http_fastmcp.py").arg(port.to_string())
}

/// Starts an issuer on oidc-provider, which approves everything by itself. Port 0 picks one. What it knows and
/// which variables change it is at the top of `partners/oauth/issuer.mjs`.
#[must_use]
pub fn oidc_issuer(port: u16) -> Launch {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("partners/oauth/issuer.mjs");
    let entry = Path::new("oauth/node_modules/oidc-provider/lib/index.js");
    Launch::program(newer_node())
        .arg(utf8(&script))
        .arg(utf8(&installed(entry)))
        .arg(port.to_string())
}

/// Starts a server on fastmcp 4.1 that wants tokens of the issuer at `issuer`. Port 0 picks one.
#[must_use]
pub fn fastmcp_behind(issuer: &str, port: u16) -> Launch {
    let launch = script("fastmcp", "oauth_resource_fastmcp.py");
    launch.arg(port.to_string()).arg(issuer)
}

/// Starts a server on fastmcp 4.1 that is its own issuer. Port 0 picks one.
#[must_use]
pub fn fastmcp_issuer(port: u16) -> Launch {
    script("fastmcp", "oauth_fastmcp.py").arg(port.to_string())
}

/// Starts the OAuth demo of the TypeScript SDK: a server at `http://localhost:PORT/mcp` and its issuer at another
/// port. Both have to be known before; `strict` makes it check the resource.
#[must_use]
pub fn typescript_oauth(port: u16, issuer_port: u16, strict: bool) -> Launch {
    let entry = Path::new("sdk/dist/esm/examples/server/simpleStreamableHttp.js");
    let mut launch = node_on_port(entry, port)
        .arg("--oauth")
        .env("MCP_PORT", port.to_string())
        .env("MCP_AUTH_PORT", issuer_port.to_string());
    // It has two ports of its own, both of which are in its environment.
    launch.env.retain(|(name, _)| name != "PARTNER_PORT");
    if strict {
        launch = launch.arg("--oauth-strict");
    }
    launch
}

/// Starts the keyring of GNOME on the session bus of its environment: the machine's own, or the one that was unpacked.
/// It opens the keyring with the password on its stdin.
#[must_use]
pub fn keyring_daemon() -> Launch {
    const PROGRAM: &str = "gnome-keyring-daemon";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut own = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM));
    let launch = own.find(|path| path.is_file()).map_or_else(
        || {
            let root = Path::new("debian");
            let program = installed(&root.join("usr/bin").join(PROGRAM));
            let libraries = installed(&root.join("usr/lib"));
            // Its libraries are in a folder that is named after the architecture.
            let folders = std::fs::read_dir(&libraries)
                .into_iter()
                .flatten()
                .flatten();
            let folders = folders.map(|entry| entry.path());
            let mut folders = folders.filter(|folder| folder.join("libgck-1.so.0").exists());
            let folder = folders.next().unwrap_or(libraries);
            Launch::program(program).env("LD_LIBRARY_PATH", utf8(&folder))
        },
        Launch::program,
    );
    launch
        .arg("--unlock")
        .arg("--foreground")
        .arg("--components=secrets")
}

/// Starts our server on rmcp 3.8 over streamable HTTP; `exe` is
/// `env!("CARGO_BIN_EXE_rmcp3-http-server")`. Port 0 picks one.
pub fn rmcp3_http(exe: impl Into<PathBuf>, port: u16) -> Launch {
    Launch::program(exe).arg(port.to_string())
}

/// A client on the Python SDK 1.30 that uses the server at `url` and writes what it saw.
#[must_use]
pub fn python_v1_client(url: &str) -> Launch {
    script("mcp1", "client_http_v1.py").arg(url)
}

/// A client on the Python SDK 1.30 that gets a token for the server at `url` from its issuer, which is
/// [`oidc_issuer`], uses the server with it and writes what it saw.
#[must_use]
pub fn python_v1_oauth_client(url: &str) -> Launch {
    script("mcp1", "client_oauth_v1.py").arg(url)
}

/// A client on the Python SDK 2.3, in the `mode` that the SDK calls so.
#[must_use]
pub fn python_v2_client(mode: &str, url: &str) -> Launch {
    script("mcp2", "client_http_v2.py").arg(url).arg(mode)
}

/// A client on the Python SDK 1.30 that uses the bundled server through a gateway: a URL, which is one of the transport
/// of 2024-11-05 if it ends in `/sse`, or a JSON array with the command and its arguments. A last argument is what the gateway puts before names.
#[must_use]
pub fn python_v1_gateway_client(target: &str) -> Launch {
    script("mcp1", "client_gateway_v1.py").arg(target)
}

/// The same on the Python SDK 2.3, in the `mode` that the SDK calls so.
#[must_use]
pub fn python_v2_gateway_client(mode: &str, target: &str) -> Launch {
    script("mcp2", "client_gateway_v2.py").arg(target).arg(mode)
}

/// The same on fastmcp 4.1, in the `mode` that it calls so.
#[must_use]
pub fn fastmcp_gateway_client(mode: &str, target: &str) -> Launch {
    script("fastmcp", "client_gateway_fastmcp.py")
        .arg(target)
        .arg(mode)
}

/// A client on a TypeScript SDK, made by a script of `tests/partners/node`, with what the gateway puts before names.
#[must_use]
pub fn typescript_client(name: &str, target: &str, mode: &str, prefix: &str) -> Launch {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("partners/node");
    Launch::program("node")
        .arg(utf8(&folder.join(name)))
        .arg(utf8(&installed(Path::new("npm/node_modules"))))
        .arg(target)
        .arg(mode)
        .arg(prefix)
}

/// The command line of the official Inspector.
#[must_use]
pub fn inspector() -> Launch {
    command_line("@modelcontextprotocol/inspector/clients/launcher/build/index.js").arg("--cli")
}

/// The command line mcporter.
#[must_use]
pub fn mcporter() -> Launch {
    command_line("mcporter/dist/cli.js")
}

/// Claude Code, whose program is the package for the platform.
#[must_use]
pub fn claude_code() -> Launch {
    let vendor = installed(Path::new("agents/node_modules/@anthropic-ai"));
    let packages = std::fs::read_dir(&vendor).into_iter().flatten().flatten();
    let is_program = |package: &PathBuf| {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("claude-code-")
    };
    let program = packages.map(|package| package.path()).find(is_program);
    let program = program.unwrap_or_else(|| panic!("no program in {}", vendor.display()));
    let name = if cfg!(windows) {
        "claude.exe"
    } else {
        "claude"
    };
    Launch::program(program.join(name))
}

/// Codex.
#[must_use]
pub fn codex() -> Launch {
    agent("@openai/codex/bin/codex.js")
}

/// Gemini CLI.
#[must_use]
pub fn gemini() -> Launch {
    agent("@google/gemini-cli/bundle/gemini.js")
}

fn agent(entry: &str) -> Launch {
    let entry = Path::new("agents/node_modules").join(entry);
    Launch::program("node").arg(utf8(&installed(&entry)))
}

fn command_line(entry: &str) -> Launch {
    let entry = Path::new("clients/node_modules").join(entry);
    Launch::program(node_beside("clients-node")).arg(utf8(&installed(&entry)))
}

/// Starts a server of the fleet from npm; `entry` is the file below `node_modules` that its package
/// declares to be its program. Some of them need a newer Node than the machine may have.
#[must_use]
pub fn fleet_npm(entry: &str) -> Launch {
    let modules = Path::new("fleet/node_modules");
    Launch::program(newer_node()).arg(utf8(&installed(&modules.join(entry))))
}

/// Starts a server of the fleet from PyPI by the program that its package installs.
#[must_use]
pub fn fleet_python(venv: &str, program: &str) -> Launch {
    let inside = if cfg!(windows) {
        format!("{venv}/Scripts/{program}.exe")
    } else {
        format!("{venv}/bin/{program}")
    };
    Launch::program(installed(Path::new(&inside)))
}

/// The Node for partners that do not run on every version.
fn newer_node() -> PathBuf {
    node_beside("node")
}

/// The Node that was installed beside the partners, which is the case where the machine's own is too old.
fn node_beside(name: &str) -> PathBuf {
    let modules = folder(std::env::var_os(VARIABLE).as_deref())
        .join(name)
        .join("node_modules");
    let name = if cfg!(windows) { "node.exe" } else { "node" };
    let packages = std::fs::read_dir(modules).into_iter().flatten().flatten();
    let mut nodes = packages.map(|package| package.path().join("bin").join(name));
    let installed = nodes.find(|node| node.is_file());
    installed.unwrap_or_else(|| PathBuf::from("node"))
}

/// A server from npm that is made to listen where we want it: some have their ports in their code.
fn node_on_port(entry: &Path, port: u16) -> Launch {
    let listen = Path::new(env!("CARGO_MANIFEST_DIR")).join("partners/node/listen.cjs");
    let scope = Path::new("npm/node_modules/@modelcontextprotocol");
    Launch::program("node")
        .arg("--require")
        .arg(utf8(&listen))
        .arg(utf8(&installed(&scope.join(entry))))
        .env("PARTNER_PORT", port.to_string())
}

/// A server from npm, started through `node` itself: the wrappers in `.bin` differ by platform.
fn npm(package: &str) -> Launch {
    let entry = PathBuf::from("npm/node_modules/@modelcontextprotocol")
        .join(package)
        .join("dist/index.js");
    Launch::program("node").arg(utf8(&installed(&entry)))
}

fn module(venv: &str, module: &str) -> Launch {
    Launch::program(python(venv)).arg("-m").arg(module)
}

fn script(venv: &str, name: &str) -> Launch {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("partners/python")
        .join(name);
    // -B: nothing is written beside the sources.
    Launch::program(python(venv)).arg("-B").arg(utf8(&path))
}

fn python(venv: &str) -> PathBuf {
    let inside = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    installed(&Path::new(venv).join(inside))
}

fn installed(relative: &Path) -> PathBuf {
    let folder = folder(std::env::var_os(VARIABLE).as_deref());
    require(&folder, relative).unwrap_or_else(|missing| panic!("{missing}"))
}

fn folder(variable: Option<&OsStr>) -> PathBuf {
    match variable {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join("target/partners"),
    }
}

fn require(folder: &Path, relative: &Path) -> Result<PathBuf, String> {
    let path = folder.join(relative);
    if path.exists() {
        return Ok(path);
    }
    Err(format!(
        "a partner is not installed: {} does not exist; run `cargo xtask check` (or `cargo xtask \
         partners`, which only installs)",
        path.display()
    ))
}

fn utf8(path: &Path) -> String {
    path.to_str()
        .unwrap_or_else(|| panic!("a path of a test must be UTF-8: {}", path.display()))
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_partner_is_an_error_that_names_the_command_to_run() {
        let error = require(Path::new("no-such-folder"), Path::new("mcp1")).unwrap_err();
        assert!(error.contains("run `cargo xtask check`"), "{error}");
    }

    #[test]
    fn a_partner_that_is_there_is_found() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            require(here, Path::new("Cargo.toml")),
            Ok(here.join("Cargo.toml"))
        );
    }

    #[test]
    fn the_variable_wins_over_the_folder_of_the_workspace() {
        assert_eq!(folder(Some(OsStr::new("other"))), Path::new("other"));
        assert!(folder(None).ends_with("target/partners"));
    }
}
