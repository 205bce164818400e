//! The result of negotiation: the version, the dialect of requests in it, and the era that is worth
//! remembering.

use std::ops::Range;

use switchboard_wire::{
    ClientCapabilities, Era, Implementation, RawError, ServerCapabilities, ServerInfo, Version,
    meta,
};

/// The result of negotiation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The version spoken from here on.
    pub version: Version,
    /// The name and version that the server claims. For display only.
    pub server: Option<ServerInfo>,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// The server's instructions for models.
    pub instructions: Option<String>,
    /// The server also speaks the modern era, but answered the probe too late.
    pub(crate) also_modern: bool,
}

impl Negotiated {
    /// The era of the version.
    pub fn era(&self) -> Era {
        self.version.era()
    }

    /// The finding that is worth remembering for the next connection to the same server.
    pub fn era_hint(&self) -> EraHint {
        let era = if self.also_modern {
            Era::Modern
        } else {
            self.era()
        };
        EraHint { era }
    }
}

/// The era that an earlier connection to the same server found.
///
/// A remembered legacy era saves the probe, which a silent server answers with a wait of some
/// seconds; a modern one gives the probe more time. It is a hint, not an order: if it turns out
/// wrong, the server is probed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EraHint {
    /// The era that the server spoke.
    pub era: Era,
}

impl EraHint {
    /// Creates a hint from a store of the caller.
    pub fn of(era: Era) -> Self {
        Self { era }
    }
}

/// The way that requests to one server are written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) version: Version,
    /// The members of `_meta` in every request, encoded once; empty in the legacy era.
    pub(crate) meta: String,
    /// The place of the capabilities in `meta`.
    capabilities: Range<usize>,
}

/// The dialect before negotiation.
pub(crate) static PLAIN: Dialect = Dialect {
    version: Version::NEWEST_LEGACY,
    meta: String::new(),
    capabilities: 0..0,
};

impl Dialect {
    pub(crate) fn new(
        version: Version,
        capabilities: &ClientCapabilities,
        client: &Implementation,
    ) -> Result<Self, RawError> {
        let (mut meta, mut place) = (String::new(), 0..0);
        if version.era() == Era::Modern {
            meta = format!(
                r#""{}":"{version}","{}":"#,
                meta::PROTOCOL_VERSION,
                meta::CLIENT_CAPABILITIES,
            );
            let start = meta.len();
            meta += &serde_json::to_string(&capabilities.for_version(version))?;
            place = start..meta.len();
            let client = serde_json::to_string(client)?;
            meta += &format!(r#","{}":{client}"#, meta::CLIENT_INFO);
        }
        Ok(Self {
            version,
            meta,
            capabilities: place,
        })
    }

    /// The members of `_meta` with these capabilities in place of the session's; as they are in the
    /// legacy era.
    pub(crate) fn meta_declaring(&self, capabilities: &str) -> String {
        let mut meta = self.meta.clone();
        if self.era() == Era::Modern {
            meta.replace_range(self.capabilities.clone(), capabilities);
        }
        meta
    }

    pub(crate) fn era(&self) -> Era {
        self.version.era()
    }
}
