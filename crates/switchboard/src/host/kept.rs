//! The last definitions of each server, kept from one run to the next.
//!
//! With them, a host lists what its servers offer before any of them is started. They are a cache: what
//! a file says is shown as stale, is held against the pins as any definition is, and is read again on the
//! first use. A file that is missing, broken or not to be trusted leaves the server to be connected to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchboard_wire::{
    FromRaw, Misfit, Prompt, Raw, Resource, ResourceTemplate, ServerCapabilities, ServerInfo, Tool,
    Version,
};

use crate::catalog::ServerCatalog;
use crate::private_store::{self, Note, Records, StoreError, StoreLimits, document};
use crate::spec::Identity;

/// The format that is written and read.
const VERSION: u64 = 1;

/// Limits of the definitions that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct KeptLimits {
    /// Servers whose definitions are kept; of more, those that were written first are forgotten.
    pub servers: usize,
    /// Longest file that is read or written: the definitions of a server that has more are not kept.
    pub file_bytes: usize,
    /// Time after lists were read before they are written. Changes meanwhile are written with them.
    pub save_after: Duration,
    /// Longest wait for another process that writes.
    pub lock_wait: Duration,
}

impl Default for KeptLimits {
    fn default() -> Self {
        Self {
            servers: 512,
            file_bytes: 16 * 1024 * 1024,
            save_after: Duration::from_secs(1),
            lock_wait: Duration::from_secs(2),
        }
    }
}

/// Keeps the last definitions of servers: in a folder of the person's, or as long as the program runs.
///
/// There is one file for each server as it is configured, which only the person can read. Clones share
/// the definitions.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct KeptDefinitions(Arc<KeptInner>);

#[derive(Debug)]
struct KeptInner {
    folder: Option<PathBuf>,
    files: Records<KeptFile>,
    limits: KeptLimits,
}

/// The text of one file, not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeptFile(Arc<str>);

/// Everything that a server offered on its last connection.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) version: Option<Version>,
    pub(super) info: Option<ServerInfo>,
    pub(super) capabilities: Option<ServerCapabilities>,
    pub(super) instructions: Option<String>,
    pub(super) tools: Vec<Tool>,
    pub(super) prompts: Vec<Prompt>,
    pub(super) resources: Vec<Resource>,
    pub(super) templates: Vec<ResourceTemplate>,
}

/// What a file contains: the definitions verbatim.
#[derive(Serialize, Deserialize)]
struct KeptDocument {
    version: u64,
    identity: String,
    /// For people who look for the file of a server.
    server: String,
    protocol: Option<String>,
    info: Option<Raw>,
    capabilities: Option<Raw>,
    instructions: Option<String>,
    tools: Vec<Raw>,
    prompts: Vec<Raw>,
    resources: Vec<Raw>,
    templates: Vec<Raw>,
}

impl KeptDefinitions {
    /// Keeps definitions in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(Some(folder.into()), KeptLimits::default())
    }

    /// Keeps definitions as long as the program runs.
    pub fn in_memory() -> Self {
        Self::new(None, KeptLimits::default())
    }

    fn new(folder: Option<PathBuf>, limits: KeptLimits) -> Self {
        let files = match &folder {
            Some(folder) => Records::at(folder, "definitions"),
            None => Records::in_memory("definitions"),
        };
        let files = files.with_limits(StoreLimits {
            records: limits.servers,
            file_bytes: limits.file_bytes,
            lock_wait: limits.lock_wait,
        });
        Self(Arc::new(KeptInner {
            folder,
            files,
            limits,
        }))
    }

    /// Returns a store of the same folder with other limits.
    #[must_use]
    pub fn limits(self, limits: KeptLimits) -> Self {
        Self::new(self.0.folder.clone(), limits)
    }

    pub(super) fn save_after(&self) -> Duration {
        self.0.limits.save_after
    }

    /// Reads what was kept of a server. It blocks.
    ///
    /// # Errors
    /// Fails with the reason if there is a file that cannot be used.
    pub(super) fn read(&self, server: &Identity) -> Result<Option<Definitions>, String> {
        let (files, key) = (&self.0.files, server.to_string());
        let path = files.path(&key).unwrap_or_default();
        let unusable = |why: String| format!("{} is not used: {why}", path.display());
        match files.read(&key) {
            Ok(Some(KeptFile(text))) => read(&text, &key, &path).map(Some).map_err(unusable),
            // As for any cache, the reason is lost: too large, not safe, or not readable.
            Ok(None) if path.exists() => Err(unusable("it is no file that can be trusted".into())),
            Ok(None) => Ok(None),
            Err(error) => Err(unusable(error.to_string())),
        }
    }

    /// Writes what a server offers, in place of what was kept of it. It blocks.
    ///
    /// # Errors
    /// Fails if it cannot be written, or is too large.
    pub(super) fn write(
        &self,
        server: &Identity,
        part: &ServerCatalog,
        about: Definitions,
    ) -> Result<(), StoreError> {
        let key = server.to_string();
        let file = KeptFile(text_of(&key, part, about).into());
        let write = || self.0.files.change(&key, |_| Some(file.clone()));
        let written = match write() {
            Err(StoreError::Full { .. }) => {
                self.forget_oldest()?;
                write()
            }
            written => written,
        };
        written.map(drop)
    }

    fn forget_oldest(&self) -> Result<(), StoreError> {
        let files = &self.0.files;
        let written = |key: &String| std::fs::metadata(files.path(key)?).ok()?.modified().ok();
        let oldest = files.keys()?.into_iter().min_by_key(written);
        match oldest {
            Some(oldest) => files.change(&oldest, |_| None).map(drop),
            None => Ok(()),
        }
    }
}

