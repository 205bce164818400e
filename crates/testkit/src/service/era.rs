//! The era of a connection, and the terms of its requests.

use serde_json::{Map, Value, json};
use switchboard_wire::{Era, LogLevel, Version};

use super::failure::{Failure, object, string};
use super::log;
use crate::Eras;
use crate::catalog::Features;

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The terms of a request: from the handshake, or from the modern request itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) version: Version,
    /// The client can show forms to a person.
    pub(crate) shows_forms: bool,
    /// The client has a model (sampling).
    pub(crate) has_model: bool,
    /// The client can send a person to an address.
    pub(crate) opens_addresses: bool,
    /// The client provides roots.
    pub(crate) has_roots: bool,
    /// The minimum level of log messages for the client; `None` for no messages.
    pub(crate) log_level: Option<LogLevel>,
}

/// The cache lifetime of a result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// The method has no such hint.
    Unsaid,
    Milliseconds(u32),
}

impl Context {
    pub(crate) fn modern(self) -> bool {
        self.version.era() == Era::Modern
    }

    /// Terms of a client without capabilities.
    fn bare(version: Version) -> Self {
        Self {
            version,
            shows_forms: false,
            has_model: false,
            opens_addresses: false,
            has_roots: false,
            log_level: (version.era() == Era::Legacy).then_some(log::UNASKED),
        }
    }

    /// Returns true if the client wants log messages of this level.
    pub(crate) fn logs(self, level: LogLevel) -> bool {
        self.log_level.is_some_and(|wanted| level >= wanted)
    }

    pub(crate) fn features(self) -> Features {
        Features::of(self.version)
    }

    /// Adds the members that the era demands in every complete result.
    pub(crate) fn complete(self, body: Map<String, Value>, keep: Keep) -> Map<String, Value> {
        self.result("complete", body, keep)
    }

    /// A result that asks for input first.
    pub(crate) fn input_required(self, body: Map<String, Value>) -> Map<String, Value> {
        self.result("input_required", body, Keep::Unsaid)
    }

    fn result(self, kind: &str, body: Map<String, Value>, keep: Keep) -> Map<String, Value> {
        if !self.modern() {
            return body;
        }
        let mut result = Map::new();
        result.insert("resultType".to_owned(), kind.into());
        result.extend(body);
        if let Keep::Milliseconds(time) = keep {
            result.insert("ttlMs".to_owned(), time.into());
            result.insert("cacheScope".to_owned(), "public".into());
        }
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(SERVER_INFO.to_owned(), server_info(self.features()));
        }
        result
    }
}

