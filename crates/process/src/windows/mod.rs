//! Child processes on Windows. Compiled by `cargo xtask platforms`, but run by no test.
//!
//! A server is started suspended, put into a job of its own and only then resumed, so that nothing it
//! starts is outside of the job. The job ends with its last handle, which the host holds: however the
//! host ends, everything in the job ends too.
//!
//! Windows can also create a process directly in a job, but the standard library has no stable API for
//! that.

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
use super::supervise::{Start, StartedProcess};
use crate::{Cleanup, Exit};

/// A process with all its descendants; dropping it before its end kills all of them.
pub(super) struct Child {
    child: tokio::process::Child,
    job: Job,
    pid: u32,
}

/// Starts a process with a job and a group of its own and without a window.
pub(super) fn spawn(start: &Start) -> io::Result<StartedProcess> {
    // The job first: if it fails, there is no process to end.
    let job = Job::new()?;
    let mut command = Command::new(&start.program);
    // Until the process is in the job, dropping the child ends it.
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
    // Only now may it run: everything it starts is in the job.
    threads::resume(pid)?;
    Ok(StartedProcess {
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

    /// Returns at once: on Windows there is no keeper in between.
    #[allow(clippy::unused_async, reason = "the same signature everywhere")]
    pub(super) async fn has_started(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: the job has ended all processes.
    #[allow(clippy::unused_async, reason = "the same signature everywhere")]
    pub(super) async fn clean_up(&mut self) -> Option<Cleanup> {
        None
    }

    /// Does nothing: everything that the process starts is in its job.
    pub(super) fn note_descendants(&mut self) {}

    /// Waits until the process has ended, and kills the rest of its job.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the next call continues to wait.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        let status = self.child.wait().await;
        self.job.end();
        Ok(status?.code().map_or(Exit::Unknown, Exit::Code))
    }

    /// Asks the group to end. Only a server that is attached to our console receives that; others are
    /// killed after the same wait.
    pub(super) fn terminate(&self) {
        // Our handle to the process keeps its number from being reused.
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

/// Returns true if a file exists; `None` otherwise.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|_| true)
}
