//! What two sides have agreed on: the version, how requests are written in it, and what of it is worth
//! remembering.

use switchboard_wire::{
    ClientCapabilities, Era, Implementation, RawError, ServerCapabilities, ServerInfo, Version,
    meta,
};

/// What two sides have agreed on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The version spoken from here on.
    pub version: Version,
    /// Who the server says it is. Not to be relied on for anything but showing.
    pub server: Option<ServerInfo>,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// How the server says it is to be used.
    pub instructions: Option<String>,
    /// Whether the server speaks the modern era as well, and was too slow in saying so.
    pub(crate) also_modern: bool,
}

impl Negotiated {
    /// The era of the version.
    pub fn era(&self) -> Era {
        self.version.era()
    }

    /// What is worth remembering for the next connection to the same server.
    pub fn verdict(&self) -> Verdict {
        let era = if self.also_modern {
            Era::Modern
        } else {
            self.era()
        };
        Verdict { era }
    }
}

/// What an earlier connection to the same server found out.
///
/// A remembered legacy verdict saves the probe, which a silent server answers with a wait of some
/// seconds; a modern one has the probe waited for longer. It is advice, not an order: when it turns out
/// wrong, the server is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The era that the server spoke.
    pub era: Era,
}

impl Verdict {
    /// A verdict from a store of the caller's own.
    pub fn of(era: Era) -> Self {
        Self { era }
    }
}

/// How requests to one server are written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) version: Version,
    /// What every request carries in `_meta`, written once: nothing in the legacy era.
    pub(crate) meta: String,
}

/// How requests are written before anything is agreed on.
pub(crate) static PLAIN: Dialect = Dialect {
    version: Version::NEWEST_LEGACY,
    meta: String::new(),
};

impl Dialect {
    pub(crate) fn new(
        version: Version,
        capabilities: &ClientCapabilities,
        client: &Implementation,
    ) -> Result<Self, RawError> {
        let meta = match version.era() {
            Era::Legacy => String::new(),
            Era::Modern => format!(
                r#""{}":"{version}","{}":{},"{}":{}"#,
                meta::PROTOCOL_VERSION,
                meta::CLIENT_CAPABILITIES,
                serde_json::to_string(&capabilities.for_version(version))?,
                meta::CLIENT_INFO,
                serde_json::to_string(client)?,
            ),
        };
        Ok(Self { version, meta })
    }

    pub(crate) fn era(&self) -> Era {
        self.version.era()
    }
}
