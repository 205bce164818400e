//! Starts a keeper, which starts the server.

use std::ffi::c_int;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::child::{Child, Leader};
use super::pipes::Theirs;
use super::strings::Strings;
use super::{System, above};
use crate::transport::stdio::keeper::{LIVENESS, Report, STATUS, is_keeper};
use crate::transport::stdio::tend::Start;

/// How long a keeper has to start the server. One that takes longer is none.
const MOST: Duration = Duration::from_secs(10);

/// The files that a keeper has beside the streams of the server.
const FILES: c_int = STATUS + 1;

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
        let strings = Strings::of_keeper(start, keeper)?;
        let (their_liveness, liveness) = io::pipe()?;
        let (status, their_status) = io::pipe()?;
        let files = theirs(streams, their_liveness, their_status)?;
        let pid = self.load(&strings, &files).map_err(|error| {
            let message = format!("its keeper {}: {error}", keeper.display());
            io::Error::new(error.kind(), message)
        })?;
        let leader = Leader::of_keeper(pid, liveness.into())?;
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
fn theirs(
    streams: Theirs,
    liveness: PipeReader,
    status: PipeWriter,
) -> io::Result<[OwnedFd; FILES as usize]> {
    const { assert!(LIVENESS == 3 && STATUS == 4) };
    let out_of_the_way = |file| above(file, FILES);
    Ok([
        out_of_the_way(streams.stdin)?,
        out_of_the_way(streams.stdout)?,
        out_of_the_way(streams.stderr)?,
        out_of_the_way(liveness.into())?,
        out_of_the_way(status.into())?,
    ])
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
        match timeout(MOST, self.read()).await {
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
