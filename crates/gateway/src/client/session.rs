//! The beginning of a conversation in both eras: `initialize`, `server/discover`, the version.

use switchboard_wire::{ClientCapabilities, Era, LogLevel, Raw, RpcError, Version, code, meta};

use super::params::{self, Meta, Params, invalid};
use super::result::{Answer, Members, Outcome};
use super::{Asked, Client, changes, logs};

/// The error for a request that no version applies to.
pub(super) const NOT_BEGUN: &str = "no version is agreed on: send initialize first, or the protocol \
                                    version and the client's capabilities in _meta";

/// The session of a client of the legacy era.
pub(super) struct LegacySession {
    /// The version that was agreed on.
    pub(super) version: Option<Version>,
    /// The client has said that it is ready for what belongs to no request.
    pub(super) is_ready: bool,
    pub(super) capabilities: ClientCapabilities,
    /// It has declared that servers can ask it something.
    pub(super) can_be_asked: bool,
    /// The level from which on the client gets log messages.
    pub(super) level: LogLevel,
}

impl Default for LegacySession {
    fn default() -> Self {
        Self {
            version: None,
            is_ready: false,
            capabilities: ClientCapabilities::default(),
            can_be_asked: false,
            // Until the client sets a level, the server decides.
            level: LogLevel::Info,
        }
    }
}

/// Reads the version of a modern request.
///
/// # Errors
/// Fails if the version or the capabilities are missing, or the version is not one that is spoken here.
pub(super) fn modern_version(meta: &Meta) -> Result<Version, RpcError> {
    let missing = |key: &str, kind: &str| invalid(&format!("_meta lacks {key}: {kind}"));
    let name = meta.version.as_ref().and_then(Raw::as_text);
    let name = name.ok_or_else(|| missing(meta::PROTOCOL_VERSION, "a string"))?;
    let known = name.parse::<Version>().ok();
    let version = known.filter(|version| version.era() == Era::Modern);
    // The version before the capabilities: a client of another version learns ours.
    let version = version.ok_or_else(|| unsupported(&name))?;
    let is_object = meta.capabilities.as_ref().is_some_and(Raw::is_object);
    if !is_object {
        return Err(missing(meta::CLIENT_CAPABILITIES, "an object"));
    }
    Ok(version)
}

fn unsupported(requested: &str) -> RpcError {
    let mut data = Members::new();
    data.raw("supported", &modern_versions());
    data.text("requested", requested);
    let why = "unsupported protocol version";
    RpcError::with_data(code::UNSUPPORTED_VERSION, why, data.end_raw())
}

/// The versions that requests can name in `_meta`. The legacy ones are agreed on in `initialize`.
fn modern_versions() -> String {
    format!("[\"{}\"]", Version::V2026_07_28)
}

impl Client {
    /// Begins a session of the legacy era.
    pub(super) fn initialize(&self, asked: &Asked<'_>) -> Outcome {
        let params = &asked.params;
        let wanted = params.member("protocolVersion");
        let wanted = Params::text(wanted.as_ref(), "protocolVersion")?;
        let capabilities = params.member("capabilities");
        let capabilities: Option<ClientCapabilities> = capabilities.and_then(|it| {
            if it.is_object() {
                it.decode().ok()
            } else {
                None
            }
        });
        let capabilities =
            capabilities.ok_or_else(|| invalid("the parameter capabilities does not fit"))?;
        if !params.member("clientInfo").is_some_and(|it| it.is_object()) {
            return Err(invalid("the parameter clientInfo must be an object"));
        }
        // Its own version if we speak it, or else the newest that we do: the client decides then.
        let known = wanted.parse::<Version>().ok();
        let known = known.filter(|version| version.era() == Era::Legacy);
        let version = known.unwrap_or(Version::NEWEST_LEGACY);
        // The offer before the version is set: a failure leaves the session uninitialized.
        let offer = self.offer()?;
        {
            // Checked and set under one lock: of two `initialize` at once, one begins the session.
            let mut session = self.session();
            if session.version.is_some() {
                let why = "the session is initialized already";
                return Err(RpcError::new(code::INVALID_REQUEST, why));
            }
            session.version = Some(version);
            let declared = capabilities.for_version(version);
            session.can_be_asked = declared.roots.is_some()
                || declared.sampling.is_some()
                || declared.elicitation.is_some();
            session.capabilities = declared;
        }
        let mut result = Members::new();
        result.text("protocolVersion", version.as_str());
        result.raw("capabilities", offer.capabilities().as_str());
        result.raw("serverInfo", &self.server_info());
        if let Some(instructions) = offer.instructions() {
            result.text("instructions", instructions);
        }
        Ok(Answer::own(result.end_raw()))
    }

    /// The client is ready: from now on it gets what belongs to no request.
    pub(super) fn initialized(&self) {
        {
            let mut session = self.session();
            // Only the first notification counts: a second one would start the tasks again.
            if session.version.is_none() || session.is_ready {
                return;
            }
            session.is_ready = true;
        }
        let mut tasks = self.tasks();
        tasks.spawn(changes::announce(self));
        if self.hears_shared_logs() {
            tasks.spawn(logs::follow(self));
        }
    }

    /// Describes the gateway to a client of the modern era.
    pub(super) fn discover(&self) -> Outcome {
        let offer = self.offer()?;
        let mut result = Members::of_result(Version::V2026_07_28);
        result.raw("supportedVersions", &modern_versions());
        result.raw("capabilities", offer.capabilities().as_str());
        if let Some(instructions) = offer.instructions() {
            result.text("instructions", instructions);
        }
        super::lists::add_cache_hints(&mut result, &self.gateway);
        let meta = Members::new()
            .raw(meta::SERVER_INFO, &self.server_info())
            .end();
        result.raw("_meta", &meta);
        Ok(Answer::own(result.end_raw()))
    }

    /// Sets the level from which on a legacy client gets log messages.
    pub(super) fn set_level(&self, asked: &Asked<'_>) -> Outcome {
        let level = asked.params.member("level");
        let level = level.ok_or_else(|| invalid("the parameter level is missing"))?;
        let level = params::log_level(&level)?;
        self.session().level = level;
        self.upstream.set_log_level(level);
        Ok(Answer::empty())
    }

    fn server_info(&self) -> String {
        let options = &self.gateway.0.options;
        let mut info = Members::new();
        info.text("name", &options.name)
            .text("version", &options.version);
        info.end()
    }
}
