//! The partners from Debian: programs that neither npm nor PyPI has.
//!
//! Their packages are unpacked into `target/partners/debian` and not installed, so that nothing of the machine changes
//! and no rights are needed. A machine that has the programs in its `PATH` uses those, whatever it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::pins::DEBIAN;
use super::{Outcome, stamp};
use crate::{tool, workspace};

/// The folder of the unpacked packages, and the name of this installation.
pub(super) const FOLDER: &str = "debian";
/// The program that the packages are for.
const PROGRAM: &str = "gnome-keyring-daemon";
/// The programs of the session bus, which every desktop has and no folder can hold: they know the paths of their files.
const BUS: [&str; 2] = ["dbus-run-session", "dbus-send"];

/// Unpacks the packages, unless they are there already or the machine has what they are for.
///
/// # Errors
///
/// Says what to install where there is no apt, and carries apt's own words otherwise.
pub(super) fn install() -> Result<Outcome, String> {
    for program in BUS {
        if !is_in_path(program) {
            return Err(format!("{program} is missing; install the package `dbus`"));
        }
    }
    if is_in_path(PROGRAM) {
        return Ok(Outcome::Reused);
    }
    let folder = workspace::partners().join(FOLDER);
    let pins = DEBIAN
        .iter()
        .map(|pin| format!("{}={}", pin.package, pin.version));
    let pins: Vec<String> = pins.collect();
    let wanted = pins.join("\n");
    if stamp::matches(&folder, &wanted) {
        return Ok(Outcome::Reused);
    }
    stamp::clear(&folder)?;
    if !is_in_path("apt-get") {
        return Err(format!("{PROGRAM} is missing; install `gnome-keyring`"));
    }
    download(&folder, &pins)?;
    for package in packages(&folder)? {
        tool::output(Command::new("dpkg").arg("-x").arg(&package).arg(&folder))?;
    }
    stamp::write(&folder, &wanted)?;
    Ok(Outcome::Installed)
}

/// Downloads packages into a folder, with the lists of the machine or, where those are missing or too old, with new
/// ones of our own.
fn download(folder: &Path, pins: &[String]) -> Result<(), String> {
    let of_machine = tool::output(apt(folder, &[]).arg("download").args(pins));
    if of_machine.is_ok() {
        return Ok(());
    }
    let own = folder.join("apt");
    let mut options = Vec::new();
    for (name, part) in [
        ("Dir::State::lists", "lists"),
        ("Dir::Cache::archives", "archives"),
    ] {
        let path = own.join(part);
        // apt does not make the folder for what is not complete yet.
        let partial = path.join("partial");
        fs::create_dir_all(&partial)
            .map_err(|error| format!("cannot create {}: {error}", partial.display()))?;
        options.push(format!("{name}={}", path.display()));
    }
    for name in ["pkgcache", "srcpkgcache"] {
        options.push(format!("Dir::Cache::{name}="));
    }
    tool::output(apt(folder, &options).arg("update"))?;
    tool::output(apt(folder, &options).arg("download").args(pins))?;
    fs::remove_dir_all(&own).map_err(|error| format!("cannot remove {}: {error}", own.display()))
}

fn apt(folder: &Path, options: &[String]) -> Command {
    let mut command = Command::new("apt-get");
    command.current_dir(folder).arg("--quiet");
    for option in options {
        command.arg("--option").arg(option);
    }
    command
}

/// Returns the packages that were downloaded.
fn packages(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unread = |error| format!("cannot read {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            found.push(path);
        }
    }
    Ok(found)
}

fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_but_for_rebuilds() {
        for pin in DEBIAN {
            let version = pin.version.strip_suffix('*').unwrap_or(pin.version);
            assert!(version.contains('.'), "{}", pin.package);
            assert!(!version.contains(['*', '?']), "{}", pin.package);
        }
    }
}
