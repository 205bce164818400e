//! Faults that need processes and signals.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

use rustix::stdio::{dup2_stdin, dup2_stdout};
use tokio::signal::unix::{SignalKind, signal};

use super::output::{Ending, Side};
use super::{Chaos, Flag};

/// Closes stdin or stdout of this process, by replacing it with `/dev/null`.
pub(crate) fn close(side: Side) {
    // A failure leaves it open: then the client sees less than it could.
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        match side {
            Side::Input => dup2_stdin(nothing).ok(),
            Side::Output => dup2_stdout(nothing).ok(),
        };
    }
}

/// Returns true if the server continues after the end of stdin.
pub(super) fn ignores_eof(chaos: &[Chaos]) -> bool {
    let flags = [Flag::IgnoreEof, Flag::ForkOnTerm];
    chaos.iter().any(|chaos| flags.contains(&chaos.flag()))
}

/// Listens for SIGTERM if a fault demands it; resolves when the signal ends the server.
pub(super) fn signals(chaos: &[Chaos]) -> io::Result<impl Future<Output = Ending> + use<>> {
    let find = |flag| chaos.iter().find(|chaos| chaos.flag() == flag);
    let fork = find(Flag::ForkOnTerm).map(Chaos::number);
    let ignores = find(Flag::IgnoreTerm).is_some();
    // Installing a handler is what makes the process ignore the signal's default action.
    let listens = fork.is_some() || ignores;
    let mut terms = listens
        .then(|| signal(SignalKind::terminate()))
        .transpose()?;
    Ok(async move {
        while let Some(terms) = &mut terms {
            terms.recv().await;
            if let Some(seconds) = fork {
                child(Flag::ForkChild, seconds);
                return Ending::Exit(0);
            }
        }
        std::future::pending().await
    })
}

/// Starts the child process of a flag.
#[allow(
    clippy::zombie_processes,
    reason = "a child that outlives its parent is the point"
)]
pub(super) fn child(flag: Flag, seconds: u64) {
    let seconds = seconds.to_string();
    let mut command = match flag {
        Flag::ForkSetsid => Command::new("setsid"),
        Flag::DoubleFork => Command::new("sh"),
        _ => Command::new("sleep"),
    };
    match flag {
        Flag::ForkSetsid => command.args(["sleep", &seconds]),
        Flag::DoubleFork => command.args(["-c", "setsid sleep \"$0\" &", &seconds]),
        _ => command.arg(&seconds),
    };
    if flag != Flag::HoldPipes {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }
    // A machine without these programs gets a server without children.
    let started = command.spawn();
    // Wait for the shell, so that the child is an orphan before the server goes on.
    if let (Flag::DoubleFork, Ok(mut shell)) = (flag, started) {
        shell.wait().ok();
    }
}
