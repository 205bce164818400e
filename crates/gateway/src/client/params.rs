//! The parameters of requests, read in one pass.

use std::borrow::Cow;

use switchboard_wire::{LogLevel, Raw, RpcError, code, meta};

/// The parameters of a request, as far as several methods have them.
#[derive(Debug, Default)]
pub(crate) struct Params {
    /// All of them, for members that only one method has.
    pub(super) all: Option<Raw>,
    pub(crate) name: Option<Raw>,
    pub(crate) uri: Option<Raw>,
    pub(crate) arguments: Option<Raw>,
    pub(super) cursor: Option<Raw>,
    /// Modern: the answers to the questions of the last round.
    pub(super) input_responses: Option<Raw>,
    /// Modern: the state that came with those questions.
    pub(super) request_state: Option<Raw>,
    pub(crate) meta: Meta,
}

/// The members of `_meta` that the gateway reads.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    /// The whole object.
    all: Option<Raw>,
    pub(crate) version: Option<Raw>,
    pub(crate) capabilities: Option<Raw>,
    pub(super) progress_token: Option<Raw>,
    log_level: Option<Raw>,
    /// True if there are members that are not between the client and us.
    has_more: bool,
}

/// Places a member, unless it is there already: parsers disagree about which of the two counts.
fn place(slot: &mut Option<Raw>, value: Raw, key: &str) -> Result<(), RpcError> {
    if slot.replace(value).is_some() {
        return Err(invalid(&format!("the parameter {key} is there twice")));
    }
    Ok(())
}

/// The error for parameters that do not fit.
pub(super) fn invalid(why: &str) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, why)
}

impl Params {
    /// Reads the parameters of a request. Boxed: futures that hold them are moved several times.
    ///
    /// # Errors
    /// Fails if they, or `_meta`, are not an object, or a member that is read is there twice.
    pub(crate) fn read(params: Option<Raw>) -> Result<Box<Self>, RpcError> {
        let Some(params) = params else {
            return Ok(Box::default());
        };
        let (mut read, mut placed) = (Box::<Self>::default(), Ok(()));
        let is_object = params.each_member_and_of("_meta", |is_in_meta, key, value| {
            let slot = match (is_in_meta, key) {
                (true, _) => match read.meta.slot(key) {
                    Some(slot) => slot,
                    None => return,
                },
                (false, "name") => &mut read.name,
                (false, "uri") => &mut read.uri,
                (false, "arguments") => &mut read.arguments,
                (false, "cursor") => &mut read.cursor,
                (false, "inputResponses") => &mut read.input_responses,
                (false, "requestState") => &mut read.request_state,
                (false, "_meta") => &mut read.meta.all,
                (false, _) => return,
            };
            if placed.is_ok() {
                placed = place(slot, params.part(value), key);
            }
        });
        placed?;
        if !is_object {
            return Err(invalid("the parameters are not an object"));
        }
        read.meta.check()?;
        read.all = Some(params);
        Ok(read)
    }

    /// The text of a parameter that must be there.
    pub(super) fn text<'a>(value: Option<&'a Raw>, key: &str) -> Result<Cow<'a, str>, RpcError> {
        let text = value.and_then(Raw::as_cow);
        text.ok_or_else(|| invalid(&format!("the parameter {key} must be a string")))
    }

    /// The cursor of a list. An empty string is a cursor like any other.
    pub(super) fn cursor(&self) -> Result<Option<String>, RpcError> {
        let read = |cursor| Self::text(Some(cursor), "cursor").map(Cow::into_owned);
        self.cursor.as_ref().map(read).transpose()
    }

    /// A parameter that only one method has.
    pub(super) fn member(&self, key: &str) -> Option<Raw> {
        self.all.as_ref()?.member(key)
    }
}

impl Meta {
    /// The place of a member; `None` for one that is not read.
    fn slot(&mut self, key: &str) -> Option<&mut Option<Raw>> {
        match key {
            meta::PROTOCOL_VERSION => Some(&mut self.version),
            meta::CLIENT_CAPABILITIES => Some(&mut self.capabilities),
            meta::PROGRESS_TOKEN => Some(&mut self.progress_token),
            meta::LOG_LEVEL => Some(&mut self.log_level),
            meta::CLIENT_INFO => None,
            _ => {
                self.has_more = true;
                None
            }
        }
    }

    /// Checks what was placed.
    fn check(&self) -> Result<(), RpcError> {
        if !self.all.as_ref().is_none_or(Raw::is_object) {
            return Err(invalid("_meta is not an object"));
        }
        // 2026-07-28, ProgressToken: a string or an integer. Older versions say a number.
        let is_token = |token: &Raw| {
            let first = token.as_str().as_bytes().first();
            matches!(first, Some(b'"' | b'-' | b'0'..=b'9'))
        };
        if !self.progress_token.as_ref().is_none_or(is_token) {
            return Err(invalid("progressToken is neither a string nor a number"));
        }
        Ok(())
    }

    /// Returns true if the request describes itself, as those of the modern era do.
    pub(super) fn is_modern(&self) -> bool {
        self.version.is_some() || self.capabilities.is_some()
    }

    /// The members for the server, such as `traceparent`. Those that are between a client and its server
    /// are written anew for every connection.
    pub(super) fn for_server(&self) -> Option<&Raw> {
        self.all.as_ref().filter(|_| self.has_more)
    }

    /// Modern: the level from which on the client wants log messages about this request.
    pub(super) fn log_level(&self) -> Result<Option<LogLevel>, RpcError> {
        self.log_level.as_ref().map(log_level).transpose()
    }
}

/// Reads a log level.
pub(super) fn log_level(level: &Raw) -> Result<LogLevel, RpcError> {
    let known = level.as_text().and_then(|level| level.parse().ok());
    known.ok_or_else(|| invalid("the log level is not one of the eight of the protocol"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Box<Params>, String> {
        let read = Params::read(Some(Raw::parse(text).unwrap()));
        read.map_err(|error| error.message().to_owned())
    }

    #[test]
    fn what_is_between_us_and_the_client_is_told_from_the_rest() {
        let ours = read(r#"{"_meta":{"progressToken":1,"io.modelcontextprotocol/clientInfo":{}}}"#);
        assert_eq!(ours.unwrap().meta.for_server(), None);
        let more = read(r#"{"_meta":{"progressToken":1,"traceparent":"00-1"}}"#).unwrap();
        let expected = r#"{"progressToken":1,"traceparent":"00-1"}"#;
        assert_eq!(more.meta.for_server().unwrap().as_str(), expected);
    }

    #[test]
    fn a_repeated_member_that_is_read_is_refused() {
        let why = |text: &str| read(text).unwrap_err();
        assert_eq!(
            why(r#"{"name":"a","na\u006de":"b"}"#),
            "the parameter name is there twice"
        );
        let twice = r#"{"_meta":{"progressToken":1,"progressToken":2}}"#;
        assert_eq!(why(twice), "the parameter progressToken is there twice");
        assert!(read(r#"{"other":1,"other":2}"#).is_ok());
    }

    #[test]
    fn parameters_of_the_wrong_kind_are_refused() {
        assert!(read("[]").is_err());
        assert!(read(r#"{"_meta":[]}"#).is_err());
        for token in ["{}", "true", "null", "[1]"] {
            assert!(read(&format!(r#"{{"_meta":{{"progressToken":{token}}}}}"#)).is_err());
        }
        assert!(read(r#"{"cursor":7}"#).unwrap().cursor().is_err());
        let empty = read(r#"{"cursor":""}"#).unwrap().cursor();
        assert_eq!(empty.unwrap(), Some(String::new()));
    }
}
