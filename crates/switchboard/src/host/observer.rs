//! What a host does when a connection of one of its servers is made.

use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_client::{ServerError, ServerErrorCause};
use switchboard_wire::{FromRaw as _, Raw, ServerInfo};
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::eras::Eras;
use super::logs::Listener;
use super::member::Member;
use super::watching::Topics;
use crate::events::Event;
use crate::secret::Redactor;
use crate::server::Observe;
use crate::session::{Announcement, Ear, OpenError, Session};
use crate::spec::{Identity, ServerName};

/// Tells of a server's connections, and has its lists read on each new one.
pub(super) struct Observer {
    host: Weak<Inner>,
    server: ServerName,
    /// Cancelled when the name is not the server's any more.
    gone: CancellationToken,
    secrets: Arc<Redactor>,
    listener: Listener,
    /// Where it is remembered which era the server speaks, and under what.
    eras: Option<(Eras, Identity)>,
}

impl Observer {
    pub(super) fn new(
        host: &Arc<Inner>,
        member: &Member,
        secrets: &Arc<Redactor>,
        listener: Listener,
    ) -> Self {
        Self {
            // The host has the server: the other way around they would keep each other.
            host: Arc::downgrade(host),
            server: member.name.clone(),
            gone: member.gone.clone(),
            secrets: Arc::clone(secrets),
            listener,
            eras: None,
        }
    }

    /// Has the era that the server speaks remembered.
    pub(super) fn remember(&mut self, eras: &Eras, server: Identity) {
        self.eras = Some((eras.clone(), server));
    }
}

/// Who a server says it is, without secrets; nothing where that leaves nothing to read.
fn without(server: &ServerInfo, secrets: &Redactor) -> Option<ServerInfo> {
    match secrets.redact(server.raw().as_str()) {
        Cow::Borrowed(_) => Some(server.clone()),
        Cow::Owned(text) => ServerInfo::from_raw(&Raw::parse(&text).ok()?).ok(),
    }
}

/// Everybody who wants to know what a server announces.
struct Ears {
    topics: Arc<Topics>,
    listener: Listener,
}

impl Ear for Ears {
    fn take(&self, announcement: Announcement) -> Option<Announcement> {
        let is_told = self.topics.hear(&announcement);
        let unwanted = self.listener.take(announcement)?;
        (!is_told).then_some(unwanted)
    }
}

impl Observe for Observer {
    fn connecting(&self, again: bool) {
        let Some(host) = self.host.upgrade() else {
            return;
        };
        if let Some(member) = host.member(&self.server) {
            member.roots.begin();
        }
        host.events.emit(|| Event::ConnectStarted {
            server: self.server.clone(),
            is_reconnect: again,
        });
    }

    fn connected(&self, session: &Session, again: bool, took: Duration) {
        let Some(host) = self.host.upgrade() else {
            return;
        };
        let negotiated = session.negotiated();
        if let Some((eras, server)) = &self.eras {
            eras.note(server, negotiated.verdict().era);
        }
        host.events.emit(|| Event::Connected {
            server: self.server.clone(),
            is_reconnect: again,
            took,
            version: negotiated.version.as_str(),
        });
        let Some(member) = host.member(&self.server) else {
            return;
        };
        if self.gone.is_cancelled() {
            // Another may have that name by now.
            return;
        }
        {
            let mut facts = member.facts();
            facts.version = Some(negotiated.version);
            let server = negotiated.server.as_ref();
            facts.server = server.and_then(|server| without(server, &self.secrets));
            facts.took = Some(took);
        }
        session.hear(Box::new(Ears {
            topics: Arc::clone(&member.topics),
            listener: self.listener.clone(),
        }));
        host.tend(member, session);
    }

    fn failed(&self, error: &ServerError, again: bool, took: Duration) {
        // A hint that led to nothing is not worth keeping. A program that could not be started says nothing
        // about its era.
        let is_handshake = matches!(
            &**error.cause(),
            ServerErrorCause::Open(OpenError::Handshake { .. } | OpenError::NoCommonVersion { .. })
        );
        if let Some((eras, server)) = self.eras.as_ref().filter(|_| is_handshake) {
            eras.forget(server);
        }
        let Some(host) = self.host.upgrade() else {
            return;
        };
        host.events.emit(|| Event::ConnectFailed {
            server: self.server.clone(),
            is_reconnect: again,
            took,
            error: self.secrets.redact(&error.to_string()).into_owned(),
        });
    }
}
