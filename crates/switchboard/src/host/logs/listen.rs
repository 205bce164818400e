//! Who listens to a server.

use std::sync::Arc;
use std::time::SystemTime;

use switchboard_wire::{FromRaw as _, LoggingMessage, LoggingMessageParams, Notice as _, Raw};

use super::Sender;
use super::heard::{Heard, Kept, Part, Unsafe};
use crate::secret::Redactor;
use crate::session::{Announcement, Ear};
use crate::spec::ServerName;
use crate::transport::Stderr;

/// Listens to one server.
#[derive(Clone)]
pub(in crate::host) struct Listener {
    pub(in crate::host) server: ServerName,
    pub(in crate::host) secrets: Arc<Redactor>,
    pub(in crate::host) sender: Sender,
    /// How much of one text is kept.
    pub(in crate::host) most: usize,
}

impl Listener {
    /// Takes what was written to stderr.
    pub(in crate::host) fn stderr(&self, said: Stderr<'_>) {
        if !self.sender.is_heard() {
            return;
        }
        match said {
            Stderr::Line { text, bytes } => {
                self.tell(Unsafe::Stderr(Part::of(text, bytes, self.most)));
            }
            Stderr::Missed(lines) => drop(self.sender.0.send(Heard::Missed(lines))),
        }
    }

    fn tell(&self, said: Unsafe) {
        let kept = Kept {
            at: SystemTime::now(),
            server: self.server.clone(),
            said,
            secrets: Arc::clone(&self.secrets),
        };
        // That nobody listens any more is no error.
        drop(self.sender.0.send(Heard::Log(Arc::new(kept))));
    }

    fn announced(&self, announcement: &Announcement) -> Unsafe {
        let params = announcement.params.as_ref();
        let part = |raw: &Raw| Part::whole(raw.as_str(), self.most);
        if announcement.method != LoggingMessage::NAME {
            return Unsafe::Announced {
                method: Part::whole(&announcement.method, self.most),
                params: params.map(part),
            };
        }
        let read = params.and_then(|params| LoggingMessageParams::from_raw(params).ok());
        match read {
            Some(message) => Unsafe::Message {
                level: Some(message.level()),
                logger: message.logger().map(|text| Part::whole(text, self.most)),
                data: part(message.data()),
            },
            // Said in another way than it should be, and perhaps worth reading all the same.
            None => Unsafe::Message {
                level: None,
                logger: None,
                data: part(params.unwrap_or(&Raw::null())),
            },
        }
    }
}

impl Ear for Listener {
    fn take(&self, announcement: Announcement) -> Option<Announcement> {
        if !self.sender.is_heard() {
            return Some(announcement);
        }
        self.tell(self.announced(&announcement));
        None
    }
}
