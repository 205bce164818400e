//! The daemon: takes connections, and serves one request on each.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::instance::now;
use super::lease;
use super::pool::Pool;
use super::socket::{self, Held};
use crate::frame::Frames;
use crate::message::{self, Request, Stopped, Welcome};
use crate::{DaemonError, DaemonOptions, DaemonStatus, Place, VERSION};

/// Most requests to stop that wait for the end.
const ASKERS: usize = 16;

/// Time for a command to send its request, and to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A daemon that listens.
#[derive(Debug)]
pub struct Daemon {
    listener: UnixListener,
    held: Held,
    options: DaemonOptions,
    started: u64,
}

impl Daemon {
    /// Makes the place if needed, takes its lock, and listens on its socket. Needs the context of a runtime.
    ///
    /// # Errors
    /// Fails if a daemon runs there already, or if other users could use the place.
    pub fn bind(place: &Place, options: DaemonOptions) -> Result<Self, DaemonError> {
        let (listener, held) = socket::listen(place)?;
        Ok(Self {
            listener,
            held,
            options,
            started: now(),
        })
    }

    /// Serves until a command stops it, or until `stop` is done, and ends all servers. The socket is gone
    /// afterwards, and another daemon can start.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self {
            listener,
            held,
            options,
            started,
        } = self;
        let places = Arc::new(Semaphore::new(options.connections));
        let drain = options.drain;
        let (stopping, mut asked) = mpsc::channel::<OwnedWriteHalf>(ASKERS);
        let desk = Arc::new(Desk {
            pool: Pool::new(options),
            started,
            stopping,
        });
        let mut connections = JoinSet::new();
        let accepting = async {
            loop {
                // A place before the connection: what is over the limit waits in the queue of the system.
                let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                    return;
                };
                let Ok((stream, _)) = listener.accept().await else {
                    // Out of descriptors: until one is free, nothing can be accepted.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let desk = Arc::clone(&desk);
                connections.spawn(async move {
                    // A connection that fails is its command's affair.
                    desk.answer(stream).await.ok();
                    drop(place);
                });
                while connections.try_join_next().is_some() {}
            }
        };
        let asker = tokio::select! {
            () = accepting => None,
            () = stop => None,
            asker = asked.recv() => asker,
        };
        // No new commands before the wait; those in flight have their time, and then their servers end.
        drop(listener);
        desk.pool.stop.cancel();
        let finished = async { while connections.join_next().await.is_some() {} };
        drop(timeout(drain.saturating_add(PATIENCE), finished).await);
        connections.shutdown().await;
        desk.pool.close().await;
        // The lock before the answer: the command that asked may start another daemon at once.
        drop(held);
        asked.close();
        let mut askers: Vec<OwnedWriteHalf> = asker.into_iter().collect();
        while let Ok(asker) = asked.try_recv() {
            askers.push(asker);
        }
        for mut asker in askers {
            let answer = Stopped { stopped: true };
            drop(timeout(PATIENCE, message::send(&mut asker, &answer)).await);
        }
    }
}

/// Answers commands.
struct Desk {
    pool: Arc<Pool>,
    started: u64,
    /// Takes the connections of those who wait for the end.
    stopping: mpsc::Sender<OwnedWriteHalf>,
}

impl Desk {
    /// Answers one command.
    async fn answer(&self, stream: UnixStream) -> Result<(), DaemonError> {
        // Before anything is said: others learn nothing.
        socket::check_peer(&stream)?;
        let (reader, mut socket) = stream.into_split();
        let mut frames = Frames::new(reader);
        let asked = async {
            let switchboard = VERSION.to_owned();
            message::send(&mut socket, &Welcome { switchboard }).await?;
            message::receive(&mut frames).await
        };
        let request = timeout(PATIENCE, asked).await;
        match request.map_err(|_| DaemonError::Silent)?? {
            Request::Status => {
                let status = self.status();
                let sent = timeout(PATIENCE, message::send(&mut socket, &status)).await;
                sent.map_err(|_| DaemonError::Silent)?
            }
            Request::Stop => {
                // Fails if the daemon stops already: then it tells all who have asked.
                self.stopping.send(socket).await.ok();
                Ok(())
            }
            Request::Start(start) => {
                let served = lease::serve(&self.pool, start, frames, socket).await;
                served.map_err(DaemonError::Lost)
            }
        }
    }

    fn status(&self) -> DaemonStatus {
        DaemonStatus {
            pid: std::process::id(),
            version: VERSION.to_owned(),
            started: self.started,
            servers: self.pool.statuses(),
        }
    }
}
