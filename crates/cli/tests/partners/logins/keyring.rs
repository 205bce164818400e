//! The key of stored logins in the keyring of GNOME.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_tests::partners;

use super::{Stage, end_of_visit};
use crate::home::Home;
use crate::run::Run;
use crate::serving::Serving;

/// The longest wait for the keyring to be there.
const PATIENCE: Duration = Duration::from_secs(30);
const PASSWORD: &str = "the password of the keyring";

/// A session bus with a keyring on it, which end with their value.
struct Session {
    child: Child,
    bus: String,
}

impl Session {
    /// Starts them with the keyrings of this home. The password opens the one of the login, and is that of a new one.
    fn start(home: &Home, password: &str) -> Self {
        // The shell ends the keyring, and with it the bus, once its stdin closes: also where a test is killed.
        let script = r#"echo "$DBUS_SESSION_BUS_ADDRESS"
            printf '%s' "$0" | "$@" >/dev/null 2>&1 &
            read -r _
            kill $!
            wait"#;
        let daemon = partners::keyring_daemon();
        let runtime = home.path("runtime");
        fs::create_dir_all(&runtime).unwrap();
        fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
        let mut child = Command::new("dbus-run-session")
            .args(["--", "/bin/sh", "-c", script, password])
            .arg(&daemon.program)
            .args(&daemon.args)
            .envs(daemon.env.iter().cloned())
            .env("HOME", home.path(""))
            .env("XDG_DATA_HOME", home.path("data"))
            .env("XDG_RUNTIME_DIR", &runtime)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut bus = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut bus).unwrap();
        let session = Self {
            child,
            bus: bus.trim().to_owned(),
        };
        session.wait_for_keyring();
        session
    }

    fn wait_for_keyring(&self) {
        let ends = Instant::now() + PATIENCE;
        // The bus itself is asked: a question to the keyring would start another one.
        while !self.ask(&[
            "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.GetNameOwner",
            "string:org.freedesktop.secrets",
        ]) {
            assert!(Instant::now() < ends, "no keyring came to the bus");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Locks the keyring of the login.
    fn lock(&self) {
        assert!(self.ask(&[
            "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets",
            "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/collection/login",
        ]));
    }

    fn ask(&self, words: &[&str]) -> bool {
        let mut command = Command::new("dbus-send");
        command
            .args(["--session", "--print-reply"])
            .args(words)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus);
        command.output().unwrap().status.success()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ends the shell's wait.
        let closed = self
            .child
            .stdin
            .take()
            .map(|mut stdin| stdin.write_all(b"\n"));
        drop(closed);
        self.child.wait().ok();
    }
}

/// A home with a server that wants a login, whose issuer is the strict one.
fn stage(issuer: &Serving) -> Stage {
    Stage::new(issuer.url(), &json!({}))
}

/// Runs the program with the keyring of a session.
fn run(stage: &Stage, session: &Session, args: &[&str]) -> Run {
    let mut command = stage.home.command(args);
    command.env("DBUS_SESSION_BUS_ADDRESS", &session.bus);
    Run::of(command.output().unwrap())
}

fn log_in(stage: &Stage, session: &Session) {
    let begun = run(stage, session, &["login", "tickets", "--no-browser"]);
    assert_eq!(begun.code, Some(0), "{}", begun.stderr);
    // A key that goes into a file would be a warning.
    assert_eq!(
        begun.stderr.matches("warning: ").count(),
        0,
        "{}",
        begun.stderr
    );
    let answer = end_of_visit(begun.stdout.trim());
    let done = run(stage, session, &["login", "tickets", "--finish", &answer]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

fn call(stage: &Stage, session: &Session) -> Run {
    run(stage, session, &["call", "tickets/echo", "message=hello"])
}

fn files(stage: &Stage) -> Vec<String> {
    let entries = fs::read_dir(stage.home.path("state/switchboard/tokens")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}

#[test]
fn a_login_keeps_its_key_in_the_keyring_and_other_processes_read_it() {
    let issuer = Serving::start(&["--oauth"]);
    let stage = stage(&issuer);
    let session = Session::start(&stage.home, PASSWORD);
    log_in(&stage, &session);
    assert_eq!(files(&stage), ["tokens.json", "tokens.keyring"]);
    assert_eq!(call(&stage, &session).stdout, "hello\n");
    let status = run(&stage, &session, &["auth", "status", "tickets", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    let store = status["store"].as_str().unwrap();
    assert!(
        store.ends_with("a key in the keyring of the system"),
        "{store}"
    );
    // Another session has another keyring, without the key.
    let elsewhere = Session::start(&Home::new(), PASSWORD);
    let other = call(&stage, &elsewhere);
    assert_eq!(other.code, Some(6), "{}", other.stderr);
    drop(elsewhere);
    let out = run(&stage, &session, &["logout", "--all"]);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    assert_eq!(files(&stage), [""; 0]);
}

#[test]
fn a_login_whose_keyring_is_locked_is_stored_but_locked() {
    let issuer = Serving::start(&["--oauth"]);
    let stage = stage(&issuer);
    let session = Session::start(&stage.home, PASSWORD);
    log_in(&stage, &session);
    session.lock();
    let status = run(&stage, &session, &["auth", "status", "tickets", "--json"]);
    assert_eq!(status.code, Some(6), "{}", status.stderr);
    let error = status.error();
    let title = "the login is stored, but its key is locked";
    assert_eq!(error["message"], title);
    let hints = error["hints"].to_string();
    assert!(hints.contains("unlock"), "{hints}");
    let called = call(&stage, &session);
    assert_eq!(called.code, Some(6), "{}", called.stderr);
    assert!(called.stderr.contains(title), "{}", called.stderr);
    assert_eq!(files(&stage), ["tokens.json", "tokens.keyring"]);
    drop(session);
    // As after the next login of the person: nothing is lost.
    let session = Session::start(&stage.home, PASSWORD);
    let called = call(&stage, &session);
    assert_eq!(called.stdout, "hello\n", "{}", called.stderr);
}
