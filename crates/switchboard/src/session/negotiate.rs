//! Finds out which era a server speaks, and opens the session in it.
//!
//! The order, for a server whose era is not known: ask `server/discover`, which only a modern
//! server understands. Its answer, or one of the errors that only a modern server gives, settles
//! it. Every other error, and silence, mean a legacy server on the same connection; an end of the
//! connection means a legacy server that wants to be started anew.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{
    Discover, DiscoverResult, Era, Initialize, InitializeParams, InitializeResult, Initialized,
    Method, NoParams, Notice, Outcome, RequestId, Version, code, read_outcome,
};

use super::SessionOptions;
use super::agreed::Negotiated;
use super::dialect::Dialect;
use super::encode::Request;
use super::engine::{Ask, Engine};
use super::error::{CallError, OpenError};
use super::evidence::{is_answer, is_no_idea, names, supported, unfit, was_killed};
use super::options::CancelReason;
use super::pending::Received;
use crate::limits::Deadline;
use crate::spec::Protocol;

/// How an attempt to open a session ended.
pub(crate) enum Attempt {
    Open(Box<Negotiated>),
    /// The server ended when asked something that it does not know: start it anew, and begin in
    /// the other era.
    StartAnew {
        error: CallError,
        begin: Era,
    },
}

/// What the probe found.
enum Probe {
    Modern(Box<Negotiated>),
    Legacy,
    Silent(CallError),
    Ended(CallError),
}

/// The first questions on one new connection.
pub(crate) struct Opening<'a> {
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) options: &'a SessionOptions,
    /// The era to begin in, where the server was started anew for that; it is not started again.
    pub(crate) anew: Option<Era>,
}

