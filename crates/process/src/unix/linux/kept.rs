//! The host's side of a keeper: starts it, reads its reports, and cleans up after it.

use std::ffi::{CString, c_int};
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::net::unix::pipe;

use super::child::{Leader, SpawnedChild};
use super::pipes::Theirs;
use super::strings::Strings;
use super::{System, above};
use crate::cgroup::Cgroup;
use crate::instance::Instance;
use crate::keeper::{
    LAST, LIVENESS, LastReport, Report, STATUS, VARIABLES, is_keeper, write_variables,
};
use crate::orphans::{self, Sweep};
use crate::supervise::{self, Start};
use crate::{Cleanup, Exit, within};

/// The time for a keeper to start the server. A program that takes longer is not a keeper.
const MOST: Duration = Duration::from_secs(10);

/// The number of files of a keeper, including the streams of the server.
const FILES: c_int = VARIABLES + 1;

impl System {
    /// Starts a keeper, which then starts the server.
    pub(super) fn spawn_kept(
        &self,
        start: &Start,
        keeper: &Path,
        streams: Theirs,
    ) -> io::Result<SpawnedChild> {
        if is_keeper() {
            // Without this check it would start itself forever.
            return Err(no_keeper(keeper));
        }
        let cgroup = Cgroup::make();
        let folder = cgroup.as_ref().map(Cgroup::folder);
        let (strings, variables) = Strings::of_keeper(start, keeper, folder)?;
        let (their_liveness, liveness) = io::pipe()?;
        let (status, their_status) = io::pipe()?;
        let (last, their_last) = io::pipe()?;
        let files = theirs(
            streams,
            [
                their_liveness.into(),
                their_status.into(),
                their_last.into(),
                variables_file(&variables)?,
            ],
        )?;
        let pid = self.load(&strings, &files).map_err(|error| {
            let message = format!("its keeper {}: {error}", keeper.display());
            io::Error::new(error.kind(), message)
        })?;
        let leader = Leader::of_keeper(
            pid,
            Kept {
                _liveness: liveness.into(),
                last: last.into(),
                cgroup,
                server: None,
                after_kill: start.limits.end_after_kill,
            },
        )?;
        // Close our copies of the keeper's ends: its report ends only when no one else can write to it.
        drop(files);
        let starting = Starting {
            status: pipe::Receiver::from_owned_fd(status.into())?,
            keeper: keeper.to_owned(),
        };
        SpawnedChild::of_keeper(leader, starting)
    }
}

/// The files of a keeper in the order of their numbers, moved above these numbers.
fn theirs(streams: Theirs, own: [OwnedFd; 4]) -> io::Result<Vec<OwnedFd>> {
    const { assert!(LIVENESS == 3 && STATUS == 4 && LAST == 5 && VARIABLES == 6) };
    let streams = [streams.stdin, streams.stdout, streams.stderr];
    let files = streams.into_iter().chain(own);
    files.map(|file| above(file, FILES)).collect()
}

/// Creates a file in memory with the variables of a server.
///
/// Not a pipe: nothing reads it before the keeper runs, and it may exceed the capacity of a pipe.
#[allow(unsafe_code)]
fn variables_file(variables: &[CString]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string; the file is new and has no other owner.
    let mut file = unsafe {
        match libc::memfd_create(c"variables".as_ptr(), libc::MFD_CLOEXEC) {
            -1 => return Err(io::Error::last_os_error()),
            file => File::from_raw_fd(file),
        }
    };
    write_variables(&mut file, variables)?;
    file.rewind()?;
    Ok(file.into())
}

/// The host's side of a running keeper.
pub(super) struct Kept {
    /// The pipe that closes when the host dies or drops this; the keeper polls its other end.
    pub(super) _liveness: OwnedFd,
    last: OwnedFd,
    cgroup: Option<Cgroup>,
    /// The server's first process, and its start time.
    pub(super) server: Option<(u32, u64)>,
    after_kill: Duration,
}

impl Kept {
    /// The time for a keeper to end after it was asked to kill.
    pub(super) fn patience(&self) -> Duration {
        supervise::after_kill(self.after_kill)
    }

