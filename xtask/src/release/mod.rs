//! `cargo xtask release`: the files of a release. The program with its manual pages and completions, as an archive,
//! a Python wheel and npm packages, with a list of what is inside and checksums.
//!
//! It publishes nothing: `.github/workflows/release.yml` runs it on each platform and attaches the files to a draft.

mod names;
mod npm;
mod platform;
mod trial;
mod wheel;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use self::platform::Platform;
use crate::{tool, workspace};

/// The name on every registry; `switchboard` alone belongs to others on PyPI.
const NAME: &str = "switchboard-cli";
/// The largest program that is shipped, in bytes.
const PROGRAM_BYTES: u64 = 30_000_000;
const SHELLS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/switchboard"),
    ("zsh", "share/zsh/site-functions/_switchboard"),
    ("fish", "share/fish/vendor_completions.d/switchboard.fish"),
];

/// Runs `cargo xtask release`.
///
/// # Errors
///
/// Says which file could not be made, or what was found wrong with it.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let mut platform = None;
    let mut is_dry = false;
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--dry-run" => is_dry = true,
            "--target" => {
                let target = words
                    .next()
                    .ok_or("--target needs the name of a platform")?;
                platform = Some(Platform::named(target)?);
            }
            other => {
                return Err(format!(
                    "`cargo xtask release` does not know `{other}`: it takes --dry-run and --target TARGET"
                ));
            }
        }
    }
    if !is_dry {
        return Err(
            "publishing is left to .github/workflows/release.yml; `cargo xtask release --dry-run` makes its files"
                .to_owned(),
        );
    }
    let here = Platform::of_this_machine()?;
    let platform = platform.unwrap_or(here);
    let files = make(platform, platform != here)?;
    if platform != here {
        println!("the files are for another platform, so none was tried");
    } else if cfg!(unix) {
        trial::run(&files)?;
    } else {
        println!("files are tried on Linux and macOS alone");
    }
    files.report();
    names::report();
    Ok(())
}

/// Makes the files for this machine and tries each of them.
///
/// # Errors
///
/// Says which file could not be made, or did not work.
pub(crate) fn check() -> Result<(), String> {
    let files = make(Platform::of_this_machine()?, false)?;
    trial::run(&files)?;
    files.report();
    Ok(())
}

/// The files of a release for one platform.
struct Files {
    version: String,
    platform: Platform,
    folder: PathBuf,
    program: PathBuf,
    archive: PathBuf,
    wheel: PathBuf,
    npm: npm::Packages,
}

impl Files {
    fn report(&self) {
        let size = |path: &Path| fs::metadata(path).map_or(0, |data| data.len());
        println!("{}", self.folder.display());
        println!("  program {} bytes", size(&self.program));
        let mut names: Vec<PathBuf> = list(&self.folder).unwrap_or_default();
        names.sort();
        for path in names.iter().filter(|path| path.is_file()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            println!("  {name} {} bytes", size(path));
        }
    }
}

fn make(platform: Platform, is_foreign: bool) -> Result<Files, String> {
    let version = version()?;
    let target = workspace::root().join("target");
    let folder = target
        .join("release-files")
        .join(&version)
        .join(platform.target);
    let stage = target.join("release-stage");
    for folder in [&folder, &stage] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| told("remove", folder, &error))?;
        }
        make_folder(folder)?;
    }

    let mut build = tool::cargo();
    build.args(["build", "--locked", "--profile", "dist", "--package", NAME]);
    let mut built = target.clone();
    if is_foreign {
        build.args(["--target", platform.target]);
        built.push(platform.target);
    }
    println!("$ {}", tool::line(&build));
    tool::run(&mut build)?;
    let program = built.join("dist").join(platform.program());
    let bytes = fs::metadata(&program)
        .map_err(|error| told("read", &program, &error))?
        .len();
    if bytes > PROGRAM_BYTES {
        return Err(format!(
            "the program has {bytes} bytes, more than {PROGRAM_BYTES}"
        ));
    }

    // A program for another platform cannot write its own pages; the one for this machine writes the same.
    let writer = if is_foreign {
        let mut build = tool::cargo();
        tool::run(build.args(["build", "--locked", "--release", "--package", NAME]))?;
        target
            .join("release")
            .join(Platform::of_this_machine()?.program())
    } else {
        program.clone()
    };
    let shared = stage.join("shared");
    write_pages(&writer, &shared)?;

    let archive = archive(platform, &version, &program, &shared, &stage, &folder)?;
    let npm = npm::make(platform, &version, &program, &shared, &stage, &folder)?;
    let wheel = wheel::make(platform, is_foreign, &shared, &folder)?;
    wheel::take_contents(&wheel, &folder.join(format!("{NAME}-{version}.cdx.json")))?;
    write_checksums(&folder)?;
    Ok(Files {
        version,
        platform,
        folder,
        program,
        archive,
        wheel,
        npm,
    })
}

