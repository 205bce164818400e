//! Finds the era of a server, and opens the session in it.
//!
//! For a server whose era is not known, the first request is `server/discover`, which only a modern
//! server understands:
//!
//! - A result, or an error that only a modern server gives, settles the question.
//! - Any other error means a legacy server: the handshake follows on the same connection.
//! - Silence means a legacy server or one that is still starting: after a while the handshake is
//!   sent as well, and both answers are awaited.
//! - An exit means a legacy server that has to be started again, unless its stderr explains the
//!   exit.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::limits::Deadline;
use switchboard_core::spec::Protocol;
use switchboard_wire::{Discover, DiscoverResult, Era, InitializeResult, Method, Version, code};
use tokio::time::{Instant, sleep, timeout};

use super::SessionOptions;
use super::engine::Engine;
use super::error::{CallError, Clock, Delivery, OpenError};
use super::handshake::{
    is_answer, is_legacy_status, is_unexplained_end, names, supported, was_killed,
};
use super::negotiated::Negotiated;
use crate::transport::stderr_hints;

/// Interval between checks that a launcher is still fetching the server.
const LOOK: Duration = Duration::from_millis(250);

/// The end of an attempt to open a session.
pub(crate) enum Attempt {
    Open(Box<Negotiated>),
    /// Start the server again and begin in the given era: it exited on a request that it does not
    /// know, or bound the connection to the wrong era because it was slow.
    StartAnew {
        error: CallError,
        begin: Era,
    },
}

/// The result of the probe.
enum Probe {
    Modern(Box<DiscoverResult>, Version),
    Legacy,
    Silent(CallError),
    Ended(CallError),
}

/// The first answer, of the two first requests.
enum First {
    Probe(Result<Probe, OpenError>),
    Handshake(Result<Box<InitializeResult>, OpenError>),
}

/// Negotiation on one new connection.
pub(crate) struct Opening<'a> {
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) options: &'a SessionOptions,
    /// The era to begin in if this is the second start of the server; there is no third.
    pub(crate) anew: Option<Era>,
}

