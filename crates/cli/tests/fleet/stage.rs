//! A home folder whose config has some servers of the fleet, and nothing remembered.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};
use switchboard_tests::partners::Launch;

use crate::home::Home;
use crate::run::Run;
use crate::servers::{Server, servers};

/// Every request to the network ends at once, as on a machine that has none, and none is made to count us.
const OFFLINE: [(&str, &str); 5] = [
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("NODE_USE_ENV_PROXY", "1"),
    // Node warns that it is new.
    ("NODE_NO_WARNINGS", "1"),
    ("DO_NOT_TRACK", "1"),
];

/// Long enough for ten servers on a busy machine: how fast they are is not what is looked at.
const CONNECT_SECONDS: u32 = 240;

/// A home with servers in its own config.
pub(crate) struct Stage {
    home: Home,
    servers: Vec<Server>,
}

impl Stage {
    /// A new home with these servers of the fleet.
    pub(crate) fn new(which: RangeInclusive<usize>) -> Self {
        let home = Home::new();
        home.write("vault/.obsidian/app.json", "{}");
        let all = servers(&home).into_iter().enumerate();
        let servers: Vec<Server> = all
            .filter(|(index, _)| which.contains(index))
            .map(|(_, server)| server)
            .collect();
        let entries: Map<String, Value> = servers
            .iter()
            .map(|server| (server.name.to_owned(), entry(&server.launch)))
            .collect();
        home.write(
            "config/switchboard/mcp.json",
            &json!({"mcpServers": entries}).to_string(),
        );
        Self { home, servers }
    }

    /// The servers of its config.
    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Runs the binary.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// Runs a verb about each server by itself, all at the same time.
    pub(crate) fn run_at_once(&self, verb: &str) -> Vec<Run> {
        let start = |server: &Server| {
            let mut command = self.command(&[verb, server.name, "--json"]);
            let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let children: Vec<Child> = self.servers.iter().map(start).collect();
        let ended = children
            .into_iter()
            .map(|child| child.wait_with_output().unwrap());
        ended.map(Run::of).collect()
    }

    /// Says which servers outlived the runs that started them.
    pub(crate) fn leftovers(&self) -> Option<String> {
        let run = self.run(&["leftovers", "--json"]);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        (document != json!({"leftovers": []})).then_some(run.stdout)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("PATH", "/usr/bin:/bin");
        command
    }
}

fn entry(launch: &Launch) -> Value {
    let own = launch
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Map<String, Value> = own
        .chain(OFFLINE)
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    json!({
        "command": program(&launch.program),
        "args": launch.args,
        "env": env,
        "connect_timeout": CONNECT_SECONDS,
    })
}

/// The program by its whole path: the home has no `PATH` of the machine's.
fn program(program: &Path) -> String {
    let found = if program.is_absolute() {
        program.to_owned()
    } else {
        let path = std::env::var_os("PATH").unwrap();
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
        places.find(|place| place.is_file()).unwrap()
    };
    found.to_str().unwrap().to_owned()
}
