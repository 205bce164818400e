//! Server output besides answers: stderr lines, log messages and other notifications.
//!
//! Output goes into a bounded channel as it arrives, unprocessed; it is redacted and truncated when
//! a reader takes it. Without a subscriber nothing is copied.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use switchboard_wire::{
    FromRaw as _, LogLevel, LoggingMessage, LoggingMessageParams, Notice as _, Raw,
};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::secret::Redactor;
use crate::session::Announcement;
use crate::spec::ServerName;
use crate::transport::{Stderr, Watched};

/// A secret that begins before the end of what is kept is found if it ends within so many bytes.
const SLACK: usize = 4 * 1024;

/// One item of server output besides answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Log {
    /// The server.
    pub server: ServerName,
    /// The time at which it was read.
    pub at: SystemTime,
    /// The output itself, secrets redacted.
    pub said: Said,
    /// The original size in bytes, if it was cut.
    pub cut_from: Option<usize>,
    /// True for a log message that the client has had which it is for.
    #[doc(hidden)]
    pub is_relayed: bool,
}

/// One piece of server output.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Said {
    /// A line on stderr.
    Stderr(String),
    /// A log message.
    Message {
        /// The severity, or `None` if the server does not send a valid one.
        level: Option<LogLevel>,
        /// The part of the server that logs.
        logger: Option<String>,
        /// The data of the message: often a string, but any value. One that was cut is a string.
        data: Raw,
    },
    /// Another announcement, such as that a resource was updated.
    Announced {
        /// Its name.
        method: String,
        /// The parameters. Those that were cut are a string.
        params: Option<Raw>,
    },
}

impl Said {
    /// Returns the severity, if this is a log message that carries one.
    pub fn level(&self) -> Option<LogLevel> {
        match self {
            Self::Message { level, .. } => *level,
            Self::Stderr(_) | Self::Announced { .. } => None,
        }
    }
}

/// Subscription to the output of all servers, from now on.
///
/// A reader that is too slow misses the oldest output, and receives the number of items it missed.
pub struct Logs(broadcast::Receiver<Heard>);

