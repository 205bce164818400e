//! A home folder with a project in it, and nothing of the machine's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::run::Run;

/// A home folder: `p` is a project in it, and its own programs are in `bin`.
pub(crate) struct Home(TempDir);

impl Home {
    /// A home whose only program, `sh`, tells on whoever runs it.
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// A home whose path is as long on every machine, for screens that are wrapped.
    #[cfg(target_os = "linux")]
    pub(crate) fn in_tmp() -> Self {
        Self::of(tempfile::tempdir_in("/tmp").unwrap())
    }

    fn of(folder: TempDir) -> Self {
        let home = Self(folder);
        let canary = home.path("canary");
        let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", canary.display());
        home.write("bin/sh", &script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(home.path("bin/sh"), mode).unwrap();
        fs::create_dir(home.path("p")).unwrap();
        home
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        // By its real name, as the binary shows it.
        self.0.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Puts a program of this home into its `PATH`.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = format!("bin/{name}");
        self.write(&path, script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(&path), mode).unwrap();
    }

    /// Waits for the address that the program `browser` of this home was to open, and takes it.
    pub(crate) fn opened_address(&self) -> String {
        let file = self.path("opened");
        let ends = Instant::now() + Duration::from_secs(30);
        loop {
            let text = fs::read_to_string(&file).unwrap_or_default();
            if text.ends_with('\n') {
                fs::remove_file(&file).unwrap();
                // One argument: no shell has taken the address apart.
                return text.trim().strip_prefix("1:").unwrap().to_owned();
            }
            assert!(Instant::now() < ends, "no browser was opened");
            std::thread::yield_now();
        }
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Whether anything of the project was run.
    pub(crate) fn has_canary(&self) -> bool {
        fn holds(folder: &Path) -> bool {
            fs::read_dir(folder).unwrap().any(|entry| {
                let entry = entry.unwrap();
                let is_folder = entry.file_type().unwrap().is_dir();
                entry.file_name() == "canary" || (is_folder && holds(&entry.path()))
            })
        }
        holds(self.0.path())
    }

    /// The binary in the project, with an environment of this home.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command
            .args(args)
            .stdin(Stdio::null())
            .env_clear()
            .env("HOME", self.path(""))
            .env("PATH", self.path("bin"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .current_dir(self.path("p"));
        // Where the tests run once more with a daemon.
        if let Some(folder) = std::env::var_os("SWITCHBOARD_DAEMON") {
            command.env("SWITCHBOARD_DAEMON", folder);
        }
        command
    }

    /// The same with the programs of the machine, and with signals that do what they usually do:
    /// a shell that runs the tests in the background may have them ignored.
    pub(crate) fn signalled_command(&self) -> Command {
        let inner = self.command(&[]);
        let variables = inner.get_envs();
        let variables = variables.filter_map(|(name, value)| Some((name, value?)));
        let mut command = Command::new("env");
        command
            .arg("--default-signal=HUP,INT,TERM")
            .arg(inner.get_program())
            .env_clear()
            .envs(variables)
            .env("PATH", std::env::var_os("PATH").unwrap())
            .current_dir(self.path("p"));
        command
    }

    /// Runs the binary in the project.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        let run = Run::of(self.command(args).output().unwrap()).checked(args);
        self.told(&run)
    }

    /// What a run says, with this home as `~`, and fingerprints and times as dots.
    fn told(&self, run: &Run) -> Run {
        Run {
            code: run.code,
            stdout: self.hide(&run.stdout),
            stderr: self.hide(&run.stderr),
        }
    }

    /// A text with this home as `~`, and fingerprints and times as dots.
    pub(crate) fn hide(&self, text: &str) -> String {
        let home = self.path("").display().to_string();
        hidden(&text.replace(home.trim_end_matches('/'), "~"))
    }
}

/// A text without fingerprints, whole or shortened, and times.
fn hidden(text: &str) -> String {
    let is_digit = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() || c == '-' || c == ':' {
            word.push(c);
            continue;
        }
        let digits = word.strip_prefix("sha256:").unwrap_or(&word);
        let is_print = matches!(digits.len(), 12 | 64) && digits.chars().all(is_digit);
        let is_time = word.len() == 20 && word.starts_with("20") && word.ends_with('Z');
        out.push_str(if is_print || is_time { ".." } else { &word });
        word.clear();
        out.push(c);
    }
    out.trim_end_matches('\0').to_owned()
}