impl Opening<'_> {
    /// Negotiates on a new connection.
    pub(crate) async fn open(&self) -> Result<Attempt, OpenError> {
        let connect = self.options.timeouts.connect;
        match self.options.protocol {
            Protocol::Legacy => self.legacy(&self.initialize(connect).await?).await,
            Protocol::Modern => match self.probe(connect).await? {
                Probe::Modern(found, version) => self.modern(&found, version),
                Probe::Ended(error) | Probe::Silent(error) => {
                    Err(self.failed(Discover::NAME, error))
                }
                Probe::Legacy => Err(OpenError::NoCommonVersion {
                    theirs: vec!["a legacy version".to_owned()],
                    ours: names(Era::Modern),
                }),
            },
            Protocol::Auto if self.begins_legacy() => self.open_as_legacy().await,
            Protocol::Auto => self.open_unknown().await,
        }
    }

    fn begins_legacy(&self) -> bool {
        let link = self
            .engine
            .driver
            .as_ref()
            .and_then(|driver| driver.exchange.era());
        self.anew.or(link).or(self.remembered()) == Some(Era::Legacy)
    }

    fn remembered(&self) -> Option<Era> {
        self.options.era_hint.map(|hint| hint.era)
    }

    fn over_http(&self) -> bool {
        self.engine.driver.is_some()
    }

    /// Begins with the handshake: the server spoke the legacy era before, or exited on the probe.
    async fn open_as_legacy(&self) -> Result<Attempt, OpenError> {
        let connect = self.options.timeouts.connect;
        let mut handshake = pin!(self.initialize(connect));
        // No second request over HTTP, where each has a connection of its own, nor to a server that
        // was started again because it exited on that request.
        let done = if self.over_http() || self.anew.is_some() {
            handshake.await
        } else {
            let began = Instant::now();
            let in_time = tokio::select! {
                biased;
                done = &mut handshake => Some(done),
                () = self.patience() => None,
            };
            match in_time {
                Some(done) => done,
                // Silent: it may have changed its era. The handshake stays open beside the probe,
                // for a server that is only slow.
                None => {
                    let probe = self.probe(less(connect, began.elapsed()));
                    tokio::select! {
                        biased;
                        done = &mut handshake => done,
                        found = probe => match found {
                            Ok(Probe::Modern(found, version)) => {
                                return self.modern_unless_bound(&found, version, handshake).await;
                            }
                            _ => handshake.await,
                        },
                    }
                }
            }
        };
        match done {
            Ok(result) => self.legacy(&result).await,
            // It refused the handshake: it has changed since the era was remembered, so find out
            // again.
            Err(error) if !self.engine.stop.is_cancelled() && is_answer(&error) => {
                self.open_unknown().await.map_err(|_| error)
            }
            Err(error) => self.start_anew(error, Era::Modern),
        }
    }

    /// Begins with the probe: nothing is known about the server.
    async fn open_unknown(&self) -> Result<Attempt, OpenError> {
        let connect = self.options.timeouts.connect;
        let began = Instant::now();
        let mut probe = pin!(self.probe(connect));
        // Over HTTP a server that does not answer says nothing about its era.
        if self.over_http() {
            return self.after_probe(probe.await?).await;
        }
        // The probe alone first: a legacy server answers it with an error at once, and a modern one
        // might take a handshake for the era of the connection.
        tokio::select! {
            biased;
            found = &mut probe => return self.after_probe(found?).await,
            () = self.patience() => {}
        }
        // The probe stays open: a modern server that is only slow to start reads it first.
        let mut handshake = pin!(self.initialize_after(began.elapsed()));
        let first = tokio::select! {
            biased;
            found = &mut probe => First::Probe(found),
            done = &mut handshake => First::Handshake(done.map(Box::new)),
        };
        match first {
            // Modern, but the handshake is on its way: wait for its outcome before anything else is
            // sent.
            First::Probe(Ok(Probe::Modern(found, version))) => {
                self.modern_unless_bound(&found, version, handshake).await
            }
            First::Probe(Ok(Probe::Ended(error))) => {
                self.start_anew(self.failed(Discover::NAME, error), Era::Legacy)
            }
            // Not modern, or unknown: the handshake decides.
            First::Probe(found) => match (handshake.await, found) {
                (Ok(result), _) => self.legacy(&result).await,
                // An error that only a modern server gives says more than the refusal of the
                // handshake.
                (Err(_), Err(surfaced)) => Err(surfaced),
                (Err(error), Ok(_)) if is_answer(&error) => Err(error),
                (Err(error), Ok(_)) => self.start_anew(error, Era::Legacy),
            },
            First::Handshake(Ok(result)) => self.legacy(&result).await,
            First::Handshake(Err(error)) if is_answer(&error) => {
                self.probe_again(probe, error).await
            }
            First::Handshake(Err(error)) => self.start_anew(error, Era::Legacy),
        }
    }

    /// Waits as long as the first request should be alone.
    ///
    /// A process that has written its first byte is up, and gets [`Limits::probe`] from there; one
    /// that writes nothing gets [`Limits::probe_total`]. Half of the connect timeout is for two
    /// cases: a launcher that reports that it is still fetching has not started the server, and a
    /// server whose era is remembered probably has not changed (a legacy one might exit on the
    /// probe).
    ///
    /// [`Limits::probe`]: switchboard_core::limits::Limits::probe
    /// [`Limits::probe_total`]: switchboard_core::limits::Limits::probe_total
    async fn patience(&self) {
        let limits = &self.options.limits;
        let most = half(self.options.timeouts.connect);
        let began = Instant::now();
        if self.anew.or(self.remembered()).is_some() {
            return sleep(most).await;
        }
        let total = limits.probe_total.max(limits.probe).min(most);
        let after_first_byte = async {
            self.engine.peer.has_written().await;
            sleep(limits.probe).await;
        };
        timeout(total, after_first_byte).await.ok();
        while began.elapsed() < most && self.is_fetching() {
            sleep(LOOK).await;
        }
    }

    /// Returns true if the last line of stderr is from a launcher that fetches the server.
    fn is_fetching(&self) -> bool {
        let stderr = self.engine.peer.stderr();
        let last = stderr.last().map(std::slice::from_ref);
        last.is_some_and(|line| stderr_hints::fetching(line).is_some())
    }

    /// Continues after the probe, when nothing else was sent.
    async fn after_probe(&self, found: Probe) -> Result<Attempt, OpenError> {
        match found {
            Probe::Modern(found, version) => self.modern(&found, version),
            Probe::Legacy => {
                let connect = self.options.timeouts.connect;
                self.legacy(&self.initialize(connect).await?).await
            }
            Probe::Silent(error) => Err(self.failed(Discover::NAME, error)),
            Probe::Ended(error) => self.start_anew(self.failed(Discover::NAME, error), Era::Legacy),
        }
    }

    fn modern(&self, found: &DiscoverResult, version: Version) -> Result<Attempt, OpenError> {
        let agreed = self.take_discovery(found, version)?;
        Ok(Attempt::Open(Box::new(agreed)))
    }

    async fn legacy(&self, result: &InitializeResult) -> Result<Attempt, OpenError> {
        let agreed = self.take_handshake(result).await?;
        Ok(Attempt::Open(Box::new(agreed)))
    }

    /// Opens a modern session although the handshake was sent as well and has no answer yet.
    ///
    /// A server that speaks both eras may accept the handshake too and bind the connection to the
    /// legacy era: servers of the TypeScript SDK 2 reject `server/discover` after that. Such a
    /// server is started a second time and only the probe is awaited, so that its era does not
    /// depend on the machine's load. If it is too slow again, the session is a legacy one, and the
    /// next connection waits longer.
    async fn modern_unless_bound(
        &self,
        found: &DiscoverResult,
        version: Version,
        handshake: Pin<&mut impl Future<Output = Result<InitializeResult, OpenError>>>,
    ) -> Result<Attempt, OpenError> {
        match timeout(self.options.limits.probe, handshake).await {
            Ok(Ok(_)) if self.anew.is_none() => Ok(Attempt::StartAnew {
                error: CallError::TimedOut {
                    method: Discover::NAME.to_owned(),
                    clock: Clock::Total,
                    after: self.options.limits.probe_total,
                    delivery: Delivery::MaybeProcessed,
                    noise: Vec::new(),
                },
                begin: Era::Modern,
            }),
            Ok(Ok(result)) => {
                let mut agreed = self.take_handshake(&result).await?;
                agreed.also_modern = true;
                Ok(Attempt::Open(Box::new(agreed)))
            }
            // Refused or unanswered: the connection is not bound to the legacy era.
            Ok(Err(_)) | Err(_) => self.modern(found, version),
        }
    }

    /// Probes a server again that has refused the handshake: it may be a modern one that was slow
    /// to start and lost the first probe.
    async fn probe_again(
        &self,
        probe: Pin<&mut impl Future<Output = Result<Probe, OpenError>>>,
        error: OpenError,
    ) -> Result<Attempt, OpenError> {
        let found = tokio::select! {
            found = probe => found,
            found = self.probe(Deadline::within(self.options.limits.probe)) => found,
        };
        match found {
            Ok(Probe::Modern(found, version)) => self.modern(&found, version),
            _ => Err(error),
        }
    }

    /// Requests a second start of a server that exited without an explanation, unless this is the
    /// second.
    fn start_anew(&self, error: OpenError, begin: Era) -> Result<Attempt, OpenError> {
        match error {
            OpenError::Handshake { error, .. }
                if self.anew.is_none() && is_unexplained_end(&error) =>
            {
                let error = *error;
                let begin = if was_killed(&error) {
                    // SIGKILL is not a reaction to the request: ask it again.
                    begin.other()
                } else {
                    begin
                };
                Ok(Attempt::StartAnew { error, begin })
            }
            error => Err(error),
        }
    }

    /// Sends `server/discover` and classifies the answer. Nothing is settled yet.
    async fn probe(&self, patience: Deadline) -> Result<Probe, OpenError> {
        let mut again = true;
        loop {
            let error = match self.discover(patience).await {
                Ok(found) => return self.judge(found),
                Err(error) => error,
            };
            let rpc = match error {
                CallError::Rpc(rpc) => rpc,
                CallError::TimedOut { .. } => return Ok(Probe::Silent(error)),
                CallError::Closed { .. } => return Ok(Probe::Ended(error)),
                // Not a proper answer to the probe, so not a modern server.
                CallError::Malformed { .. } | CallError::Unfit { .. } => return Ok(Probe::Legacy),
                CallError::Exchange(fault) if is_legacy_status(&fault) => return Ok(Probe::Legacy),
                error => return Err(self.failed(Discover::NAME, error)),
            };
            match rpc.code() {
                // A modern server that does not know our newest version lists those that it knows.
                // Ask once more if we share one of them, and only once: a server might repeat
                // itself for ever.
                code::UNSUPPORTED_VERSION => {
                    let theirs = supported(&rpc);
                    if Version::newest_mutual(Era::Modern, &theirs).is_some() && again {
                        again = false;
                        continue;
                    }
                    if Version::newest_mutual(Era::Legacy, &theirs).is_some() {
                        return Ok(Probe::Legacy);
                    }
                    return Err(OpenError::NoCommonVersion {
                        theirs,
                        ours: self.ours(),
                    });
                }
                // Only a modern server gives these two, so falling back would hide the problem.
                code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => {
                    return Err(self.failed(Discover::NAME, CallError::Rpc(rpc)));
                }
                _ => return Ok(Probe::Legacy),
            }
        }
    }

    fn judge(&self, found: DiscoverResult) -> Result<Probe, OpenError> {
        let theirs = found.supported_versions();
        if let Some(version) = Version::newest_mutual(Era::Modern, theirs) {
            return Ok(Probe::Modern(Box::new(found), version));
        }
        match Version::newest_mutual(Era::Legacy, theirs) {
            Some(_) => Ok(Probe::Legacy),
            None => Err(OpenError::NoCommonVersion {
                theirs: theirs.to_vec(),
                ours: self.ours(),
            }),
        }
    }
}

/// Half of the time, so that the other era gets as much again.
fn half(deadline: Deadline) -> Duration {
    deadline.idle.min(deadline.total) / 2
}

/// The rest of a deadline after that much time.
pub(super) fn less(deadline: Deadline, gone: Duration) -> Deadline {
    Deadline {
        idle: deadline.idle.saturating_sub(gone),
        total: deadline.total.saturating_sub(gone),
    }
}
