//! `cargo xtask platforms`: compiles and lints the library for the systems that the tests do not run
//! on.
//!
//! Not a step of `check`: it has the toolchain fetch the standard libraries of other systems,
//! which a machine that builds and tests need not be able to.

use std::process::Command;

use crate::tool;

/// The systems, each by its usual target.
const TARGETS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// The packages to compile: all that build without a C compiler for the target.
const PACKAGES: [&str; 8] = [
    "switchboard-wire",
    "switchboard-core",
    "switchboard-process",
    "switchboard-client",
    "switchboard-config",
    "switchboard-daemon",
    "switchboard",
    "switchboard-testkit",
];

/// Compiles for each system, installing its standard library first.
///
/// # Errors
///
/// Says which target could not be had or does not compile.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(unknown) = args.first() {
        return Err(format!("platforms takes no arguments, not `{unknown}`"));
    }
    for target in TARGETS {
        tool::run(Command::new("rustup").args(["target", "add", target]))?;
        // Clippy compiles as well, and what is behind a `cfg` meets the lints nowhere else.
        let mut clippy = tool::cargo();
        clippy.args(["clippy", "--locked", "--target", target]);
        clippy.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
        clippy.args(["--", "-D", "warnings"]);
        tool::run(&mut clippy)?;
    }
    println!("compiles for {}", TARGETS.join(" and "));
    Ok(())
}
