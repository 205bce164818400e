//! The partners of the interop tests: other people's implementations of the protocol.
//!
//! They are installed into `target/partners/` from lock files under `tests/partners/`, so that the
//! same versions arrive a year from now, and reused as long as those files stay as they are. The
//! partners made of Rust are not here: cargo builds them with the tests.

mod npm;
mod pins;
mod python;
mod stamp;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::tool;

/// What became of one installation.
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
        ["--relock"] => relock(),
        _ => Err("`cargo xtask partners` takes nothing, or `--relock`".to_owned()),
    }
}

/// Installs whatever is not there yet, all at once: the time goes into waiting for registries.
///
/// # Errors
///
/// Says which installation failed and what its package manager said.
pub(crate) fn install() -> Result<(), String> {
    println!("{}", tool::require_runtimes()?);
    let results = thread::scope(|scope| {
        let mut jobs = vec![("npm", scope.spawn(|| timed(npm::install)))];
        for venv in pins::VENVS {
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
            Ok((Outcome::Reused, _)) => println!("{name}: reused"),
            Ok((Outcome::Installed, seconds)) => println!("{name}: installed in {seconds:.1} s"),
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

fn relock() -> Result<(), String> {
    tool::require_runtimes()?;
    npm::relock()?;
    for venv in pins::VENVS {
        python::relock(*venv)?;
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
