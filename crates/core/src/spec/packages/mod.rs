//! The package that a server's command downloads, and its pinned version if it has one.

mod runners;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::secret::mask_args;

pub use runners::Runner;
use runners::{ALONE, ALONE_LETTERS, Registry};

/// A package that a command downloads and runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Package {
    /// The program that downloads it.
    pub runner: Runner,
    /// Its name or address, with secrets masked.
    pub name: String,
    /// The exact version; `None` if the version may change from run to run (`@latest`, `^1`, no version).
    pub version: Option<String>,
}

impl Package {
    /// Returns true if exactly one version is named. The tag of an image can still be moved by its
    /// publisher; only a digest is certain.
    pub fn is_pinned(&self) -> bool {
        self.version.is_some()
    }
}

/// Returns the package that the command of a config entry downloads.
pub fn package_of(entry: &Value) -> Option<Package> {
    let texts = |value: Option<&'_ Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items
            .map(|item| item.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    // Clients write the command as a text, as a list, or as an object with `path` and `args`.
    let mut args = texts(entry.get("args"));
    let command = match entry.get("command")? {
        Value::String(command) => command.clone(),
        whole @ Value::Array(_) => {
            let mut all = texts(Some(whole));
            let rest = all.split_off(1.min(all.len()));
            args.splice(0..0, rest);
            all.pop()?
        }
        Value::Object(parts) => {
            args.splice(0..0, texts(parts.get("args")));
            parts.get("path")?.as_str()?.to_owned()
        }
        _ => return None,
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    package(&command, &args)
}

/// Returns the package that a command downloads; `None` if it runs local code.
pub fn package(command: &str, args: &[&str]) -> Option<Package> {
    let (runner, args) = Runner::of(command, args)?;
    let written = match runner.registry() {
        Registry::Images => image_of(args)?,
        _ => spec_of(runner, args)?,
    };
    let (name, version) = match runner.registry() {
        Registry::Npm => npm(written)?,
        Registry::Python => python(written)?,
        Registry::Images => image(written),
    };
    // A URL may contain a token.
    let name = mask_args(&[name]).concat();
    Some(Package {
        runner,
        name,
        version,
    })
}

/// Returns the package that a launcher such as `npx` or `uvx` has to download if it is not cached yet.
/// Container images are excluded.
pub fn launched(command: &str, args: &[&str]) -> Option<Package> {
    let package = package(command, args)?;
    (package.runner.registry() != Registry::Images).then_some(package)
}

/// The first argument that is not an option, or the value of the option that names the package.
fn spec_of<'a>(runner: Runner, args: &[&'a str]) -> Option<&'a str> {
    let grammar = runner.grammar();
    let mut args = args.iter().copied();
    let mut command = None;
    while let Some(arg) = args.next() {
        if arg == "--" {
            command = args.next();
            break;
        }
        if !arg.starts_with('-') {
            command = Some(arg);
            break;
        }
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg, None),
        };
        if grammar.package.contains(&name) {
            return value.or_else(|| args.next());
        }
        if value.is_none() && grammar.valued.contains(&name) {
            args.next();
        }
    }
    command
}

/// The image among the arguments of `docker run`.
fn image_of<'a>(args: &[&'a str]) -> Option<&'a str> {
    let mut args = args.iter().copied();
    while let Some(arg) = args.next() {
        if arg == "--" {
            return args.next();
        }
        if let Some(long) = arg.strip_prefix("--") {
            if !long.contains('=') && !ALONE.contains(&arg) {
                args.next();
            }
        } else if let Some(letters) = arg.strip_prefix('-') {
            // `-it` are two flags; in `-ite` the last takes the next argument, in `-eA=1` it has its value.
            let valued = letters.find(|c| !ALONE_LETTERS.contains(c));
            if valued.is_some_and(|at| at + 1 == letters.len()) {
                args.next();
            }
        } else {
            return Some(arg);
        }
    }
    None
}

fn image(written: &str) -> (String, Option<String>) {
    if let Some((name, digest)) = written.split_once('@') {
        let is_digest = digest
            .strip_prefix("sha256:")
            .is_some_and(|hex| is_hex(hex, 64));
        return (
            split_tag(name).0.to_owned(),
            is_digest.then(|| digest.to_owned()),
        );
    }
    let (name, tag) = split_tag(written);
    let version = tag.filter(|tag| is_full_version(tag));
    (name.to_owned(), version.map(str::to_owned))
}

