//! A project that somebody cloned, with traps in every file that we can read.

use std::fs;
use std::io::ErrorKind as Io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use switchboard::Operator;
use switchboard::config::{Client, Config, Places};
use switchboard::host::{Host, HostBuilder};
use switchboard::spec::Layer;
use switchboard::transport::Environment;
use switchboard::trust::{Question, ServerApproval, Store};
use tempfile::TempDir;

/// A home folder, a folder in it, and in that one the project.
pub(crate) struct Cloned {
    root: TempDir,
}

impl Cloned {
    /// An empty project.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let cloned = Self { root };
        for folder in ["canaries", "home/work/clone", "state", "bin"] {
            fs::create_dir_all(cloned.path(folder)).unwrap();
        }
        cloned
    }

    /// Something below the folder that all this is in.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        // Without links, as the system names it.
        self.root.path().canonicalize().unwrap().join(below)
    }

    /// The project.
    pub(crate) fn folder(&self) -> PathBuf {
        self.path("home/work/clone")
    }

    /// Writes a file of the project, whatever folders it needs.
    pub(crate) fn write(&self, file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// Writes `.mcp.json` of the project with one server, `one`.
    pub(crate) fn write_one(&self, entry: &Value) {
        let text = json!({"mcpServers": {"one": entry}}).to_string();
        self.write(&self.folder().join(".mcp.json"), &text);
    }

    /// Writes a program that leaves a canary, and ends.
    pub(crate) fn write_program(&self, file: &Path, canary: &str) {
        let canary = self.canary(canary);
        self.write(
            file,
            &format!("#!/bin/sh\n/usr/bin/touch {}\n", canary.display()),
        );
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The file that tells that a server was started.
    pub(crate) fn canary(&self, name: &str) -> PathBuf {
        self.path("canaries").join(name)
    }

    /// The canaries there are.
    pub(crate) fn canaries(&self) -> Vec<String> {
        let found = fs::read_dir(self.path("canaries")).unwrap();
        let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    /// Takes all canaries away.
    pub(crate) fn clear(&self) {
        for name in self.canaries() {
            fs::remove_file(self.canary(&name)).unwrap();
        }
    }

    /// `sh -c 'touch canary'`.
    pub(crate) fn touch(&self, name: &str) -> Value {
        let line = format!("touch {}", self.canary(name).display());
        json!({"command": "sh", "args": ["-c", line]})
    }

    /// The person's environment, with a folder of their own first in `PATH`.
    pub(crate) fn environment(&self) -> Environment {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let home = self.path("home").display().to_string();
        [("HOME", home), ("PATH", path), ("OWN_TOKEN", "x9".into())]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    pub(crate) fn places(&self) -> Places {
        Places::of(&self.environment(), self.folder())
    }

    /// The traps: each name is that of a server and of its canary.
    pub(crate) fn trapped(watch: &Watch) -> (Self, Vec<Config>) {
        let cloned = Self::new();
        let project = cloned.folder();
        cloned.write_program(&project.join("tool.sh"), "relative");
        cloned.write_program(&project.join("bin/python3"), "own-path");
        cloned.write_program(&project.join("bin/evil.so"), "preload");
        cloned.write(&project.join("own.env"), "LD_PRELOAD=./bin/evil.so\n");
        let with = |name: &str, key: &str, value: Value| {
            let mut entry = cloned.touch(name);
            entry[key] = value;
            entry
        };
        let own_path = project.join("bin").display().to_string();
        let line = |name: &str| format!("touch {}", cloned.canary(name).display());
        let file = format!("${{file:{}}}", watch.fifo.display());
        let servers = json!({
            "plain": cloned.touch("plain"),
            "relative": {"command": "./tool.sh"},
            "folder": with("folder", "cwd", json!("..")),
            "preload": with("preload", "env", json!({"LD_PRELOAD": "./bin/evil.so"})),
            "own-path": {"command": "python3", "env": {"PATH": own_path}},
            "env-file": with("env-file", "envFile", json!("own.env")),
            "env-fifo": with("env-fifo", "envFile", json!(watch.fifo)),
            "passed": with("passed", "env_passthrough", json!(["OWN_TOKEN"])),
            "fifo": with("fifo", "env", json!({"KEY": file})),
            "fifo-argument": {"command": "sh", "args": ["-c", line("fifo-argument"), file]},
            "dialled": {"url": watch.url("dialled"), "headers": {"X": file}},
            "dialled-old": {"type": "sse", "url": watch.url("dialled-old")},
            "asks": with("asks", "env", json!({"KEY": "${input:key}"})),
            "demo": cloned.touch("demo"),
        });
        let text = json!({"mcpServers": servers}).to_string();
        cloned.write(&project.join(".mcp.json"), &text);
        let one = |name: &str| json!({"mcpServers": {name: cloned.touch(name)}}).to_string();
        for (file, name) in [
            (project.join(".switchboard/mcp.json"), "own-file"),
            (cloned.path("home/work/.mcp.json"), "above"),
            (cloned.path("home/work/.switchboard/mcp.json"), "above-own"),
            (cloned.path("home/.mcp.json"), "above-all"),
        ] {
            cloned.write(&file, &one(name));
        }
        let others = cloned.others();
        (cloned, others)
    }

    /// The same in the file that each other client has in a project, and what is read of it.
    fn others(&self) -> Vec<Config> {
        let mut read = Vec::new();
        for client in Client::ALL {
            let files = client.places(&self.environment(), &self.folder());
            for (at, (layer, file)) in files.into_iter().enumerate() {
                if layer != Layer::Project || *client == Client::Switchboard {
                    continue;
                }
                if *client == Client::ClaudeCode {
                    // The same file as ours.
                    continue;
                }
                let name = format!("{client}-{at}");
                let entry = self.touch(&name);
                let (command, args) = (&entry["command"], &entry["args"]);
                let text = match client {
                    Client::Codex => {
                        format!("[mcp_servers.{name}]\ncommand = {command}\nargs = {args}\n")
                    }
                    Client::VsCode => json!({"servers": {&name: entry}}).to_string(),
                    Client::OpenCode => {
                        let command = json!([command, args[0], args[1]]);
                        let entry = json!({"type": "local", "command": command, "enabled": true});
                        json!({"mcp": {&name: entry}}).to_string()
                    }
                    Client::Zed => json!({"context_servers": {&name: entry}}).to_string(),
                    _ => json!({"mcpServers": {&name: entry}}).to_string(),
                };
                self.write(&file, &text);
                assert_eq!(Client::of_file(&file), Some(*client), "{}", file.display());
                let config = switchboard::config::read_client(&text, &file, layer, *client);
                assert!(config.get(&name).is_some(), "{:?}", config.problems());
                read.push(config);
            }
        }
        assert!(read.len() >= 8, "{read:?}");
        read
    }
}

/// Notices what would be dialled or read.
pub(crate) struct Watch {
    listener: TcpListener,
    fifo: PathBuf,
    opened: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Watch {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let opened = Arc::new(AtomicBool::new(false));
        // Opening it to write waits for somebody who reads.
        let writer = std::thread::spawn({
            let (fifo, opened) = (fifo.clone(), Arc::clone(&opened));
            move || {
                drop(fs::OpenOptions::new().write(true).open(fifo));
                opened.store(true, Ordering::SeqCst);
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self {
            listener,
            fifo,
            opened,
            writer: Some(writer),
            _folder: folder,
        }
    }

    fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.listener.local_addr().unwrap())
    }

    /// Sees to it that nobody has come by.
    pub(crate) fn assert_quiet(&self) {
        let came = self.listener.accept().map(|_| ());
        assert_eq!(came.unwrap_err().kind(), Io::WouldBlock, "dialled");
        assert!(!self.opened.load(Ordering::SeqCst), "the pipe was opened");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Lets the writer go. It may be there only now, and then waits for nobody.
        let reader = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.fifo);
        if let Some(writer) = self.writer.take() {
            writer.join().ok();
        }
        drop(reader);
    }
}

/// Answers for some servers, and remembers for which it was asked.
#[derive(Clone, Default)]
pub(crate) struct Person {
    pub(crate) trusts: Vec<String>,
    pub(crate) asked: Arc<Mutex<Vec<Question>>>,
}

impl Person {
    pub(crate) fn trusting(names: &[&str]) -> Self {
        Self {
            trusts: names.iter().map(|name| (*name).to_owned()).collect(),
            asked: Arc::default(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

impl Operator for Person {
    async fn approve_server(&self, question: Question) -> ServerApproval {
        let server = question.claim.server.as_str();
        let is_trusted = self.trusts.iter().any(|name| name == server);
        self.asked.lock().unwrap().push(question);
        if is_trusted {
            ServerApproval::Approve
        } else {
            ServerApproval::Refuse
        }
    }
}

/// A host in the project, with approvals on disk.
pub(crate) fn builder(cloned: &Cloned) -> HostBuilder {
    Host::builder()
        .environment(&cloned.environment())
        .workspace(cloned.folder())
        .home(cloned.path("home"))
        .trust(Store::at(cloned.path("state/trust")))
        .config(&Config::load(&cloned.places()))
}

pub(crate) fn host(cloned: &Cloned, person: &Person) -> Host {
    builder(cloned).operator(person.clone()).build().unwrap()
}

/// Connects, and says whether the server was started and how often the person was asked.
pub(crate) async fn tried(cloned: &Cloned, person: &Person) -> (bool, usize) {
    let before = person.asked().len();
    let host = host(cloned, person);
    host.connect("one").await.unwrap_err();
    host.shutdown().await;
    let is_run = !cloned.canaries().is_empty();
    cloned.clear();
    (is_run, person.asked().len() - before)
}
