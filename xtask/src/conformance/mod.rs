//! The step `conformance`: our library before the official suite.
//!
//! The suite is run in both of its forms. By *requirements* it runs all that a revision asks for,
//! and only what its servers saw counts. By *scenario* it also counts the client's own end and every
//! warning; that is the strict form, and all scenarios have to pass it, those of authorization and of
//! extensions too.

mod list;
mod plan;
mod pool;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::partners::suite;
use crate::{test_targets, tool, workspace};
use plan::Job;

/// The client, as the suite is to start it: it cuts a command at spaces, and a folder may have some.
const CLIENT: &str = "./conformance-client";

/// Runs the step.
///
/// # Errors
///
/// Names what failed; what the suite said about it has been printed by then.
pub(crate) fn check() -> Result<(), String> {
    let folder = build()?;
    let offered = list::parse(&tool::output(suite::command()?.args(["list", "--client"]))?);
    list::compare(&plan::strict(), &offered)?;
    let jobs = plan::jobs();
    let begun = Instant::now();
    let outcomes = pool::map(&jobs, |job| run(job, &folder));
    let mut failures = Vec::new();
    for (job, outcome) in jobs.iter().zip(outcomes) {
        let name = job.to_string();
        match outcome {
            Ok(took) => println!("ok      {:>4.1} s  {name}", took.as_secs_f64()),
            Err(said) => {
                println!("FAILED          {name}\n{said}\n");
                failures.push(name);
            }
        }
    }
    let passed = jobs.len() - failures.len();
    println!(
        "{passed} of {} passed in {:.1} s",
        jobs.len(),
        begun.elapsed().as_secs_f64()
    );
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the suite found fault with {}",
        failures.join(", ")
    ))
}

/// Builds the client; gives the folder that it is in.
fn build() -> Result<PathBuf, String> {
    // As the tests with partners, beside which cargo builds the programs of their package: the same
    // features, so that nothing is built twice.
    let mut cargo = test_targets::command();
    cargo.args(["--no-run", "--test", "interop"]);
    println!("$ {}", tool::line(&cargo));
    tool::run(&mut cargo)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| PathBuf::from("target"));
    Ok(workspace::root().join(target).join("debug"))
}

/// Runs one job; gives what the suite said where it does not pass.
fn run(job: &Job, folder: &Path) -> Result<Duration, String> {
    let mut command: Command = suite::command()?;
    command.args(["client", "--command", CLIENT]);
    command.args(job.arguments());
    let begun = Instant::now();
    let output = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", tool::line(&command)))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // A scenario that is passed over ends well, too.
    if output.status.success() && said.contains(job.verdict()) {
        return Ok(begun.elapsed());
    }
    Err(format!("$ {}\n{}", tool::line(&command), said.trim_end()))
}
