//! Approvals as they are written down.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Bounds;
use super::approval::{Approval, Covers, Lasts};
use crate::policy::approve::Item;
use crate::policy::caller::CallerId;
use crate::policy::request::{Kind, Verb};
use crate::private_store::{StoreError, document};
use crate::spec::ServerName;

/// The format that is written and read.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    approvals: Vec<Written>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    agent: String,
    server: String,
    origin: String,
    identity: String,
    /// What is approved; all of the server where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<WrittenItem>,
    /// Seconds since 1970.
    approved: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenItem {
    verb: String,
    kind: String,
    name: String,
}

pub(super) fn write(approvals: &[Approval]) -> String {
    let approvals = approvals.iter().map(|approval| Written {
        agent: approval.caller.to_string(),
        server: approval.server.to_string(),
        origin: approval.origin.clone(),
        identity: approval.identity.to_string(),
        item: match &approval.covers {
            Covers::Server => None,
            Covers::Item(item) => Some(WrittenItem {
                verb: item.verb.to_string(),
                kind: item.kind.map_or("server", Kind::as_str).to_owned(),
                name: item.name.clone(),
            }),
        },
        approved: seconds(approval.approved),
    });
    let document = Document {
        version: VERSION,
        approvals: approvals.collect(),
    };
    document::write(&document)
}

pub(super) fn parse(
    text: &[u8],
    file: &Path,
    bounds: &Bounds,
) -> Result<Vec<Approval>, StoreError> {
    let broken = |why: String| StoreError::broken(file, why);
    let document: Document = document::parse(text, file, VERSION)?;
    let most = bounds.approvals;
    if document.approvals.len() > most {
        return Err(broken(format!("it has more than {most} approvals")));
    }
    let approvals = document.approvals.into_iter().enumerate();
    approvals
        .map(|(at, written)| {
            read(written).map_err(|why| broken(format!("approval {}: {why}", at + 1)))
        })
        .collect()
}

fn read(written: Written) -> Result<Approval, String> {
    let covers = match written.item {
        None => Covers::Server,
        Some(item) => Covers::Item(read_item(item)?),
    };
    Ok(Approval {
        caller: CallerId::parse(&written.agent).map_err(|error| error.to_string())?,
        server: ServerName::parse(&written.server).map_err(|error| error.to_string())?,
        origin: written.origin,
        identity: written
            .identity
            .parse()
            .map_err(|error: crate::spec::BadIdentity| error.to_string())?,
        covers,
        lasts: Lasts::Always,
        approved: UNIX_EPOCH
            .checked_add(Duration::from_secs(written.approved))
            .ok_or("its time is none")?,
    })
}

fn read_item(written: WrittenItem) -> Result<Item, String> {
    let verb = Verb::ALL
        .into_iter()
        .find(|verb| verb.as_str() == written.verb)
        .ok_or_else(|| format!("unknown verb {:?}", written.verb))?;
    let kinds = [Kind::Tool, Kind::Resource, Kind::Prompt];
    let kind = kinds.into_iter().find(|kind| kind.as_str() == written.kind);
    if kind.is_none() && written.kind != "server" {
        return Err(format!("unknown kind {:?}", written.kind));
    }
    Ok(Item {
        verb,
        kind,
        name: written.name,
    })
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}

/// A time as it is when it was written and read again.
pub(super) fn to_the_second(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds(time))
}
