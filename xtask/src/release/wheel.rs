//! The Python wheel, made by maturin: the program, its pages and its completions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::platform::Platform;
use super::{copy, copy_folder, list, make_folder, told};
use crate::{partners, tool, workspace};

/// Makes the wheel of a platform.
///
/// # Errors
///
/// Carries maturin's own words.
pub(super) fn make(
    platform: Platform,
    is_foreign: bool,
    shared: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    partners::install_packaging()?;
    let root = workspace::root();
    // As deep in the workspace as the committed folder, so that its relative paths hold.
    let stage = root.join("target").join("wheel");
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| told("remove", &stage, &error))?;
    }
    copy_folder(shared, &stage.join("data").join("data"))?;
    copy(
        &root.join("dist/python/pyproject.toml"),
        &stage.join("pyproject.toml"),
    )?;
    copy(&root.join("crates/cli/README.md"), &stage.join("README.md"))?;
    let mut maturin = Command::new(program("maturin"));
    maturin
        .args(["build", "--locked", "--profile", "dist", "--out"])
        .arg(folder);
    if is_foreign {
        maturin.args(["--target", platform.target]);
    }
    println!("$ {}", tool::line(&maturin));
    tool::output(maturin.current_dir(&stage))?;
    let mut made = list(folder)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "whl"));
    match (made.next(), made.next()) {
        (Some(wheel), None) => Ok(wheel),
        _ => Err(format!(
            "maturin did not leave exactly one wheel in {}",
            folder.display()
        )),
    }
}

/// Copies the list of what is inside (CycloneDX), which maturin puts into each wheel.
///
/// # Errors
///
/// Fails if the wheel has no such list, or it names no packages.
pub(super) fn take_contents(wheel: &Path, to: &Path) -> Result<(), String> {
    let unpacked = workspace::root()
        .join("target")
        .join("release-stage")
        .join("wheel");
    make_folder(&unpacked)?;
    tool::output(
        Command::new(program("python"))
            .args(["-m", "zipfile", "-e"])
            .arg(wheel)
            .arg(&unpacked),
    )?;
    let mut folders = list(&unpacked)?
        .into_iter()
        .map(|folder| folder.join("sboms"));
    let sboms = folders
        .find(|folder| folder.is_dir())
        .ok_or("the wheel has no list of its contents")?;
    let file = list(&sboms)?
        .into_iter()
        .next()
        .ok_or("the wheel's list of its contents is empty")?;
    let text = fs::read_to_string(&file).map_err(|error| told("read", &file, &error))?;
    check_contents(&text)?;
    copy(&file, to)
}

/// Checks that a list of contents is one, and has what every build of ours has.
fn check_contents(text: &str) -> Result<(), String> {
    let contents: Value = serde_json::from_str(text)
        .map_err(|error| format!("the list of contents is not JSON: {error}"))?;
    if contents.get("bomFormat").and_then(Value::as_str) != Some("CycloneDX") {
        return Err("the list of contents is not CycloneDX".to_owned());
    }
    let components = contents
        .get("components")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    for name in ["switchboard", "tokio", "rustls"] {
        let has = components
            .iter()
            .any(|it| it.get("name").is_some_and(|it| it == name) && it.get("version").is_some());
        if !has {
            return Err(format!("the list of contents lacks {name}"));
        }
    }
    Ok(())
}

/// The path of a program in the virtual environment.
pub(super) fn program(name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    partners::packaging().join(folder).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_contents_without_our_packages_is_refused() {
        let list = |names: &[&str]| {
            let components: Vec<_> = names
                .iter()
                .map(|name| serde_json::json!({ "name": name, "version": "1" }))
                .collect();
            serde_json::json!({ "bomFormat": "CycloneDX", "components": components }).to_string()
        };
        assert_eq!(
            check_contents(&list(&["switchboard", "tokio", "rustls"])),
            Ok(())
        );
        assert!(check_contents(&list(&["switchboard", "tokio"])).is_err());
        assert!(check_contents("{}").is_err());
        assert!(check_contents("").is_err());
    }
}
