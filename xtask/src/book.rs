//! Builds the documentation as a book, with an mdBook that is installed for it.

use std::path::PathBuf;
use std::process::Command;

use crate::{tool, workspace};

/// The mdBook whose warnings are known.
const VERSION: &str = "0.5.4";

/// Builds the book into `target/book`.
///
/// # Errors
///
/// Fails if mdBook cannot be installed, or if it has anything to complain about.
pub(crate) fn check() -> Result<(), String> {
    let mut build = Command::new(install()?);
    build.arg("build").current_dir(workspace::root());
    println!("$ {}", tool::line(&build));
    let output = build
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", tool::line(&build)))?;
    let told = String::from_utf8_lossy(&output.stderr);
    print!("{told}");
    if !output.status.success() {
        return Err(format!("mdbook failed: {}", output.status));
    }
    let complaints = complaints(&told);
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!("mdbook warns:\n{}", complaints.join("\n")))
}

/// The lines of mdBook's log that are warnings or errors.
fn complaints(told: &str) -> Vec<&str> {
    // A line begins with its level, or with the time and the level in brackets.
    let is_complaint = |line: &&str| {
        let mut words = line.split_whitespace();
        let is_level = matches!(words.next(), Some("WARN" | "ERROR"));
        is_level || matches!(words.nth(1), Some("[WARN]" | "[ERROR]"))
    };
    told.lines().filter(is_complaint).collect()
}

/// Installs mdBook below `target/` unless this version is there.
fn install() -> Result<PathBuf, String> {
    let tools = workspace::root().join("target").join("tools");
    let program = tools
        .join("bin")
        .join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    let found = tool::output(Command::new(&program).arg("--version"));
    if found.is_ok_and(|text| text.trim().ends_with(&format!("v{VERSION}"))) {
        return Ok(program);
    }
    let mut install = tool::cargo();
    install.args(["install", "mdbook", "--locked", "--force"]);
    // Without a server, a watcher and a search index, which nothing here uses.
    install.args(["--no-default-features", "--version", VERSION, "--root"]);
    install.arg(&tools);
    println!("$ {}", tool::line(&install));
    tool::run(&mut install)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_mdbook_are_found_in_its_log() {
        let told = " INFO Book building has started\n WARN the page `x.md` is empty\n\
                    2026-11-18 10:00:00 [ERROR] (mdbook): no such chapter\n";
        assert_eq!(complaints(told).len(), 2);
        assert!(complaints(" INFO no WARN is in this line").is_empty());
    }
}
