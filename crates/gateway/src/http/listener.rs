//! Listening: TCP, and Unix sockets of the same user.

use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;

use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use super::auth::Peer;
#[cfg(unix)]
use super::unix::{self, SocketFile};
use crate::error::GatewayError;

/// An address that is listened on.
#[derive(Debug)]
pub struct HttpListener(pub(super) Kind);

#[derive(Debug)]
pub(super) enum Kind {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix {
        listener: UnixListener,
        /// Removed with the listener.
        _file: SocketFile,
    },
}

/// A connection that was accepted.
pub(super) enum Accepted {
    Tcp(TcpStream, Peer),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl HttpListener {
    /// Listens on a TCP address; port 0 picks a free one.
    ///
    /// # Errors
    /// Fails if the address cannot be listened on.
    pub async fn tcp(address: SocketAddr) -> Result<Self, GatewayError> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            io::Error::new(error.kind(), format!("listening on {address}: {error}"))
        })?;
        Ok(Self(Kind::Tcp(listener)))
    }

    /// Listens on a Unix socket that only this user can connect to. A socket that an earlier process left is
    /// replaced.
    ///
    /// # Errors
    /// Fails if another process listens there, the path is something else or another user's, or other users
    /// can write its folder.
    #[cfg(unix)]
    pub fn unix(path: &Path) -> Result<Self, GatewayError> {
        let (listener, file) = unix::listen(path)?;
        Ok(Self(Kind::Unix {
            listener,
            _file: file,
        }))
    }

    /// The TCP address, with the port that was picked.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(unix)]
            Kind::Unix { .. } => None,
        }
    }

    /// The next connection. On a Unix socket, of the same user only.
    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match &self.0 {
            Kind::Tcp(listener) => {
                let (stream, remote) = listener.accept().await?;
                // Small answers must not wait for one another. A failure only makes it slower.
                stream.set_nodelay(true).ok();
                let local = stream.local_addr()?;
                Ok(Accepted::Tcp(stream, Peer::Tcp { remote, local }))
            }
            #[cfg(unix)]
            Kind::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                // Before a byte is read: the socket may have been open to others for a moment.
                unix::check_peer(&stream)?;
                Ok(Accepted::Unix(stream))
            }
        }
    }
}

impl From<TcpListener> for HttpListener {
    fn from(listener: TcpListener) -> Self {
        Self(Kind::Tcp(listener))
    }
}
