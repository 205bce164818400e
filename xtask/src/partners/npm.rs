//! The partners from npm.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::pins::{Folder, Pin};
use super::{Outcome, stamp};
use crate::{tool, workspace};

const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";

/// Options of every npm call: packages run no code while they are installed, and only the
/// registry is asked anything.
const QUIET: [&str; 4] = [
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
];

/// Installs exactly what the lock file of `folder` lists, unless it is there already.
///
/// # Errors
///
/// Carries npm's own words.
pub(super) fn install(folder: Folder) -> Result<Outcome, String> {
    let sources = workspace::partner_sources().join(folder.name);
    let folder = workspace::partners().join(folder.name);
    let manifest = super::read(&sources.join(MANIFEST))?;
    let lock = super::read(&sources.join(LOCK))?;
    let wanted = format!("{manifest}\n{lock}");
    if stamp::matches(&folder, &wanted) {
        return Ok(Outcome::Reused);
    }
    stamp::clear(&folder)?;
    write(&folder.join(MANIFEST), &manifest)?;
    write(&folder.join(LOCK), &lock)?;
    tool::output(tool::npm().arg("ci").args(QUIET).current_dir(&folder))?;
    stamp::write(&folder, &wanted)?;
    Ok(Outcome::Installed)
}

/// Rewrites the lock file of `folder` from its pins.
///
/// # Errors
///
/// Carries npm's own words.
pub(super) fn relock(folder: Folder) -> Result<(), String> {
    let sources = workspace::partner_sources().join(folder.name);
    fs::create_dir_all(&sources)
        .map_err(|error| format!("cannot create {}: {error}", sources.display()))?;
    write(&sources.join(MANIFEST), &manifest(folder))?;
    let _absent_is_fine = fs::remove_file(sources.join(LOCK));
    let mut npm = tool::npm();
    // The lock must not name the registry of the machine that wrote it.
    npm.args([
        "install",
        "--package-lock-only",
        "--omit-lockfile-registry-resolved",
    ]);
    tool::output(npm.args(QUIET).current_dir(&sources))?;
    Ok(())
}

fn manifest(folder: Folder) -> String {
    // npm passes over what does not run on the machine only where it need not be there.
    let kind = if folder.by_platform {
        "optionalDependencies"
    } else {
        "dependencies"
    };
    let mut text = format!(
        "{{\n  \"name\": \"switchboard-partners\",\n  \"description\": \"Written by `cargo xtask \
         partners --relock`.\",\n  \"private\": true,\n  \"{kind}\": {{"
    );
    for (index, Pin { package, version }) in folder.pins.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}\n    \"{package}\": \"{version}\"");
    }
    text.push_str("\n  }\n}\n");
    text
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::pins::FOLDERS;
    use super::*;

    fn committed(folder: Folder, name: &str) -> Value {
        let path = workspace::partner_sources().join(folder.name).join(name);
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn every_committed_manifest_is_the_one_that_its_pins_make() {
        for folder in FOLDERS {
            let made: Value = serde_json::from_str(&manifest(*folder)).unwrap();
            assert_eq!(
                committed(*folder, MANIFEST),
                made,
                "run `cargo xtask partners --relock`"
            );
        }
    }

    #[test]
    fn every_lock_holds_its_pins_with_checksums_and_names_no_registry() {
        for folder in FOLDERS {
            let lock = committed(*folder, LOCK);
            let packages = lock["packages"].as_object().unwrap();
            for pin in folder.pins {
                let entry = &packages[&format!("node_modules/{}", pin.package)];
                assert_eq!(entry["version"], pin.version, "{}", pin.package);
            }
            for (name, entry) in packages.iter().filter(|(name, _)| !name.is_empty()) {
                assert!(entry["integrity"].is_string(), "{name} has no checksum");
                assert!(entry.get("resolved").is_none(), "{name} names a registry");
            }
        }
    }
}
