//! Logins at issuers that others wrote: at a terminal with a browser, by a pasted address, on another device and in
//! two processes.

#[cfg(target_os = "linux")]
mod keyring;
mod oidc;
mod oidc_clients;
mod own_issuers;

use std::ops::Deref;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};
use switchboard_tests::browser::{Browser, Page};
use switchboard_tests::partners::Launch;
use switchboard_tests::running::Running;
use tokio::runtime::{Builder, Handle};

use crate::home::Home;
use crate::pty::Pty;
use crate::run::Run;

const ASKED: &str = "Log in there? [y/N] ";
const PASTE: &str = "paste the address that it ended at: ";

/// A partner that runs, and ends with its value.
pub(crate) struct Partner(Running);

impl Partner {
    /// Starts it on a port that it picks.
    pub(crate) fn start(launch: impl Fn(u16) -> Launch) -> Self {
        Self(runtime().block_on(Running::start(launch)))
    }

    /// Waits for a line that contains `part`.
    fn wait_for(&self, part: &str) {
        runtime().block_on(self.0.says(part));
    }
}

impl Deref for Partner {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.0
    }
}

/// The runtime that reads the output of partners: a full pipe would stop them.
fn runtime() -> &'static Handle {
    static HANDLE: OnceLock<Handle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        handle
    })
}

/// A home with a server that wants a login, and a browser that writes down the address to open.
pub(crate) struct Stage {
    pub(crate) home: Home,
}

impl Stage {
    /// A server named `tickets`, with this `oauth` block.
    pub(crate) fn new(url: &str, oauth: &Value) -> Self {
        let home = Home::new();
        let opened = home.path("opened");
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$#:$1\" >> '{}'\n",
            opened.display()
        );
        home.program("browser", &script);
        let file = json!({"mcpServers": {"tickets": {"url": url, "oauth": oauth}}});
        home.write("config/switchboard/mcp.json", &file.to_string());
        Self { home }
    }

    /// The program; never with the keyring of the machine.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.env("SWITCHBOARD_KEYRING", "off");
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// Runs it at a terminal, with a browser.
    fn pty(&self, args: &[&str]) -> Pty {
        let mut command = self.command(args);
        command.env("BROWSER", self.home.path("bin/browser"));
        Pty::start(command, 200)
    }

    /// Waits for the address that the browser was to open.
    fn opened(&self) -> String {
        self.home.opened_address()
    }

    /// Logs in at a terminal: the person says yes, and the browser comes back to the program.
    fn log_in_with_browser(&self) {
        let mut pty = self.pty(&["login", "tickets"]);
        pty.wait_for(ASKED);
        pty.send(b"y\r");
        let page = visit(&self.opened());
        assert_eq!(page.status, 200, "{page:?}");
        pty.wait_for("logged in to tickets at http://");
        assert_eq!(pty.finish().0, 0);
    }

    /// Logs in at a terminal without a browser: the person pastes the address that one ended at.
    fn log_in_by_paste(&self) {
        let mut pty = Pty::start(self.command(&["login", "tickets"]), 200);
        pty.wait_for(ASKED);
        pty.send(b"y\r");
        pty.wait_for("open this address in a browser, on this machine or on another:");
        pty.wait_for(PASTE);
        let written = pty.written();
        let mut lines = written.lines().map(str::trim);
        let address = lines.find(|line| line.contains("code_challenge="));
        let answer = end_of_visit(address.unwrap_or_else(|| panic!("{written}")));
        pty.send(format!("{answer}\r").as_bytes());
        pty.wait_for("logged in to tickets at http://");
        assert_eq!(pty.finish().0, 0);
    }

    /// Logs in without a terminal, in two processes.
    fn log_in_in_two_processes(&self) {
        let begun = self.run(&["login", "tickets", "--no-browser"]);
        assert_eq!(begun.code, Some(0), "{}", begun.stderr);
        let answer = end_of_visit(begun.stdout.trim());
        let done = self.run(&["login", "tickets", "--finish", &answer]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }

    /// Logs in on another device, whose browser opens the whole address.
    fn log_in_by_device(&self) {
        let mut pty = self.pty(&["login", "tickets", "--device"]);
        pty.wait_for("and enter the code: ");
        pty.wait_for("  or open: ");
        pty.wait_for("\r\n");
        let written = pty.written();
        let mut lines = written.lines();
        let address = lines.find_map(|line| line.trim().strip_prefix("or open: "));
        let page = visit(address.unwrap_or_else(|| panic!("{written}")));
        assert_eq!(page.status, 200, "{page:?}");
        pty.wait_for("logged in to tickets at http://");
        assert_eq!(pty.finish().0, 0);
    }

    /// Calls the tool `echo`, on pipes: a login that is needed would fail.
    fn call(&self) {
        let called = self.run(&["call", "tickets/echo", "message=hello"]);
        assert_eq!(
            (called.code, called.stdout.as_str()),
            (Some(0), "hello\n"),
            "{}",
            called.stderr
        );
    }

    /// The document of `auth status`.
    fn status(&self) -> Value {
        let run = self.run(&["auth", "status", "tickets", "--json"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    }
}

/// Goes where a person would go with a browser.
fn visit(url: &str) -> Page {
    Browser::default().visit(url).unwrap()
}

/// The address that a browser ends at which cannot reach this machine.
fn end_of_visit(url: &str) -> String {
    let mut browser = Browser::default();
    browser.stops_at = Some("/callback".to_owned());
    browser.visit(url).unwrap().url
}
