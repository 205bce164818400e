//! The official suite: it judges our library as a client, and the fixture of our test server, or what
//! stands in front of it, as a server.
//!
//! The suite is run in both of its forms. By *requirements* it runs all that a revision asks for,
//! and only what its servers saw counts. By *scenario* it also counts the client's own end and every
//! warning; that is the strict form, and all scenarios have to pass it, those of authorization and of
//! extensions too. Servers are judged in both forms likewise, but for the scenarios of extensions.

mod list;
mod plan;
mod pool;
mod process;
mod server_plan;
mod servers;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::partners::suite;
use crate::{test_targets, tool, workspace};
use plan::Job;
use servers::{Scenarios, check_fixture, check_gateway, check_url};

/// The client, as the suite is to start it: it cuts a command at spaces, and a folder may have some.
const CLIENT: &str = "./conformance-client";

/// Runs the step: the client, and the gateway with all that the revisions require.
///
/// # Errors
///
/// Names what failed; what the suite said about it has been printed by then.
pub(crate) fn check() -> Result<(), String> {
    check_client()?;
    check_gateway(Scenarios::Required)
}

/// Runs what takes longer: each server scenario on its own, with the fixture alone and through the gateway.
///
/// # Errors
///
/// As [`check`].
pub(crate) fn check_servers() -> Result<(), String> {
    check_fixture()?;
    check_gateway(Scenarios::Each)
}

fn check_client() -> Result<(), String> {
    let folder = build("interop")?;
    let offered = tool::output(suite::command()?.args(["list", "--client"]))?;
    let offered = list::parse(&offered, plan::is_left_out);
    list::compare(&plan::strict(), &offered, "plan.rs")?;
    let jobs = plan::jobs();
    let begun = Instant::now();
    let outcomes = pool::map(&jobs, |job| run(job, &folder));
    report(&jobs, outcomes, begun)
}

/// Runs `cargo xtask conformance`.
///
/// # Errors
///
/// As [`check`].
pub(crate) fn command(args: &[String]) -> Result<(), String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["client"] => check_client(),
        ["fixture"] => check_fixture(),
        ["gateway"] => check_gateway(Scenarios::Each),
        ["url", url] => check_url(url),
        _ => Err(
            "`cargo xtask conformance` takes `client`, `fixture`, `gateway` or `url URL`"
                .to_owned(),
        ),
    }
}

/// Prints how each job ended.
fn report<J: fmt::Display>(
    jobs: &[J],
    outcomes: Vec<Result<Duration, String>>,
    begun: Instant,
) -> Result<(), String> {
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

/// Builds the programs beside a test target; gives the folder that they are in.
fn build(target: &str) -> Result<PathBuf, String> {
    // As the tests with partners, beside which cargo builds the programs of their package: the same
    // features, so that nothing is built twice.
    let mut cargo = test_targets::command();
    cargo.args(["--no-run", "--test", target]);
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
