//! What is particular to Windows about child processes. Compiled by `cargo xtask platforms`, but run by no test.

use std::io;
use std::path::Path;
use std::process::Stdio as Io;

use tokio::process::Command;

use super::tend::{Start, Started};
use crate::transport::Exit;

const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// The direct child only: it is killed when its handle is dropped.
pub(super) struct Child {
    child: tokio::process::Child,
    pid: u32,
}

/// Starts a process with a group of its own and without a window.
pub(super) fn spawn(start: &Start) -> io::Result<Started> {
    let mut command = Command::new(&start.program);
    command.args(&start.args).env_clear().kill_on_drop(true);
    command.envs(
        start
            .variables
            .iter()
            .map(|(name, value)| (name, value.expose())),
    );
    if let Some(folder) = &start.cwd {
        command.current_dir(folder);
    }
    command
        .stdin(Io::piped())
        .stdout(Io::piped())
        .stderr(Io::piped())
        .creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    let mut child = command.spawn()?;
    let missing = || io::Error::other("the child has no pipes");
    Ok(Started {
        reader: Box::new(child.stdout.take().ok_or_else(missing)?),
        writer: Box::new(child.stdin.take().ok_or_else(missing)?),
        stderr: Box::new(child.stderr.take().ok_or_else(missing)?),
        child: Child {
            pid: child.id().unwrap_or_default(),
            child,
        },
    })
}

impl Child {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// It has: nothing is between it and us.
    #[allow(clippy::unused_async, reason = "the same signature everywhere")]
    pub(super) async fn has_started(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Waits until the process has ended.
    ///
    /// Cancel safe.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        let status = self.child.wait().await?;
        Ok(status.code().map_or(Exit::Unknown, Exit::Code))
    }

    /// There is no way to ask a program without a window.
    pub(super) fn terminate(&self) {}

    pub(super) fn start_kill(&mut self) {
        // An error means that it is gone already.
        self.child.start_kill().ok();
    }

    pub(super) fn force_kill(&mut self) {
        self.start_kill();
    }
}

/// Whether a file may be run; `None` when there is no such file.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|_| true)
}
