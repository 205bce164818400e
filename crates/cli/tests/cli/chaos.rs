//! The misbehaving server as a process.

use std::process::{Command, Output, Stdio};

const OWN: &str = env!("CARGO_BIN_EXE_switchboard");

fn switchboard(args: &[&str]) -> Output {
    let mut command = Command::new(OWN);
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

/// Calls a tool of a server with this fault. No answer waits for the time to be over, which is enough for a
/// machine that has much else to do.
fn call(fault: &str, tool: &[&str]) -> (Option<i32>, String, String) {
    let stdio = format!("'{OWN}' test-server --chaos {fault}");
    let call = ["call", "--timeout", "60s", "--json", "--stdio", &stdio];
    let output = switchboard(&[&call, tool].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

const ECHO: &[&str] = &["echo", "message=hello"];

#[test]
fn all_faults_can_be_listed() {
    let output = switchboard(&["test-server", "--list-chaos"]);
    assert!(output.status.success());
    let table = switchboard_testkit::chaos::table();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), table);
    assert!(table.contains("\n  huge-line[=MIB][@TOOL]"));
}

#[test]
fn a_fault_that_does_not_exist_is_refused() {
    let output = switchboard(&["test-server", "--chaos", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("there is no fault nonsense"), "{said}");
}

#[test]
fn it_exits_with_the_status_that_was_ordered() {
    for (fault, status) in [("exit-0", 0), ("exit-7", 7), ("exit-N", 1)] {
        let output = switchboard(&["test-server", "--chaos", fault]);
        assert_eq!(output.status.code(), Some(status), "{fault}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn faults_that_end_the_server_fail_the_call_with_a_reason() {
    for fault in ["die-on-call", "close-stdout", "crash-after-init", "exit-3"] {
        let (code, stdout, stderr) = call(fault, ECHO);
        assert_eq!(stdout, "", "{fault}");
        assert!(
            code.is_some_and(|code| code > 1),
            "{fault}: {code:?} {stderr}"
        );
        let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        assert!(error.is_object(), "{fault}: {stderr}");
    }
}

#[test]
fn floods_of_stderr_and_logs_are_borne() {
    for fault in [
        "stderr-flood=64",
        "log-flood",
        "close-stdin",
        "stop-reading",
    ] {
        let (code, stdout, stderr) = call(fault, ECHO);
        assert_eq!(code, Some(0), "{fault}: {stderr}");
        assert!(stdout.contains("hello"), "{fault}: {stdout}");
    }
}

#[test]
fn a_line_of_sixty_four_mebibytes_fails_the_call() {
    let (code, stdout, stderr) = call("huge-line", ECHO);
    assert!(code.is_some_and(|code| code > 1), "{code:?}");
    assert_eq!(stdout, "");
    assert!(stderr.contains("the answer is too large"), "{stderr}");
}

#[cfg(target_os = "linux")]
mod processes {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::time::{Duration, Instant};

    use super::OWN;

    /// A server that has answered its first request, so that it is past its start.
    struct Server(Child);

    impl Server {
        fn start(faults: &[&str]) -> Self {
            let mut command = Command::new(OWN);
            command.arg("test-server");
            for fault in faults {
                command.args(["--chaos", fault]);
            }
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
            child.stdin.as_mut().unwrap().write_all(ping).unwrap();
            let mut answer = String::new();
            let stdout = child.stdout.as_mut().unwrap();
            BufReader::new(stdout).read_line(&mut answer).unwrap();
            assert!(answer.contains("result"), "{answer}");
            Self(child)
        }

        fn close(&mut self) {
            drop(self.0.stdin.take());
        }

        fn terminate(&self) {
            signal("TERM", self.0.id());
        }

        fn ended(&mut self) -> ExitStatus {
            wait_for(|| self.0.try_wait().unwrap())
        }

        /// Whether it still runs a moment later: it would be quicker than this if it ended.
        fn stays(&mut self) -> bool {
            let end = Instant::now() + Duration::from_millis(300);
            while Instant::now() < end {
                if self.0.try_wait().unwrap().is_some() {
                    return false;
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
            true
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            self.0.kill().ok();
            self.0.wait().ok();
        }
    }

    /// A child that a server left behind; ends with the test.
    struct Left {
        pid: u32,
        parent: u32,
        session: u32,
    }

    impl Left {
        /// The child that sleeps for so many seconds.
        fn find(seconds: &str) -> Self {
            wait_for(|| {
                let processes = fs::read_dir("/proc").unwrap();
                processes.flatten().find_map(|process| {
                    let name = process.file_name();
                    let pid = name.to_str()?.parse().ok()?;
                    let command = fs::read_to_string(process.path().join("cmdline")).ok()?;
                    if command != format!("sleep\0{seconds}\0") {
                        return None;
                    }
                    let stat = fs::read_to_string(process.path().join("stat")).ok()?;
                    // After the name: state, parent, group, session.
                    let mut facts = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
                    let parent = facts.next()?.parse().ok()?;
                    let session = facts.nth(1)?.parse().ok()?;
                    Some(Self {
                        pid,
                        parent,
                        session,
                    })
                })
            })
        }

        fn lives(&self) -> bool {
            fs::exists(format!("/proc/{}", self.pid)).unwrap()
        }

        fn stdout(&self) -> String {
            let target = fs::read_link(format!("/proc/{}/fd/1", self.pid)).unwrap();
            target.to_string_lossy().into_owned()
        }
    }

    impl Drop for Left {
        fn drop(&mut self) {
            signal("KILL", self.pid);
        }
    }

    fn signal(name: &str, pid: u32) {
        let kill = format!("kill -{name} {pid}");
        Command::new("sh").args(["-c", &kill]).status().unwrap();
    }

    fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < end, "it did not happen in time");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// A number of seconds that nobody else on the machine sleeps for.
    fn seconds(of_test: u32) -> String {
        format!("{}{of_test}", 10_000 + std::process::id())
    }

    #[test]
    fn children_outlive_the_server() {
        let session_of = |pid: u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let facts: Vec<_> = stat
                .rsplit_once(')')
                .unwrap()
                .1
                .split_whitespace()
                .collect();
            facts[3].parse::<u32>().unwrap()
        };
        for (number, fault) in ["fork-child", "fork-setsid", "double-fork", "hold-pipes"]
            .into_iter()
            .enumerate()
        {
            let seconds = seconds(u32::try_from(number).unwrap());
            let mut server = Server::start(&[&format!("{fault}={seconds}")]);
            let child = Left::find(&seconds);
            let pid = server.0.id();
            assert_eq!(child.parent == pid, fault != "double-fork", "{fault}");
            let own_session = child.session != session_of(pid);
            assert_eq!(
                own_session,
                fault == "fork-setsid" || fault == "double-fork",
                "{fault}"
            );
            assert_eq!(
                child.stdout().starts_with("pipe:"),
                fault == "hold-pipes",
                "{fault}"
            );
            server.close();
            assert!(server.ended().success(), "{fault}");
            assert!(child.lives(), "{fault}");
        }
    }

    /// A handshake, and a call of `echo`.
    const CALL: &str = concat!(
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}"#,
        "\n",
    );

    #[test]
    fn pipes_are_closed_where_that_is_the_fault() {
        for fault in ["close-stdout", "close-stdin"] {
            let mut server = Server::start(&[fault]);
            let stdin = server.0.stdin.as_mut().unwrap();
            stdin.write_all(CALL.as_bytes()).unwrap();
            if fault == "close-stdout" {
                let mut rest = String::new();
                let stdout = server.0.stdout.as_mut().unwrap();
                stdout.read_to_string(&mut rest).unwrap();
                assert_eq!(rest.lines().count(), 1, "{rest}");
            } else {
                let error = wait_for(|| stdin.write_all(b"\n").err());
                assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
            }
            assert!(server.stays(), "{fault}");
        }
    }

    #[test]
    fn the_end_of_stdin_is_ignored_where_that_is_the_fault() {
        let mut server = Server::start(&["ignore-eof"]);
        server.close();
        assert!(server.stays());
        server.terminate();
        assert_eq!(server.ended().signal(), Some(15));
    }

    #[test]
    fn term_is_ignored_where_that_is_the_fault() {
        let mut server = Server::start(&["ignore-term"]);
        server.terminate();
        assert!(server.stays());
        server.close();
        assert!(server.ended().success());
        let mut server = Server::start(&["ignore-term", "ignore-eof"]);
        server.close();
        server.terminate();
        assert!(server.stays());
    }

    #[test]
    fn a_child_is_started_on_term_where_that_is_the_fault() {
        let seconds = seconds(7);
        let mut server = Server::start(&[&format!("fork-on-term={seconds}")]);
        server.close();
        assert!(server.stays());
        server.terminate();
        let child = Left::find(&seconds);
        assert!(server.ended().success());
        assert!(child.lives());
    }
}
