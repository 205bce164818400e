//! Locations of state that outlives a run.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard::Limits;
use switchboard::auth::{KeyringKey, MemoryStore, SealedFile, TokenStore};
use switchboard::host::Eras;
use switchboard::leftovers::Ledger;
use switchboard::pins::Pins;
use switchboard::policy::Approvals;
use switchboard::transport::Environment;
use switchboard::trust::Store;

/// Returns the state folder, or `None` if no home is known.
pub(crate) fn state(host: &Environment) -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = host.get(name)?.expose();
        // A relative path would be a different folder in each working directory.
        Some(PathBuf::from(value)).filter(|folder| folder.is_absolute())
    };
    // The XDG variable works everywhere; the fallback depends on the system.
    let state = folder("XDG_STATE_HOME").or_else(|| {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else {
            folder("HOME").map(|home| home.join(".local").join("state"))
        }
    })?;
    Some(state.join("switchboard"))
}

/// Returns the folder with the records of running servers: see `docs/cli.md`.
pub(crate) fn running(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("running"))
}

/// Returns the folder of the completion cache.
pub(crate) fn catalog(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("catalog"))
}

/// Returns the file with the token that clients of `serve` need.
pub(crate) fn gateway_token(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("gateway-token"))
}

/// Returns the folder with the named tokens that clients of `serve` may have.
pub(crate) fn gateway_tokens(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("gateway-tokens"))
}

/// Returns the folder with the last definitions of servers.
pub(crate) fn definitions(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("definitions"))
}

/// Returns the folder with the records that undo installs into other clients.
pub(crate) fn installs(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("installs"))
}

/// Returns the history file of the prompt.
pub(crate) fn history(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("history"))
}

/// Opens the store of approved servers; in memory without a home.
pub(crate) fn trust(host: &Environment) -> Store {
    match state(host) {
        Some(folder) => Store::at(folder.join("trust")).noted_in(folder.join("kept")),
        None => Store::in_memory(),
    }
}

/// Opens the store of approvals for agents; in memory without a home.
pub(crate) fn approvals(host: &Environment) -> Approvals {
    match state(host) {
        Some(folder) => Approvals::at(folder.join("approvals")).noted_in(folder.join("kept")),
        None => Approvals::in_memory(),
    }
}

/// Opens the store of approved definitions; in memory without a home.
pub(crate) fn pins(host: &Environment) -> Pins {
    match state(host) {
        Some(folder) => Pins::at(folder.join("pins")).noted_in(folder.join("kept")),
        None => Pins::in_memory(),
    }
}

/// Returns the folders in which the person's approvals are.
pub(crate) fn decisions(host: &Environment) -> Vec<PathBuf> {
    let state = state(host).into_iter();
    state
        .flat_map(|state| ["trust", "approvals", "pins"].map(|name| state.join(name)))
        .collect()
}

/// Opens the store of the protocol era that each server speaks; in memory without a home.
pub(crate) fn eras(host: &Environment) -> Eras {
    match state(host) {
        Some(folder) => Eras::at(folder.join("eras")),
        None => Eras::in_memory(),
    }
}

/// Returns the folder of stored logins.
pub(crate) fn tokens_folder(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("tokens"))
}

/// Returns true if `SWITCHBOARD_KEYRING=off` disables the keyring of the system.
pub(crate) fn is_keyring_off(host: &Environment) -> bool {
    let value = host.get("SWITCHBOARD_KEYRING");
    value.is_some_and(|value| value.expose() == "off")
}

/// Opens the stored logins; `warn` is called if their key has to be kept in a file. Without a home folder, logins
/// last for this run only.
pub(crate) fn tokens(
    host: &Environment,
    warn: impl Fn(&str) + Send + Sync + 'static,
) -> Arc<dyn TokenStore> {
    let Some(folder) = tokens_folder(host) else {
        return Arc::new(MemoryStore::new());
    };
    let limits = Limits::default();
    let mut key = KeyringKey::at(folder.clone(), &limits).on_fallback(warn);
    if is_keyring_off(host) {
        key = key.without_keyring();
    }
    Arc::new(SealedFile::at(folder, Arc::new(key), &limits))
}

/// Opens the ledger of running servers. A home that cannot be written to does not keep a tool from being
/// called.
pub(crate) fn ledger(host: &Environment) -> Option<Ledger> {
    Ledger::open(running(host)?).ok()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    type Row = (
        &'static [(&'static str, &'static str)],
        Option<&'static str>,
    );

    #[test]
    fn the_folder_is_the_one_that_the_environment_names() {
        let table: &[Row] = &[
            (&[], None),
            (&[("HOME", "")], None),
            (
                &[("HOME", "/home/me")],
                Some("/home/me/.local/state/switchboard/running"),
            ),
            (
                &[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")],
                Some("/state/switchboard/running"),
            ),
            (
                &[("HOME", "/home/me"), ("XDG_STATE_HOME", "state")],
                Some("/home/me/.local/state/switchboard/running"),
            ),
            (&[("XDG_STATE_HOME", "")], None),
        ];
        for (variables, wanted) in table {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let host: Environment = variables.iter().map(pair).collect();
            assert_eq!(running(&host), wanted.map(PathBuf::from), "{variables:?}");
        }
    }
}
