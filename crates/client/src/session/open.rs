//! Opens sessions: makes the connection, starts its tasks, agrees with the server.

use std::sync::Arc;

use switchboard_wire::{Discover, Era, Method};

use super::engine::Engine;
use super::exchange::{self, ExchangeDriver};
use super::handshake::wants_otherwise;
use super::negotiate::{Attempt, Opening};
use super::outbox::Outbox;
use super::{CallError, CloseCause, OpenError, Session, SessionOptions, clocks, read};
use crate::transport::{Connect, Ends, Link};

impl Session {
    /// Connects to a server and agrees with it on a protocol version.
    ///
    /// A server that ends on the first question, as some do when it is of the other era, is started a
    /// second time; so is one that speaks both eras and was too slow to be asked in the modern one.
    /// Dropping the future leaves nothing behind.
    ///
    /// # Errors
    /// When there is no connection, or nothing to agree on; with the server's exit status and its
    /// last words where there are any.
    pub async fn connect(
        connect: &dyn Connect,
        options: SessionOptions,
    ) -> Result<Self, OpenError> {
        let opened = Self::connect_so(connect, &options).await;
        let (error, other) = match (opened, connect.otherwise()) {
            (Err(error), Some(other)) if wants_otherwise(&error) => (error, other),
            (opened, _) => return opened,
        };
        // The server does not know this transport. If it does not know the other either, what it
        // said first is what counts.
        Self::connect_so(other, &options).await.map_err(|_| error)
    }

    async fn connect_so(
        connect: &dyn Connect,
        options: &SessionOptions,
    ) -> Result<Self, OpenError> {
        // One attempt as the options say, and at most one more, which is told in which era to begin.
        let first = Starting::new(connect, options).await?;
        let (error, begin) = match first.open(options, None).await? {
            (engine, Attempt::Open(negotiated)) => {
                return Ok(Self::new(engine, *negotiated, connect));
            }
            (engine, Attempt::StartAnew { error, begin }) => {
                engine.peer.end();
                // One that still runs must be gone before the next one takes its files and ports.
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

/// A connection on which nothing is agreed yet; dropping it ends it.
struct Starting {
    engine: Arc<Engine>,
    /// Whether somebody else sees to the connection's end now.
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
        // Both first questions at once make a large future, which every caller would carry.
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

/// The task that reads: however it ends, everybody who waits for what it reads is told.
struct Reading(Arc<Engine>);

impl Drop for Reading {
    fn drop(&mut self) {
        let what = "the reading task ended before the connection".to_owned();
        self.0.close(CloseCause::ReadFailed(what));
    }
}

/// Starts the tasks that serve a connection.
fn serve(link: Link, options: &SessionOptions) -> Arc<Engine> {
    let engine = match link.ends {
        Ends::Streams { reader, writer } => {
            let outbox = Outbox::new(writer);
            let engine = Arc::new(Engine::new(outbox, None, link.peer, options));
            let reading = Reading(Arc::clone(&engine));
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
            let engine = Arc::new_cyclic(|me| {
                let driver = Some(ExchangeDriver::new(exchange, me.clone()));
                let outbox = Outbox::new(Box::new(tokio::io::sink()));
                Engine::new(outbox, driver, link.peer, options)
            });
            drop(engine.tasks.spawn(exchange::listen(Arc::clone(&engine))));
            engine
        }
    };
    drop(engine.tasks.spawn(clocks::watch(Arc::clone(&engine))));
    engine
}
