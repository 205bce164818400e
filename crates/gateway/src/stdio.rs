//! Stdin and stdout of this process, as a client that started it has their other ends.

use tokio::io::{AsyncRead, AsyncWrite};

/// The side that a client writes to.
pub type StdioInput = Box<dyn AsyncRead + Send + Unpin>;

/// The side that a client reads from.
pub type StdioOutput = Box<dyn AsyncWrite + Send + Unpin>;

/// Takes stdin and stdout for [`Gateway::serve`](crate::Gateway::serve). Pipes and sockets are read and
/// written without a thread between; anything else, such as a terminal or a file, has one.
///
/// Nothing else of the process may use them afterwards. To be called within a tokio runtime.
pub fn stdio() -> (StdioInput, StdioOutput) {
    let input = event_driven::input().unwrap_or_else(|| Box::new(tokio::io::stdin()));
    let output = event_driven::output().unwrap_or_else(|| Box::new(tokio::io::stdout()));
    (input, output)
}

#[cfg(unix)]
mod event_driven {
    use std::io;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream as Socket;

    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{StdioInput, StdioOutput};

    pub(super) fn input() -> Option<StdioInput> {
        // A copy: dropping it must not close stdin, which others could then open as something else.
        let copy = || io::stdin().as_fd().try_clone_to_owned();
        if let Ok(pipe) = copy().and_then(pipe::Receiver::from_owned_fd) {
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(copy().ok()?.into()).ok()?))
    }

    pub(super) fn output() -> Option<StdioOutput> {
        let copy = || io::stdout().as_fd().try_clone_to_owned();
        if let Ok(pipe) = copy().and_then(pipe::Sender::from_owned_fd) {
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(copy().ok()?.into()).ok()?))
    }

    /// The socket that some clients give instead of a pipe.
    fn socket(socket: Socket) -> io::Result<UnixStream> {
        // Fails for whatever is not a socket.
        socket.local_addr()?;
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket)
    }
}

#[cfg(not(unix))]
mod event_driven {
    use super::{StdioInput, StdioOutput};

    pub(super) fn input() -> Option<StdioInput> {
        None
    }

    pub(super) fn output() -> Option<StdioOutput> {
        None
    }
}
