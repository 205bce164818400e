//! Programs that download a package and run it, and their command-line options.

use std::fmt;

/// A program that downloads a package and runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Runner {
    /// `npx`, or `npm exec`.
    Npx,
    /// `pnpm dlx`, or `pnpx`.
    PnpmDlx,
    /// `yarn dlx`.
    YarnDlx,
    /// `bunx`, or `bun x`.
    Bunx,
    /// `uvx`, or `uv tool run`.
    Uvx,
    /// `pipx run`.
    PipxRun,
    /// `docker run`.
    DockerRun,
    /// `podman run`.
    PodmanRun,
}

/// The kind of registry, which decides the notation of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    Npm,
    Python,
    Images,
}

/// The options of a runner that take a value, and among them those whose value is the package.
pub(super) struct Grammar {
    pub(super) package: &'static [&'static str],
    pub(super) valued: &'static [&'static str],
}

const NPM: Grammar = Grammar {
    package: &["-p", "--package"],
    valued: &[
        "-c",
        "--call",
        "-w",
        "--workspace",
        "--registry",
        "--prefix",
        "--cache",
        "--userconfig",
        "--node-options",
        "--loglevel",
        "--script-shell",
        "--node-arg",
        "-n",
        "-C",
        "--dir",
        "--reporter",
        "--cwd",
    ],
};

const UV: Grammar = Grammar {
    package: &["--from"],
    valued: &[
        "--with",
        "-w",
        "--with-editable",
        "--with-requirements",
        "--python",
        "-p",
        "--index",
        "--default-index",
        "--index-url",
        "-i",
        "--extra-index-url",
        "--find-links",
        "-f",
        "--env-file",
        "--constraints",
        "--constraint",
        "-c",
        "--overrides",
        "--build-constraints",
        "-b",
        "--refresh-package",
        "--upgrade-package",
        "-P",
        "--reinstall-package",
        "--cache-dir",
        "--directory",
        "--project",
        "--config-file",
        "--color",
        "--exclude-newer",
        "--resolution",
        "--prerelease",
        "--fork-strategy",
        "--link-mode",
        "--index-strategy",
        "--keyring-provider",
        "--allow-insecure-host",
        "--config-setting",
        "-C",
        "--no-build-isolation-package",
        "--no-build-package",
        "--no-binary-package",
        "--no-sources-package",
        "--torch-backend",
        "--python-platform",
    ],
};

const PIPX: Grammar = Grammar {
    package: &["--spec"],
    valued: &[
        "--python",
        "--pip-args",
        "--index-url",
        "-i",
        "--with",
        "--backend",
        "--fetch-python",
    ],
};

/// Options of `docker run` and `podman run` without a value. Listed instead of those with one, because
/// most of their options take a value.
pub(super) const ALONE: &[&str] = &[
    "--rm",
    "--init",
    "--privileged",
    "--read-only",
    "--sig-proxy",
    "--no-healthcheck",
    "--oom-kill-disable",
    "--disable-content-trust",
    "--detach",
    "--interactive",
    "--tty",
    "--publish-all",
    "--quiet",
    "--help",
    "--use-api-socket",
    "--replace",
    "--no-hosts",
    "--no-hostname",
    "--http-proxy",
    "--env-host",
    "--rmi",
    "--tls-verify",
    "--rootfs",
    "--debug",
    "--tls",
    "--tlsverify",
    "--remote",
];

/// Their short forms.
pub(super) const ALONE_LETTERS: &str = "itdPqD";

impl Runner {
    /// Returns the runner that a command and its first arguments name, and the arguments after them.
    pub(super) fn of<'a>(command: &str, args: &'a [&'a str]) -> Option<(Self, &'a [&'a str])> {
        let program = program(command);
        // The arguments after the subcommand; options may stand before it.
        let behind = |words: &[&str]| -> Option<&'a [&'a str]> {
            let at = first_words(args, words)?;
            args.get(at..)
        };
        let found = match program.as_str() {
            "npx" => (Self::Npx, args),
            "npm" => (Self::Npx, behind(&["exec"]).or_else(|| behind(&["x"]))?),
            "pnpx" => (Self::PnpmDlx, args),
            "pnpm" => (Self::PnpmDlx, behind(&["dlx"])?),
            "yarn" => (Self::YarnDlx, behind(&["dlx"])?),
            "bunx" => (Self::Bunx, args),
            "bun" => (Self::Bunx, behind(&["x"])?),
            "uvx" => (Self::Uvx, args),
            "uv" => (Self::Uvx, behind(&["tool", "run"])?),
            "pipx" => (Self::PipxRun, behind(&["run"])?),
            "docker" => (
                Self::DockerRun,
                behind(&["run"]).or_else(|| behind(&["container", "run"]))?,
            ),
            "podman" => (
                Self::PodmanRun,
                behind(&["run"]).or_else(|| behind(&["container", "run"]))?,
            ),
            // On Windows, scripts are started with `cmd /c`.
            "cmd" => {
                let (flag, rest) = args.split_first()?;
                let (command, rest) = rest.split_first()?;
                let is_run =
                    flag.eq_ignore_ascii_case("/c") && !command.eq_ignore_ascii_case("cmd");
                return is_run.then(|| Self::of(command, rest)).flatten();
            }
            _ => return None,
        };
        Some(found)
    }

    pub(super) fn registry(self) -> Registry {
        match self {
            Self::Npx | Self::PnpmDlx | Self::YarnDlx | Self::Bunx => Registry::Npm,
            Self::Uvx | Self::PipxRun => Registry::Python,
            Self::DockerRun | Self::PodmanRun => Registry::Images,
        }
    }

    pub(super) fn grammar(self) -> Grammar {
        match self {
            Self::Npx | Self::PnpmDlx | Self::YarnDlx | Self::Bunx => NPM,
            Self::Uvx => UV,
            Self::PipxRun => PIPX,
            Self::DockerRun | Self::PodmanRun => Grammar {
                package: &[],
                valued: &[],
            },
        }
    }
}

/// Returns the index after these words, which may have options in front of them.
fn first_words(args: &[&str], words: &[&str]) -> Option<usize> {
    let mut words = words.iter();
    let mut word = words.next()?;
    for (at, arg) in args.iter().enumerate() {
        if arg == word {
            match words.next() {
                Some(next) => word = next,
                None => return Some(at + 1),
            }
        } else if !arg.starts_with('-') && !follows_option(args, at) {
            return None;
        }
    }
    None
}

/// Returns true if an argument may be the value of the option before it: `docker --context x run`.
fn follows_option(args: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| args.get(at));
    // It may be the value of that option, which only the tool's own parser could tell.
    before.is_some_and(|before| before.starts_with('-') && !before.contains('='))
}

/// The name of a program without its folder and extension.
fn program(command: &str) -> String {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    // As Windows finds them by the bare name.
    let ends = [".exe", ".cmd", ".bat", ".ps1"];
    let plain = ends.iter().find_map(|end| name.strip_suffix(end));
    plain.unwrap_or(&name).to_owned()
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npx => "npx",
            Self::PnpmDlx => "pnpm dlx",
            Self::YarnDlx => "yarn dlx",
            Self::Bunx => "bunx",
            Self::Uvx => "uvx",
            Self::PipxRun => "pipx run",
            Self::DockerRun => "docker run",
            Self::PodmanRun => "podman run",
        })
    }
}
