//! `up`, `down` and `status`, and commands that use the daemon.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;
use crate::keepers::with_argument;
use crate::run::{Run, said};

/// A home with servers that say their name and their process id.
struct Stage {
    home: Home,
    /// An argument of all their processes.
    mark: String,
}

impl Stage {
    fn new() -> Self {
        let home = Home::new();
        let mark = home.path("mark").display().to_string();
        let own = env!("CARGO_BIN_EXE_switchboard");
        let entry = |era| json!({"command": own, "args": ["test-server", "--talking", "--era", era, "--instance", mark]});
        let servers = json!({"legacy": entry("legacy"), "modern": entry("modern")});
        home.write(
            "config/switchboard/mcp.json",
            &json!({"mcpServers": servers}).to_string(),
        );
        Self { home, mark }
    }

    /// The same with a daemon.
    fn up() -> Self {
        let stage = Self::new();
        let run = stage.home.run(&["up"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        stage
    }

    fn status(&self) -> Value {
        let run = self.home.run(&["status", "--json"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        serde_json::from_str(&run.stdout).unwrap()
    }

    fn pid(&self) -> Pid {
        let pid = self.status()["pid"].as_i64().unwrap();
        Pid::from_raw(pid.try_into().unwrap()).unwrap()
    }

    /// The process of a server, as it answers a call.
    fn whoami(&self, server: &str, options: &[&str]) -> String {
        let tool = format!("{server}/whoami");
        let run = self.home.run(&[&["call", &tool][..], options].concat());
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        run.stdout
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A test that has failed leaves no daemon either.
        self.home.command(&["down"]).output().ok();
    }
}

#[test]
fn the_daemon_lends_the_same_process_to_one_command_after_the_other() {
    let stage = Stage::up();
    for server in ["legacy", "modern"] {
        let first = stage.whoami(server, &[]);
        assert_eq!(stage.whoami(server, &[]), first, "{server}");
        assert_ne!(stage.whoami(server, &["--no-daemon"]), first, "{server}");
    }
    let mut direct = stage.home.command(&["call", "legacy/whoami"]);
    let direct = Run::of(direct.env("SWITCHBOARD_NO_DAEMON", "1").output().unwrap());
    assert_ne!(direct.stdout, stage.whoami("legacy", &[]));
    let status = stage.status();
    let servers = status["servers"].as_array().unwrap();
    let used: Vec<_> = servers
        .iter()
        .map(|it| (&it["server"], &it["uses"], &it["in_use"]))
        .collect();
    let (legacy, modern) = (json!("legacy"), json!("modern"));
    assert_eq!(
        used,
        [
            (&legacy, &json!(3), &json!(false)),
            (&modern, &json!(2), &json!(false))
        ]
    );
    let shown = stage.home.run(&["status"]).stdout;
    assert!(shown.contains("legacy  idle, used 3 times"), "{shown}");
    assert_eq!(
        stage.home.run(&["down"]),
        said(0, "the daemon has stopped\n", "")
    );
    assert_eq!(with_argument(&stage.mark), [""; 0]);
    assert_eq!(stage.status()["running"], false);
    assert_eq!(stage.home.run(&["down"]), said(0, "no daemon runs\n", ""));
    assert_eq!(stage.home.run(&["status"]), said(0, "no daemon runs\n", ""));
}

#[test]
fn a_killed_daemon_leaves_no_server_and_commands_go_on_without_it() {
    let stage = Stage::up();
    let first = stage.whoami("legacy", &[]);
    kill_process(stage.pid(), Signal::KILL).unwrap();
    while !with_argument(&stage.mark).is_empty() {
        std::thread::yield_now();
    }
    assert!(stage.home.path("state/switchboard/daemon/socket").exists());
    assert_ne!(stage.whoami("legacy", &[]), first);
    assert_eq!(stage.status()["running"], false);
    // What it left is replaced.
    let run = stage.home.run(&["up"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(stage.status()["running"], true);
}

#[test]
fn of_many_daemons_started_at_once_one_runs_and_all_say_so() {
    let stage = Stage::new();
    let start = |_| {
        let mut up = stage.home.command(&["up"]);
        up.stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let started: Vec<_> = (0..8).map(start).collect();
    let runs = started
        .into_iter()
        .map(|up| Run::of(up.wait_with_output().unwrap()));
    let pid = stage.status()["pid"].as_u64();
    for run in runs {
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        let told = format!("(process {})\n", stage.status()["pid"]);
        assert!(run.stdout.ends_with(&told), "{run:?} {pid:?}");
    }
}

#[test]
fn the_daemon_keeps_no_file_open_that_the_shell_had_open() {
    let stage = Stage::new();
    let up = stage.home.command(&["up"]);
    let mut shell = Command::new("/bin/sh");
    let lock = stage.home.path("lock");
    shell
        .args(["-c", r#"exec 9>"$1"; exec "$0" up"#])
        .args([up.get_program(), lock.as_os_str()])
        .env_clear()
        .envs(
            up.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let run = Run::of(shell.output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    let open = fs::read_dir(format!("/proc/{}/fd", stage.pid().as_raw_nonzero())).unwrap();
    let open = open.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
    let open: Vec<_> = open.collect();
    assert!(open.len() > 3 && !open.contains(&lock), "{open:?}");
}

#[test]
fn a_daemon_in_the_foreground_ends_in_good_order_after_a_signal() {
    let stage = Stage::new();
    let mut up = stage.home.signalled_command();
    let mut up = up
        .args(["up", "--foreground"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(up.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(
        line.starts_with(&format!("the daemon runs (process {}): ", up.id())),
        "{line}"
    );
    stage.whoami("modern", &[]);
    kill_process(stage.pid(), Signal::TERM).unwrap();
    assert_eq!(up.wait().unwrap().code(), Some(0));
    assert_eq!(with_argument(&stage.mark), [""; 0]);
    assert!(!stage.home.path("state/switchboard/daemon/socket").exists());
}

fn write_message(stream: &mut UnixStream, text: &str) {
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    stream
        .write_all(&[b"m", &length[..], text.as_bytes()].concat())
        .unwrap();
}

/// A daemon of another version, until it is stopped. Returns the requests that it got.
fn other_version(home: &Home) -> JoinHandle<Vec<String>> {
    let folder = home.path("state/switchboard/daemon");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    let socket = folder.join("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let mut requests = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().unwrap();
            write_message(&mut stream, r#"{"switchboard":"9.9.9"}"#);
            let mut head = [0; 5];
            if stream.read_exact(&mut head).is_err() {
                continue;
            }
            let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
            let mut request = vec![0; length.try_into().unwrap()];
            stream.read_exact(&mut request).unwrap();
            requests.push(String::from_utf8(request).unwrap());
            if requests.last().unwrap().contains("stop") {
                fs::remove_file(&socket).unwrap();
                write_message(&mut stream, r#"{"stopped":true}"#);
                return requests;
            }
        }
    })
}

#[test]
fn a_daemon_of_another_version_is_named_once_and_replaced_by_up() {
    let stage = Stage::new();
    let other = other_version(&stage.home);
    let run = stage.home.run(&["tools"]);
    let warning = "warning: the daemon has version 9.9.9 and this is 0.1.0, so it is not used; `switchboard up` replaces it\n";
    assert_eq!(
        (run.code, run.stderr.replace("\n  ", " ").as_str()),
        (Some(0), warning)
    );
    let quiet = stage.home.run(&["call", "modern/whoami", "-q"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let up = stage.home.run(&["up"]);
    assert_eq!(
        (up.code, up.stderr.as_str()),
        (Some(0), "stopped the daemon of version 9.9.9\n")
    );
    // Nothing but that was sent to it: no variable of a server either.
    assert_eq!(other.join().unwrap(), [r#"{"request":"stop"}"#]);
    assert_eq!(stage.status()["version"], "0.1.0");
}

#[test]
fn a_folder_that_others_may_enter_is_not_used() {
    let stage = Stage::up();
    let folder = stage.home.path("state/switchboard/daemon");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let run = stage.home.run(&["call", "modern/whoami"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stderr.starts_with("warning: the daemon is not used: "),
        "{run:?}"
    );
    for verb in ["up", "down", "status"] {
        let run = stage.home.run(&[verb]);
        assert_eq!(run.code, Some(6), "{verb}: {run:?}");
        assert!(
            run.stderr.contains("its mode has to be 0700"),
            "{verb}: {run:?}"
        );
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(stage.status()["running"], true);
}

#[test]
fn variables_of_servers_are_in_no_file_and_no_output() {
    let stage = Stage::up();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let stdio = format!("{own} test-server --instance {}", stage.mark);
    let secret = "correct-horse-battery-staple";
    let env = format!("MY_TOKEN={secret}");
    let run = stage
        .home
        .run(&["call", "--stdio", &stdio, "-e", &env, "whoami"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let told = [
        stage.home.run(&["status", "--json"]),
        stage.home.run(&["status"]),
    ];
    assert!(
        !told.iter().any(|run| run.stdout.contains(secret)),
        "{told:?}"
    );
    let mut folders = vec![stage.home.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let content = fs::read(entry.path()).unwrap();
                let text = String::from_utf8_lossy(&content).into_owned();
                assert!(!text.contains(secret), "{:?}", entry.path());
            }
        }
    }
}

#[test]
fn a_prompt_goes_on_when_its_daemon_is_killed() {
    let stage = Stage::up();
    let mut prompt = stage.home.command(&["repl"]);
    let prompt = prompt
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut prompt = prompt.spawn().unwrap();
    let mut stdin = prompt.stdin.take().unwrap();
    let mut stdout = BufReader::new(prompt.stdout.take().unwrap()).lines();
    let mut stderr = BufReader::new(prompt.stderr.take().unwrap()).lines();
    writeln!(stdin, "call legacy/whoami").unwrap();
    let first = stdout.next().unwrap().unwrap();
    kill_process(stage.pid(), Signal::KILL).unwrap();
    // Its loss is noticed before the next call, which would otherwise have been sent to the lost process.
    let is_lost = |line: &String| line.contains("legacy: disconnected");
    assert!(
        stderr
            .by_ref()
            .map_while(Result::ok)
            .any(|line| is_lost(&line))
    );
    writeln!(stdin, "call legacy/whoami").unwrap();
    let second = stdout.next().unwrap().unwrap();
    assert_ne!(first, second);
    drop(stdin);
    assert_eq!(prompt.wait().unwrap().code(), Some(0));
    assert_eq!(with_argument(&stage.mark), [""; 0]);
}

#[test]
fn the_status_names_servers_that_wait_for_approval_with_a_daemon_and_without() {
    let stage = Stage::new();
    assert_eq!(stage.status()["waiting"], json!([]));
    let entry = json!({"command": "sh", "args": ["-c", "x"]});
    let project = json!({"mcpServers": {"theirs": entry, "its": entry}});
    stage.home.write("p/.mcp.json", &project.to_string());
    let lines = "its is not approved: switchboard trust approve its\n\
                 theirs is not approved: switchboard trust approve theirs\n";
    let none = format!("no daemon runs\n{lines}");
    assert_eq!(stage.home.run(&["status"]), said(0, &none, ""));
    let run = stage.home.run(&["trust", "approve", "its", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let command = "switchboard trust approve theirs";
    let theirs = json!({"server": "theirs", "reason": "needs_approval", "command": command});
    assert_eq!(stage.status()["waiting"], json!([theirs]));
    assert_eq!(stage.home.run(&["up"]).code, Some(0));
    let shown = stage.home.run(&["status"]).stdout;
    assert!(shown.starts_with("the daemon runs"), "{shown}");
    assert!(
        shown.ends_with(&format!("theirs is not approved: {command}\n")),
        "{shown}"
    );
    // A file that is broken hides nothing of the daemon.
    stage.home.write("p/.mcp.json", "{");
    assert_eq!(stage.status()["running"], true);
    assert!(!stage.home.has_canary());
}
