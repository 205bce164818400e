//! A home folder whose config has one server of others', and a terminal in it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use switchboard_tests::partners::Launch;

use crate::home::Home;
use crate::pty::Pty;

pub(crate) use crate::prompt::READY;

/// A home with one server in its own config.
pub(crate) struct Stage {
    pub(crate) home: Home,
}

impl Stage {
    /// Describes the server under a name, with more members for its entry and for the whole file.
    pub(crate) fn new(name: &str, launch: &Launch, entry: Value, file: Value) -> Self {
        let home = Home::new();
        let env: serde_json::Map<String, Value> = launch
            .env
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let mut server = json!({"command": program(launch), "args": launch.args, "env": env});
        merge(&mut server, entry);
        let mut whole = json!({"mcpServers": {name: server}});
        merge(&mut whole, file);
        home.write("config/switchboard/mcp.json", &whole.to_string());
        Self { home }
    }

    /// The binary, not started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.home.command(args)
    }

    /// The binary at a terminal: a prompt, where there are no words.
    pub(crate) fn start(&self, args: &[&str]) -> Pty {
        Pty::start(self.command(args), 100)
    }
}

fn merge(one: &mut Value, other: Value) {
    if let (Value::Object(one), Value::Object(other)) = (one, other) {
        one.extend(other);
    }
}

/// The program by its whole path: the home has no `PATH` of the machine's.
fn program(launch: &Launch) -> String {
    let found = match launch.program.is_absolute() {
        true => launch.program.clone(),
        false => {
            let path = std::env::var_os("PATH").unwrap();
            let places = std::env::split_paths(&path);
            let mut places = places.map(|folder| folder.join(&launch.program));
            places.find(|place| Path::is_file(place)).unwrap()
        }
    };
    found.to_str().unwrap().to_owned()
}
