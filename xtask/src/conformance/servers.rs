//! The suite's server scenarios: against the fixture of our test server, and against anything that
//! offers the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::process::{Prints, Running};
use super::server_plan::{self, ServerJob};
use super::{build, list, report};
use crate::partners::suite;
use crate::tool;

/// The name of the fixture in the configuration of a gateway.
const FIXTURE: &str = "fixture";

/// The scenarios that are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenarios {
    /// All that a revision requires, in one run for each revision.
    Required,
    /// Those, and then each scenario on its own, where warnings count too.
    Each,
}

impl Scenarios {
    fn jobs(self) -> Vec<ServerJob> {
        let mut jobs = server_plan::jobs();
        if self == Self::Required {
            jobs.retain(|job| matches!(job, ServerJob::Requirements(..)));
        }
        jobs
    }
}

/// Runs the suite against the fixture alone.
///
/// # Errors
///
/// Names what failed; what the suite said about it has been printed by then.
pub(crate) fn check_fixture() -> Result<(), String> {
    let fixture = fixture(&program()?, "both")?;
    check_url(fixture.url())
}

/// Runs the suite against the fixture behind `switchboard serve`.
///
/// A server asks the clients of its own era alone, so the fixture speaks the era of the scenarios.
///
/// # Errors
///
/// As [`check_fixture`].
pub(crate) fn check_gateway(scenarios: Scenarios) -> Result<(), String> {
    let program = program()?;
    let mut jobs = scenarios.jobs();
    // Alone, the first judges events of a call that the gateway answers with JSON at once, and finds nothing to
    // check; the second warns, because a tool that was added since the approval is withheld and not announced.
    let not_alone = ["server-sse-polling", "server-stateless"];
    jobs.retain(|job| !not_alone.iter().any(|name| job.is_alone(name)));
    let (modern, legacy): (Vec<_>, Vec<_>) = jobs.into_iter().partition(ServerJob::is_modern);
    // Both, so that one run shows the failures of both.
    let legacy = check_era(&program, "legacy", &legacy);
    let modern = check_era(&program, "modern", &modern);
    legacy.and(modern)
}

fn check_era(program: &Path, era: &str, jobs: &[ServerJob]) -> Result<(), String> {
    let fixture = fixture(program, era)?;
    let home = Home::new()?;
    let mut add = home.command(program);
    add.args(["add", "--scope", "user", FIXTURE, "--url", fixture.url()]);
    tool::output(&mut add)?;
    let mut serve = home.command(program);
    serve.args(["serve", "--http", "127.0.0.1:0", "--no-auth"]);
    let gateway = Running::start(&mut serve, Prints::Stderr)?;
    let root = gateway.url().trim_end_matches('/').trim_end_matches("/mcp");
    check_jobs(&format!("{root}/mcp/s/{FIXTURE}"), jobs)
}

/// Runs the suite against the server at a URL, which has to offer what the fixture does.
///
/// # Errors
///
/// As [`check_fixture`].
pub(crate) fn check_url(url: &str) -> Result<(), String> {
    check_jobs(url, &Scenarios::Each.jobs())
}

fn check_jobs(url: &str, jobs: &[ServerJob]) -> Result<(), String> {
    let offered = tool::output(suite::command()?.args(["list", "--server"]))?;
    let offered = list::parse(&offered, server_plan::is_left_out);
    list::compare(&server_plan::strict(), &offered, "server_plan.rs")?;
    println!("the server is at {url}");
    let begun = Instant::now();
    // One after the other: some scenarios change lists that others compare.
    let outcomes = jobs.iter().map(|job| run(job, url)).collect();
    report(jobs, outcomes, begun)
}

/// Runs one job; gives what the suite said where it does not pass.
fn run(job: &ServerJob, url: &str) -> Result<Duration, String> {
    let mut command = suite::command()?;
    command.args(["server", "--url", url]).args(job.arguments());
    let begun = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", tool::line(&command)))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let judged = if output.status.success() {
        job.judge(&said)
    } else {
        Err(output.status.to_string())
    };
    judged.map_err(|what| {
        let command = tool::line(&command);
        format!("$ {command}\n{}\n{what}", said.trim_end())
    })?;
    Ok(begun.elapsed())
}

/// Builds the command line, which has the fixture and the gateway.
fn program() -> Result<PathBuf, String> {
    let name = format!("switchboard{}", std::env::consts::EXE_SUFFIX);
    Ok(build("cli")?.join(name))
}

/// Starts the fixture, in one era or both.
fn fixture(program: &Path, era: &str) -> Result<Running, String> {
    let mut command = Command::new(program);
    command.args(["test-server", "--conformance", "--era", era, "--port", "0"]);
    Running::start(&mut command, Prints::Stdout)
}

/// A home folder without any configuration, removed on drop.
struct Home(PathBuf);

impl Home {
    fn new() -> Result<Self, String> {
        let name = format!("switchboard-conformance-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)
            .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// The program, with its files in this folder.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env("HOME", &self.0);
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_RUNTIME_DIR", "run"),
            ("APPDATA", "config"),
            ("LOCALAPPDATA", "state"),
        ] {
            command.env(variable, self.0.join(folder));
        }
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A folder that stays behind is one of the temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