impl Opening<'_> {
    /// Opens the session on a new connection.
    pub(crate) async fn open(&self) -> Result<Attempt, OpenError> {
        let connect = self.options.timeouts.connect;
        match self.options.protocol {
            Protocol::Legacy => self
                .initialize(connect)
                .await
                .map(Box::new)
                .map(Attempt::Open),
            Protocol::Modern => match self.probe(connect).await? {
                Probe::Modern(agreed) => Ok(Attempt::Open(agreed)),
                Probe::Ended(error) | Probe::Silent(error) => {
                    Err(self.failed(Discover::NAME, error))
                }
                Probe::Legacy => Err(OpenError::NoCommonVersion {
                    theirs: vec!["a legacy version".to_owned()],
                    ours: names(Era::Modern),
                }),
            },
            Protocol::Auto if self.begins_legacy() => match self.initialize(connect).await {
                Ok(agreed) => Ok(Attempt::Open(Box::new(agreed))),
                // The server has changed since: find out again.
                Err(error) if !self.engine.stop.is_cancelled() && is_answer(&error) => {
                    self.open_unknown().await.map_err(|_| error)
                }
                Err(error) => self.start_anew(error, Era::Modern),
            },
            Protocol::Auto => self.open_unknown().await,
        }
    }

    fn begins_legacy(&self) -> bool {
        let remembered = self.options.verdict.map(|verdict| verdict.era);
        let link = self
            .engine
            .lane
            .as_ref()
            .and_then(|lane| lane.exchange.era());
        self.anew.or(link).or(remembered) == Some(Era::Legacy)
    }

    /// Has a server that ended started anew, unless it was before.
    fn start_anew(&self, error: OpenError, begin: Era) -> Result<Attempt, OpenError> {
        match error {
            OpenError::Handshake { error, .. }
                if self.anew.is_none() && matches!(*error, CallError::Closed { .. }) =>
            {
                let error = *error;
                let begin = match was_killed(&error) {
                    // It has not said what it thinks of the question.
                    true => begin.other(),
                    false => begin,
                };
                Ok(Attempt::StartAnew { error, begin })
            }
            error => Err(error),
        }
    }

    async fn open_unknown(&self) -> Result<Attempt, OpenError> {
        // Over HTTP a server that is silent is silent in either era.
        let over_http = self.engine.lane.is_some();
        let connect = self.options.timeouts.connect;
        let patience = match over_http {
            true => connect,
            false => Deadline::within(self.options.limits.probe.min(half(connect))),
        };
        match self.probe(patience).await? {
            Probe::Modern(agreed) => Ok(Attempt::Open(agreed)),
            Probe::Silent(error) if over_http => Err(self.failed(Discover::NAME, error)),
            Probe::Legacy => self
                .initialize(connect)
                .await
                .map(Box::new)
                .map(Attempt::Open),
            Probe::Ended(error) => self.start_anew(self.failed(Discover::NAME, error), Era::Legacy),
            Probe::Silent(_) => match self.initialize_after(patience.total).await {
                Ok(agreed) => Ok(Attempt::Open(Box::new(agreed))),
                // A modern server that was only slow to start refuses the handshake: ask again.
                Err(error) if is_answer(&error) => {
                    match self.probe(self.options.timeouts.connect).await {
                        Ok(Probe::Modern(agreed)) => Ok(Attempt::Open(agreed)),
                        _ => Err(error),
                    }
                }
                // It was only slow to start, and ended when it came to read the probe.
                Err(error) => self.start_anew(error, Era::Legacy),
            },
        }
    }

    /// Asks what only a modern server understands.
    async fn probe(&self, patience: Deadline) -> Result<Probe, OpenError> {
        let mut again = true;
        loop {
            let error = match self.discover(patience).await {
                Ok(found) => return self.take_discovery(&found),
                Err(error) => error,
            };
            let rpc = match error {
                CallError::Rpc(rpc) => rpc,
                CallError::TimedOut { .. } => return Ok(Probe::Silent(error)),
                CallError::Closed { .. } => return Ok(Probe::Ended(error)),
                // An answer to the probe that is no answer: whatever that is, it is not modern.
                CallError::Malformed { .. } | CallError::Unfit { .. } => return Ok(Probe::Legacy),
                CallError::Exchange(fault) if is_no_idea(&fault) => return Ok(Probe::Legacy),
                error => return Err(self.failed(Discover::NAME, error)),
            };
            match rpc.code() {
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
                // These two only a modern server gives, so falling back would hide what is wrong.
                code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => {
                    return Err(self.failed(Discover::NAME, CallError::Rpc(rpc)));
                }
                _ => return Ok(Probe::Legacy),
            }
        }
    }

    async fn discover(&self, patience: Deadline) -> Result<DiscoverResult, CallError> {
        let dialect = self.dialect(Version::NEWEST_MODERN)?;
        let number = self.engine.next_number();
        let Received { raw, .. } = self
            .engine
            .exchange(Ask {
                // A text, so that a late answer is never taken for that to another request.
                id: Some(RequestId::Text(format!("discover-{number}"))),
                request: Request {
                    method: Discover::NAME,
                    params: &|out: &mut Vec<u8>| Discover::write_params(&NoParams {}, out),
                    members: &[],
                    meta: &dialect.meta,
                    wants_progress: false,
                },
                progress: None,
                deadline: patience,
                version: Some(dialect.version),
                cancellable: false,
                idempotent: true,
                reason: &CancelReason::default(),
            })
            .await?;
        match read_outcome::<Discover>(Era::Modern, &raw) {
            Ok(Outcome::Complete(found)) => Ok(found),
            Ok(_) => Err(unfit(Discover::NAME, "no plain result")),
            Err(misfit) => Err(CallError::Unfit {
                method: Discover::NAME.to_owned(),
                misfit,
            }),
        }
    }

    fn take_discovery(&self, found: &DiscoverResult) -> Result<Probe, OpenError> {
        let theirs = found.supported_versions();
        let Some(version) = Version::newest_mutual(Era::Modern, theirs) else {
            return match Version::newest_mutual(Era::Legacy, theirs) {
                Some(_) => Ok(Probe::Legacy),
                None => Err(OpenError::NoCommonVersion {
                    theirs: theirs.to_vec(),
                    ours: self.ours(),
                }),
            };
        };
        self.settle(version)?;
        Ok(Probe::Modern(Box::new(Negotiated {
            version,
            server: found.server_info(),
            capabilities: found.capabilities().clone(),
            instructions: found.instructions().map(str::to_owned),
        })))
    }

    /// The legacy handshake with a server that has been silent for a while: both together take as
    /// long as connecting may, and what is told of it is the time of both.
    async fn initialize_after(&self, silent: Duration) -> Result<Negotiated, OpenError> {
        let connect = self.options.timeouts.connect;
        let left = Deadline {
            idle: connect.idle.saturating_sub(silent),
            total: connect.total.saturating_sub(silent),
        };
        self.initialize(left).await.map_err(|mut failed| {
            if let OpenError::Handshake { error, .. } = &mut failed
                && let CallError::TimedOut { after, .. } = &mut **error
            {
                *after = after.saturating_add(silent);
            }
            failed
        })
    }

    /// The legacy handshake.
    async fn initialize(&self, deadline: Deadline) -> Result<Negotiated, OpenError> {
        let offered = Version::NEWEST_LEGACY;
        let params = InitializeParams {
            protocol_version: offered.to_string(),
            capabilities: self.options.respond.capabilities().for_version(offered),
            client_info: self.options.client.clone(),
        };
        let Received { raw, .. } = self
            .engine
            .exchange(Ask {
                id: None,
                request: Request {
                    method: Initialize::NAME,
                    params: &|out: &mut Vec<u8>| Initialize::write_params(&params, out),
                    members: &[],
                    meta: "",
                    wants_progress: false,
                },
                progress: None,
                deadline,
                version: None,
                // 2025-11-25: `initialize` must not be cancelled.
                cancellable: false,
                idempotent: true,
                reason: &CancelReason::default(),
            })
            .await
            .map_err(|error| self.no_version_or_failed(error))?;
        let result = match read_outcome::<Initialize>(Era::Legacy, &raw) {
            Ok(Outcome::Complete(result)) => result,
            Ok(_) => {
                return Err(
                    self.failed(Initialize::NAME, unfit(Initialize::NAME, "no plain result"))
                );
            }
            Err(misfit) => {
                let method = Initialize::NAME.to_owned();
                return Err(self.failed(Initialize::NAME, CallError::Unfit { method, misfit }));
            }
        };
        self.take_handshake(&result).await
    }

    async fn take_handshake(&self, result: &InitializeResult) -> Result<Negotiated, OpenError> {
        let theirs = [result.protocol_version()];
        let version = Version::newest_mutual(Era::Legacy, &theirs).ok_or_else(|| {
            OpenError::NoCommonVersion {
                theirs: theirs.map(str::to_owned).to_vec(),
                ours: names(Era::Legacy),
            }
        })?;
        self.settle(version)?;
        let patience = self.options.timeouts.connect.idle;
        self.engine
            .notify_and_wait::<NoParams>(Initialized::NAME, None, patience)
            .await
            .map_err(|error| self.failed(Initialized::NAME, error))?;
        Ok(Negotiated {
            version,
            server: result.server_info(),
            capabilities: result.capabilities().clone(),
            instructions: result.instructions().map(str::to_owned),
        })
    }

    fn dialect(&self, version: Version) -> Result<Dialect, CallError> {
        let capabilities = self.options.respond.capabilities();
        Dialect::new(version, &capabilities, &self.options.client).map_err(|source| {
            CallError::BadParams {
                method: Discover::NAME.to_owned(),
                source,
            }
        })
    }

    fn settle(&self, version: Version) -> Result<(), OpenError> {
        let dialect = self
            .dialect(version)
            .map_err(|error| self.failed(Discover::NAME, error))?;
        self.engine.dialect.get_or_init(|| dialect);
        Ok(())
    }

    fn ours(&self) -> Vec<String> {
        match self.options.protocol {
            Protocol::Modern => names(Era::Modern),
            Protocol::Legacy => names(Era::Legacy),
            Protocol::Auto => [names(Era::Modern), names(Era::Legacy)].concat(),
        }
    }

    fn failed(&self, stage: &'static str, error: CallError) -> OpenError {
        OpenError::Handshake {
            stage,
            error: Box::new(error),
            earlier: None,
            seen: self.engine.seen(),
        }
    }

    /// A server may refuse the handshake because of its version, and say which it takes.
    fn no_version_or_failed(&self, error: CallError) -> OpenError {
        match &error {
            CallError::Rpc(rpc)
                if matches!(rpc.code(), code::UNSUPPORTED_VERSION | code::INVALID_PARAMS)
                    && !supported(rpc).is_empty() =>
            {
                OpenError::NoCommonVersion {
                    theirs: supported(rpc),
                    ours: names(Era::Legacy),
                }
            }
            _ => self.failed(Initialize::NAME, error),
        }
    }
}

/// Half of the time, so that there is as much again for the other era.
fn half(deadline: Deadline) -> Duration {
    deadline.idle.min(deadline.total) / 2
}