/// The name and version of this server.
pub(crate) fn server_info(features: Features) -> Value {
    features.fit(&json!({
        "name": env!("CARGO_PKG_NAME"),
        "title": "Switchboard test server",
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Undecided,
    Legacy(Context),
    Modern,
}

/// The era of one connection: undecided until the first request that is not a probe.
#[derive(Debug)]
pub(crate) struct EraState {
    eras: Eras,
    phase: Phase,
}

impl EraState {
    pub(crate) fn new(eras: Eras) -> Self {
        Self {
            eras,
            phase: Phase::Undecided,
        }
    }

    /// Replaces a handshake.
    #[cfg(feature = "http")]
    pub(crate) fn agree(&mut self, version: Version) {
        // The capabilities of the client are unknown here.
        self.phase = Phase::Legacy(Context::bare(version));
    }

    /// Sets the minimum level of log messages for a legacy client.
    pub(crate) fn log_from(&mut self, level: LogLevel) {
        if let Phase::Legacy(context) = &mut self.phase {
            context.log_level = Some(level);
        }
    }

    /// The version that the handshake negotiated; `None` without one.
    pub(crate) fn negotiated(&self) -> Option<Version> {
        match self.phase {
            Phase::Legacy(context) => Some(context.version),
            Phase::Undecided | Phase::Modern => None,
        }
    }

    /// Admits a request, and decides the era if it was undecided.
    pub(crate) fn admit(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Context, Failure> {
        match self.phase {
            Phase::Legacy(_) if is_handshake(method, params) => Err(Failure::invalid_request(
                "this connection is initialized already",
            )),
            Phase::Legacy(context) => Ok(context),
            Phase::Modern if is_handshake(method, params) => Err(self.too_modern(params)),
            Phase::Modern => self.read_envelope(params),
            Phase::Undecided => self.admit_first(method, params),
        }
    }

    fn admit_first(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Context, Failure> {
        // A `_meta` of the modern era, complete or not, is a sign of a modern client.
        let modern_looking = envelope(params).is_some_and(|meta| {
            meta.contains_key(PROTOCOL_VERSION) || meta.contains_key(CLIENT_CAPABILITIES)
        });
        match method {
            "initialize" if !is_handshake(method, params) => self.read_envelope(params),
            "initialize" if self.eras.legacy() => {
                let context = shake_hands(params)?;
                self.phase = Phase::Legacy(context);
                Ok(context)
            }
            "initialize" => Err(self.too_modern(params)),
            // A probe: the client has not decided yet.
            "server/discover" if self.eras.modern() => self.read_envelope(params),
            "ping" if self.eras.legacy() && !modern_looking => {
                Ok(Context::bare(Version::NEWEST_LEGACY))
            }
            _ if self.eras.modern() && (modern_looking || !self.eras.legacy()) => {
                let context = self.read_envelope(params)?;
                self.phase = Phase::Modern;
                Ok(context)
            }
            // The answer of many legacy servers to the probe of a modern client.
            "server/discover" => Err(Failure::unknown_method(method)),
            _ => Err(Failure::invalid_request(
                "this connection is not initialized yet",
            )),
        }
    }

    /// The versions in `server/discover`, newest first.
    pub(crate) fn supported(&self) -> Vec<&'static str> {
        Version::ALL
            .into_iter()
            .rev()
            .filter(|version| match version.era() {
                Era::Legacy => self.eras.legacy(),
                Era::Modern => self.eras.modern(),
            })
            .map(Version::as_str)
            .collect()
    }

    fn read_envelope(&self, params: &Map<String, Value>) -> Result<Context, Failure> {
        let missing = |key| Failure::invalid_params(format!("_meta[\"{key}\"] is missing"));
        let meta = envelope(params).ok_or_else(|| missing(PROTOCOL_VERSION))?;
        // The version before the capabilities: an unsupported version may have other members.
        let requested = meta
            .get(PROTOCOL_VERSION)
            .ok_or_else(|| missing(PROTOCOL_VERSION))?;
        let Some(name) = requested.as_str() else {
            return Err(Failure::invalid_params(
                "the protocol version must be a string",
            ));
        };
        let version = match name.parse::<Version>() {
            Ok(version) if version.era() == Era::Modern => version,
            // A version with a handshake is supported, but not in this way.
            Ok(_) => return Err(Failure::unsupported_version(&MODERN, requested)),
            Err(_) => return Err(Failure::unsupported_version(&self.supported(), requested)),
        };
        let capabilities =
            object(meta, CLIENT_CAPABILITIES)?.ok_or_else(|| missing(CLIENT_CAPABILITIES))?;
        Ok(Context {
            version,
            shows_forms: shows_forms(capabilities),
            has_model: has(capabilities, "sampling"),
            opens_addresses: opens_addresses(capabilities),
            has_roots: has(capabilities, "roots"),
            log_level: if meta.contains_key(LOG_LEVEL) {
                Some(log::level(meta, LOG_LEVEL)?)
            } else {
                None
            },
        })
    }

    /// Refuses a handshake with an error that lists the supported versions.
    fn too_modern(&self, params: &Map<String, Value>) -> Failure {
        let requested = params.get("protocolVersion").unwrap_or(&Value::Null);
        Failure::unsupported_version(&MODERN, requested)
    }
}

const MODERN: [&str; 1] = ["2026-07-28"];

/// Returns true for a handshake. An `initialize` that describes itself instead, and so names no
/// version to agree on, is a modern request of a method that there is not.
pub(crate) fn is_handshake(method: &str, params: &Map<String, Value>) -> bool {
    let describes_itself =
        || envelope(params).is_some_and(|meta| meta.contains_key(PROTOCOL_VERSION));
    method == "initialize" && (params.contains_key("protocolVersion") || !describes_itself())
}

fn envelope(params: &Map<String, Value>) -> Option<&Map<String, Value>> {
    params.get("_meta").and_then(Value::as_object)
}

/// Accepts the client's version if it is a legacy one, and offers the newest otherwise.
fn shake_hands(params: &Map<String, Value>) -> Result<Context, Failure> {
    let requested = string(params, "protocolVersion")?;
    // 2025-11-25 lifecycle: a server that does not know the version offers its newest one.
    let version = requested
        .parse()
        .ok()
        .filter(|version: &Version| version.era() == Era::Legacy)
        .unwrap_or(Version::NEWEST_LEGACY);
    let capabilities = object(params, "capabilities")?
        .ok_or_else(|| Failure::invalid_params("capabilities is missing"))?;
    object(params, "clientInfo")?
        .ok_or_else(|| Failure::invalid_params("clientInfo is missing"))?;
    Ok(Context {
        version,
        // Elicitation came together with structured results.
        shows_forms: Features::of(version).structure && shows_forms(capabilities),
        has_model: has(capabilities, "sampling"),
        // URL elicitation came together with the dialect of schemas.
        opens_addresses: Features::of(version).dialect && opens_addresses(capabilities),
        has_roots: has(capabilities, "roots"),
        log_level: Some(log::UNASKED),
    })
}

fn has(capabilities: &Map<String, Value>, name: &str) -> bool {
    capabilities.get(name).is_some_and(Value::is_object)
}

fn opens_addresses(capabilities: &Map<String, Value>) -> bool {
    let modes = capabilities.get("elicitation").and_then(Value::as_object);
    modes.is_some_and(|modes| has(modes, "url"))
}

/// `elicitation: {}` means forms; `url` alone means none.
fn shows_forms(capabilities: &Map<String, Value>) -> bool {
    match capabilities.get("elicitation") {
        Some(Value::Object(modes)) => modes.contains_key("form") || !modes.contains_key("url"),
        _ => false,
    }
}
