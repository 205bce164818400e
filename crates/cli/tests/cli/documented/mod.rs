//! Commands in the documentation print what is shown under them.
//!
//! A block of the kind `console` is run: lines after `$ ` are commands for a shell, lines after `> ` continue one, and
//! the rest is what was printed, stdout and stderr alike. The commands of a page run one after the other, in one home
//! folder of its own that is empty at first. `UPDATE_DOCS=1` rewrites the output, as `cargo xtask docs` does.

mod manual;
mod picture;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::serving::Serving;

/// The pages whose commands are run, and how many commands each has at least.
const PAGES: &[(&str, usize)] = &[
    ("README.md", 8),
    ("docs/first-minute.md", 10),
    ("docs/walkthrough.md", 25),
    ("docs/editing.md", 5),
    ("docs/gateway.md", 4),
    ("docs/remote.md", 4),
    ("docs/scripting.md", 2),
    ("docs/troubleshooting.md", 3),
];

/// The address of the server that pages have their reader start in another terminal.
const SHOWN_ORIGIN: &str = "http://127.0.0.1:8808";
/// The home folder of the reader.
const SHOWN_HOME: &str = "/home/me";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Compares a generated file with the stored one, or writes it.
fn compare(file: &str, wanted: &str) {
    let path = root().join(file);
    if is_update() {
        fs::write(&path, wanted).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let differs = stored
        .lines()
        .zip(wanted.lines())
        .find(|(is, should)| is != should);
    assert!(
        stored == wanted,
        "{file} is out of date: `cargo xtask docs` writes it: {differs:?}"
    );
}

/// A home folder for one page, with the binary in its `PATH`.
struct Reader {
    home: tempfile::TempDir,
    /// The server in the other terminal.
    server: Serving,
    folder: PathBuf,
}

impl Reader {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap();
        Self {
            home,
            server: Serving::start(&[]),
            folder,
        }
    }

    /// Runs a command of a shell, and returns what it printed.
    fn run(&mut self, command: &str) -> String {
        let origin = self.server.url().trim_end_matches("/mcp").to_owned();
        let home = self.home.path().canonicalize().unwrap();
        let home = home.to_str().unwrap();
        let own = Path::new(env!("CARGO_BIN_EXE_switchboard"))
            .parent()
            .unwrap();
        // The next command starts in the folder that this one has changed to.
        let script = format!(
            "{{ {}\n}} 2>&1; pwd > ../../folder",
            command.replace(SHOWN_ORIGIN, &origin)
        );
        let script = script.replace("../../folder", &format!("{home}/.folder"));
        let output = Command::new("sh")
            .args(["-c", &script])
            .env_clear()
            .env("HOME", home)
            .env("PATH", format!("{}:/usr/bin:/bin", own.display()))
            // No keyring of the machine is asked.
            .env("SWITCHBOARD_KEYRING", "off")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let folder = fs::read_to_string(format!("{home}/.folder")).unwrap();
        self.folder = PathBuf::from(folder.trim_end());
        let printed = String::from_utf8(output.stdout).unwrap();
        printed
            .replace(&origin, SHOWN_ORIGIN)
            .replace(home, SHOWN_HOME)
            .replace(&own.display().to_string(), "/usr/local/bin")
    }
}

/// A page with its output as it is printed now, and the number of commands.
fn rerun(page: &str) -> (String, usize) {
    let mut reader = Reader::new();
    let (mut out, mut ran) = (String::new(), 0);
    // Fingerprints contain paths, which differ from run to run. The page keeps its own, each for the same one
    // wherever it is printed.
    let mut shown_fingerprints = Vec::new();
    rename_fingerprints(page, |found| {
        number(&mut shown_fingerprints, found).to_string()
    });
    let mut fingerprints = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let first = line
                .strip_prefix("$ ")
                .expect("a block starts with a command");
            out.push_str(line);
            out.push('\n');
            let mut command = first.to_owned();
            while let Some(line) = lines.next_if(|line| line.starts_with('>')) {
                out.push_str(line);
                out.push('\n');
                command.push('\n');
                command.push_str(line[1..].strip_prefix(' ').unwrap_or_default());
            }
            let mut shown = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && *line != "```") {
                shown.push_str(line);
                shown.push('\n');
            }
            let printed = rename_fingerprints(&reader.run(&command), |found| {
                let number = number(&mut fingerprints, found);
                let shown = shown_fingerprints.get(number).map(String::as_str);
                shown.unwrap_or(found).to_owned()
            });
            ran += 1;
            // What differs from run to run stays as it is.
            if plain(&printed) == plain(&shown) {
                out.push_str(&shown);
            } else {
                out.push_str(&printed);
            }
        }
    }
    (out, ran)
}

