//! The partners of the interop tests: other people's implementations of the protocol, and the
//! official suite that judges ours.
//!
//! They are installed into `target/partners/` from lock files under `tests/partners/`, so that the
//! same versions arrive a year from now, and reused as long as those files stay as they are. The
//! partners made of Rust are not here: cargo builds them with the tests. The fleet, real servers that
//! only `cargo xtask check --full` starts, is installed by the step that needs it.

pub(crate) mod clients;
#[cfg(target_os = "linux")]
mod debian;
mod npm;
mod pins;
mod python;
mod stamp;
pub(crate) mod suite;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use self::pins::{Folder, Venv};
use crate::{tool, workspace};

/// The outcome of one installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Installed,
    Reused,
}

/// Runs `cargo xtask partners`.
///
/// # Errors
///
/// Says which installation failed and what its package manager said.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => install(),
        ["--relock", names @ ..] => relock(names),
        _ => Err("`cargo xtask partners` takes nothing, or `--relock` and folders".to_owned()),
    }
}

/// Installs what the interop tests and the suite need, unless it is there already.
///
/// # Errors
///
/// Says which installation failed and what its package manager said.
pub(crate) fn install() -> Result<(), String> {
    let is_extra = |folder: &Folder| {
        let mut extra = pins::FOR_FLEET.iter();
        extra.any(|other| other.name == folder.name)
    };
    let folders = pins::FOLDERS.iter().filter(|folder| !is_extra(folder));
    install_all(folders.copied(), pins::VENVS)?;
    #[cfg(target_os = "linux")]
    {
        let (outcome, seconds) =
            timed(debian::install).map_err(|error| format!("{}: {error}", debian::FOLDER))?;
        report(debian::FOLDER, outcome, seconds);
    }
    Ok(())
}

/// Installs one virtual environment and nothing else.
///
/// # Errors
///
/// Carries pip's own words.
pub(crate) fn install_venv(name: &str) -> Result<(), String> {
    let venv = pins::VENVS.iter().find(|venv| venv.name == name);
    let venv = venv.ok_or_else(|| format!("no virtual environment is called `{name}`"))?;
    python::install(*venv).map(|_| ())
}

/// Installs what makes the Python wheel.
///
/// # Errors
///
/// Carries pip's own words.
pub(crate) fn install_packaging() -> Result<(), String> {
    python::install(pins::PACKAGING).map(|_| ())
}

/// The folder of what makes the Python wheel.
pub(crate) fn packaging() -> PathBuf {
    workspace::partners().join(pins::PACKAGING.name)
}

/// The pinned version of the first package of a virtual environment.
pub(crate) fn venv_version(name: &str) -> &'static str {
    let venv = pins::VENVS.iter().find(|venv| venv.name == name);
    let pin = venv.and_then(|venv| venv.pins.first());
    pin.map_or("?", |pin| pin.version)
}

/// Installs the servers of the fleet test and a Node that runs them, unless they are there already.
///
/// # Errors
///
/// Says which installation failed and what its package manager said.
pub(crate) fn install_fleet() -> Result<(), String> {
    let folders = pins::FOR_FLEET.iter().chain([&pins::NODE]);
    install_all(folders.copied(), pins::FLEET_VENVS)
}

/// Installs everything at once: the time goes into waiting for registries.
fn install_all(folders: impl Iterator<Item = Folder>, venvs: &[Venv]) -> Result<(), String> {
    println!("{}", tool::require_runtimes()?);
    let is_needed = |folder: &Folder| {
        (folder.name != pins::NODE.name || !suite::runs_on_our_node())
            && (folder.name != pins::CLIENTS_NODE.name || !clients::runs_on_our_node())
    };
    let folders = folders.filter(is_needed);
    let results = thread::scope(|scope| {
        let mut jobs = Vec::new();
        for folder in folders {
            let job = scope.spawn(move || timed(|| npm::install(folder)));
            jobs.push((folder.name, job));
        }
        for venv in venvs {
            let job = scope.spawn(|| timed(|| python::install(*venv)));
            jobs.push((venv.name, job));
        }
        jobs.into_iter()
            .map(|(name, job)| {
                let panicked = |_| Err("the installer panicked".to_owned());
                (name, job.join().unwrap_or_else(panicked))
            })
            .collect::<Vec<_>>()
    });
    let mut failures = Vec::new();
    for (name, result) in results {
        match result {
            Ok((outcome, seconds)) => report(name, outcome, seconds),
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\ninstalling partners needs the npm and PyPI registries",
        failures.join("\n")
    ))
}

fn report(name: &str, outcome: Outcome, seconds: f64) {
    match outcome {
        Outcome::Reused => println!("{name}: reused"),
        Outcome::Installed => println!("{name}: installed in {seconds:.1} s"),
    }
}

/// Rewrites the lock files of the folders that are named, or of all.
fn relock(names: &[&str]) -> Result<(), String> {
    let folders = pins::FOLDERS.iter().map(|folder| folder.name);
    let known: Vec<&str> = folders.chain(pins::venvs().map(|venv| venv.name)).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        let known = known.join(", ");
        return Err(format!(
            "no folder is called `{unknown}`; there are {known}"
        ));
    }
    let is_meant = |name: &str| names.is_empty() || names.contains(&name);
    tool::require_runtimes()?;
    for folder in pins::FOLDERS.iter().filter(|it| is_meant(it.name)) {
        npm::relock(*folder)?;
    }
    for venv in pins::venvs().filter(|it| is_meant(it.name)) {
        python::relock(venv)?;
    }
    println!("lock files written; `cargo xtask partners` installs from them");
    Ok(())
}

fn timed(install: impl FnOnce() -> Result<Outcome, String>) -> Result<(Outcome, f64), String> {
    let start = Instant::now();
    let outcome = install()?;
    Ok((outcome, start.elapsed().as_secs_f64()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_not_locked() {
        let error = relock(&["nmp"]).unwrap_err();
        assert!(
            error.contains("npm, conformance, oauth, node, clients"),
            "{error}"
        );
    }
}
