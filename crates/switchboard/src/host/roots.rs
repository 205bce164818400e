//! Which folders servers are told of.

use std::path::Path;

use switchboard_wire::Root;

use super::member::Member;
use super::{Host, Inner};
use crate::error::Error;
use crate::events::Event;
use crate::spec::Settings;
use crate::talk::Roots;

impl Host {
    /// Tells a server of these folders from now on, in place of those of its settings.
    ///
    /// A server that is connected and was told that it may ask for folders learns that there are
    /// others; one that was not can ask on its next connection.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn set_roots<P: AsRef<Path>>(
        &self,
        server: &str,
        folders: impl IntoIterator<Item = P>,
    ) -> Result<(), Error> {
        let member = self.0.named_member(server)?;
        if !member.roots.set(folders) {
            return Ok(());
        }
        self.0.tell_missing(&member);
        let live = member.ready().and_then(|ready| ready.server.live());
        // A program that answers by itself has roots of its own.
        if let (Some(session), true, None) = (
            live,
            member.roots.is_declared(),
            self.0.options.respond.as_ref(),
        ) {
            session.roots_changed();
        }
        Ok(())
    }
}

impl Host {
    /// The folders that a server is told of when it asks. Before its first connection there are none, unless
    /// [`Host::set_roots`] has named some.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn roots(&self, server: &str) -> Result<Vec<Root>, Error> {
        Ok(self.0.named_member(server)?.roots.list())
    }

    /// Whether a server that is connected was told that it may ask for folders: where there were none, it learns of
    /// them on its next connection. Nothing where it is not connected.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn may_ask_for_roots(&self, server: &str) -> Result<Option<bool>, Error> {
        let member = self.0.named_member(server)?;
        let live = member.ready().and_then(|ready| ready.server.live());
        Ok(live.map(|_| member.roots.is_declared()))
    }
}

impl Inner {
    /// Tells a server of the folders of its settings, or of those for all, unless somebody has said
    /// otherwise by now.
    pub(super) fn first_roots(&self, member: &Member, settings: &Settings) {
        if member.roots.folders().is_some() {
            return;
        }
        let for_all = self.options.handlers.roots.as_ref();
        match (settings.roots.as_slice(), for_all.and_then(Roots::folders)) {
            ([], Some(folders)) => member.roots.set(folders),
            (folders, _) => member.roots.set(folders),
        };
        self.tell_missing(member);
    }

    fn tell_missing(&self, member: &Member) {
        for folder in member.roots.missing() {
            self.events.emit(|| Event::Notice {
                server: member.name.clone(),
                text: format!(
                    "it is not told of {}: there is no such folder",
                    folder.display()
                ),
            });
        }
    }
}
