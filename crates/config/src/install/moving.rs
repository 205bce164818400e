//! Moves the servers of a client to the user's own file.

use std::path::Path;

use serde_json::Value;
use switchboard_core::spec::{Layer, ServerName};

use super::entry::starts_gateway;
use super::record::{Before, FileEdit, Moved, MovedServer};
use super::text::{set, unset, value_at};
use super::{InstallError, LeftReason, LeftServer, Target};
use crate::edit::held::RealFile;
use crate::edit::{Change, EditError, apply};
use crate::{Client, Config, Entry, Reference, import, read_client};

/// What can be moved, and what cannot.
#[derive(Default)]
pub(super) struct Movable {
    pub(super) servers: Vec<MovedServer>,
    pub(super) left: Vec<LeftServer>,
}

/// Finds the servers of a client's file that can be moved to the user's own file, whose text is `own`.
pub(super) fn find(
    target: &Target,
    text: &str,
    own_file: &Path,
    own: &str,
) -> Result<Movable, InstallError> {
    let client = target.client();
    let root: Vec<&str> = target.root().iter().map(String::as_str).collect();
    let found = value_at(client.syntax(), text, &root)?;
    let entries = found.as_ref().and_then(Value::as_object);
    let theirs = import::read(text, target.file(), &target.layer(), client);
    let ours = read_client(own, own_file, Layer::User, Client::Switchboard);
    let mut movable = Movable::default();
    for (from, value) in entries.into_iter().flatten() {
        if starts_gateway(value) {
            continue;
        }
        let mut renamed = theirs.renamed.iter();
        let renamed = renamed.find(|renamed| renamed.from == *from);
        let to = renamed.map_or(from.as_str(), |renamed| renamed.to.as_str());
        match judge(from, to, value, &theirs.config, &ours) {
            // Two names of the client may become one of ours.
            Ok(server) if !movable.servers.iter().any(|known| known.to == server.to) => {
                movable.servers.push(server);
            }
            Ok(_) => movable.left.push(left_server(from, LeftReason::NameTaken)),
            Err(reason) => movable.left.push(left_server(from, reason)),
        }
    }
    Ok(movable)
}

fn left_server(name: &str, reason: LeftReason) -> LeftServer {
    LeftServer {
        name: name.to_owned(),
        reason,
    }
}

fn judge(
    from: &str,
    to: &str,
    value: &Value,
    theirs: &Config,
    ours: &Config,
) -> Result<MovedServer, LeftReason> {
    let entry = theirs.get(to).filter(|entry| entry.project().is_none());
    let entry = entry.ok_or(LeftReason::Invalid)?;
    // Only the editor that has the inputs asks for them.
    let mut references = entry.references().iter();
    if references.any(|reference| matches!(reference, Reference::Input(_))) {
        return Err(LeftReason::AsksForInput);
    }
    let converted = import::convert(entry, None);
    let same = |known: &Entry| import::convert(known, None) == converted;
    let mut bad = ours.problems().iter();
    let is_added = match ours.get(to) {
        Some(known) if same(known) => false,
        Some(_) => return Err(LeftReason::NameTaken),
        None if bad.any(|problem| problem.server() == Some(to)) => {
            return Err(LeftReason::NameTaken);
        }
        None => true,
    };
    Ok(MovedServer {
        from: from.to_owned(),
        to: entry.name().to_string(),
        theirs: value.clone(),
        ours: converted,
        is_added,
    })
}

/// Adds servers to the text of the user's own file.
pub(super) fn add_to(own: &str, servers: &[MovedServer]) -> Result<String, EditError> {
    let mut text = own.to_owned();
    for server in servers.iter().filter(|server| server.is_added) {
        let add = Change::Add {
            name: name(server)?,
            entry: server.ours.clone().into(),
            replace: false,
        };
        text = apply(&text, &add)?;
    }
    Ok(text)
}

fn name(server: &MovedServer) -> Result<ServerName, EditError> {
    ServerName::parse(&server.to).map_err(|_| EditError::Entry)
}

/// Takes servers out of the text of a client's file.
pub(super) fn take_from(
    target: &Target,
    text: &str,
    servers: &[MovedServer],
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for server in servers {
        text = unset(target.client().syntax(), &text, &path(target, &server.from))?;
    }
    Ok(text)
}

/// Puts servers back into the text of a client's file, unless it has servers of their names.
pub(super) fn put_back(
    target: &Target,
    text: &str,
    servers: &[MovedServer],
) -> Result<String, EditError> {
    let syntax = target.client().syntax();
    let mut text = text.to_owned();
    for server in servers {
        let path = path(target, &server.from);
        if value_at(syntax, &text, &path)?.is_none() {
            text = set(syntax, &text, &path, &server.theirs)?;
        }
    }
    Ok(text)
}

fn path<'a>(target: &'a Target, name: &'a str) -> Vec<&'a str> {
    let root = target.root().iter().map(String::as_str);
    root.chain([name]).collect()
}

/// The user's own file before the servers were moved there. Those that have changed since stay, and are returned.
pub(super) fn undo_in(own: &str, moved: &Moved) -> Result<(Before, Vec<String>), EditError> {
    if let Some(before) = moved.edit.before(own) {
        return Ok((before, Vec::new()));
    }
    let config = read_client(
        own,
        Path::new(&moved.file),
        Layer::User,
        Client::Switchboard,
    );
    let mut text = own.to_owned();
    let mut kept = Vec::new();
    for server in moved.servers.iter().filter(|server| server.is_added) {
        let Some(known) = config.get(&server.to) else {
            continue;
        };
        if import::convert(known, None) == server.ours {
            let name = name(server)?;
            text = apply(&text, &Change::Remove { name })?;
        } else {
            kept.push(server.to.clone());
        }
    }
    let before = Before {
        text: Some(text),
        missing: Vec::new(),
    };
    Ok((before, kept))
}

/// The record of moved servers, together with those that an earlier install has moved.
pub(super) fn record(
    real: &RealFile,
    own: Option<&str>,
    new: &str,
    servers: Vec<MovedServer>,
    earlier: Option<&Moved>,
) -> Result<Moved, InstallError> {
    let file = real.path.to_str();
    let file = file.ok_or(InstallError::NotUnicode("your own config file"))?;
    let now = Before {
        text: own.map(str::to_owned),
        missing: real.missing.clone(),
    };
    // An undo leads back to the text before the first move.
    let first = earlier.and_then(|moved| moved.edit.before(own?));
    let mut all = earlier.map_or_else(Vec::new, |moved| moved.servers.clone());
    all.retain(|known| !servers.iter().any(|server| server.from == known.from));
    all.extend(servers);
    Ok(Moved {
        file: file.to_owned(),
        edit: FileEdit::new(&real.path, &first.unwrap_or(now), new),
        servers: all,
    })
}
