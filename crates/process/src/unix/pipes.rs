//! The three pipes between a child and its host.

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

/// The host's ends.
pub(super) struct Ours {
    pub(super) writer: pipe::Sender,
    pub(super) reader: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

/// The child's ends. While the host holds them, the pipes never end.
pub(super) struct Theirs {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Opens the pipes. No other child inherits their ends.
pub(super) fn open() -> io::Result<(Ours, Theirs)> {
    let (stdin, writer) = io::pipe()?;
    let (reader, stdout) = io::pipe()?;
    let (stderr, their_stderr) = io::pipe()?;
    widen(&reader);
    let ours = Ours {
        writer: pipe::Sender::from_owned_fd(writer.into())?,
        reader: pipe::Receiver::from_owned_fd(reader.into())?,
        stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
    };
    let theirs = Theirs {
        stdin: stdin.into(),
        stdout: stdout.into(),
        stderr: their_stderr.into(),
    };
    Ok((ours, theirs))
}

/// Enlarges a pipe, so that a large answer needs fewer switches between the two processes.
///
/// Not to the maximum, because the total for all pipes of a user is limited.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn widen(pipe: &io::PipeReader) {
    const WIDE: usize = 256 * 1024;
    // If the system refuses, the pipe keeps its size and still works.
    rustix::pipe::fcntl_setpipe_size(pipe, WIDE).ok();
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn widen(_pipe: &io::PipeReader) {}
