//! `switchboard up`, `down` and `status`: the daemon that keeps servers running.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use switchboard::config::Config;
use switchboard::host::{Host, State};
use switchboard::secret::Redactor;
use switchboard::text::{sanitise_line, shell_word};
use switchboard::transport::Environment;
use switchboard_daemon::{Contact, Daemon, DaemonOptions, DaemonStatus, Place, ServerStatus};
use tokio::runtime::Builder;

use crate::args::{DaemonState, Up};
use crate::daemon::{failure, known_place};
use crate::exit::Exit;
use crate::lifecycle::{runtime, runtime_failure};
use crate::report::{Failure, Report};
use crate::scope::places;
use crate::screen::{Screen, talk};
use crate::signals::{Signals, mark_handled};
use crate::state;
use crate::table::{columns, table};
use crate::timestamp;

/// What the daemon writes to stdout when it runs.
const READY: &str = "ready";

/// Starts the daemon, or is the daemon.
pub(crate) fn run_up(args: &Up) -> Exit {
    let screen = Screen::plain(false);
    let environment = Environment::of_process();
    let done = known_place(&environment).and_then(|place| {
        if args.foreground {
            serve(args, &place, &environment)
        } else {
            start(args, &place)
        }
    });
    screen.finish(done)
}

/// Is the daemon, until a signal or a command stops it.
fn serve(args: &Up, place: &Place, environment: &Environment) -> Result<(), Failure> {
    #[cfg(unix)]
    if args.detached {
        // Fails only for the leader of a group, which the shell's job control has made of it.
        rustix::process::setsid().ok();
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| runtime_failure(&error))?;
    let served = runtime.block_on(async {
        // Before anything is started: a server must never outlive an early signal.
        let mut signals = Signals::listen().map_err(|error| runtime_failure(&error))?;
        let daemon =
            Daemon::bind(place, options(args, environment)).map_err(|error| failure(&error))?;
        if args.detached {
            output_ready();
        } else {
            let socket = place.socket().display().to_string();
            let pid = std::process::id();
            talk(&format!(
                "the daemon runs (process {pid}): {}\n",
                sanitise_line(&socket)
            ));
        }
        let stop = async {
            signals.stopping().await;
            mark_handled();
        };
        daemon.serve(stop).await;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::ZERO);
    served
}

fn options(args: &Up, environment: &Environment) -> DaemonOptions {
    let mut options = DaemonOptions::default();
    options.idle = args.idle;
    options.keeper = std::env::current_exe()
        .ok()
        .map(|program| switchboard::keeper::running_program(&program).unwrap_or(program));
    options.ledger = state::ledger(environment);
    options
}

/// Tells the command that started this daemon. Ignored if that is gone.
fn output_ready() {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{READY}")
        .and_then(|()| stdout.flush())
        .ok();
}

/// Starts the daemon in the background, unless one of this version runs.
fn start(args: &Up, place: &Place) -> Result<(), Failure> {
    // One of another version must be gone first: there is one socket for both.
    if let Some(running) = replace_older(place)? {
        return say(&format!(
            "the daemon runs already (process {})\n",
            running.pid
        ));
    }
    let program = std::env::current_exe().map_err(|error| unstartable(&error))?;
    let mut command = Command::new(program);
    let idle = format!("{}ms", args.idle.as_millis());
    command
        .args(["up", "--foreground", "--detached", "--idle", &idle])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // It must not keep a folder in use.
        .current_dir("/");
    // Files of the shell, such as a lock or a pipe, must not stay open as long as the daemon runs.
    #[cfg(unix)]
    switchboard_daemon::keep_standard_streams_only();
    let mut child = command.spawn().map_err(|error| unstartable(&error))?;
    // Ends in any case: the daemon says that it runs, or closes stdout when it ends.
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).ok();
    }
    if line.trim_end() == READY {
        return say(&format!("the daemon runs (process {})\n", child.id()));
    }
    // It has ended, or will: its stderr says why.
    let mut why = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut why).ok();
    }
    child.wait().ok();
    // Another `up` may have been faster.
    match replace_older(place) {
        Ok(Some(running)) => say(&format!(
            "the daemon runs already (process {})\n",
            running.pid
        )),
        _ => {
            let report = Report::new(Exit::Internal, "internal", "the daemon did not start");
            let why = why.lines().map(str::to_owned).collect::<Vec<_>>();
            Err(report.evidence("it says", why))
        }
    }
}

fn unstartable(error: &std::io::Error) -> Failure {
    let report = Report::new(Exit::Internal, "internal", "the daemon cannot be started");
    report.fact("the system says", error.to_string())
}

/// Returns the state of the daemon that runs. One of another version is stopped.
fn replace_older(place: &Place) -> Result<Option<DaemonStatus>, Failure> {
    ask(async {
        let Some(contact) = Contact::open(place).await? else {
            return Ok(None);
        };
        if contact.is_same_version() {
            return contact.status().await.map(Some);
        }
        let version = contact.version().to_owned();
        contact.stop().await?;
        talk(&format!(
            "stopped the daemon of version {}\n",
            sanitise_line(&version)
        ));
        Ok(None)
    })
}

/// Talks to the daemon.
fn ask<T>(
    work: impl Future<Output = Result<T, switchboard_daemon::DaemonError>>,
) -> Result<T, Failure> {
    runtime()?.block_on(work).map_err(|error| failure(&error))
}

