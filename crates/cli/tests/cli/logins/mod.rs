//! Logins: with a browser, by a pasted address, on another device and in two processes, against the issuer of the
//! test server.

mod canaries;
mod commands;
mod failures;
mod keyring;
mod offers;
mod storage;
mod terminal;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use switchboard_tests::browser::{Browser, Page};

use crate::home::Home;
use crate::pty::Pty;
use crate::run::Run;
use crate::serving::Serving;

/// A home with a server that wants a login, and a browser that writes down what it is to open.
pub(super) struct Stage {
    pub(super) home: Home,
    pub(super) issuer: Serving,
}

/// The first letters of all tokens of the issuer.
const CANARIES: [&str; 2] = ["access-", "refresh-"];

impl Stage {
    /// A server named `tickets`, whose issuer has these settings.
    pub(super) fn new(settings: &[&str]) -> Self {
        Self::with(settings, &[])
    }

    /// The same with faults of the issuer.
    pub(super) fn with(settings: &[&str], faults: &[&str]) -> Self {
        let mut args = vec!["--oauth"];
        args.extend(settings.iter().flat_map(|it| ["--oauth-set", it]));
        args.extend(faults.iter().flat_map(|it| ["--issuer-fault", it]));
        Self::start(&args)
    }

    /// The same with resources that can be watched.
    pub(super) fn growing() -> Self {
        Self::start(&["--oauth", "--growing"])
    }

    fn start(args: &[&str]) -> Self {
        let issuer = Serving::start(args);
        let home = Home::new();
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$#:$1\" >> '{}'\n",
            home.path("opened").display()
        );
        home.program("browser", &script);
        let stage = Self { home, issuer };
        stage.describe("{}");
        stage
    }

    /// Writes the entry of the server, with this `oauth` block.
    pub(super) fn describe(&self, oauth: &str) {
        let url = self.issuer.url();
        let text =
            format!(r#"{{"mcpServers": {{"tickets": {{"url": "{url}", "oauth": {oauth}}}}}}}"#);
        self.home.write("config/switchboard/mcp.json", &text);
    }

    /// The program; never with the keyring of the machine.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("SWITCHBOARD_KEYRING", "off");
        command
    }

    /// Runs it on pipes.
    pub(super) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap()).checked(args)
    }

    /// Runs it at a terminal, with a browser.
    pub(super) fn pty(&self, args: &[&str]) -> Pty {
        let mut command = self.command(args);
        command.env("BROWSER", self.home.path("bin/browser"));
        Pty::start(command, 200)
    }

    /// Waits for the address that the browser was to open.
    pub(super) fn opened(&self) -> String {
        self.home.opened_address()
    }

    /// Logs in without a terminal, in two processes.
    pub(super) fn log_in(&self, more: &[&str]) {
        let begun = self.run(&[&["login", "tickets", "--no-browser"], more].concat());
        assert_eq!(begun.code, Some(0), "{}", begun.stderr);
        let answer = answered(begun.stdout.trim());
        let done = self.run(&["login", "tickets", "--finish", &answer]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }

    /// A count of the issuer's journal.
    pub(super) fn count(&self, name: &str) -> u64 {
        let base = self.issuer.url().trim_end_matches("/mcp");
        let page = visited(&format!("{base}/test/journal"));
        let journal: Value = serde_json::from_str(&page.body).unwrap();
        journal["counts"][name].as_u64().unwrap()
    }

    /// Has the issuer end all access tokens.
    pub(super) fn expire(&self) {
        let base = self.issuer.url().trim_end_matches("/mcp");
        let authority = base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(authority).unwrap();
        let request = format!(
            "POST /test/expire HTTP/1.1\r\nhost: {authority}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }

    /// The folder of stored logins.
    pub(super) fn tokens(&self) -> PathBuf {
        self.home.path("state/switchboard/tokens")
    }
}

/// Goes where a person would go with a browser.
pub(super) fn visited(url: &str) -> Page {
    Browser::default().visit(url).unwrap()
}

/// The address that a browser ends at, which cannot reach this machine.
pub(super) fn answered(url: &str) -> String {
    let mut browser = Browser::default();
    browser.stops_at = Some("/callback".to_owned());
    browser.visit(url).unwrap().url
}

/// Makes sure that no token stands in any file below a folder.
pub(super) fn assert_no_token_below(folder: &Path) {
    let mut files = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert_no_token_in(&text);
        }
    }
    assert!(files > 2, "only {files} files were looked at");
}

/// Makes sure that no token stands in a text.
pub(super) fn assert_no_token_in(text: &str) {
    for canary in CANARIES {
        assert!(!text.contains(canary), "{text}");
    }
}
