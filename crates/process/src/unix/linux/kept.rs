//! Starts a keeper, which starts the server.

use std::ffi::{CString, c_int};
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::net::unix::pipe;

use super::child::{Child, Leader};
use super::pipes::Theirs;
use super::strings::Strings;
use super::{System, above};
use crate::cgroup::Cgroup;
use crate::instance::Instance;
use crate::keeper::{
    LAST, LIVENESS, LastReport, Report, STATUS, VARIABLES, is_keeper, write_variables,
};
use crate::orphans::{self, Sweep};
use crate::tend::{self, Start};
use crate::{Cleanup, Exit, within};

/// How long a keeper has to start the server. One that takes longer is none.
const MOST: Duration = Duration::from_secs(10);

/// The files that a keeper has beside the streams of the server.
const FILES: c_int = VARIABLES + 1;

impl System {
    /// Starts a keeper, which then starts the server.
    pub(super) fn spawn_kept(
        &self,
        start: &Start,
        keeper: &Path,
        streams: Theirs,
    ) -> io::Result<Child> {
        if is_keeper() {
            // It would start itself for ever.
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
                readable(&variables)?,
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
        // The report ends only when nobody but the keeper could write to it.
        drop(files);
        let starting = Starting {
            status: pipe::Receiver::from_owned_fd(status.into())?,
            keeper: keeper.to_owned(),
        };
        Child::of_keeper(leader, starting)
    }
}

/// The files of a keeper in the order of their numbers, out of the way of these.
fn theirs(streams: Theirs, own: [OwnedFd; 4]) -> io::Result<Vec<OwnedFd>> {
    const { assert!(LIVENESS == 3 && STATUS == 4 && LAST == 5 && VARIABLES == 6) };
    let streams = [streams.stdin, streams.stdout, streams.stderr];
    let files = streams.into_iter().chain(own);
    files.map(|file| above(file, FILES)).collect()
}

/// A file in memory that has the variables of a server in it, to be read from its beginning.
///
/// Not a pipe: nobody reads it before the keeper runs, and it may be more than a pipe holds.
#[allow(unsafe_code)]
fn readable(variables: &[CString]) -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string; the file is new and nobody else's.
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

/// What the host has of a keeper.
pub(super) struct Kept {
    /// What a keeper sees the end of, when the host is gone or has dropped this.
    pub(super) _liveness: OwnedFd,
    last: OwnedFd,
    cgroup: Option<Cgroup>,
    /// The server's first process, and when it started.
    pub(super) server: Option<(u32, u64)>,
    after_kill: Duration,
}

impl Kept {
    /// How long a keeper has to end once it was told to kill.
    pub(super) fn patience(&self) -> Duration {
        tend::after_kill(self.after_kill)
    }

    /// What a keeper that has ended reported last; nothing if it could not.
    fn last_report(&self) -> Option<LastReport> {
        let mut bytes = [0; LastReport::BYTES];
        // The end of the pipe is there: nobody but the keeper could write to it.
        if !is_ready(self.last.as_fd(), Instant::now()) {
            return None;
        }
        let read = rustix::io::read(&self.last, &mut bytes).ok()?;
        (read == bytes.len()).then(|| LastReport::from_bytes(bytes))
    }

    /// Ends what a keeper has left that has ended like this.
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
        Some(told(&sweep, left, last, exit))
    }

    /// The same where nobody wants to know, and on a thread that may wait.
    pub(super) fn clean_up_unheard(self) {
        if let Some((mut sweep, _)) = self.sweep() {
            sweep.until(Instant::now() + self.after_kill);
        }
    }

    /// What there is to kill. Nothing after a keeper that says that nothing is left.
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

/// What became of a server whose keeper could not end all of it.
fn told(sweep: &Sweep, mut left: Vec<u32>, last: Option<LastReport>, exit: Exit) -> Cleanup {
    let ended = sweep.killed().saturating_sub(left.len());
    // Those whom the keeper knew of, and this process does not find.
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

    /// Waits for what a keeper reports: the server's number, nothing if it is no keeper, or why the
    /// server could not be started.
    pub(super) async fn reported(&self) -> io::Result<Option<Pid>> {
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
                // The program is loaded.
                Ok(0) => return Ok(server),
                // A report is written at once, and is read so.
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

/// Waits until a file can be read or has ended; says whether that was before the deadline.
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
        // SAFETY: there is one entry.
        match unsafe { libc::poll(&raw mut entry, 1, most) } {
            0 => return false,
            // A signal came in between, for the host to mind.
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
