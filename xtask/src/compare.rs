//! `cargo xtask compare`: ten everyday tasks with four command lines, in one table of `docs/comparison.md`.
//!
//! Each task is what a person types, run by a shell in a home folder of its own. A program without a command for a task
//! has no row of figures there, and the page says so.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::partners::clients::{self, CommandLineClient};
use crate::{partners, tool, workspace};

/// How often each command is run; the median is shown.
const ROUNDS: usize = 3;

/// The programs, in the order of the table.
const PROGRAMS: [&str; 4] = ["switchboard", "mcporter", "mcp-inspector --cli", "fastmcp"];

/// What a person types for one task, in the order of [`PROGRAMS`]; empty if the program cannot do it.
struct Task {
    name: &'static str,
    typed: [&'static str; 4],
}

const TASKS: [Task; 10] = [
    Task {
        name: "list the tools of a server",
        typed: [
            "switchboard tools --stdio 'switchboard test-server'",
            "mcporter list --stdio 'switchboard test-server'",
            "mcp-inspector --cli switchboard test-server --method tools/list",
            "fastmcp list --command 'switchboard test-server'",
        ],
    },
    Task {
        name: "call a tool",
        typed: [
            "switchboard call --stdio 'switchboard test-server' add a=2 b=3",
            "mcporter call --stdio 'switchboard test-server' add a=2 b=3",
            "mcp-inspector --cli switchboard test-server --method tools/call --tool-name add --tool-arg a=2 b=3",
            "fastmcp call mcp.json add a=2 b=3",
        ],
    },
    Task {
        name: "a server that does not start",
        typed: [
            "switchboard tools --stdio broken-server",
            "mcporter list --stdio broken-server",
            "mcp-inspector --cli broken-server --method tools/list",
            "fastmcp list --command broken-server",
        ],
    },
    Task {
        name: "copy the servers of Cursor",
        typed: [
            "switchboard import cursor",
            "mcporter config import cursor --copy",
            "",
            "",
        ],
    },
    Task {
        name: "add a server and use it",
        typed: [
            "switchboard add calc --replace -- switchboard test-server && switchboard call calc/add a=2 b=3",
            "mcporter config add calc --command switchboard --arg test-server && mcporter call calc.add a=2 b=3",
            "mcp-inspector --cli --method servers/add --server calc switchboard test-server && \
             mcp-inspector --cli --server calc --method tools/call --tool-name add --tool-arg a=2 b=3",
            "",
        ],
    },
    Task {
        name: "a server at a URL",
        typed: [
            "switchboard call --url URL echo message=hello",
            "mcporter call --http-url URL --allow-http echo message=hello",
            "mcp-inspector --cli URL --transport http --method tools/call --tool-name echo --tool-arg message=hello",
            "fastmcp call URL echo message=hello",
        ],
    },
    Task {
        name: "read a resource",
        typed: [
            "switchboard read calc file:///data/users.csv",
            "mcporter resource calc file:///data/users.csv",
            "mcp-inspector --cli switchboard test-server --method resources/read --uri file:///data/users.csv",
            "fastmcp call mcp.json file:///data/users.csv",
        ],
    },
    Task {
        name: "get a prompt",
        typed: [
            "switchboard prompt calc/greeting name=Ada",
            "",
            "mcp-inspector --cli switchboard test-server --method prompts/get --prompt-name greeting --prompt-args name=Ada",
            "fastmcp call mcp.json greeting name=Ada --prompt",
        ],
    },
    Task {
        name: "watch a resource for a second",
        typed: [
            "switchboard watch --stdio 'switchboard test-server --growing' file:///readme.txt --for 1s",
            "",
            "",
            "",
        ],
    },
    Task {
        name: "in a script: JSON, and the exit code of a tool that fails",
        typed: [
            "switchboard call calc/fail --json",
            "mcporter call calc.fail --output json",
            "mcp-inspector --cli switchboard test-server --method tools/call --tool-name fail --format json",
            "fastmcp call mcp.json fail --json",
        ],
    },
];

/// The figures of one task with one program.
struct Figures {
    seconds: f64,
    lines: usize,
    exit: i32,
}

/// Runs all tasks and writes the page.
///
/// # Errors
///
/// Fails if a program cannot be built or installed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let program = match args {
        [] => build()?,
        [flag, path] if flag == "--program" => PathBuf::from(path),
        _ => return Err("compare takes nothing but `--program PATH`".to_owned()),
    };
    clients::install()?;
    partners::install_venv("fastmcp")?;
    let stage = Stage::new(&program)?;
    let load = load();
    let mut rows = String::new();
    for task in &TASKS {
        for (index, (name, typed)) in PROGRAMS.iter().zip(task.typed).enumerate() {
            let title = if index == 0 { task.name } else { "" };
            if typed.is_empty() {
                let _ = writeln!(rows, "| {title} | {name} | no such command | | | |");
                continue;
            }
            let figures = stage.measure(typed)?;
            println!(
                "{typed}: {:.2} s, {} lines, exit code {}",
                figures.seconds, figures.lines, figures.exit
            );
            let _ = writeln!(
                rows,
                "| {title} | {name} | `{typed}` | {:.2} | {} | {} |",
                figures.seconds, figures.lines, figures.exit
            );
        }
    }
    let path = workspace::root().join("docs").join("comparison.md");
    fs::write(&path, page(&rows, &load)).map_err(|error| format!("{}: {error}", path.display()))
}

/// The load of the machine, which all times depend on; empty if the system does not tell.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().unwrap_or_default();
    if first.is_empty() {
        return String::new();
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!(" (load average {first} on {cores} cores when it began)")
}

