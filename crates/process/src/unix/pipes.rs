//! The three pipes between a child and us.

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe;

/// Our ends.
pub(super) struct Ours {
    pub(super) writer: pipe::Sender,
    pub(super) reader: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

/// The child's ends. While we hold them, the pipes never end.
pub(super) struct Theirs {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Opens the pipes. No end of them is inherited by a program that somebody else starts.
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

/// Lets a large answer through in fewer turns between the two processes.
///
/// Not as wide as it goes: what one user's pipes may take in all is shared by all programs.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn widen(pipe: &io::PipeReader) {
    const WIDE: usize = 256 * 1024;
    // A refusal leaves the pipe as it was, which is wide enough to work.
    rustix::pipe::fcntl_setpipe_size(pipe, WIDE).ok();
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn widen(_pipe: &io::PipeReader) {}
