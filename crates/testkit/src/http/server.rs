//! The running server: listening, accepting, ending.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::config::Http;
use super::exchange::{Exchange, respond};
use super::record::{Counts, Log, Request};
use super::shared::Shared;
use super::wire::{Handle, Wire};
use crate::chaos::Ending;

/// A running server. Dropping it ends it, with all of its connections.
#[derive(Debug)]
pub struct Server {
    http: Http,
    address: SocketAddr,
    log: Arc<Log>,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(http: Http) -> io::Result<Self> {
        let log = Arc::new(Log::new(http.recorded));
        Self::open(http, log).await
    }

    async fn open(http: Http, log: Arc<Log>) -> io::Result<Self> {
        let listener = TcpListener::bind((http.host, http.port)).await?;
        let address = listener.local_addr()?;
        // Opened only if a client is to be sent there.
        let other = if http.needs_other_origin() {
            Some(TcpListener::bind((http.host, 0)).await?)
        } else {
            None
        };
        let elsewhere = other.as_ref().map(TcpListener::local_addr).transpose()?;
        let other_address = elsewhere.unwrap_or(address);
        let shared = Shared::new(&http, Arc::clone(&log), address, other_address)?;
        let task = tokio::spawn(run(listener, other, Arc::clone(&shared)));
        Ok(Self {
            http,
            address,
            log,
            shared,
            task,
        })
    }

    /// The address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.http.transport.path())
    }

    /// The requests so far, oldest first; see [`Http::record`]. They survive a restart.
    pub fn requests(&self) -> Vec<Request> {
        self.log.requests()
    }

    /// Forgets the requests so far; the counts continue.
    pub fn forget_requests(&self) {
        self.log.forget();
    }

    /// The number of TCP connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.counts().connections
    }

    /// All counts.
    pub fn counts(&self) -> Counts {
        *self.log.counts().borrow()
    }

    /// Waits until the counts satisfy `condition`, and returns them. Cancel safe.
    pub async fn until(&self, condition: impl FnMut(&Counts) -> bool) -> Counts {
        let mut counts = self.log.counts();
        let found = counts.wait_for(condition).await;
        // The log is our own, so its sender exists.
        found.map(|counts| *counts).unwrap_or_default()
    }

    /// Forgets all sessions, like a server that was restarted behind the same address; connections
    /// stay open.
    pub fn forget_sessions(&self) {
        self.shared.sessions.clear();
    }

    /// Waits for the server to end because of a fault, and returns the exit status that its process
    /// would have. Cancel safe.
    pub async fn ended(&self) -> i32 {
        match self.shared.ended().await {
            Ending::Done => 0,
            Ending::Exit(status) => status,
            // The status that a shell reports for an aborted process.
            Ending::Abort => 134,
        }
    }

    /// Ends the server and closes all of its connections at once. Dropping the future may leave
    /// them closing.
    pub async fn shutdown(self) {
        self.stop().await;
    }

    /// Ends the server like [`Self::shutdown`] and starts it again on the same port, without its
    /// sessions.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the server stopped.
    ///
    /// # Errors
    /// Fails when the port has been taken meanwhile.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.stop().await;
        let http = self.http.clone().port(self.address.port());
        *self = Self::open(http, Arc::clone(&self.log)).await?;
        Ok(())
    }

    /// Ends the server like [`Self::shutdown`]; [`Self::restart`] starts it again. Connections are
    /// refused until then.
    pub async fn stop(&self) {
        // Abort the accepting task first: no new connection while the open ones are dropped.
        self.task.abort();
        let mut counts = self.log.counts();
        // Aborted tasks are dropped at their next poll.
        let _ = counts.wait_for(|counts| counts.open == 0).await;
        while !self.task.is_finished() {
            tokio::task::yield_now().await;
        }
        self.shared.sessions.clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.sessions.clear();
    }
}

async fn accept(listener: Option<&TcpListener>) -> io::Result<(TcpStream, SocketAddr)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

async fn run(listener: TcpListener, other: Option<TcpListener>, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    let mut ended = std::pin::pin!(shared.ended());
    loop {
        let (accepted, elsewhere) = tokio::select! {
            accepted = listener.accept() => (accepted, false),
            accepted = accept(other.as_ref()) => (accepted, true),
            Some(_) = connections.join_next() => continue,
            _ = &mut ended => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let serving = serve(stream, elsewhere, Arc::clone(&shared));
                connections.spawn(serving);
            }
            // Usually too many open files, some of which close soon.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// Counts a connection as open until it is dropped.
struct Open(Arc<Log>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.count(|counts| counts.open -= 1);
    }
}

fn serve(
    stream: TcpStream,
    elsewhere: bool,
    shared: Arc<Shared>,
) -> impl Future<Output = ()> + Send + 'static {
    // Count before the task runs: a connected client is always a counted one.
    let counts = shared.log.count(|counts| {
        counts.connections += 1;
        counts.open += 1;
    });
    let open = Open(Arc::clone(&shared.log));
    let connection = counts.connections;
    async move {
        let _open = open;
        let handle = Handle::default();
        let wire = Wire::new(stream, handle.clone());
        let service = service_fn(move |request| {
            let exchange = Exchange {
                shared: Arc::clone(&shared),
                connection,
                elsewhere,
                handle: handle.clone(),
            };
            respond(exchange, request)
        });
        // Errors here are the client's, or were ordered by a fault.
        let _ = http1::Builder::new().serve_connection(wire, service).await;
    }
}
