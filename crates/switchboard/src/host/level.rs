//! From which level on servers are to log.

use std::sync::Weak;

use switchboard_wire::{Era, LogLevel};

use super::member::Member;
use super::{Host, Inner};
use crate::error::Error;
use crate::events::Event;
use crate::session::{CallError, Session};

impl Host {
    /// Says from which level on a server is to log, now and on every later connection; connects first
    /// if need be. What it logs is in [`Host::logs`].
    ///
    /// A server of 2026-07-28 logs only while it answers a request.
    ///
    /// # Errors
    /// When there is no such server, it cannot be used, or does not log.
    pub async fn set_log_level(&self, name: &str, level: LogLevel) -> Result<(), Error> {
        let member = self.0.named_member(name)?;
        let ready = self.0.admit(&member).await?;
        // Before there is a connection, so that its first lists are asked for with it.
        let before = member.facts().log_level.replace(level);
        let session = ready.server.session().await;
        let session = session.map_err(|error| member.about(error))?;
        let set = session.set_log_level(level).await;
        if let Err(CallError::NotOffered { .. } | CallError::Rpc(_)) = set {
            // It would not take it the next time either.
            member.facts().log_level = before.filter(|before| *before != level);
        }
        set.map_err(|error| member.about(error))
    }

    /// Says from which level on a server is to log on later connections, and starts nothing: what it logs while it
    /// is connected to counts too. A live connection stays as it is; see [`Host::set_log_level`].
    ///
    /// # Errors
    /// When there is no such server.
    pub fn want_log_level(&self, name: &str, level: LogLevel) -> Result<(), Error> {
        let member = self.0.named_member(name)?;
        member.facts().log_level = Some(level);
        Ok(())
    }
}

/// Tells a server on a new connection from which level on it is to log, if somebody has said so.
pub(super) async fn set_again(host: &Weak<Inner>, member: &Member, session: &Session) {
    let usual = || {
        let is_modern = session.negotiated().era() == Era::Modern;
        let host = host.upgrade().filter(|_| is_modern)?;
        host.options.log_level
    };
    let said = member.facts().log_level;
    let Some(level) = said.or_else(usual) else {
        return;
    };
    let set = match session.set_log_level(level).await {
        // Who does not log has no level.
        Err(CallError::NotOffered { .. }) => Ok(()),
        set => set,
    };
    if let (Err(error), Some(host)) = (set, host.upgrade()) {
        host.events.emit(|| Event::Notice {
            server: member.name.clone(),
            text: member.redact(&format!("the log level could not be set: {error}")),
        });
    }
}
