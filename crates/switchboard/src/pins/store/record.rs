//! The file format for the pins of one server.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Baseline, StoreError, StoreLimits};
use crate::pins::Hash;
use crate::pins::pinned::{Pin, Pinned};
use crate::private_store::{self, Note, document, from_seconds, to_seconds};
use crate::spec::{Identity, ServerName};

/// The format that is written and read.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinsDocument {
    version: u64,
    identity: String,
    server: String,
    approved: u64,
    instructions: Option<WrittenPin>,
    tools: BTreeMap<String, WrittenPin>,
    prompts: BTreeMap<String, WrittenPin>,
    templates: BTreeMap<String, WrittenPin>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPin {
    hash: String,
    /// The canonical text, or its beginning.
    text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

impl private_store::Document for Baseline {
    fn has_key(key: &str) -> bool {
        key.parse::<Identity>().is_ok()
    }

    fn write(&self) -> String {
        let all = |pins: &BTreeMap<String, Pin>| {
            let pins = pins.iter();
            pins.map(|(name, pin)| (name.clone(), write_pin(pin)))
                .collect()
        };
        document::write(&PinsDocument {
            version: VERSION,
            identity: self.identity.to_string(),
            server: self.server.as_str().to_owned(),
            approved: to_seconds(self.approved),
            instructions: self.pinned.instructions.as_ref().map(write_pin),
            tools: all(&self.pinned.tools),
            prompts: all(&self.pinned.prompts),
            templates: all(&self.pinned.templates),
        })
    }

    fn parse(
        text: &[u8],
        key: &str,
        path: &Path,
        _limits: &StoreLimits,
    ) -> Result<Self, StoreError> {
        let document: PinsDocument = document::parse(text, path, VERSION)?;
        read_baseline(document, key).map_err(|why| StoreError::malformed(path, why))
    }

    fn note(&self) -> Note {
        Note::of(self.pinned.len(), [self.server.as_str()])
    }
}

fn write_pin(pin: &Pin) -> WrittenPin {
    WrittenPin {
        hash: pin.hash.to_string(),
        text: pin.text.clone(),
        cut: pin.is_cut,
    }
}

fn read_baseline(document: PinsDocument, key: &str) -> Result<Baseline, String> {
    if document.identity != key {
        return Err("it is about another server".into());
    }
    let pinned = Pinned {
        instructions: document.instructions.map(read).transpose()?,
        tools: read_all(document.tools)?,
        prompts: read_all(document.prompts)?,
        templates: read_all(document.templates)?,
    };
    let identity = key.parse::<Identity>();
    Ok(Baseline {
        identity: identity.map_err(|error| error.to_string())?,
        server: ServerName::parse(&document.server).map_err(|error| error.to_string())?,
        approved: from_seconds(document.approved)?,
        pinned: Arc::new(pinned),
    })
}

fn read_all(all: BTreeMap<String, WrittenPin>) -> Result<BTreeMap<String, Pin>, String> {
    let all = all.into_iter();
    all.map(|(name, written)| Ok((name, read(written)?)))
        .collect()
}

fn read(written: WrittenPin) -> Result<Pin, String> {
    let hash: Hash = match written.hash.parse() {
        Ok(hash) => hash,
        Err(error) => return Err(format!("{error}")),
    };
    // Check the text against its hash: otherwise the user would be shown a wrong diff.
    if !written.cut && Hash::of(&written.text) != hash {
        return Err(format!("the text of {hash} is another"));
    }
    Ok(Pin {
        hash,
        text: written.text,
        is_cut: written.cut,
    })
}