fn say(text: &str) -> Result<(), Failure> {
    Screen::plain(false).result(text)
}

/// Stops the daemon and its servers.
pub(crate) fn run_down() -> Exit {
    let stopped = known_place(&Environment::of_process()).and_then(|place| {
        let stopped = ask(async {
            match Contact::open(&place).await? {
                Some(contact) => contact.stop().await.map(|()| true),
                None => Ok(false),
            }
        })?;
        say(if stopped {
            "the daemon has stopped\n"
        } else {
            "no daemon runs\n"
        })
    });
    Screen::plain(false).finish(stopped)
}

/// Shows the daemon and its servers, and the servers that wait for the person.
pub(crate) fn run_status(args: &DaemonState) -> Exit {
    let screen = Screen::plain(args.json);
    let environment = Environment::of_process();
    let shown = known_place(&environment).and_then(|place| {
        let status = ask(async {
            match Contact::open(&place).await? {
                Some(contact) => contact.status().await.map(Some),
                None => Ok(None),
            }
        })?;
        let waiting = waiting(&environment);
        let text = if args.json {
            screen.json_line(&StatusDocument::of(&place, status.as_ref(), &waiting))?
        } else {
            let mut text = status
                .as_ref()
                .map_or_else(|| "no daemon runs\n".to_owned(), describe);
            for WaitingServer {
                server, command, ..
            } in &waiting
            {
                let name = sanitise_line(server);
                text.push_str(&format!("{name} is not approved: {command}\n"));
            }
            text
        };
        screen.result(&text)
    });
    screen.finish(shown)
}

/// Finds the servers of this folder that are not used before the person approves them. Nothing is started.
fn waiting(environment: &Environment) -> Vec<WaitingServer> {
    // Files that cannot be read are for `config check`: the state of the daemon is shown all the same.
    let Ok(places) = places(None, environment) else {
        return Vec::new();
    };
    let mut builder = Host::builder()
        .environment(environment)
        .trust(state::trust(environment))
        .workspace(places.folder());
    if let Some(home) = places.home() {
        builder = builder.home(home);
    }
    let Ok(host) = builder.config(&Config::load(&places)).build() else {
        return Vec::new();
    };
    let statuses = host.check_approvals().into_iter();
    let unapproved = statuses.filter(|status| matches!(status.state, State::NeedsApproval(_)));
    let waiting = unapproved.map(|status| WaitingServer {
        command: format!(
            "switchboard trust approve {}",
            shell_word(status.name.as_str())
        ),
        server: status.name.to_string(),
        reason: status.state.word(),
    });
    waiting.collect()
}

/// Describes the daemon and its servers.
fn describe(status: &DaemonStatus) -> String {
    let DaemonStatus {
        pid,
        version,
        servers,
        ..
    } = status;
    let mut text = format!(
        "the daemon runs: version {}, process {pid}, since {}\n",
        sanitise_line(version),
        time(status.started),
    );
    if servers.is_empty() {
        text.push_str("no servers are running\n");
        return text;
    }
    let rows = servers.iter().map(|server| {
        let state = if server.in_use { "in use" } else { "idle" };
        let uses = match server.uses {
            1 => "used once".to_owned(),
            many => format!("used {many} times"),
        };
        let (pid, since) = (server.pid, time(server.started));
        let words = format!("{state}, {uses}, process {pid}, since {since}");
        (server.name.clone(), words)
    });
    let rows: Vec<(String, String)> = rows.collect();
    text.push_str(&table(&rows, columns(), &Redactor::default()));
    text
}

fn time(seconds: u64) -> String {
    let since = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    since.map(timestamp::utc_seconds).unwrap_or_default()
}

/// The document of `status --json`: see `docs/daemon.md`.
#[derive(Serialize)]
struct StatusDocument<'a> {
    running: bool,
    pid: Option<u32>,
    version: Option<&'a str>,
    started: Option<String>,
    socket: String,
    servers: Vec<ServerItem<'a>>,
    waiting: &'a [WaitingServer],
}

/// A server that is not used before the person has done something.
#[derive(Serialize)]
struct WaitingServer {
    server: String,
    reason: &'static str,
    command: String,
}

#[derive(Serialize)]
struct ServerItem<'a> {
    server: &'a str,
    command: &'a str,
    folder: &'a str,
    pid: u32,
    started: String,
    in_use: bool,
    uses: u64,
}

impl<'a> StatusDocument<'a> {
    fn of(place: &Place, status: Option<&'a DaemonStatus>, waiting: &'a [WaitingServer]) -> Self {
        let servers = status.map_or(&[][..], |status| &status.servers);
        let item = |server: &'a ServerStatus| ServerItem {
            server: &server.name,
            command: &server.command,
            folder: &server.folder,
            pid: server.pid,
            started: time(server.started),
            in_use: server.in_use,
            uses: server.uses,
        };
        Self {
            running: status.is_some(),
            pid: status.map(|status| status.pid),
            version: status.map(|status| status.version.as_str()),
            started: status.map(|status| time(status.started)),
            socket: place.socket().display().to_string(),
            servers: servers.iter().map(item).collect(),
            waiting,
        }
    }
}