impl Logs {
    /// Returns the next item, or `None` once the host is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Watched<Log>> {
        match self.0.recv().await {
            Ok(heard) => Some(heard.redact()),
            Err(RecvError::Lagged(missed)) => Some(Watched::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Returns the next item if one is there already.
    pub fn next_now(&mut self) -> Option<Watched<Log>> {
        match self.0.try_recv() {
            Ok(heard) => Some(heard.redact()),
            Err(TryRecvError::Lagged(missed)) => Some(Watched::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").finish_non_exhaustive()
    }
}

/// The sending half of the channel for server output.
#[derive(Clone)]
pub(super) struct LogSender(broadcast::Sender<Heard>);

impl LogSender {
    /// A channel that keeps so many for a slow reader.
    pub(super) fn new(most: usize) -> Self {
        Self(broadcast::Sender::new(most.max(1)))
    }

    /// Everything from now on.
    pub(super) fn subscribe(&self) -> Logs {
        Logs(self.0.subscribe())
    }

    fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }
}

/// Listens to one server.
#[derive(Clone)]
pub(super) struct Listener {
    pub(super) server: ServerName,
    pub(super) secrets: Arc<Redactor>,
    pub(super) sender: LogSender,
    /// Bytes of one text that are kept.
    pub(super) most: usize,
}

impl Listener {
    /// Publishes a line that was written to stderr.
    pub(super) fn stderr(&self, said: Stderr<'_>) {
        // Without a reader nothing is copied: most programs never subscribe.
        if !self.sender.is_heard() {
            return;
        }
        match said {
            Stderr::Line { text, bytes } => {
                let line = LogText::of(text, bytes, self.most);
                self.tell(Unsafe::Stderr(line), false);
            }
            Stderr::Missed(lines) => drop(self.sender.0.send(Heard::Missed(lines))),
        }
    }

    fn tell(&self, said: Unsafe, is_relayed: bool) {
        let kept = KeptLog {
            at: SystemTime::now(),
            server: self.server.clone(),
            said,
            secrets: Arc::clone(&self.secrets),
            is_relayed,
        };
        // Sending fails if the last subscriber has just gone, which is not an error.
        drop(self.sender.0.send(Heard::Log(Arc::new(kept))));
    }

    /// Publishes a notification, or gives it back if there is no reader. `is_relayed` if the client that
    /// it is for has had it.
    pub(super) fn hear(
        &self,
        announcement: Announcement,
        is_relayed: bool,
    ) -> Option<Announcement> {
        if !self.sender.is_heard() {
            return Some(announcement);
        }
        self.tell(self.announced(&announcement), is_relayed);
        None
    }

    fn announced(&self, announcement: &Announcement) -> Unsafe {
        let params = announcement.params.as_ref();
        let part = |raw: &Raw| LogText::whole(raw.as_str(), self.most);
        if announcement.method != LoggingMessage::NAME {
            return Unsafe::Announced {
                method: LogText::whole(&announcement.method, self.most),
                params: params.map(part),
            };
        }
        let read = params.and_then(|params| LoggingMessageParams::from_raw(params).ok());
        match read {
            Some(message) => Unsafe::Message {
                level: Some(message.level()),
                logger: message.logger().map(|text| LogText::whole(text, self.most)),
                data: part(message.data()),
            },
            // The message is malformed, and may be worth reading all the same.
            None => Unsafe::Message {
                level: None,
                logger: None,
                data: part(params.unwrap_or(&Raw::null())),
            },
        }
    }
}

/// One item of the channel, as it arrived.
#[derive(Clone)]
enum Heard {
    Log(Arc<KeptLog>),
    /// Number of lines that came before a reader could subscribe.
    Missed(u64),
}

struct KeptLog {
    at: SystemTime,
    server: ServerName,
    said: Unsafe,
    secrets: Arc<Redactor>,
    is_relayed: bool,
}

/// Server output before its secrets are redacted.
enum Unsafe {
    Stderr(LogText),
    Message {
        level: Option<LogLevel>,
        logger: Option<LogText>,
        data: LogText,
    },
    Announced {
        method: LogText,
        params: Option<LogText>,
    },
}

/// A text, or its beginning.
struct LogText {
    text: String,
    whole: usize,
    /// Bytes of it that are shown.
    most: usize,
}

impl LogText {
    fn of(text: &str, whole: usize, most: usize) -> Self {
        // More than is shown: a secret that straddles the cut must still be recognised.
        let kept = beginning(text, most.saturating_add(SLACK)).to_owned();
        Self {
            text: kept,
            whole,
            most,
        }
    }

    fn whole(text: &str, most: usize) -> Self {
        Self::of(text, text.len(), most)
    }

    fn cut_from(&self) -> Option<usize> {
        (self.whole > self.most.min(self.text.len())).then_some(self.whole)
    }

    fn redact<'t>(&'t self, secrets: &Redactor) -> Cow<'t, str> {
        let text = secrets.redact(&self.text);
        match self.cut_from() {
            // Cut after redaction, never before: half of a secret would not be found.
            Some(_) => Cow::Owned(beginning(&text, self.most).to_owned()),
            None => text,
        }
    }

    /// The same for a JSON text; a string if it was cut, or is not valid JSON once redacted.
    fn redact_json(&self, secrets: &Redactor) -> Raw {
        let shown = self.redact(secrets);
        let parsed = match self.cut_from() {
            // Redaction can break JSON, and a cut text is never JSON: both become a string.
            None => Raw::parse(&shown).ok(),
            Some(_) => None,
        };
        parsed.unwrap_or_else(|| Raw::of(&*shown).unwrap_or_else(|_| Raw::null()))
    }
}

/// At most that many bytes of a text.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    // At most three steps: a character has up to four bytes.
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

impl Heard {
    /// Redacts the item, so that it can be shown. Runs in the reader's task, not in the
    /// connection's.
    fn redact(&self) -> Watched<Log> {
        let kept = match self {
            Self::Log(kept) => kept,
            Self::Missed(lines) => return Watched::Missed(*lines),
        };
        let secrets = &*kept.secrets;
        let text = |part: &LogText| part.redact(secrets).into_owned();
        let json = |part: &LogText| part.redact_json(secrets);
        let (said, cut_from) = match &kept.said {
            Unsafe::Stderr(line) => (Said::Stderr(text(line)), line.cut_from()),
            Unsafe::Message {
                level,
                logger,
                data,
            } => {
                let said = Said::Message {
                    level: *level,
                    logger: logger.as_ref().map(text),
                    data: json(data),
                };
                (said, data.cut_from())
            }
            Unsafe::Announced { method, params } => {
                let said = Said::Announced {
                    method: text(method),
                    params: params.as_ref().map(json),
                };
                (said, params.as_ref().and_then(LogText::cut_from))
            }
        };
        Watched::Item(Log {
            server: kept.server.clone(),
            at: kept.at,
            said,
            cut_from,
            is_relayed: kept.is_relayed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "correct-horse-battery";

    fn secrets() -> Redactor {
        [SECRET].into_iter().collect()
    }

    #[test]
    fn a_text_at_the_limit_is_whole_and_one_over_it_is_cut() {
        let text = |part: &LogText| part.redact(&Redactor::new()).into_owned();
        let whole = LogText::whole("12345", 5);
        assert_eq!((text(&whole).as_str(), whole.cut_from()), ("12345", None));
        let cut = LogText::whole("1234\u{e9}", 5);
        assert_eq!((text(&cut).as_str(), cut.cut_from()), ("1234", Some(6)));
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_a_text_is_cut() {
        for most in 0..40 {
            let said = format!("it is {SECRET}, isn't it");
            let shown = LogText::whole(&said, most).redact(&secrets()).into_owned();
            assert!("it is ***, isn't it".starts_with(&shown), "{most}: {shown}");
        }
    }

    #[test]
    fn json_stays_json_without_its_secrets() {
        let json = |text: &str, most| {
            let shown = LogText::whole(text, most).redact_json(&secrets());
            shown.as_str().to_owned()
        };
        let said = format!(r#"{{"a": ["{SECRET}", 1.50]}}"#);
        assert_eq!(json(&said, 100), r#"{"a": ["***", 1.50]}"#);
        assert_eq!(json(&said, 8), r#""{\"a\": [\"""#);
    }
}
