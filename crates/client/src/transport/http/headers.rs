//! The headers that a person adds to every request, and the session id that a server gives.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use switchboard_core::secret::{MASK, Secret};

/// Longest header that may be added, name and value.
pub(super) const HEADER_BYTES: usize = 8 * 1024;
/// How many headers may be added.
pub(super) const HEADERS: usize = 64;
/// Longest session id by the strict rule.
const STRICT_ID_BYTES: usize = 256;

/// One header that a person wrote.
///
/// Its value is a secret, whatever its name: tokens come under many.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// In lower case, as all names are compared.
    name: String,
    value: Secret<String>,
}

/// Why a header cannot be added. None of them shows a value, or what may be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// There is no colon between name and value.
    #[error("a header is written `Name: value`")]
    NoColon,
    /// The name is empty or has characters that no name may have.
    #[error("a header name has letters, digits and `!#$%&'*+-.^_`|~` only")]
    BadName,
    /// The value has a character that no value may have.
    #[error("the value of header {name} has a line end or another control character")]
    BadValue {
        /// The header.
        name: String,
    },
    /// The header is not the person's to set.
    #[error("header {name} {why}")]
    Owned {
        /// The header.
        name: String,
        /// Who sets it.
        why: Owner,
    },
    /// It is too long.
    #[error("header {name} is longer than {max_bytes} bytes")]
    TooLong {
        /// The header.
        name: String,
        /// What it may have, name and value.
        max_bytes: usize,
    },
    /// There are too many.
    #[error("more than {max} headers")]
    TooMany {
        /// How many there may be.
        max: usize,
    },
}

/// Who sets a header that a person cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Owner {
    /// The protocol says what it is, and a server refuses anything else.
    Protocol,
    /// It says how the request itself is sent.
    Connection,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protocol => "is set by the protocol and cannot be changed",
            Self::Connection => "says how a request is sent and cannot be changed",
        })
    }
}

/// Tells who owns a header, by its name in lower case; `None` is the person.
fn owner(name: &str) -> Option<Owner> {
    match name {
        "accept" | "content-type" | "last-event-id" => Some(Owner::Protocol),
        // A body that was compressed because somebody asked for it would not be understood.
        "accept-encoding" | "content-encoding" | "content-length" | "connection" | "expect"
        | "host" | "http2-settings" | "keep-alive" | "proxy-connection" | "te" | "trailer"
        | "transfer-encoding" | "upgrade" => Some(Owner::Connection),
        _ if name.starts_with("mcp-") => Some(Owner::Protocol),
        _ => None,
    }
}

impl Header {
    /// Takes a name and a value.
    ///
    /// # Errors
    /// When either cannot be sent, is too long, or the header is not the person's to set.
    pub fn new(name: &str, value: impl Into<Secret<String>>) -> Result<Self, HeaderError> {
        let value = value.into();
        if !is_token(name) {
            return Err(HeaderError::BadName);
        }
        let name = name.to_ascii_lowercase();
        if name.len().saturating_add(value.expose().len()) > HEADER_BYTES {
            // A name as long as that may as well be a value.
            let name = name.chars().take(64).collect();
            let max_bytes = HEADER_BYTES;
            return Err(HeaderError::TooLong { name, max_bytes });
        }
        if let Some(why) = owner(&name) {
            return Err(HeaderError::Owned { name, why });
        }
        if !value.expose().bytes().all(is_value) {
            return Err(HeaderError::BadValue { name });
        }
        Ok(Self { name, value })
    }

    /// Reads `Name: value`.
    ///
    /// # Errors
    /// When it has no colon, and as [`Header::new`].
    pub fn parse(text: &str) -> Result<Self, HeaderError> {
        let (name, value) = text.split_once(':').ok_or(HeaderError::NoColon)?;
        Self::new(name, value.trim_matches([' ', '\t']))
    }

    /// The name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value.
    pub fn value(&self) -> &Secret<String> {
        &self.value
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {MASK}", self.name)
    }
}

/// The headers that a person adds, in the order they were added. A name may be there twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<Header>);

impl Headers {
    /// Adds one.
    ///
    /// # Errors
    /// When there are too many.
    pub fn push(&mut self, header: Header) -> Result<(), HeaderError> {
        if self.0.len() >= HEADERS {
            return Err(HeaderError::TooMany { max: HEADERS });
        }
        self.0.push(header);
        Ok(())
    }

    /// The headers.
    pub fn iter(&self) -> impl Iterator<Item = &Header> {
        self.0.iter()
    }

    /// Adds them to those of a request, marked so that nobody shows or indexes them.
    pub(crate) fn append_to(&self, map: &mut HeaderMap) {
        for header in &self.0 {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let value = HeaderValue::from_bytes(header.value.expose().as_bytes());
            // Both were held to the same rules when the header was made.
            if let (Ok(name), Ok(mut value)) = (name, value) {
                value.set_sensitive(true);
                map.append(name, value);
            }
        }
    }
}

/// Tells whether a name is a token in the sense of RFC 9110.
pub(crate) fn is_token(name: &str) -> bool {
    let is_sign = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || is_sign(byte);
    !name.is_empty() && name.bytes().all(fits)
}

/// Whether a byte may be part of a value: visible, a blank, or beyond ASCII.
fn is_value(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// What a session id may be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdRule {
    /// What the specification allows: visible ASCII.
    #[default]
    Visible,
    /// Letters, digits, dash and underscore, and no more than 256 of them.
    Strict,
}

/// Why a session id is not used. The id is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SessionIdError {
    /// It is empty.
    #[error("the server gave an empty session id")]
    Empty,
    /// It is too long.
    #[error("the server gave a session id of {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max_bytes: usize,
    },
    /// It has bytes that it may not have.
    #[error("the server gave a session id with a byte that is not allowed, at {at}")]
    BadByte {
        /// Where the first one is.
        at: usize,
    },
}

/// The id of a session, which opens it to whoever knows it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionId(Secret<String>);

impl SessionId {
    /// Takes an id of up to `max_bytes` as it stood in a header.
    ///
    /// # Errors
    /// When it is not one by the rule.
    pub(crate) fn parse(
        bytes: &[u8],
        max_bytes: usize,
        rule: IdRule,
    ) -> Result<Self, SessionIdError> {
        let max_bytes = match rule {
            IdRule::Visible => max_bytes,
            IdRule::Strict => max_bytes.min(STRICT_ID_BYTES),
        };
        let fits = |byte: &u8| match rule {
            IdRule::Visible => byte.is_ascii_graphic(),
            IdRule::Strict => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        };
        if bytes.is_empty() {
            return Err(SessionIdError::Empty);
        }
        if bytes.len() > max_bytes {
            let bytes = bytes.len();
            return Err(SessionIdError::TooLong { bytes, max_bytes });
        }
        if let Some(at) = bytes.iter().position(|byte| !fits(byte)) {
            return Err(SessionIdError::BadByte { at });
        }
        // Every byte is ASCII, so that nothing is replaced.
        let id = String::from_utf8_lossy(bytes).into_owned();
        Ok(Self(Secret::new(id)))
    }

    /// Gives the id, where it is sent and not shown.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The id as the value of a header that nobody shows.
    pub(crate) fn to_header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(self.expose()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({MASK})")
    }
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