/// The number of a text in a list, to which it is added if it is new.
fn number(known: &mut Vec<String>, text: &str) -> usize {
    let found = known.iter().position(|known| known == text);
    found.unwrap_or_else(|| {
        known.push(text.to_owned());
        known.len() - 1
    })
}

/// A text with other digits in place of each fingerprint.
fn rename_fingerprints(text: &str, mut rename: impl FnMut(&str) -> String) -> String {
    let mut parts = text.split("sha256:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_hexdigit());
        let (digits, rest) = part.split_at(end.unwrap_or(part.len()));
        let is_whole = digits.len() == 64;
        let digits = if is_whole {
            rename(digits)
        } else {
            digits.to_owned()
        };
        out.push_str(&format!("sha256:{digits}{rest}"));
    }
    out
}

/// A text without what differs from run to run: times.
fn plain(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    // One space between words: the width of a time moves the columns after it.
    for line in text.lines() {
        for word in line.split_whitespace() {
            let is_number = |word: &str| {
                !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.')
            };
            let is_unit = matches!(word.trim_end_matches([',', ')']), "ms" | "s");
            if let Some(last) = words.last_mut().filter(|last| is_unit && is_number(last)) {
                *last = "N".to_owned();
            }
            words.push(word.to_owned());
        }
        words.push("\n".to_owned());
    }
    words.join(" ")
}

fn check(file: &str) {
    let least = PAGES
        .iter()
        .find(|(page, _)| *page == file)
        .map(|(_, least)| *least);
    let page = fs::read_to_string(root().join(file)).unwrap();
    let (wanted, ran) = rerun(&page);
    assert!(Some(ran) >= least, "{file}: only {ran} commands were found");
    compare(file, &wanted);
}

#[test]
fn every_command_of_the_readme_prints_what_is_shown() {
    check("README.md");
}

#[test]
fn every_command_of_the_first_minute_prints_what_is_shown() {
    check("docs/first-minute.md");
}

#[test]
fn every_command_of_the_walk_through_prints_what_is_shown() {
    check("docs/walkthrough.md");
}

#[test]
fn every_command_of_the_task_pages_prints_what_is_shown() {
    for page in [
        "docs/editing.md",
        "docs/gateway.md",
        "docs/remote.md",
        "docs/scripting.md",
        "docs/troubleshooting.md",
    ] {
        check(page);
    }
}

#[test]
fn every_page_with_commands_to_run_is_run() {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    for path in docs.filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let name = format!("docs/{}", path.file_name().unwrap().to_str().unwrap());
        let has_commands = fs::read_to_string(&path)
            .unwrap()
            .contains("\n```console\n$ switchboard ");
        let is_run = PAGES.iter().any(|(page, _)| *page == name);
        assert_eq!(has_commands, is_run, "{name}");
    }
}

#[test]
fn every_block_of_the_readme_is_run_but_the_installation() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let fences: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("```"))
        .collect();
    // Of each pair the first names the kind. Rust is an example that is compiled.
    let kinds: Vec<&str> = fences.into_iter().step_by(2).collect();
    let is_run = |kind: &&&str| matches!(**kind, "console" | "rust");
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| !is_run(kind))
            .collect::<Vec<_>>(),
        [&"sh"]
    );
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(page.contains("--profile dist") && manifest.contains("[profile.dist]"));
}
