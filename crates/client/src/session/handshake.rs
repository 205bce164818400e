//! The first requests to a server (`server/discover`, `initialize`) and the classification of their
//! answers.

use std::time::Duration;

use switchboard_core::limits::Deadline;
use switchboard_core::spec::Protocol;
use switchboard_wire::{
    Discover, DiscoverResult, Era, Initialize, InitializeParams, InitializeResult, Initialized,
    Method, Misfit, NoParams, Notice, Outcome, Raw, RequestId, RpcError, ServerCapabilities,
    Version, code, read_outcome,
};

use super::close::CloseReason;
use super::encode::RequestContent;
use super::engine::PendingRequest;
use super::error::{CallError, Delivery, OpenError};
use super::negotiate::{Opening, less};
use super::negotiated::Dialect;
use super::negotiated::Negotiated;
use super::options::CancelReason;
use super::pending::Received;
use crate::transport::{Exit, Fault, FaultKind, stderr_hints};

impl Opening<'_> {
    /// Sends `server/discover`, which only a modern server understands.
    pub(super) async fn discover(&self, patience: Deadline) -> Result<DiscoverResult, CallError> {
        let dialect = self.dialect(Version::NEWEST_MODERN)?;
        // From the counter of all requests, so that two probes never share an id.
        let number = self.engine.next_number();
        let Received { raw, .. } = self
            .engine
            .exchange(PendingRequest {
                // A text, so that a late answer is never taken for that of a numbered request.
                id: Some(RequestId::Text(format!("discover-{number}"))),
                request: RequestContent {
                    method: Discover::NAME,
                    params: &|out: &mut Vec<u8>| Discover::write_params(&NoParams {}, out),
                    members: &[],
                    meta: &dialect.meta,
                    wants_progress: false,
                },
                subject: None,
                progress: None,
                callbacks: None,
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

    /// Sends `initialize` after a time of silence. Both together take at most the connect timeout,
    /// and a timeout error reports the sum.
    pub(super) async fn initialize_after(
        &self,
        silent: Duration,
    ) -> Result<InitializeResult, OpenError> {
        // Both attempts together stay within the connect timeout, and the error names the whole
        // time.
        let left = less(self.options.timeouts.connect, silent);
        self.initialize(left).await.map_err(|mut failed| {
            if let OpenError::Handshake { error, .. } = &mut failed
                && let CallError::TimedOut { after, .. } = &mut **error
            {
                *after = after.saturating_add(silent);
            }
            failed
        })
    }

    /// Sends `initialize`. Nothing is settled before [`Opening::take_handshake`].
    pub(super) async fn initialize(
        &self,
        deadline: Deadline,
    ) -> Result<InitializeResult, OpenError> {
        // 2025-11-25, lifecycle: the client offers its newest version, and the server answers with
        // one that it has.
        let offered = Version::NEWEST_LEGACY;
        let params = InitializeParams {
            protocol_version: offered.to_string(),
            capabilities: self.options.respond.capabilities().for_version(offered),
            client_info: self.options.client.clone(),
        };
        let Received { raw, .. } = self
            .engine
            .exchange(PendingRequest {
                id: None,
                request: RequestContent {
                    method: Initialize::NAME,
                    params: &|out: &mut Vec<u8>| Initialize::write_params(&params, out),
                    members: &[],
                    meta: "",
                    wants_progress: false,
                },
                subject: None,
                progress: None,
                callbacks: None,
                deadline,
                version: None,
                // 2025-11-25: `initialize` must not be cancelled.
                cancellable: false,
                idempotent: true,
                reason: &CancelReason::default(),
            })
            .await
            .map_err(|error| self.classify_refusal(error))?;
        let error = match read_outcome::<Initialize>(Era::Legacy, &raw) {
            Ok(Outcome::Complete(result)) => return Ok(result),
            Ok(_) => unfit(Initialize::NAME, "no plain result"),
            Err(misfit) => CallError::Unfit {
                method: Initialize::NAME.to_owned(),
                misfit,
            },
        };
        Err(self.failed(Initialize::NAME, error))
    }

    /// Settles the version that the server answered to `initialize`, and sends
    /// `notifications/initialized`.
    pub(super) async fn take_handshake(
        &self,
        result: &InitializeResult,
    ) -> Result<Negotiated, OpenError> {
        let theirs = [result.protocol_version()];
        let version = Version::newest_mutual(Era::Legacy, &theirs).ok_or_else(|| {
            OpenError::NoCommonVersion {
                theirs: theirs.map(str::to_owned).to_vec(),
                ours: names(Era::Legacy),
            }
        })?;
        // Settle before the notification: it goes out in the version that was negotiated.
        self.settle(version, result.capabilities())?;
        // Waited for: nothing may be requested before the server was sent this notification.
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
            also_modern: false,
        })
    }

    /// Settles the version that the server answered to `server/discover`.
    pub(super) fn take_discovery(
        &self,
        found: &DiscoverResult,
        version: Version,
    ) -> Result<Negotiated, OpenError> {
        self.settle(version, found.capabilities())?;
        Ok(Negotiated {
            version,
            server: found.server_info(),
            capabilities: found.capabilities().clone(),
            instructions: found.instructions().map(str::to_owned),
            also_modern: false,
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

    fn settle(&self, version: Version, offered: &ServerCapabilities) -> Result<(), OpenError> {
        let dialect = self
            .dialect(version)
            .map_err(|error| self.failed(Discover::NAME, error))?;
        // The capabilities before the dialect: a request that sees the dialect may ask for them.
        self.engine.offered.get_or_init(|| offered.clone());
        self.engine.dialect.get_or_init(|| dialect);
        Ok(())
    }

    /// The versions that the options allow, newest first.
    pub(super) fn ours(&self) -> Vec<String> {
        match self.options.protocol {
            Protocol::Modern => names(Era::Modern),
            Protocol::Legacy => names(Era::Legacy),
            Protocol::Auto => [names(Era::Modern), names(Era::Legacy)].concat(),
        }
    }

    pub(super) fn failed(&self, stage: &'static str, error: CallError) -> OpenError {
        OpenError::Handshake {
            stage,
            error: Box::new(error),
            earlier: None,
            seen: Box::new(self.engine.evidence()),
        }
    }

    /// A server may refuse the handshake because of its version, and list those that it supports.
    fn classify_refusal(&self, error: CallError) -> OpenError {
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

/// Returns true if the status shows that the server does not understand a modern request.
///
/// A missing token and a busy or broken server say nothing about the era.
pub(super) fn is_legacy_status(fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::Status { status, .. } => {
            // Those few say nothing about the era: they are about logins, proxies, time, hosts and
            // rates.
            (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 421 | 429)
        }
        _ => false,
    }
}

/// Returns true if a refused handshake may mean that the server speaks the older HTTP+SSE
/// transport.
pub(super) fn suggests_fallback(error: &OpenError) -> bool {
    let OpenError::Handshake { error, .. } = error else {
        return false;
    };
    let status = error.fault().and_then(|fault| fault.kind.status());
    matches!(status, Some(400 | 404 | 405))
}

/// Returns true if the server died of SIGKILL, so that its end says nothing about the request.
pub(super) fn was_killed(error: &CallError) -> bool {
    const KILL: i32 = 9;
    let exit = error.close_reason().and_then(|reason| reason.exit);
    exit == Some(Exit::Signal(KILL))
}

/// Returns true if the server exited after a request had left, without an explanation: an older
/// server may exit on a method that it does not know.
pub(super) fn is_unexplained_end(error: &CallError) -> bool {
    match error {
        CallError::Closed { reason, delivery } => {
            *delivery != Delivery::NeverSent && !reason.is_explained()
        }
        _ => false,
    }
}

impl CloseReason {
    /// Returns true if the server explained its exit: with known words on stderr, or with the exit
    /// status of a shell that did not find a program.
    pub(crate) fn is_explained(&self) -> bool {
        matches!(self.exit, Some(Exit::Code(126 | 127)))
            || stderr_hints::names_cause(&self.stderr)
            || stderr_hints::names_cause(&self.noise)
    }
}

/// Returns true if the server answered, and refused.
pub(super) fn is_answer(error: &OpenError) -> bool {
    match error {
        OpenError::NoCommonVersion { .. } => true,
        OpenError::Handshake { error, .. } => error.rpc().is_some(),
        OpenError::Connect(_) => false,
    }
}

pub(super) fn unfit(method: &str, what: &str) -> CallError {
    CallError::Unfit {
        method: method.to_owned(),
        misfit: Misfit::new(what),
    }
}

/// The versions in an error's `supported` list.
pub(super) fn supported(rpc: &RpcError) -> Vec<String> {
    let list = rpc.data().and_then(|data| data.member("supported"));
    let items = list.map(|list| list.items()).unwrap_or_default();
    items.iter().filter_map(Raw::as_text).collect()
}

pub(super) fn names(era: Era) -> Vec<String> {
    let versions = Version::ALL.into_iter().rev();
    versions
        .filter(|version| version.era() == era)
        .map(|version| version.to_string())
        .collect()
}
