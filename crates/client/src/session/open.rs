//! Opens sessions: connects the transport, starts the tasks, negotiates with the server.

use std::sync::Arc;

use switchboard_wire::{Discover, Era, Method};

use super::engine::Engine;
use super::exchange::{self, ExchangeDriver};
use super::handshake::suggests_fallback;
use super::negotiate::{Attempt, Opening};
use super::outbox::Outbox;
use super::{CallError, CloseCause, OpenError, Session, SessionOptions, clocks, read};
use crate::transport::{Connect, Ends, Link};

impl Session {
    /// Connects to a server and negotiates a protocol version.
    ///
    /// A server that exits on the first request, as some do on one of the other era, is started a
    /// second time; so is one that speaks both eras and was too slow to answer in the modern one.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection and ends the process; nothing is left behind.
    ///
    /// # Errors
    /// Fails when there is no connection or no common version; with the server's exit status and
    /// its stderr if there are any.
    pub async fn connect(
        connect: &dyn Connect,
        options: SessionOptions,
    ) -> Result<Self, OpenError> {
        let opened = Self::connect_so(connect, &options).await;
        let (error, other) = match (opened, connect.fallback()) {
            (Err(error), Some(other)) if suggests_fallback(&error) => (error, other),
            (opened, _) => return opened,
        };
        // The server does not know this transport. If it does not know the other one either, the
        // first error is the one to report.
        Self::connect_so(other, &options).await.map_err(|_| error)
    }

    async fn connect_so(
        connect: &dyn Connect,
        options: &SessionOptions,
    ) -> Result<Self, OpenError> {
        // One attempt as the options say, and at most one more, in the era that the first one
        // found.
        let first = Starting::new(connect, options).await?;
        let (error, begin) = match first.open(options, None).await? {
            (engine, Attempt::Open(negotiated)) => {
                return Ok(Self::new(engine, *negotiated, connect));
            }
            (engine, Attempt::StartAnew { error, begin }) => {
                engine.peer.end();
                // A server that still runs must be gone before the second one needs its files and
                // ports.
                if engine.table().closed().is_none() {
                    engine.close(CloseCause::ByUs);
                    if engine.peer.is_process() {
                        engine.peer.ended().await;
                    }
                }
                (error, begin)
            }
        };
        let second = Starting::new(connect, options).await?;
        match second.open(options, Some(begin)).await {
            Ok((engine, Attempt::Open(negotiated))) => Ok(Self::new(engine, *negotiated, connect)),
            Ok((_, Attempt::StartAnew { error, .. })) => Err(OpenError::Handshake {
                stage: Discover::NAME,
                error: Box::new(error),
                earlier: None,
                seen: Box::default(),
            }),
            Err(OpenError::Handshake {
                stage,
                error: second,
                seen,
                ..
            }) => Err(OpenError::Handshake {
                stage,
                error: second,
                seen,
                earlier: match error {
                    CallError::Closed { reason, .. } => Some(reason),
                    _ => None,
                },
            }),
            Err(error) => Err(error),
        }
    }
}

/// A connection before negotiation; dropping it closes the connection.
struct Starting {
    engine: Arc<Engine>,
    /// Another owner is responsible for the connection's end now.
    handed_on: bool,
}

impl Starting {
    async fn new(connect: &dyn Connect, options: &SessionOptions) -> Result<Self, OpenError> {
        let link = connect.connect().await.map_err(OpenError::Connect)?;
        Ok(Self {
            engine: serve(link, options),
            handed_on: false,
        })
    }

    async fn open(
        mut self,
        options: &SessionOptions,
        anew: Option<Era>,
    ) -> Result<(Arc<Engine>, Attempt), OpenError> {
        let opening = Opening {
            engine: &self.engine,
            options,
            anew,
        };
        // Boxed: both first requests at once make a large future, which every caller would carry.
        let attempt = Box::pin(opening.open()).await?;
        self.handed_on = true;
        Ok((Arc::clone(&self.engine), attempt))
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if !self.handed_on {
            self.engine.peer.give_up();
            self.engine.close(CloseCause::ByUs);
        }
    }
}

/// Closes the connection when the reading task ends, however it ends, so that no call waits for
/// ever.
struct CloseOnEnd(Arc<Engine>);

impl Drop for CloseOnEnd {
    fn drop(&mut self) {
        let what = "the reading task ended before the connection".to_owned();
        self.0.close(CloseCause::ReadFailed(what));
    }
}

/// Starts the tasks that serve a connection.
fn serve(link: Link, options: &SessionOptions) -> Arc<Engine> {
    let first_id = link.first_id;
    let engine = match link.ends {
        Ends::Streams { reader, writer } => {
            let outbox = Outbox::new(writer);
            let engine = Arc::new(Engine::new(outbox, None, link.peer, options));
            // The guard before the task: a panic while reading must still close the connection.
            let reading = CloseOnEnd(Arc::clone(&engine));
            drop(engine.tasks.spawn(async move {
                read::read(Arc::clone(&reading.0), reader).await;
            }));
            let writing = Arc::clone(&engine);
            drop(engine.tasks.spawn(async move {
                if let Err(error) = writing.outbox.run().await {
                    writing.reader.write_failed(error.to_string());
                }
            }));
            engine
        }
        Ends::Exchange(exchange) => {
            // The driver spawns tasks that hold the engine, so it needs a reference back to it.
            let engine = Arc::new_cyclic(|me| {
                let driver = Some(ExchangeDriver::new(exchange, me.clone()));
                let outbox = Outbox::new(Box::new(tokio::io::sink()));
                Engine::new(outbox, driver, link.peer, options)
            });
            drop(engine.tasks.spawn(exchange::listen(Arc::clone(&engine))));
            engine
        }
    };
    engine.begin_ids(first_id);
    drop(engine.tasks.spawn(clocks::watch(Arc::clone(&engine))));
    engine
}
