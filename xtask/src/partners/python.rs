//! The partners from PyPI, in virtual environments.
//!
//! A virtual environment knows its own path and cannot be moved, so it is made in place and stamped
//! last.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::pins::Venv;
use super::{Outcome, stamp};
use crate::{tool, workspace};

/// Installs exactly what the lock file of `venv` lists, unless it is there already.
///
/// # Errors
///
/// Carries pip's own words.
pub(super) fn install(venv: Venv) -> Result<Outcome, String> {
    let lock = lock(venv);
    let folder = workspace::partners().join(venv.name);
    // The interpreter and the place are part of what was installed: the environment points at both.
    let about = "import sys; print(sys.version, sys.executable)";
    let wanted = format!(
        "{}\n{}{}",
        folder.display(),
        tool::output(tool::python().args(["-c", about]))?,
        super::read(&lock)?
    );
    if stamp::matches(&folder, &wanted) {
        return Ok(Outcome::Reused);
    }
    create(&folder)?;
    tool::output(pip(&folder, "install").arg("--requirement").arg(&lock))?;
    stamp::write(&folder, &wanted)?;
    Ok(Outcome::Installed)
}

/// Rewrites the lock file of `venv` from its pins.
///
/// # Errors
///
/// Carries pip's own words.
pub(super) fn relock(venv: Venv) -> Result<(), String> {
    let folder = workspace::partners().join(format!("{}-relock", venv.name));
    create(&folder)?;
    let pins = venv
        .pins
        .iter()
        .map(|pin| format!("{}=={}", pin.package, pin.version));
    tool::output(pip(&folder, "install").args(pins))?;
    let frozen = tool::output(pip(&folder, "freeze").arg("--local"))?;
    let lock = lock(venv);
    let text = format!("# Written by `cargo xtask partners --relock`.\n{frozen}");
    fs::write(&lock, text).map_err(|error| format!("cannot write {}: {error}", lock.display()))?;
    fs::remove_dir_all(&folder)
        .map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

fn lock(venv: Venv) -> PathBuf {
    let file = format!("{}.txt", venv.name);
    workspace::partner_sources().join("python").join(file)
}

fn create(folder: &Path) -> Result<(), String> {
    stamp::clear(folder)?;
    tool::output(tool::python().args(["-m", "venv"]).arg(folder))?;
    Ok(())
}

fn pip(folder: &Path, verb: &str) -> Command {
    let python = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    let mut command = Command::new(folder.join(python));
    command.args(["-m", "pip", verb, "--disable-pip-version-check"]);
    if verb == "install" {
        command.args(["--quiet", "--no-input"]);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::super::pins::venvs;
    use super::*;

    #[test]
    fn every_lock_holds_its_pins_and_nothing_but_exact_versions() {
        for venv in venvs() {
            let text = fs::read_to_string(lock(venv)).unwrap();
            let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            for pin in venv.pins {
                let line = format!("{}=={}", pin.package, pin.version);
                assert!(lines.contains(&line.as_str()), "{} lacks {line}", venv.name);
            }
            for line in lines {
                let (name, version) = line.split_once("==").unwrap_or_default();
                let exact = !name.is_empty() && version.starts_with(|c: char| c.is_ascii_digit());
                assert!(exact, "{}: {line:?} is not an exact version", venv.name);
                assert!(
                    !line.contains("://"),
                    "{}: {line:?} names a place",
                    venv.name
                );
            }
        }
    }
}
