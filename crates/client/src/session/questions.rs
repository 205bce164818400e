//! The first questions that a server is asked, and what is made of the answers.

use std::time::Duration;

use switchboard_core::limits::Deadline;
use switchboard_core::spec::Protocol;
use switchboard_wire::{
    Discover, DiscoverResult, Era, Initialize, InitializeParams, InitializeResult, Initialized,
    Method, NoParams, Notice, Outcome, RequestId, Version, code, read_outcome,
};

use super::agreed::Negotiated;
use super::dialect::Dialect;
use super::encode::Request;
use super::engine::Ask;
use super::error::{CallError, OpenError};
use super::evidence::{names, supported, unfit};
use super::negotiate::{Opening, less};
use super::options::CancelReason;
use super::pending::Received;

impl Opening<'_> {
    /// Asks what only a modern server understands.
    pub(super) async fn discover(&self, patience: Deadline) -> Result<DiscoverResult, CallError> {
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

    /// Asks for the legacy handshake after a while of silence: both together take as long as connecting
    /// may, and the error has the time of both.
    pub(super) async fn initialize_after(
        &self,
        silent: Duration,
    ) -> Result<InitializeResult, OpenError> {
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

    /// Asks for the legacy handshake. Nothing is agreed before [`Opening::take_handshake`].
    pub(super) async fn initialize(
        &self,
        deadline: Deadline,
    ) -> Result<InitializeResult, OpenError> {
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

    /// Agrees on what the server answered to the handshake.
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
            also_modern: false,
        })
    }

    /// Agrees on what the server answered to the probe.
    pub(super) fn take_discovery(
        &self,
        found: &DiscoverResult,
        version: Version,
    ) -> Result<Negotiated, OpenError> {
        self.settle(version)?;
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

    fn settle(&self, version: Version) -> Result<(), OpenError> {
        let dialect = self
            .dialect(version)
            .map_err(|error| self.failed(Discover::NAME, error))?;
        self.engine.dialect.get_or_init(|| dialect);
        Ok(())
    }

    /// The versions that we would take.
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
            seen: Box::new(self.engine.seen()),
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
