//! Where the command line keeps what outlives one run.

use std::path::PathBuf;

use switchboard::host::Eras;
use switchboard::leftovers::Ledger;
use switchboard::pins::Pins;
use switchboard::policy::Approvals;
use switchboard::transport::Environment;
use switchboard::trust::Store;

/// The folder of all that outlives one run. `None` where nothing says whose home it would be in.
pub(crate) fn state(host: &Environment) -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = host.get(name)?.expose();
        // A relative one would be another folder in each place that this is run from.
        Some(PathBuf::from(value)).filter(|folder| folder.is_absolute())
    };
    let state = folder("XDG_STATE_HOME").or_else(|| {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else {
            folder("HOME").map(|home| home.join(".local").join("state"))
        }
    })?;
    Some(state.join("switchboard"))
}

/// The folder that says which servers run: see `docs/cli.md`.
pub(crate) fn running(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("running"))
}

/// The folder of what servers offered when they were last listed.
pub(crate) fn catalog(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("catalog"))
}

/// What was typed at a prompt before.
pub(crate) fn history(host: &Environment) -> Option<PathBuf> {
    Some(state(host)?.join("history"))
}

/// What the person has approved. Without a home, only what is approved in this run.
pub(crate) fn trust(host: &Environment) -> Store {
    match state(host) {
        Some(folder) => Store::at(folder.join("trust")).noted_in(folder.join("kept")),
        None => Store::in_memory(),
    }
}

/// What the person has approved for agents. Without a home, only what is approved in this run.
pub(crate) fn approvals(host: &Environment) -> Approvals {
    match state(host) {
        Some(folder) => Approvals::at(folder.join("approvals")).noted_in(folder.join("kept")),
        None => Approvals::in_memory(),
    }
}

/// What servers offered when they were approved. Without a home, only what they offered in this run.
pub(crate) fn pins(host: &Environment) -> Pins {
    match state(host) {
        Some(folder) => Pins::at(folder.join("pins")).noted_in(folder.join("kept")),
        None => Pins::in_memory(),
    }
}

/// Which era each server speaks. Without a home, only for this run.
pub(crate) fn eras(host: &Environment) -> Eras {
    match state(host) {
        Some(folder) => Eras::at(folder.join("eras")),
        None => Eras::in_memory(),
    }
}

/// The ledger in that folder. A home that cannot be written to is no reason not to call a tool.
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
