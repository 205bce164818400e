//! `cargo xtask fuzz`: runs the fuzz targets, and keeps what they found worth keeping.
//!
//! The targets are functions in `fuzz/src`; the programs in `fuzz/libfuzzer` hand them to libFuzzer.
//! cargo-fuzz knows the flags that such a program is built with. It is installed below `target/`, and
//! so is all that a run writes. No nightly toolchain is needed: the sanitisers, which would need
//! one, look for mistakes that the language already excludes.

mod corpus;
mod options;
mod program;
mod run;

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::workspace;
use options::FuzzOptions;

/// The folders of a run.
struct Folders {
    /// `fuzz/`, which is committed.
    sources: PathBuf,
    /// Folder of build output and new inputs.
    out: PathBuf,
}

impl Folders {
    fn new() -> Self {
        let root = workspace::root();
        Self {
            sources: root.join("fuzz"),
            out: root.join("target").join("fuzz"),
        }
    }

    /// The inputs of a target that are committed.
    fn stored(&self, target: &str) -> PathBuf {
        self.sources.join("corpus").join(target)
    }

    /// The inputs that runs on this machine have found.
    fn findings(&self, target: &str) -> PathBuf {
        self.out.join("corpus").join(target)
    }
}

/// Runs `cargo xtask fuzz`.
///
/// # Errors
///
/// Names the input that a target failed on.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let folders = Folders::new();
    let targets = targets(&folders)?;
    let options = match options::parse(args, &targets)? {
        Some(options) => options,
        None => {
            println!("{}", options::usage(&targets));
            return Ok(());
        }
    };
    let programs = program::build(&folders)?;
    let FuzzOptions {
        targets,
        minutes,
        keep,
    } = options;
    let mut lines = Vec::new();
    for target in &targets {
        let program = programs.join(target);
        let done = run::run(&folders, target, &program, minutes)?;
        lines.push(format!("{target:<12} {done}"));
        if keep {
            lines.push(format!(
                "{:<12} {}",
                "",
                corpus::keep(&folders, target, &program)?
            ));
        }
    }
    println!("\n{}", lines.join("\n"));
    Ok(())
}

/// The names of the targets: those of their programs.
fn targets(folders: &Folders) -> Result<Vec<String>, String> {
    let files = list(&folders.sources.join("libfuzzer").join("targets"))?;
    let names = files.iter().filter_map(|path| path.file_stem()?.to_str());
    Ok(names.map(str::to_owned).collect())
}

/// The files in a folder, by name.
fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect()
    };
    let mut files = read().map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    files.sort();
    Ok(files)
}

fn create(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))
}