    /// Reads the last report of a keeper that has ended; `None` if it was lost.
    fn last_report(&self) -> Option<LastReport> {
        let mut bytes = [0; LastReport::BYTES];
        // Does not block: the keeper has ended, and it had the only other end.
        if !is_ready(self.last.as_fd(), Instant::now()) {
            return None;
        }
        let read = rustix::io::read(&self.last, &mut bytes).ok()?;
        (read == bytes.len()).then(|| LastReport::from_bytes(bytes))
    }

    /// Ends the processes left by a keeper that has ended with this status.
    pub(super) async fn clean_up(self, exit: Exit) -> Option<Cleanup> {
        let (mut sweep, last) = self.sweep()?;
        let deadline = tokio::time::Instant::now() + self.after_kill;
        let left = loop {
            let is_over = tokio::time::Instant::now() >= deadline;
            let left = sweep.round(!is_over);
            if left.is_empty() || is_over {
                break left;
            }
            tokio::time::sleep(orphans::ROUND).await;
        };
        Some(cleanup_report(&sweep, left, last, exit))
    }

    /// Cleans up without a report, on a thread that may block.
    pub(super) fn clean_up_unheard(self) {
        if let Some((mut sweep, _)) = self.sweep() {
            sweep.until(Instant::now() + self.after_kill);
        }
    }

    /// Prepares the cleanup; `None` if the keeper has reported that nothing is left.
    fn sweep(&self) -> Option<(Sweep, Option<LastReport>)> {
        let last = self.last_report();
        if last.is_some_and(|last| last.left == 0) {
            return None;
        }
        if last.is_none() {
            orphans::note_lost_keeper();
        }
        let cgroup = self
            .cgroup
            .as_ref()
            .map(|cgroup| cgroup.folder().to_owned());
        let sweep = Sweep::of(self.server, cgroup);
        Some((sweep, last))
    }
}

/// Reports on a server whose keeper could not end all of it.
fn cleanup_report(
    sweep: &Sweep,
    mut left: Vec<u32>,
    last: Option<LastReport>,
    exit: Exit,
) -> Cleanup {
    let ended = sweep.killed().saturating_sub(left.len());
    // Add the processes that the keeper has reported and that this process did not find.
    let named = last.into_iter().flat_map(|last| last.pids);
    let named = named.filter_map(|pid| u32::try_from(pid).ok());
    for pid in named.filter(|pid| *pid != 0) {
        if !left.contains(&pid) && Instance::of(pid).is_some() {
            left.push(pid);
        }
    }
    Cleanup {
        keeper_lost: last.is_none().then_some(exit),
        ended,
        left,
    }
}

/// A keeper that has not reported yet.
pub(super) struct Starting {
    status: pipe::Receiver,
    keeper: PathBuf,
}

impl Starting {
    pub(super) fn keeper(&self) -> &Path {
        &self.keeper
    }

    /// Waits for the report of a keeper: the server's process id, `None` if the program is not a keeper, or
    /// the error of starting the server.
    pub(super) async fn wait_for_report(&self) -> io::Result<Option<Pid>> {
        match within(MOST, self.read()).await {
            Ok(reported) => reported,
            Err(_) => Ok(None),
        }
    }

    async fn read(&self) -> io::Result<Option<Pid>> {
        let mut server = None;
        loop {
            let mut bytes = [0; Report::BYTES];
            self.status.readable().await?;
            match self.status.try_read(&mut bytes) {
                // The pipe has closed on exec: the program is loaded.
                Ok(0) => return Ok(server),
                // A report is written atomically, so it is read as a whole.
                Ok(_) => match Report::from_bytes(bytes) {
                    Some(Report::Forked(pid)) => server = Pid::from_raw(pid),
                    Some(Report::Failed(errno)) => return Err(io::Error::from_raw_os_error(errno)),
                    None => return Ok(None),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits until a file is readable or has ended; returns true if that was before the deadline.
#[allow(unsafe_code)]
pub(super) fn is_ready(file: BorrowedFd<'_>, deadline: Instant) -> bool {
    let mut entry = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let most = c_int::try_from(left.as_millis()).unwrap_or(c_int::MAX);
        // SAFETY: the pointer is to one entry.
        match unsafe { libc::poll(&raw mut entry, 1, most) } {
            0 => return false,
            // Interrupted by a signal, which is up to the host.
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            ready => return ready > 0,
        }
    }
}

pub(super) fn no_keeper(keeper: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is no keeper: its main must call switchboard::keeper::run_if_asked first",
        keeper.display()
    ))
}
