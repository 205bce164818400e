//! What is particular to Windows about child processes. Compiled by `cargo xtask platforms`, but
//! run by no test.
//!
//! A server is started suspended, put into a job of its own and only then let run, so that nothing
//! it starts is outside of the job. The job ends with the last handle to it, which the host has:
//! however the host ends, so does everything in the job.
//!
//! The system could put a process into a job as it is created, but the standard library has no
//! stable way to ask for that.

mod job;
mod threads;

use std::io;
use std::path::Path;
use std::process::Stdio as Io;

use tokio::process::Command;
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED,
};

use self::job::Job;
use super::tend::{Start, Started};
use crate::{Cleanup, Exit};

/// A process with all that it has started; dropped before its end, all of them are killed.
pub(super) struct Child {
    child: tokio::process::Child,
    job: Job,
    pid: u32,
}

/// Starts a process with a job and a group of its own and without a window.
pub(super) fn spawn(start: &Start) -> io::Result<Started> {
    // Before the process: what fails now has nothing to undo.
    let job = Job::new()?;
    let mut command = Command::new(&start.program);
    // Until it is in the job, dropping it is what ends it.
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
        .creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW | CREATE_SUSPENDED);
    let mut child = command.spawn()?;
    let pid = child.id().ok_or_else(|| missing("number"))?;
    let process = child.raw_handle().ok_or_else(|| missing("handle"))?;
    job.take_in(process)?;
    threads::resume(pid)?;
    Ok(Started {
        reader: Box::new(child.stdout.take().ok_or_else(|| missing("stdout"))?),
        writer: Box::new(child.stdin.take().ok_or_else(|| missing("stdin"))?),
        stderr: Box::new(child.stderr.take().ok_or_else(|| missing("stderr"))?),
        child: Child { child, job, pid },
    })
}

fn missing(what: &str) -> io::Error {
    io::Error::other(format!("the child has no {what}"))
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

    /// The job has ended all of it.
    #[allow(clippy::unused_async, reason = "the same signature everywhere")]
    pub(super) async fn clean_up(&mut self) -> Option<Cleanup> {
        None
    }

    /// Everything that the process starts is in its job already.
    pub(super) fn note_descendants(&mut self) {}

    /// Waits until the process has ended, and kills whoever it left behind in its job.
    ///
    /// Cancel safe.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        let status = self.child.wait().await;
        self.job.end();
        Ok(status?.code().map_or(Exit::Unknown, Exit::Code))
    }

    /// Asks the group to end. That reaches a server which has found its way to our console; one
    /// that has not is killed after the same wait.
    pub(super) fn terminate(&self) {
        // Our handle to the process keeps its number from meaning another.
        job::interrupt(self.pid);
    }

    pub(super) fn start_kill(&mut self) {
        self.job.end();
    }

    pub(super) fn force_kill(&mut self) {
        self.job.end();
        // An error means that it is gone already.
        self.child.start_kill().ok();
    }
}

/// Whether a file may be run; `None` when there is no such file.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|_| true)
}
