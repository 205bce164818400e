//! Building the programs, with a cargo-fuzz that is installed for it.

use std::path::PathBuf;
use std::process::Command;

use super::{Folders, create};
use crate::{tool, workspace};

/// The cargo-fuzz whose flags are known to work.
const VERSION: &str = "0.13.2";

/// Builds all programs and returns the folder that they are in.
///
/// # Errors
///
/// Says what could not be installed or built.
pub(super) fn build(folders: &Folders) -> Result<PathBuf, String> {
    let cargo_fuzz = install()?;
    let target = host()?;
    create(&folders.out)?;
    let mut command = Command::new(cargo_fuzz);
    command.current_dir(workspace::root());
    // Called by its own name, cargo-fuzz expects to be told that it is the command `fuzz`.
    command.args(["fuzz", "build", "--sanitizer", "none", "--target", &target]);
    command.arg("--fuzz-dir");
    command.arg(folders.sources.join("libfuzzer"));
    command.arg("--target-dir").arg(&folders.out);
    println!("$ {}", tool::line(&command));
    tool::run(&mut command)?;
    Ok(folders.out.join(target).join("release"))
}

/// Installs cargo-fuzz below `target/` unless this version is there.
fn install() -> Result<PathBuf, String> {
    let tools = workspace::root().join("target").join("tools");
    let program = tools
        .join("bin")
        .join(format!("cargo-fuzz{}", std::env::consts::EXE_SUFFIX));
    let found = tool::output(Command::new(&program).arg("--version"));
    if found.is_ok_and(|text| text.trim().ends_with(&format!(" {VERSION}"))) {
        return Ok(program);
    }
    let mut install = tool::cargo();
    install.args(["install", "cargo-fuzz", "--locked", "--force"]);
    install.args(["--version", VERSION, "--root"]).arg(&tools);
    println!("$ {}", tool::line(&install));
    tool::run(&mut install)?;
    Ok(program)
}

/// Returns the default platform of this toolchain.
fn host() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = tool::output(Command::new(rustc).arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "`rustc -vV` names no host".to_owned())
}
