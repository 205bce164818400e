//! The binary at a terminal: one that a test types into and reads from.
#![allow(
    unsafe_code,
    reason = "a terminal is given to a process between its fork and its start"
)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::command;

/// How long anything may take before it counts as never.
const PATIENCE: Duration = Duration::from_secs(30);

/// How high the terminal is.
const ROWS: u16 = 50;

/// The binary at a terminal of its own, which is its stdin, stdout and stderr. Killed when dropped.
pub(crate) struct Pty {
    child: Child,
    keyboard: File,
    seen: Arc<Seen>,
    /// Where in what was written the next text is looked for.
    mark: usize,
}

/// What was written to the terminal so far.
struct Seen {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    written: Vec<u8>,
    terminal: vt100::Parser,
    is_over: bool,
}

impl Pty {
    /// Starts the binary with those arguments and variables at a terminal that is so wide.
    pub(crate) fn spawn(args: &[&str], env: &[(&str, &str)], columns: u16) -> Self {
        let mut command = command(args);
        command.envs(env.iter().copied());
        Self::start(command, columns)
    }

    /// Starts a command at a terminal that is so wide. Where it names no `TERM`, it is a usual one.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&controller, size).unwrap();
        let path = ptsname(&controller, Vec::new()).unwrap();
        let user = File::options()
            .read(true)
            .write(true)
            .open(path.to_str().unwrap())
            .unwrap();
        let has_term = command.get_envs().any(|(name, _)| name == "TERM");
        if !has_term {
            command.env("TERM", "xterm-256color");
        }
        // No pager that waits for keys, unless a test names one.
        if !command.get_envs().any(|(name, _)| name == "PAGER") {
            command.env("PAGER", "");
        }
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
            if !command.get_envs().any(|(set, _)| set == name) {
                command.env_remove(name);
            }
        }
        command
            .stdin(user.try_clone().unwrap())
            .stdout(user.try_clone().unwrap())
            .stderr(user);
        // SAFETY: all are calls of the system that are allowed after a fork, and nothing else is done.
        unsafe {
            command.pre_exec(|| {
                // A shell that runs the tests in the background has them ignore it.
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // The command holds what would keep the terminal open.
        drop(command);
        let seen = Arc::new(Seen {
            state: Mutex::new(State {
                written: Vec::new(),
                terminal: vt100::Parser::new(ROWS, columns, 0),
                is_over: false,
            }),
            changed: Condvar::new(),
        });
        let keyboard = File::from(controller.as_fd().try_clone_to_owned().unwrap());
        let reader = Arc::clone(&seen);
        std::thread::spawn(move || reader.read(controller));
        Self {
            child,
            keyboard,
            seen,
            mark: 0,
        }
    }

    /// Types something: `b"\r"` is Enter, `b"\x03"` is Ctrl-C.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).unwrap();
    }

    /// Waits until a text was written, after the one that was waited for before. Escape sequences
    /// are part of what was written.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let ends = Instant::now() + PATIENCE;
        let mut state = self.seen.state.lock().unwrap();
        loop {
            let fresh = &state.written[self.mark..];
            let found = fresh
                .windows(text.len())
                .position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.mark += at + text.len();
                return;
            }
            let left = ends.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !state.is_over,
                "{text:?} was not written, but:\n{}",
                String::from_utf8_lossy(fresh)
            );
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until the screen, as a person would see it, is one that `is_so`.
    pub(crate) fn wait_until(&self, is_so: impl Fn(&str) -> bool) {
        let ends = Instant::now() + PATIENCE;
        let mut state = self.seen.state.lock().unwrap();
        loop {
            let screen = state.terminal.screen().contents();
            if is_so(&screen) {
                return;
            }
            let left = ends.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !state.is_over,
                "the screen never became so, but:\n{screen}"
            );
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Makes sure that nothing is written for so long. That takes this time: use it where nothing else
    /// shows that something does not happen.
    pub(crate) fn stays_quiet(&self, time: Duration) {
        let ends = Instant::now() + time;
        let mut state = self.seen.state.lock().unwrap();
        let before = state.written.len();
        loop {
            let fresh = String::from_utf8_lossy(&state.written[before..]);
            assert!(fresh.is_empty(), "{fresh:?} was written");
            let left = ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Everything that was written so far, escape sequences included.
    pub(crate) fn written(&self) -> String {
        let state = self.seen.state.lock().unwrap();
        String::from_utf8_lossy(&state.written).into_owned()
    }

    /// What the terminal shows now.
    pub(crate) fn screen(&self) -> String {
        let state = self.seen.state.lock().unwrap();
        state.terminal.screen().contents()
    }

    /// The number of the process, to send it signals.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end: gives the exit code (128 and the signal where one ended it) and what the
    /// terminal shows.
    pub(crate) fn finish(mut self) -> (i32, String) {
        let code = self.end();
        (code, self.screen())
    }

    /// Waits for the end: gives the exit code and everything that was written, escape sequences included.
    pub(crate) fn transcript(mut self) -> (i32, String) {
        let code = self.end();
        (code, self.written())
    }

    fn end(&mut self) -> i32 {
        let ends = Instant::now() + PATIENCE;
        let mut state = self.seen.state.lock().unwrap();
        while !state.is_over {
            let left = ends.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "it does not end:\n{}",
                state.terminal.screen().contents()
            );
            state = self.seen.changed.wait_timeout(state, left).unwrap().0;
        }
        drop(state);
        let status = self.child.wait().unwrap();
        let code = status.code();
        code.unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Nearly always it has ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Seen {
    /// Reads until the last process has closed its end, and answers who asks where the cursor is.
    fn read(&self, controller: OwnedFd) {
        let mut controller = File::from(controller);
        let mut buffer = [0; 4096];
        loop {
            // Nobody is there any more: Linux says it with an error.
            let read = controller.read(&mut buffer).unwrap_or(0);
            let mut state = self.state.lock().unwrap();
            let fresh = &buffer[..read];
            state.written.extend_from_slice(fresh);
            state.terminal.process(fresh);
            state.is_over = read == 0;
            let asked = fresh.windows(4).filter(|window| window == b"\x1b[6n");
            let (row, column) = state.terminal.screen().cursor_position();
            for _ in asked {
                let answer = format!("\x1b[{};{}R", row + 1, column + 1);
                // Who asked may be gone.
                controller.write_all(answer.as_bytes()).ok();
            }
            let is_over = state.is_over;
            drop(state);
            self.changed.notify_all();
            if is_over {
                return;
            }
        }
    }
}

#[test]
fn a_terminal_is_one_and_ctrl_c_is_a_signal() {
    let (code, screen) = Pty::spawn(&["call", "demo/echo", "message=hello"], &[], 40).finish();
    assert_eq!((code, screen.trim_end()), (0, "hello"));
    let mut pty = Pty::start(Command::new("cat"), 80);
    assert!(pty.pid() > 0);
    pty.send(b"one\r");
    pty.wait_for("one\r\none\r\n");
    assert_eq!(pty.written(), "one\r\none\r\n");
    pty.wait_until(|screen| screen == "one\none");
    // Its echo may be lost with the one who would have read it.
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
}
