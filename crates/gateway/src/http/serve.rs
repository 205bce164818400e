//! Serving a listener: connections within their bounds, and their end.

use std::convert::Infallible;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::auth::Peer;
use super::idle::Idle;
use super::listener::{Accepted, HttpListener};
use super::service::HttpService;
use super::socket::Socket;
use super::tls;
use crate::error::GatewayError;
use crate::limits::GatewayLimits;

/// The number of headers that hyper takes by itself.
const HEADERS_OF_HYPER: usize = 100;
/// Pause after the system could not accept a connection: it is likely out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

impl HttpService {
    /// Serves a listener until `shutdown` completes; then takes no more connections, ends streams that
    /// would stay open, gives calls the time of [`GatewayLimits::drain`], and closes what is left.
    ///
    /// All listeners of one service drain together, and with their [`Gateway`](crate::Gateway).
    ///
    /// # Errors
    /// Fails at once if the certificate cannot be used, or if the address is off loopback and neither TLS
    /// nor a proxy, or no credential, is set up for it.
    ///
    /// # Cancel safety
    /// Dropping the future closes the listener and all of its connections at once.
    pub async fn serve(
        &self,
        listener: HttpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), GatewayError> {
        let acceptor = self.check(&listener)?;
        let limits = self.shared.limits();
        let room = Arc::new(Semaphore::new(
            limits.connections.min(Semaphore::MAX_PERMITS),
        ));
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        let draining = &self.shared.draining;
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut shutdown => break,
                () = draining.cancelled() => break,
                () = self.shared.gateway.0.drain.begun() => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
                accepted = listener.accept() => accepted,
            };
            let accepted = match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_of_client(&error) => continue,
                Err(_) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            // Over the bound a connection is closed at once: waiting clients would hold descriptors too.
            let permit = Arc::clone(&room).try_acquire_owned();
            self.shared.counters.connection(permit.is_err());
            let Ok(permit) = permit else {
                continue;
            };
            let (service, acceptor) = (self.clone(), acceptor.clone());
            connections.spawn(async move {
                // Held as long as the connection, so that the bound counts what is open.
                let _permit = permit;
                service.connection(accepted, acceptor).await;
            });
        }
        // Closed before the drain, so that new clients fail at once instead of waiting.
        drop(listener);
        self.drain(connections).await;
        Ok(())
    }

    /// Checks that a listener may be served with these options; makes the acceptor for TLS.
    fn check(&self, listener: &HttpListener) -> Result<Option<TlsAcceptor>, GatewayError> {
        let options = &self.shared.options;
        let refuse = |option, why: &str| {
            let why = why.to_owned();
            Err(GatewayError::Option { option, why })
        };
        let Some(address) = listener.address() else {
            // A Unix socket: its folder and the kernel keep others out.
            return Ok(None);
        };
        let is_near = address.ip().to_canonical().is_loopback();
        if self.is_open() && (!is_near || options.behind_proxy) {
            let why = "without a token it is served on loopback alone, and not behind a proxy";
            return refuse("no-auth", why);
        }
        if !is_near && options.tls.is_none() && !options.behind_proxy {
            let why = "plain HTTP is served on loopback alone: elsewhere it needs a certificate, or a \
                       proxy in front that ends TLS";
            return refuse("http", why);
        }
        options.tls.as_ref().map(tls::acceptor).transpose()
    }

    async fn connection(self, accepted: Accepted, acceptor: Option<TlsAcceptor>) {
        let limits = self.shared.limits();
        let (head_time, write_time) = (limits.head_time, limits.write_time);
        match (accepted, acceptor) {
            (Accepted::Tcp(stream, peer), None) => {
                let socket = Socket::new(stream, write_time);
                self.talk(socket, peer).await;
            }
            (Accepted::Tcp(stream, peer), Some(acceptor)) => {
                let socket = Socket::new(stream, write_time);
                let shaken = tokio::time::timeout(head_time, acceptor.accept(socket)).await;
                if let Ok(Ok(stream)) = shaken {
                    Box::pin(self.talk(stream, peer)).await;
                }
            }
            #[cfg(unix)]
            (Accepted::Unix(stream), _) => {
                let socket = Socket::new(stream, write_time);
                self.talk(socket, Peer::SameUser).await;
            }
        }
    }

    /// Answers the requests of one connection, until it ends or the gateway drains.
    async fn talk<S>(mut self, stream: S, peer: Peer)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.peer = Some(peer);
        let shared = Arc::clone(&self.shared);
        let mut idle = Idle::new(shared.limits());
        let requests = idle.requests();
        let service = service_fn(move |request: Request<Incoming>| {
            let (service, running) = (self.clone(), requests.begin());
            async move {
                let response = service.handle(request).await;
                Ok::<_, Infallible>(response.map(|body| running.until_sent(body)))
            }
        });
        let builder = builder(shared.limits());
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut draining = pin!(shared.draining.cancelled());
        tokio::select! {
            // The connection first: it may have become idle.
            biased;
            // The way that a connection ends is the client's affair.
            _ = connection.as_mut() => return,
            () = &mut idle => return,
            () = &mut draining => {}
        }
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            _ = connection => {}
            () = idle => {}
        }
    }

    /// Ends everything: calls first get their time.
    async fn drain(&self, mut connections: JoinSet<()>) {
        let shared = &self.shared;
        shared.draining.cancel();
        shared.tasks.close();
        let finish = async {
            while connections.join_next().await.is_some() {}
            shared.tasks.wait().await;
        };
        // What is not done by then is cancelled below.
        tokio::time::timeout(shared.limits().drain, finish)
            .await
            .ok();
        // Connections before sessions: none may use a session that is ending.
        connections.shutdown().await;
        let mut ending = JoinSet::new();
        for session in shared.sessions.remove_all() {
            ending.spawn(async move { session.end().await });
        }
        for client in shared.modern.remove_all() {
            ending.spawn(async move { client.close().await });
        }
        while ending.join_next().await.is_some() {}
    }
}

/// Returns true if only the one connection failed: others must not wait for it.
fn is_of_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::PermissionDenied
    )
}

fn builder(limits: &GatewayLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        // `Idle` waits for heads.
        .header_read_timeout(None)
        // Smaller ones hyper does not take.
        .max_buf_size(limits.head_bytes.max(8192));
    // Over a number that is named, hyper allocates for every request.
    if limits.headers != HEADERS_OF_HYPER {
        builder.max_headers(limits.headers);
    }
    builder
}