fn page(rows: &str, load: &str) -> String {
    let versions = format!(
        "mcporter {}, MCP Inspector {}, fastmcp {}",
        CommandLineClient::Mcporter.version(),
        CommandLineClient::Inspector.version(),
        partners::venv_version("fastmcp"),
    );
    format!(
        "# Beside other command lines

Ten everyday tasks with four programs: Switchboard, {versions}.
Written by `cargo xtask compare`; do it again rather than edit it.

Each command runs in a shell, in an empty home folder, {ROUNDS} times; the median is shown. The server
is always our test server, started by each command, so that its start is part of every time. *Lines*
are those of stdout and stderr together. Times are those of one machine{load}:
compare them with each other, and run it again on an idle machine before you quote one.

| task | program | typed | seconds | lines | exit code |
|---|---|---|---|---|---|
{rows}"
    )
}

fn build() -> Result<PathBuf, String> {
    let mut build = tool::cargo();
    build.args([
        "build",
        "--locked",
        "--profile",
        "dist",
        "--package",
        "switchboard-cli",
    ]);
    tool::run(&mut build)?;
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| workspace::root().join("target"), PathBuf::from);
    Ok(target.join("dist").join("switchboard"))
}

/// A home folder with the four programs in its `PATH`, and a server at a URL.
struct Stage {
    home: PathBuf,
    server: Child,
    url: String,
}

impl Stage {
    fn new(program: &Path) -> Result<Self, String> {
        let home = workspace::root().join("target").join("compare");
        let failed = |error: std::io::Error| format!("{}: {error}", home.display());
        if home.exists() {
            fs::remove_dir_all(&home).map_err(failed)?;
        }
        let bin = home.join("bin");
        fs::create_dir_all(&bin).map_err(failed)?;
        fs::create_dir_all(home.join(".cursor")).map_err(failed)?;
        let cursor =
            r#"{"mcpServers": {"clock": {"command": "switchboard", "args": ["test-server"]}}}"#;
        fs::write(home.join(".cursor/mcp.json"), cursor).map_err(failed)?;
        // fastmcp keeps no servers of its own: it reads such a file.
        let named = cursor.replace("clock", "calc");
        fs::write(home.join("mcp.json"), named).map_err(failed)?;
        let fastmcp = workspace::partners().join("fastmcp/bin/fastmcp");
        let quoted = |command: &Command| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let words: Vec<String> = words
                .map(|word| format!("'{}'", word.to_string_lossy()))
                .collect();
            words.join(" ")
        };
        for (name, line) in [
            ("switchboard", format!("'{}'", program.display())),
            ("mcporter", quoted(&CommandLineClient::Mcporter.command()?)),
            (
                "mcp-inspector",
                quoted(&CommandLineClient::Inspector.command()?),
            ),
            ("fastmcp", format!("'{}'", fastmcp.display())),
        ] {
            script(&bin.join(name), &format!("#!/bin/sh\nexec {line} \"$@\"\n"))?;
        }
        script(
            &bin.join("broken-server"),
            "#!/bin/sh\necho API_KEY is not set >&2\nexit 3\n",
        )?;
        let mut server = Command::new(program)
            .args(["test-server", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let url = first_line(&mut server)?;
        let url = url.strip_prefix("listening on ").unwrap_or(&url).to_owned();
        Ok(Self { home, server, url })
    }

    /// Runs what was typed a few times, and gives the run with the median time.
    fn measure(&self, typed: &str) -> Result<Figures, String> {
        let line = typed.replace("URL", &self.url);
        let mut runs = Vec::new();
        for _ in 0..ROUNDS {
            // The Inspector refuses to add a server twice; nothing else uses its catalog.
            let catalog = self.home.join(".mcp-inspector");
            if catalog.exists() {
                fs::remove_dir_all(&catalog)
                    .map_err(|error| format!("{}: {error}", catalog.display()))?;
            }
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{{ {line}; }} 2>&1")]);
            shell.current_dir(&self.home).stdin(Stdio::null());
            shell.env_clear().env("HOME", &self.home);
            shell.env(
                "PATH",
                format!(
                    "{}:/usr/local/bin:/usr/bin:/bin",
                    self.home.join("bin").display()
                ),
            );
            let started = Instant::now();
            let output = shell.output().map_err(|error| format!("{line}: {error}"))?;
            let took: Duration = started.elapsed();
            let lines = String::from_utf8_lossy(&output.stdout).lines().count();
            let exit = output.status.code().unwrap_or(-1);
            runs.push(Figures {
                seconds: took.as_secs_f64(),
                lines,
                exit,
            });
        }
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let median = runs.len() / 2;
        runs.into_iter()
            .nth(median)
            .ok_or_else(|| format!("{line}: no run"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What is left to do about a server that is gone already is nothing.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn first_line(server: &mut Child) -> Result<String, String> {
    use std::io::{BufRead as _, BufReader};
    let stdout = server.stdout.take().ok_or("the server has no stdout")?;
    let mut line = String::new();
    let read = BufReader::new(stdout).read_line(&mut line);
    read.map_err(|error| format!("the server says nothing: {error}"))?;
    Ok(line.trim().to_owned())
}

fn script(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::write(path, text).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_typed_for_the_program_of_its_column() {
        for task in &TASKS {
            for (program, typed) in PROGRAMS.iter().zip(task.typed) {
                assert!(
                    typed.is_empty() || typed.starts_with(program),
                    "{}: {typed}",
                    task.name
                );
            }
            assert!(!task.typed[0].is_empty(), "{} is what we can do", task.name);
        }
    }
}
