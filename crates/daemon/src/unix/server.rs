//! The daemon: takes connections, and answers one request on each.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::socket::{self, Held};
use crate::message::{self, Request, Stopped, Welcome};
use crate::{DaemonError, DaemonStatus, Place, VERSION};

/// Most connections at a time; further ones wait.
const CONNECTIONS: usize = 256;

/// Time for a command to send its request, and to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A daemon that listens.
#[derive(Debug)]
pub struct Daemon {
    listener: UnixListener,
    held: Held,
    started: u64,
}

impl Daemon {
    /// Makes the place if needed, takes its lock, and listens on its socket. Needs the context of a runtime.
    ///
    /// # Errors
    /// Fails if a daemon runs there already, or if other users could use the place.
    pub fn bind(place: &Place) -> Result<Self, DaemonError> {
        let (listener, held) = socket::listen(place)?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Self {
            listener,
            held,
            started: started.map_or(0, |time| time.as_secs()),
        })
    }

    /// Answers until a command stops it, or until `stop` is done. The socket is gone afterwards, and another
    /// daemon can start.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self {
            listener,
            held,
            started,
        } = self;
        let status = Arc::new(DaemonStatus {
            pid: std::process::id(),
            version: VERSION.to_owned(),
            started,
        });
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let (stopping, mut asked) = mpsc::channel::<UnixStream>(CONNECTIONS);
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
                let (status, stopping) = (Arc::clone(&status), stopping.clone());
                connections.spawn(async move {
                    // A connection that fails is its command's affair.
                    answer(stream, &status, &stopping).await.ok();
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
        connections.shutdown().await;
        // The lock before the answer: whoever asked may start another daemon at once.
        drop((listener, held));
        asked.close();
        let mut askers: Vec<UnixStream> = asker.into_iter().collect();
        while let Ok(stream) = asked.try_recv() {
            askers.push(stream);
        }
        for mut stream in askers {
            let answer = Stopped { stopped: true };
            drop(timeout(PATIENCE, message::send(&mut stream, &answer)).await);
        }
    }
}

/// Answers one command. A request to stop is handed over with its connection.
async fn answer(
    mut stream: UnixStream,
    status: &DaemonStatus,
    stopping: &mpsc::Sender<UnixStream>,
) -> Result<(), DaemonError> {
    // Before anything is said: others learn nothing.
    socket::check_peer(&stream)?;
    let asked = async {
        let switchboard = VERSION.to_owned();
        message::send(&mut stream, &Welcome { switchboard }).await?;
        message::receive(&mut stream).await
    };
    let request = timeout(PATIENCE, asked).await;
    match request.map_err(|_| DaemonError::Silent)?? {
        Request::Status => {
            let sent = timeout(PATIENCE, message::send(&mut stream, status)).await;
            sent.map_err(|_| DaemonError::Silent)?
        }
        Request::Stop => {
            // Fails if the daemon stops already: then it tells all who have asked.
            stopping.send(stream).await.ok();
            Ok(())
        }
    }
}
