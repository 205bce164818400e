//! `switchboard serve` as a process, with servers in a config of its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The binary.
pub(crate) const OWN: &str = env!("CARGO_BIN_EXE_switchboard");

/// The folders of a gateway, with its config.
pub(crate) struct Front(TempDir);

impl Front {
    /// A gateway to these servers, which are the member `mcpServers` of its config.
    pub(crate) fn new(servers: &Value) -> Self {
        Self::with(&json!({"mcpServers": servers}))
    }

    /// A gateway with this config.
    pub(crate) fn with(config: &Value) -> Self {
        let text = config.to_string();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config/switchboard");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("mcp.json"), text).unwrap();
        Self(folder)
    }

    /// A gateway to the bundled server over stdio, which is called `demo`.
    pub(crate) fn to_test_server(args: &[&str]) -> Self {
        let args = [&["test-server"], args].concat();
        Self::new(&json!({"demo": {"command": OWN, "args": args}}))
    }

    /// The variables that keep it away from the files of the machine's user.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let folders = [
            ("HOME", ""),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_RUNTIME_DIR", "run"),
        ];
        let path = |folder| self.0.path().join(folder).to_str().unwrap().to_owned();
        let variables = folders.into_iter();
        variables
            .map(|(name, folder)| (name.to_owned(), path(folder)))
            .collect()
    }

    /// `switchboard serve` over stdio, not started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(OWN);
        command.arg("serve").args(args).envs(self.env());
        command.current_dir(self.0.path());
        command
    }

    /// `switchboard serve` over HTTP, ready for clients.
    pub(crate) fn http(&self) -> Http {
        self.http_with(&["--http", "127.0.0.1:0", "--no-auth"])
    }

    /// The same with these options.
    pub(crate) fn http_with(&self, args: &[&str]) -> Http {
        // The first list waits until a server that was never seen has begun.
        let mut command = self.command(&[args, &["--first-list", "30s"]].concat());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Http::start(command.stderr(Stdio::piped()), "serving at ")
    }
}

/// A process that serves over HTTP; it ends with its value.
pub(crate) struct Http {
    child: Child,
    /// What it prints: the URL.
    pub(crate) url: String,
}

impl Http {
    /// The bundled server alone.
    pub(crate) fn test_server(args: &[&str]) -> Self {
        let mut command = Command::new(OWN);
        command.args(["test-server", "--port", "0"]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Self::start(&mut command, "listening on ")
    }

    fn start(command: &mut Command, before_url: &str) -> Self {
        let mut child = command.spawn().unwrap();
        let output: Box<dyn std::io::Read + Send> = match child.stdout.take() {
            Some(stdout) => Box::new(stdout),
            None => Box::new(child.stderr.take().unwrap()),
        };
        let mut lines = BufReader::new(output).lines();
        let url = loop {
            let line = lines.next().expect("it ends without a URL").unwrap();
            if let Some((_, url)) = line.split_once(before_url) {
                break url.to_owned();
            }
        };
        // Read to the end, so that it never waits for us.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { child, url }
    }

    /// The address of one server behind a gateway, where nothing is renamed.
    pub(crate) fn server(&self, name: &str) -> String {
        format!("{}/s/{name}", self.url)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