/// The manual pages, the completions, the licences and what runs the gateway as a service, as they are installed.
fn write_pages(program: &Path, folder: &Path) -> Result<(), String> {
    let pages = folder.join("share/man/man1");
    make_folder(&pages)?;
    tool::output(Command::new(program).args(["man", "--dir"]).arg(&pages))?;
    for (shell, place) in SHELLS {
        let script = tool::output(Command::new(program).args(["completions", shell]))?;
        let place = folder.join(place);
        make_folder(place.parent().unwrap_or(folder))?;
        fs::write(&place, script).map_err(|error| told("write", &place, &error))?;
    }
    let root = workspace::root();
    let own = folder.join("share/switchboard");
    make_folder(&own)?;
    for (from, name) in [
        ("LICENSE-APACHE", "LICENSE-APACHE"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("CHANGELOG.md", "CHANGELOG.md"),
        ("dist/systemd/switchboard.service", "switchboard.service"),
        ("dist/container/Containerfile", "Containerfile"),
    ] {
        copy(&root.join(from), &own.join(name))?;
    }
    Ok(())
}

/// Copies what packages share into a folder, and the program into `bin` below it.
fn lay_out(platform: Platform, program: &Path, shared: &Path, folder: &Path) -> Result<(), String> {
    copy_folder(shared, folder)?;
    make_folder(&folder.join("bin"))?;
    copy(program, &folder.join("bin").join(platform.program()))
}

/// Packs `bin` and `share` below a folder of their own.
fn archive(
    platform: Platform,
    version: &str,
    program: &Path,
    shared: &Path,
    stage: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    let name = format!("{NAME}-{version}-{}", platform.target);
    let top = stage.join(&name);
    lay_out(platform, program, shared, &top)?;
    copy(&workspace::root().join("README.md"), &top.join("README.md"))?;
    let archive = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf")
        .arg(&archive)
        .arg("-C")
        .arg(stage)
        .arg(&name);
    tool::output(&mut tar)?;
    Ok(archive)
}

/// Writes `SHA256SUMS`, which `sha256sum --check` reads.
fn write_checksums(folder: &Path) -> Result<(), String> {
    let mut paths = list(folder)?;
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(&path).map_err(|error| told("read", &path, &error))?;
        for byte in Sha256::digest(&bytes) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        let _ = writeln!(text, "  {name}");
    }
    let sums = folder.join("SHA256SUMS");
    fs::write(&sums, text).map_err(|error| told("write", &sums, &error))
}

/// The version of the workspace.
fn version() -> Result<String, String> {
    let path = workspace::root().join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| told("read", &path, &error))?;
    let manifest: toml::Table = text
        .parse()
        .map_err(|error| format!("Cargo.toml: {error}"))?;
    let version = manifest
        .get("workspace")
        .and_then(|it| it.get("package")?.get("version")?.as_str());
    version
        .map(str::to_owned)
        .ok_or_else(|| "Cargo.toml has no workspace.package.version".to_owned())
}

fn told(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

fn make_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| told("create", path, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to)
        .map(drop)
        .map_err(|error| told("copy", from, &error))
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| told("list", folder, &error))?;
    entries
        .map(|entry| {
            entry
                .map(|it| it.path())
                .map_err(|error| told("list", folder, &error))
        })
        .collect()
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    make_folder(to)?;
    for path in list(from)? {
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &place)?;
        } else {
            copy(&path, &place)?;
        }
    }
    Ok(())
}
