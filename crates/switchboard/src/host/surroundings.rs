//! Warnings about servers of the person's own whose launcher reads files of the current folder.
//!
//! A server of the person's own file runs in the current folder, because many are meant to: a
//! server for files is started with `.`. But some launchers take the code that they run, or the
//! place they fetch it from, from that folder, which may have come with a clone. They still run;
//! this module warns if there is such a file.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::{Config, Entry, Problem, ProblemKind};
use crate::files::{self, Source};
use crate::spec::packages::{Runner, package_of};
use crate::text::sanitise_line;

/// The most bytes of a file that are looked at.
const MOST_BYTES: usize = 1024 * 1024;

/// Settings of npm that decide which package is fetched, or which program runs it.
const NPM: &[&str] = &["registry", "script-shell", "node-options", "globalconfig"];

/// Warns of servers of the person's own that would be started in a folder from which their launcher
/// may take code. Files in the home folder itself belong to the person, too.
pub fn problems(config: &Config, folder: &Path, home: Option<&Path>) -> Vec<Problem> {
    let entries = config.entries().iter();
    let entries = entries.filter(|entry| {
        // A server that came with a folder was approved, and runs there in any case.
        entry.is_enabled() && !entry.has("cwd") && !entry.origin().layer.needs_approval()
    });
    let found = entries.filter_map(|entry| {
        let (launcher, file) = misleading(entry, folder, home)?;
        let message = format!(
            "{launcher} would be started in this folder and may use what is in it: {}",
            sanitise_line(&file.display().to_string())
        );
        let hint = "give the entry a `cwd` of your own, unless you trust the folder";
        Some(entry.warning(ProblemKind::Suspicious, &message, hint))
    });
    found.collect()
}

/// The launcher of an entry, and the file that may mislead it.
fn misleading(entry: &Entry, folder: &Path, home: Option<&Path>) -> Option<(String, PathBuf)> {
    let command = Path::new(entry.command()?).file_stem()?.to_str()?;
    let args: Vec<&str> = entry.args().collect();
    if is_python(command) {
        let safe = |name: &str| name == "PYTHONSAFEPATH";
        let module = module(&args).filter(|_| !entry.env_names().any(safe))?;
        let file = [folder.join(format!("{module}.py")), folder.join(module)];
        let file = file.into_iter().find(|path| path.exists())?;
        return Some((format!("{command} -m"), file));
    }
    let above = || {
        let folders = folder.ancestors();
        folders.take_while(move |above| home.is_none_or(|home| *above != home))
    };
    if command == "uv" && is_uv_run(&args) {
        let mut files =
            above().flat_map(|folder| ["pyproject.toml", "uv.toml"].map(|name| folder.join(name)));
        return Some(("uv run".to_owned(), files.find(|file| file.is_file())?));
    }
    let package = package_of(entry.value())?;
    let mut folders = above();
    let file = folders.find_map(|folder| of_packages(package.runner, &package.name, folder))?;
    Some((package.runner.to_string(), file))
}

/// Returns true for a Python interpreter: `python`, `python3`, `python3.12`, whose stem is
/// `python3`.
fn is_python(command: &str) -> bool {
    let rest = command
        .strip_prefix("python")
        .or(command.strip_prefix("py"));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The first part of the module that `-m` names, unless the folder is left out of where it is looked for.
fn module<'a>(args: &[&'a str]) -> Option<&'a str> {
    let mut args = args.iter();
    loop {
        match *args.next()? {
            "-m" => break,
            "-W" | "-X" => drop(args.next()),
            flag if flag.starts_with("--") => {}
            // Several letters may stand behind one dash; both of these leave the folder out.
            flag if flag.starts_with('-') && !flag.contains(['I', 'P', 'c']) => {}
            _ => return None,
        }
    }
    let module = args.next()?.split('.').next()?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    (!module.is_empty() && module.chars().all(is_name)).then_some(module)
}

/// Returns true if `uv run` would first set up the surrounding project, which runs code that the
/// project chooses.
fn is_uv_run(args: &[&str]) -> bool {
    let elsewhere = ["--no-project", "--project", "--directory", "--isolated"];
    let own = args.iter().take_while(|arg| **arg != "--");
    let leaves = |arg: &&str| {
        elsewhere
            .iter()
            .any(|flag| arg.split('=').next() == Some(flag))
    };
    args.first() == Some(&"run") && !own.clone().any(leaves)
}

/// Finds a file in one folder that can redirect a package runner to other code.
fn of_packages(runner: Runner, package: &str, folder: &Path) -> Option<PathBuf> {
    let own: &[&str] = match runner {
        Runner::Npx => &[],
        Runner::Bunx => &["bunfig.toml"],
        Runner::PnpmDlx => &[".pnpmfile.cjs", "pnpm-workspace.yaml"],
        Runner::YarnDlx => &[".yarnrc.yml", ".yarnrc"],
        // Tools of `uv` and `pipx` are not those of the project.
        _ => return None,
    };
    let mut own = own.iter().map(|name| folder.join(name));
    let own = own.find(|file| file.is_file());
    let bin = package.rsplit('/').next().unwrap_or(package);
    let takes_installed = matches!(runner, Runner::Npx | Runner::Bunx);
    let installed = || {
        let modules = folder.join("node_modules");
        let files = [modules.join(".bin").join(bin), modules.join(package)];
        let is_plain = !package.contains("..") && !package.starts_with('/');
        let mut files = files.into_iter().filter(|_| is_plain);
        files.find(|file| file.symlink_metadata().is_ok())
    };
    let settings = || {
        let file = folder.join(".npmrc");
        let text = read(&file)?;
        let decides = |line: &str| {
            let key = line.split('=').next().unwrap_or_default().trim();
            NPM.iter()
                .any(|name| key == *name || key.ends_with(&format!(":{name}")))
        };
        text.lines().any(decides).then_some(file)
    };
    let itself = || {
        let file = folder.join("package.json");
        let value: Value = serde_json::from_str(&read(&file)?).ok()?;
        let is_it = value.get("name").and_then(Value::as_str) == Some(package)
            || value.get("bin").is_some_and(|bins| bins.get(bin).is_some());
        is_it.then_some(file)
    };
    let first = takes_installed.then(installed).flatten().or(own);
    first
        .or_else(settings)
        .or_else(|| takes_installed.then(itself).flatten())
}

/// Reads the beginning of a file; `None` if there is no readable file.
fn read(path: &Path) -> Option<String> {
    let bytes = files::read_head(path, Source::Referenced, MOST_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
