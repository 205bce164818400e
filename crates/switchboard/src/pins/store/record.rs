//! What was approved of one server, as it is written down.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Baseline, StoreError};
use crate::pins::Hash;
use crate::pins::pinned::{Pin, Pinned};
use crate::private_store::document;
use crate::spec::{Identity, ServerName};

/// The format that is written and read.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    identity: String,
    server: String,
    approved: u64,
    instructions: Option<Written>,
    tools: BTreeMap<String, Written>,
    prompts: BTreeMap<String, Written>,
    templates: BTreeMap<String, Written>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hash: String,
    /// The canonical text, or its beginning.
    text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

pub(super) fn write(baseline: &Baseline) -> String {
    let since = baseline.approved.duration_since(UNIX_EPOCH);
    let all = |pins: &BTreeMap<String, Pin>| {
        let pins = pins.iter();
        pins.map(|(name, pin)| (name.clone(), written(pin)))
            .collect()
    };
    let pinned = &baseline.pinned;
    let document = Document {
        version: VERSION,
        identity: baseline.identity.to_string(),
        server: baseline.server.as_str().to_owned(),
        approved: since.unwrap_or_default().as_secs(),
        instructions: pinned.instructions.as_ref().map(written),
        tools: all(&pinned.tools),
        prompts: all(&pinned.prompts),
        templates: all(&pinned.templates),
    };
    document::write(&document)
}

fn written(pin: &Pin) -> Written {
    Written {
        hash: pin.hash.to_string(),
        text: pin.text.clone(),
        cut: pin.is_cut,
    }
}

pub(super) fn parse(text: &[u8], server: &Identity, file: &Path) -> Result<Baseline, StoreError> {
    let broken = |why: String| StoreError::broken(file, why);
    let document: Document = document::parse(text, file, VERSION)?;
    if document.identity != server.to_string() {
        return Err(broken("it is about another server".into()));
    }
    let pinned = Pinned {
        instructions: document
            .instructions
            .map(read)
            .transpose()
            .map_err(broken)?,
        tools: read_all(document.tools).map_err(broken)?,
        prompts: read_all(document.prompts).map_err(broken)?,
        templates: read_all(document.templates).map_err(broken)?,
    };
    let approved = Duration::from_secs(document.approved);
    Ok(Baseline {
        identity: *server,
        server: ServerName::parse(&document.server).map_err(|error| broken(error.to_string()))?,
        approved: UNIX_EPOCH
            .checked_add(approved)
            .ok_or_else(|| broken("its time is none".into()))?,
        pinned: Arc::new(pinned),
    })
}

fn read_all(all: BTreeMap<String, Written>) -> Result<BTreeMap<String, Pin>, String> {
    let all = all.into_iter();
    all.map(|(name, written)| Ok((name, read(written)?)))
        .collect()
}

fn read(written: Written) -> Result<Pin, String> {
    let hash: Hash = match written.hash.parse() {
        Ok(hash) => hash,
        Err(error) => return Err(format!("{error}")),
    };
    // Otherwise a person would be shown another change than there is.
    if !written.cut && Hash::of(&written.text) != hash {
        return Err(format!("the text of {hash} is another"));
    }
    Ok(Pin {
        hash,
        text: written.text,
        is_cut: written.cut,
    })
}