fn text_of(identity: &str, part: &ServerCatalog, about: Definitions) -> String {
    let (tools, prompts) = (part.tools().iter(), part.prompts().iter());
    let (resources, templates) = (part.resources().iter(), part.templates().iter());
    document::write(&KeptDocument {
        version: VERSION,
        identity: identity.to_owned(),
        server: part.name().as_str().to_owned(),
        protocol: about.version.map(|version| version.to_string()),
        info: about.info.map(|info| info.raw().clone()),
        capabilities: about.capabilities.map(|offered| offered.raw().clone()),
        instructions: part.whole_instructions().map(str::to_owned),
        tools: tools.map(|entry| entry.tool().raw().clone()).collect(),
        prompts: prompts.map(|entry| entry.prompt().raw().clone()).collect(),
        resources: resources
            .map(|entry| entry.resource().raw().clone())
            .collect(),
        templates: templates
            .map(|entry| entry.template().raw().clone())
            .collect(),
    })
}

fn read(text: &str, identity: &str, path: &Path) -> Result<Definitions, String> {
    let document = document::parse::<KeptDocument>(text.as_bytes(), path, VERSION);
    let document = document.map_err(|error| error.to_string())?;
    if document.identity != identity {
        return Err("it is about another server".to_owned());
    }
    let version = document.protocol.map(|version| version.parse());
    let version = version.transpose();
    let version = version.map_err(|error: switchboard_wire::UnknownVersion| error.to_string())?;
    let read = || -> Result<Definitions, Misfit> {
        Ok(Definitions {
            version,
            info: document.info.as_ref().map(FromRaw::from_raw).transpose()?,
            capabilities: (document.capabilities.as_ref())
                .map(FromRaw::from_raw)
                .transpose()?,
            instructions: document.instructions,
            tools: all(&document.tools)?,
            prompts: all(&document.prompts)?,
            resources: all(&document.resources)?,
            templates: all(&document.templates)?,
        })
    };
    read().map_err(|misfit| misfit.to_string())
}

fn all<T: FromRaw>(items: &[Raw]) -> Result<Vec<T>, Misfit> {
    items.iter().map(T::from_raw).collect()
}

impl private_store::Document for KeptFile {
    const IS_CACHE: bool = true;

    fn has_key(key: &str) -> bool {
        key.parse::<Identity>().is_ok()
    }

    fn write(&self) -> String {
        self.0.as_ref().to_owned()
    }

    fn parse(text: &[u8], _: &str, path: &Path, _: &StoreLimits) -> Result<Self, StoreError> {
        // Read only when it is used: a broken file is replaced as one that is not there.
        let text = std::str::from_utf8(text);
        let text = text.map_err(|error| StoreError::malformed(path, error.to_string()))?;
        Ok(Self(text.into()))
    }

    fn note(&self) -> Note {
        Note::of(1, [])
    }
}
