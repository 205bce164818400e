//! How to speak to a server, once that is agreed.

use switchboard_wire::{ClientCapabilities, Era, Implementation, RawError, Version, meta};

/// How requests to one server are written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) version: Version,
    /// What every request carries in `_meta`, written once: nothing in the legacy era.
    pub(crate) meta: String,
}

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