/// Splits an image into name and tag; the port of a registry is not a tag.
fn split_tag(written: &str) -> (&str, Option<&str>) {
    match written.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (written, None),
    }
}

fn npm(written: &str) -> Option<(String, Option<String>)> {
    // An alias: `alias@npm:name@version`.
    let written = written
        .rsplit_once("@npm:")
        .map_or(written, |(_, real)| real);
    if is_local(written) {
        return None;
    }
    // A repository is pinned only by a full commit.
    let is_address = written.contains("://") || written.starts_with("git@");
    let is_short = ["github:", "gitlab:", "bitbucket:", "gist:"]
        .iter()
        .any(|host| written.starts_with(host));
    let is_repository = !written.starts_with('@') && written.contains('/');
    if is_address || is_short || is_repository {
        let (place, commit) = written.split_once('#').unwrap_or((written, ""));
        return Some((
            place.to_owned(),
            is_commit(commit).then(|| commit.to_owned()),
        ));
    }
    // Skip the `@` of a scope, which comes first.
    let at = written.char_indices().skip(1).find(|(_, c)| *c == '@');
    let Some((at, _)) = at else {
        return Some((written.to_owned(), None));
    };
    let (name, version) = written.split_at(at);
    let version = version.strip_prefix('@').unwrap_or_default();
    let exact = version.trim_start_matches('=').trim_start_matches('v');
    let is_exact = is_semver(exact);
    Some((name.to_owned(), is_exact.then(|| exact.to_owned())))
}

fn python(written: &str) -> Option<(String, Option<String>)> {
    let written = written.trim();
    if is_local(written) {
        return None;
    }
    // `name @ address`
    let address = match written.split_once(" @ ") {
        Some((_, address)) => Some(address.trim()),
        None => written.contains("://").then_some(written),
    };
    if let Some(address) = address {
        let (address, _) = address.split_once('#').unwrap_or((address, ""));
        let commit = address
            .rsplit_once('@')
            .filter(|(_, commit)| is_commit(commit));
        return Some(match commit {
            Some((place, commit)) => (place.to_owned(), Some(commit.to_owned())),
            None => (address.to_owned(), None),
        });
    }
    // Drop the environment marker, then the extras, then read the version.
    let (written, _) = written.split_once(';').unwrap_or((written, ""));
    let end = written
        .find(|c: char| "=<>!~@ (".contains(c))
        .unwrap_or(written.len());
    let (name, version) = written.split_at(end);
    let (name, _extras) = name.split_once('[').unwrap_or((name, ""));
    let version = version.trim();
    // `@` is followed by one version, or by the word `latest`.
    let exact = ["===", "==", "@"]
        .iter()
        .find_map(|sign| version.strip_prefix(sign));
    let exact = exact.map(str::trim).filter(|version| {
        let starts = version.starts_with(|c: char| c.is_ascii_digit() || c == 'v');
        starts
            && version
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ".!+-_".contains(c))
    });
    Some((name.trim().to_owned(), exact.map(str::to_owned)))
}

/// Returns true for paths on this machine, which are not downloaded.
fn is_local(written: &str) -> bool {
    let starts = ["./", "../", "/", "~", "file:", ".\\", "..\\", "link:", "${"];
    let is_drive = written
        .get(1..3)
        .is_some_and(|at| at == ":\\" || at == ":/");
    written.is_empty()
        || written == "."
        || is_drive
        || starts.iter().any(|at| written.starts_with(at))
}

/// Returns true for three numbers, optionally with a pre-release and a build.
fn is_semver(version: &str) -> bool {
    let (version, build) = version.split_once('+').unwrap_or((version, "0"));
    let (core, pre) = version.split_once('-').unwrap_or((version, "0"));
    let is_words = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
    };
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|n| is_number(n)) && is_words(pre) && is_words(build)
}

/// Returns true for a version that names one release: at least three numbers.
fn is_full_version(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let end = version
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(version.len());
    let numbers: Vec<&str> = version.get(..end).unwrap_or_default().split('.').collect();
    numbers.len() >= 3 && numbers.iter().all(|n| is_number(n))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

fn is_commit(text: &str) -> bool {
    is_hex(text, 40) || is_hex(text, 64)
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|c| c.is_ascii_hexdigit())
}
