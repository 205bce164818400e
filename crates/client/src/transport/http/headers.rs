//! Headers that the person adds to every request, and session ids of servers.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use switchboard_core::secret::{MASK, Secret};

/// Maximum length of a header, name and value.
pub(super) const HEADER_BYTES: usize = 8 * 1024;
/// Maximum number of headers.
pub(super) const HEADERS: usize = 64;
/// Maximum length of a session id under the strict rule.
const STRICT_ID_BYTES: usize = 256;

/// One header that the person wrote.
///
/// The value is always a secret: tokens come under many names.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    /// In lower case, for comparisons.
    name: String,
    value: Secret<String>,
    /// True if it replaces the header of the protocol.
    replaces: bool,
}

/// The reason that a header cannot be added. No variant shows a value, or anything that may be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// There is no colon between name and value.
    #[error("a header is written `Name: value`")]
    NoColon,
    /// The name is empty or has an invalid character.
    #[error("a header name has letters, digits and `!#$%&'*+-.^_`|~` only")]
    BadName,
    /// The value has an invalid character.
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
        /// The part that sets it.
        why: HeaderOwner,
    },
    /// It is too long.
    #[error("header {name} is longer than {max_bytes} bytes")]
    TooLong {
        /// The header.
        name: String,
        /// The maximum, name and value.
        max_bytes: usize,
    },
    /// There are too many.
    #[error("more than {max} headers")]
    TooMany {
        /// The maximum.
        max: usize,
    },
}

/// The part that sets a header which the person cannot set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderOwner {
    /// The protocol defines it, and servers refuse other values.
    Protocol,
    /// It controls the transfer of the request.
    Connection,
}

impl fmt::Display for HeaderOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protocol => "is set by the protocol and cannot be changed",
            Self::Connection => "says how a request is sent and cannot be changed",
        })
    }
}

/// The owner of a header, by its name in lower case; `None` for the person.
fn owner(name: &str) -> Option<HeaderOwner> {
    match name {
        "accept" | "content-type" | "last-event-id" => Some(HeaderOwner::Protocol),
        // We decode no encodings, so a compressed body could not be read.
        "accept-encoding" | "content-encoding" | "content-length" | "connection" | "expect"
        | "host" | "http2-settings" | "keep-alive" | "proxy-connection" | "te" | "trailer"
        | "transfer-encoding" | "upgrade" => Some(HeaderOwner::Connection),
        _ if name.starts_with("mcp-") => Some(HeaderOwner::Protocol),
        _ => None,
    }
}

impl Header {
    /// Takes a name and a value.
    ///
    /// # Errors
    /// Fails when either cannot be sent, is too long, or the header is not the person's to set.
    pub fn new(name: &str, value: impl Into<Secret<String>>) -> Result<Self, HeaderError> {
        Self::checked(name, value.into(), false)
    }

    /// Takes a name and a value that may replace a header of the protocol, such as `Accept` or
    /// `MCP-Protocol-Version`. Servers may refuse or misread such a request. Headers that control the transfer
    /// cannot be replaced.
    ///
    /// # Errors
    /// As [`Header::new`], headers of the protocol aside.
    pub fn overriding(name: &str, value: impl Into<Secret<String>>) -> Result<Self, HeaderError> {
        Self::checked(name, value.into(), true)
    }

    fn checked(name: &str, value: Secret<String>, may_replace: bool) -> Result<Self, HeaderError> {
        if !is_token(name) {
            return Err(HeaderError::BadName);
        }
        let name = name.to_ascii_lowercase();
        if name.len().saturating_add(value.expose().len()) > HEADER_BYTES {
            // Cut it: a name that long may be a value.
            let name = name.chars().take(64).collect();
            let max_bytes = HEADER_BYTES;
            return Err(HeaderError::TooLong { name, max_bytes });
        }
        // Ownership before the value: of two mistakes this one is worth more to know.
        let owner = owner(&name);
        let replaces = may_replace && owner == Some(HeaderOwner::Protocol);
        if let Some(why) = owner.filter(|_| !replaces) {
            return Err(HeaderError::Owned { name, why });
        }
        if !value.expose().bytes().all(is_value) {
            return Err(HeaderError::BadValue { name });
        }
        Ok(Self {
            name,
            value,
            replaces,
        })
    }

    /// Reads `Name: value`.
    ///
    /// # Errors
    /// Fails when it has no colon, and as [`Header::new`].
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

    /// Name and value as they are sent, marked as sensitive. Both were validated when the header was created.
    fn to_pair(&self) -> Option<(HeaderName, HeaderValue)> {
        let name = HeaderName::from_bytes(self.name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_bytes(self.value.expose().as_bytes()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {MASK}", self.name)
    }
}

/// The headers that the person adds, in their order. A name may occur twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<Header>);

impl Headers {
    /// Adds one.
    ///
    /// # Errors
    /// Fails when there are too many.
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

    /// Appends them to the headers of a request, marked as sensitive.
    pub(crate) fn append_to(&self, map: &mut HeaderMap) {
        for header in self.0.iter().filter(|header| !header.replaces) {
            if let Some((name, value)) = header.to_pair() {
                map.append(name, value);
            }
        }
    }

    /// Replaces the headers of a request that the person overrides. Call it when all others are set.
    pub(crate) fn replace_in(&self, map: &mut HeaderMap) {
        for header in self.0.iter().filter(|header| header.replaces) {
            if let Some((name, value)) = header.to_pair() {
                map.insert(name, value);
            }
        }
    }
}

/// Returns true if a name is a token (RFC 9110).
pub(crate) fn is_token(name: &str) -> bool {
    let is_sign = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || is_sign(byte);
    !name.is_empty() && name.bytes().all(fits)
}

/// Returns true if a byte may be part of a value: visible, a blank, or non-ASCII.
fn is_value(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// The characters that a session id may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdRule {
    /// Visible ASCII, as the specification allows.
    #[default]
    Visible,
    /// At most 256 letters, digits, dashes and underscores.
    Strict,
}

/// The reason that a session id is not used. The id is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SessionIdError {
    /// It is empty.
    #[error("the server gave an empty session id")]
    Empty,
    /// It is too long.
    #[error("the server gave a session id of {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// The length.
        bytes: usize,
        /// The maximum.
        max_bytes: usize,
    },
    /// It has bytes that it may not have.
    #[error("the server gave a session id with a byte that is not allowed, at {at}")]
    BadByte {
        /// The position of the first one.
        at: usize,
    },
}

/// The id of a session: a secret, because knowing it gives access to the session.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionId(Secret<String>);

impl SessionId {
    /// Validates an id of up to `max_bytes`, as it stood in a header.
    ///
    /// # Errors
    /// Fails when it breaks the rule.
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
        // Every byte is ASCII, so nothing is replaced.
        let id = String::from_utf8_lossy(bytes).into_owned();
        Ok(Self(Secret::new(id)))
    }

    /// The id, for sending only.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The id as a sensitive header value.
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
