//! Tries the files of a release as their users do: in an empty home, without Rust, and without a registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::{Files, copy, make_folder, told, wheel};
use crate::{tool, workspace};

/// The first thing that the README has people do, and what it prints.
const CALL: [&str; 3] = ["call", "demo/echo", "message=hello"];
const ANSWER: &str = "hello\n";
/// A page that each package has to bring along.
const PAGE: &str = "share/man/man1/switchboard.1";

/// Installs and runs each file.
///
/// # Errors
///
/// Names the file that did not give the result, and what it wrote.
pub(super) fn run(files: &Files) -> Result<(), String> {
    let folder = workspace::root().join("target").join("release-trial");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| told("remove", &folder, &error))?;
    }
    for (name, trial) in [
        ("tar", archive as fn(&Files, &Trial) -> Result<(), String>),
        ("pip", pip),
        ("uvx", uvx),
        ("npx", npx),
        ("npm", npm),
    ] {
        let trial_folder = Trial::new(folder.join(name))?;
        let start = Instant::now();
        trial(files, &trial_folder).map_err(|error| format!("{name}: {error}"))?;
        println!(
            "{name}: first result after {:.1} s",
            start.elapsed().as_secs_f64()
        );
    }
    fs::remove_dir_all(&folder).map_err(|error| told("remove", &folder, &error))
}

/// A folder with an empty home and with links to a few programs, which alone are found.
struct Trial {
    folder: PathBuf,
}

impl Trial {
    fn new(folder: PathBuf) -> Result<Self, String> {
        make_folder(&folder.join("home"))?;
        make_folder(&folder.join("bin"))?;
        make_folder(&folder.join("work"))?;
        let trial = Self { folder };
        for name in ["sh", "tar", "gzip", "env"] {
            trial.link(name)?;
        }
        Ok(trial)
    }

    /// Lets a program of this machine be found.
    fn link(&self, name: &str) -> Result<(), String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).map(|place| place.join(name));
        let program = places
            .find(|place| place.is_file())
            .ok_or_else(|| format!("{name} is not in PATH"))?;
        let program = fs::canonicalize(&program).map_err(|error| told("find", &program, &error))?;
        self.link_to(&program, name)
    }

    /// Lets the interpreter be found that a command starts: on some machines the command is a script that
    /// needs others.
    fn link_interpreter(&self, name: &str, question: [&str; 2]) -> Result<(), String> {
        let told = tool::output(Command::new(name).args(question))?;
        self.link_to(Path::new(told.trim()), name)
    }

    fn link_python(&self) -> Result<(), String> {
        self.link_interpreter("python3", ["-c", "import sys; print(sys.executable)"])
    }

    fn link_node(&self) -> Result<(), String> {
        self.link_interpreter("node", ["-p", "process.execPath"])
    }

    fn link_to(&self, program: &Path, name: &str) -> Result<(), String> {
        let link = self.folder.join("bin").join(name);
        #[cfg(unix)]
        let linked = std::os::unix::fs::symlink(program, &link);
        #[cfg(not(unix))]
        let linked = fs::copy(program, &link).map(drop);
        linked.map_err(|error| told("create", &link, &error))
    }

    /// A command that knows nothing of this machine but the programs that were linked.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.folder.join("home"))
            .env("PATH", self.folder.join("bin"));
        command.current_dir(self.folder.join("work"));
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Makes the first call, with what stands before it.
fn call(command: &mut Command) -> Result<(), String> {
    let answer = tool::output(command.args(CALL))?;
    if answer == ANSWER {
        return Ok(());
    }
    Err(format!("`{}` printed {answer:?}", tool::line(command)))
}

fn expect_page(path: &Path) -> Result<(), String> {
    if path.is_file() {
        return Ok(());
    }
    Err(format!("{} is missing", path.display()))
}

fn archive(files: &Files, trial: &Trial) -> Result<(), String> {
    tool::output(
        trial
            .command("tar")
            .arg("-xzf")
            .arg(&files.archive)
            .arg("--strip-components=1"),
    )?;
    let top = trial.path("work");
    call(&mut trial.command(top.join("bin").join(files.platform.program())))?;
    let version = tool::output(
        trial
            .command(top.join("bin").join(files.platform.program()))
            .arg("--version"),
    )?;
    let expected = format!(
        "switchboard {} ({})\n",
        files.version, files.platform.target
    );
    if version != expected {
        return Err(format!("--version printed {version:?}, not {expected:?}"));
    }
    expect_page(&top.join(PAGE))
}

fn pip(files: &Files, trial: &Trial) -> Result<(), String> {
    let venv = trial.path("venv");
    trial.link_python()?;
    tool::output(trial.command("python3").args(["-m", "venv"]).arg(&venv))?;
    let bin = venv.join("bin");
    let mut install = trial.command(bin.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-index"]);
    tool::output(install.arg(&files.wheel))?;
    call(&mut trial.command(bin.join("switchboard")))?;
    expect_page(&venv.join(PAGE))
}

fn uvx(files: &Files, trial: &Trial) -> Result<(), String> {
    trial.link_python()?;
    let mut uvx = trial.command(wheel::program("uvx"));
    uvx.args(["--quiet", "--offline", "--no-python-downloads", "--from"])
        .arg(&files.wheel);
    call(uvx.arg("switchboard"))
}

fn npx(files: &Files, trial: &Trial) -> Result<(), String> {
    trial.link_node()?;
    trial.link("npx")?;
    // By a relative path: npm takes an absolute one for a program.
    let package = &files.npm.platform;
    let name = package.file_name().unwrap_or_default();
    copy(package, &trial.path("work").join(name))?;
    let file = format!("./{}", name.to_string_lossy());
    call(trial.command("npx").args(["--yes", "--offline", &file]))
}

fn npm(files: &Files, trial: &Trial) -> Result<(), String> {
    trial.link_node()?;
    trial.link("npm")?;
    let mut install = trial.command("npm");
    install.args([
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    tool::output(install.arg(&files.npm.main).arg(&files.npm.platform))?;
    call(
        trial
            .command("npm")
            .args(["exec", "--offline", "--", "switchboard"]),
    )?;
    expect_page(&trial.path("work/node_modules/switchboard-cli").join(PAGE))
}
