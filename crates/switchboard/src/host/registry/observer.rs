//! Reports the connections of one server: as events, as facts of its member, and to [`OnConnected`].

use std::borrow::Cow;
#[cfg(feature = "auth")]
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_client::{ServerError, ServerErrorCause};
use switchboard_wire::{FromRaw as _, Notice as _, Raw, ServerInfo, ToolsListChanged};

use super::{Member, OnConnected};
use crate::events::{Event, EventSender};
use crate::host::eras::Eras;
use crate::host::logs::Listener;
use crate::host::member::LastChange;
use crate::host::watching::Topics;
use crate::secret::Redactor;
use crate::server::Observe;
use crate::session::{Announcement, NoticeSink, OpenError, Session};
use crate::spec::{Identity, ServerName};

/// Reports the connections of one server.
pub(super) struct Observer {
    /// The member has the server, which has this: the other way around they would keep each other.
    member: Weak<Member>,
    server: ServerName,
    events: EventSender,
    on_connected: OnConnected,
    listener: Listener,
    /// The cache that remembers the server's era, and the key of its entry.
    eras: Option<(Eras, Identity)>,
}

impl Observer {
    pub(super) fn new(
        member: &Arc<Member>,
        events: &EventSender,
        on_connected: &OnConnected,
        listener: Listener,
    ) -> Self {
        Self {
            member: Arc::downgrade(member),
            server: member.name.clone(),
            events: events.clone(),
            on_connected: Arc::clone(on_connected),
            listener,
            eras: None,
        }
    }

    /// Has the era that the server speaks remembered.
    pub(super) fn remember(&mut self, eras: &Eras, server: Identity) {
        self.eras = Some((eras.clone(), server));
    }
}

/// Redacts the name and version that a server reports; `None` if the redacted text does not parse.
fn without(server: &ServerInfo, secrets: &Redactor) -> Option<ServerInfo> {
    match secrets.redact(server.raw().as_str()) {
        Cow::Borrowed(_) => Some(server.clone()),
        Cow::Owned(text) => ServerInfo::from_raw(&Raw::parse(&text).ok()?).ok(),
    }
}

/// The listeners to a server's notifications: watchers of resources, and readers of logs.
struct Ears {
    topics: Arc<Topics>,
    listener: Listener,
    changed: LastChange,
}

impl NoticeSink for Ears {
    fn take(&self, announcement: Announcement) -> Option<Announcement> {
        self.hear(announcement, false)
    }

    fn take_relayed(&self, announcement: Announcement) -> Option<Announcement> {
        self.hear(announcement, true)
    }
}

impl Ears {
    fn hear(&self, announcement: Announcement, is_relayed: bool) -> Option<Announcement> {
        if announcement.method == ToolsListChanged::NAME {
            // Here and not once the list is read: a call that follows the announcement waits for it.
            self.changed.mark();
        }
        // Both are asked: a log message may be wanted by readers even if no watcher takes it.
        let is_told = self.topics.hear(&announcement);
        let unwanted = self.listener.hear(announcement, is_relayed)?;
        (!is_told).then_some(unwanted)
    }
}

impl Observe for Observer {
    fn connecting(&self, again: bool) {
        if let Some(member) = self.member.upgrade() {
            // Before the handshake, whose capabilities declare the roots as they are now.
            member.roots.begin();
        }
        self.events.emit(|| Event::ConnectStarted {
            server: self.server.clone(),
            is_reconnect: again,
        });
    }

    fn connected(&self, session: &Session, again: bool, took: Duration) {
        let negotiated = session.negotiated();
        if let Some((eras, server)) = &self.eras {
            // Noted at each connection: an entry that is still right keeps its age, so that it
            // expires in the end.
            eras.note(server, negotiated.era_hint().era);
        }
        self.events.emit(|| Event::Connected {
            server: self.server.clone(),
            is_reconnect: again,
            took,
            version: negotiated.version.as_str(),
        });
        let Some(member) = self.member.upgrade() else {
            return;
        };
        if member.gone.is_cancelled() {
            // Nothing is listed of a server that was removed while it was connected to.
            return;
        }
        #[cfg(feature = "auth")]
        if let Some(authorizer) = member.ready().and_then(|ready| ready.authorizer.as_ref()) {
            authorizer.forget_need();
        }
        {
            // In a block: the lock is released before listeners and the keeper run.
            let mut facts = member.facts();
            facts.version = Some(negotiated.version);
            let server = negotiated.server.as_ref();
            facts.server = server.and_then(|server| without(server, &self.listener.secrets));
            facts.took = Some(took);
            facts.capabilities = Some(negotiated.capabilities.clone());
            facts.is_kept = false;
        }
        member.sharing.learn(session);
        // Set before the keeper follows the session, whose announcements then have a place to go.
        session.set_notice_sink(Box::new(Ears {
            topics: Arc::clone(&member.topics),
            listener: self.listener.clone(),
            changed: member.changed.clone(),
        }));
        (self.on_connected)(member, session);
    }

    fn failed(&self, error: &ServerError, again: bool, took: Duration) {
        // Drop an era hint if the handshake failed. A program that could not be started reveals
        // nothing about its era.
        let is_handshake = matches!(
            &**error.cause(),
            ServerErrorCause::Open(OpenError::Handshake { .. } | OpenError::NoCommonVersion { .. })
        );
        if let Some((eras, server)) = self.eras.as_ref().filter(|_| is_handshake) {
            eras.forget(server);
        }
        self.events.emit(|| Event::ConnectFailed {
            server: self.server.clone(),
            is_reconnect: again,
            took,
            error: self
                .listener
                .secrets
                .redact(&error.to_string())
                .into_owned(),
        });
    }

    #[cfg(feature = "auth")]
    fn has_new_login(&self) -> Pin<Box<dyn Future<Output = Option<bool>> + Send + '_>> {
        Box::pin(async move {
            let member = self.member.upgrade()?;
            member.has_new_login().await
        })
    }
}
