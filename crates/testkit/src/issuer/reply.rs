//! Answers before they are HTTP, and the effects that faults have on them.

use serde_json::{Value, json};

use super::fault::{Effect, Endpoint, Faults};

/// An answer of the issuer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IssuerReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: ReplyBody,
}

/// The body of an answer, and the manner of sending it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplyBody {
    Json(Value),
    /// Text of another type, which is among the headers.
    Text(String),
    /// The text, and then that many bytes of spaces.
    Padded(String, u64),
    /// A byte at a time.
    Drip(String),
    /// Nothing, ever.
    Never,
    /// A connection that is reset.
    Reset,
}

/// The spaces that `Huge` appends.
const HUGE_BYTES: u64 = 64 * 1024 * 1024;
/// The levels of `Deep`.
const DEEP_LEVELS: usize = 100_000;
/// The text and escape sequences of an error that attacks a terminal.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}refused\r\nHTTP/1.1 200 OK\r\n";
const HOSTILE_BYTES: usize = 32 * 1024;

/// The description of an error that is dangerous on a screen.
pub(super) fn hostile_text() -> String {
    let filler = "A".repeat(HOSTILE_BYTES);
    format!("{HOSTILE}{filler}")
}

impl IssuerReply {
    pub(super) fn json(status: u16, body: Value) -> Self {
        // RFC 6749, 5.1: tokens are never cached; it does no harm elsewhere.
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("cache-control", "no-store".to_owned()),
        ];
        Self {
            status,
            headers,
            body: ReplyBody::Json(body),
        }
    }

    pub(super) fn page(status: u16, body: &str) -> Self {
        let text = format!("<!doctype html><title>Test issuer</title>\n{body}\n");
        Self {
            status,
            headers: vec![("content-type", "text/html; charset=utf-8".to_owned())],
            body: ReplyBody::Text(text),
        }
    }

    pub(super) fn redirect(status: u16, location: String) -> Self {
        Self {
            status,
            headers: vec![("location", location)],
            body: ReplyBody::Text(String::new()),
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Applies the effects of the faults that strike an endpoint to an answer that went well.
    pub(super) fn spoil(mut self, faults: &Faults, endpoint: Endpoint, path: &str) -> Self {
        // Refusals stay as they are: a fault spoils answers that went well.
        if self.status >= 400 {
            return self;
        }
        let wanted = |effect| !matches!(effect, Effect::Refuse(..) | Effect::Special);
        for effect in faults.effects(endpoint, wanted) {
            self = self.apply(effect, path);
        }
        self
    }

    fn apply(mut self, effect: Effect, path: &str) -> Self {
        match effect {
            Effect::Remove(key) => {
                if let ReplyBody::Json(Value::Object(object)) = &mut self.body {
                    object.shift_remove(key);
                }
                self
            }
            Effect::Set(key, text) => {
                if let ReplyBody::Json(Value::Object(object)) = &mut self.body {
                    let value = serde_json::from_str(text).unwrap_or_default();
                    object.insert(key.to_owned(), value);
                }
                self
            }
            Effect::Status(status) => Self::page(status, "Something went wrong."),
            Effect::Redirect("") => Self::redirect(307, path.to_owned()),
            Effect::Redirect(location) => Self::redirect(307, location.to_owned()),
            Effect::Html => Self::page(200, "Please sign in."),
            Effect::Empty => Self {
                body: ReplyBody::Text(String::new()),
                ..self
            },
            Effect::Huge => Self {
                body: ReplyBody::Padded(self.body.text(), HUGE_BYTES),
                ..self
            },
            Effect::Deep => {
                let text = "[".repeat(DEEP_LEVELS) + &"]".repeat(DEEP_LEVELS);
                let text = format!("{{\"issuer\":{text}}}");
                Self {
                    body: ReplyBody::Text(text),
                    ..self
                }
            }
            Effect::Drip => Self {
                body: ReplyBody::Drip(self.body.text()),
                ..self
            },
            Effect::Never => Self {
                body: ReplyBody::Never,
                ..self
            },
            Effect::Reset => Self {
                body: ReplyBody::Reset,
                ..self
            },
            Effect::Twice(_) | Effect::Refuse(..) | Effect::Special => self,
        }
    }
}

impl ReplyBody {
    fn text(self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Text(text) | Self::Padded(text, _) | Self::Drip(text) => text,
            Self::Never | Self::Reset => String::new(),
        }
    }
}

/// An error of OAuth: its code, and a sentence that says what was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) error: &'static str,
    pub(super) about: String,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Refusal {
    pub(super) fn new(error: &'static str, about: impl Into<String>) -> Self {
        Self {
            status: if error == "invalid_client" { 401 } else { 400 },
            error,
            about: about.into(),
            headers: Vec::new(),
        }
    }

    pub(super) fn invalid_request(about: impl Into<String>) -> Self {
        Self::new("invalid_request", about)
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn reply(self) -> IssuerReply {
        let body = json!({"error": self.error, "error_description": self.about});
        let mut reply = IssuerReply::json(self.status, body);
        reply.headers.extend(self.headers);
        reply
    }
}

impl From<String> for Refusal {
    fn from(about: String) -> Self {
        Self::invalid_request(about)
    }
}
