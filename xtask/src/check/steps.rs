//! The steps of `cargo xtask check`.

use std::process::Command;

use crate::test_targets::{self, FLEET, TestTargets};
use crate::{book, conformance, daemon_tests, deps, partners, public_api, release, tool};

/// The runs that a step is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// Without `--full`.
    Usual,
    /// With `--full`.
    Full,
}

/// One thing that has to pass.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) when: When,
    /// The steps that need this one done, also when one of them is asked for alone.
    pub(super) before: &'static [&'static str],
    pub(super) run: fn() -> Result<(), String>,
}

/// The packages that are not published.
const PRIVATE: [&str; 4] = [
    "switchboard-bench",
    "switchboard-fuzz",
    "switchboard-tests",
    "xtask",
];

/// Returns all steps, in the order in which they run.
pub(super) fn all() -> Vec<Step> {
    let step = |name, what, run| Step {
        name,
        what,
        when: When::Always,
        before: &[],
        run,
    };
    vec![
        step("fmt", "rustfmt has nothing to change", fmt),
        step(
            "clippy",
            "no warnings, in any target, with every feature",
            clippy,
        ),
        step(
            "features",
            "each feature alone compiles without warnings, and none",
            features,
        ),
        step(
            "deps",
            "where dependencies come from and what they allow",
            deps::check,
        ),
        step("package", "every published crate can be packaged", package),
        step("build", "everything compiles as it is shipped", build),
        Step {
            before: &[
                "test",
                "endure",
                "conformance",
                "fixture",
                "interop",
                "soak",
            ],
            ..step(
                "partners",
                "other implementations are installed",
                partners::install,
            )
        },
        step("test", "unit tests, integration tests, doctests", test),
        step(
            "daemon",
            "tests of the command line once more, with a daemon",
            daemon_tests::check,
        ),
        Step {
            when: When::Usual,
            ..step(
                "endure",
                "floods and matrices, which measure processes",
                endure,
            )
        },
        step("doc", "the documentation builds without warnings", doc),
        Step {
            when: When::Full,
            ..step(
                "book",
                "the guides build as a book without warnings",
                book::check,
            )
        },
        step(
            "conformance",
            "the official suite finds no fault with our client and our gateway",
            conformance::check,
        ),
        Step {
            when: When::Full,
            ..step(
                "fixture",
                "nor in any server scenario alone, with its fixture and through the gateway",
                conformance::check_servers,
            )
        },
        Step {
            when: When::Usual,
            ..step("interop", "integration tests with partners", interop)
        },
        Step {
            when: When::Full,
            ..step(
                "soak",
                "integration tests with partners, soaks and matrices",
                soak,
            )
        },
        Step {
            when: When::Full,
            ..step(
                "fleet",
                "real servers keep their era, alone and ten at a time",
                fleet,
            )
        },
        Step {
            when: When::Full,
            ..step(
                "release",
                "the files of a release work in an empty home",
                release::check,
            )
        },
    ]
}

fn fmt() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])
}

fn clippy() -> Result<(), String> {
    cargo(&[
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ])
}

/// Checks the crates that have features, without the tests: with none of them, and with each alone. Clippy looks at
/// the crates below as well: the features of `switchboard-core` and `switchboard-process` are those of the client, and
/// those of `switchboard-schema` and `switchboard-questions` those of `switchboard`.
fn features() -> Result<(), String> {
    let crates: [(&str, &[&str]); 3] = [
        ("switchboard-client", &["auth", "http", "suggest"]),
        (
            "switchboard",
            &["auth", "config", "http", "schema", "sampling"],
        ),
        ("switchboard-testkit", &["http"]),
    ];
    for (package, features) in crates {
        for feature in std::iter::once(&"").chain(features) {
            let mut command = tool::cargo();
            command.args(["clippy", "--locked", "--package", package]);
            command.args(["--no-default-features", "--features", feature]);
            // Flags of clippy, unlike those of the compiler, leave what is built of dependencies alone.
            execute(command.args(["--", "-D", "warnings"]))?;
        }
    }
    Ok(())
}

/// Packages the published crates together, each against the others and not against the registry. They are not built
/// again from their packages, which takes as long as a first build: `cargo package` without `--no-verify` does that.
fn package() -> Result<(), String> {
    let mut command = tool::cargo();
    command.args(["package", "--locked", "--workspace", "--no-verify"]);
    // Uncommitted changes are packaged too.
    command.arg("--allow-dirty");
    for private in PRIVATE {
        command.args(["--exclude", private]);
    }
    execute(&mut command)
}

/// Compiles without the features that only tests turn on; tests and clippy see no fault there.
fn build() -> Result<(), String> {
    // Not ourselves: this has been built with the same features already.
    cargo(&["check", "--locked", "--workspace", "--exclude", "xtask"])
}

fn test() -> Result<(), String> {
    let targets = TestTargets::read()?;
    let mut command = test_targets::command();
    command.arg("--lib");
    for program in &targets.programs {
        command.args(["--bin", program]);
    }
    execute(select(&mut command, &targets.offline))?;
    each(&targets.waiting)?;
    execute(test_targets::command().arg("--doc"))
}

/// Runs the tests that measure processes, as many at once as there are cores.
fn endure() -> Result<(), String> {
    let targets = TestTargets::read()?;
    execute(select(&mut test_targets::command(), &targets.measuring))
}

/// Documents the binary and the rest one after the other: the binary and the library are both
/// called `switchboard` and would write to the same folder at once. The library comes last and
/// stays.
fn doc() -> Result<(), String> {
    for selection in [
        ["--package", "switchboard-cli"].as_slice(),
        &["--workspace", "--exclude", "switchboard-cli"],
    ] {
        let mut command = tool::cargo();
        command.env("RUSTDOCFLAGS", "-D warnings");
        command.args(["doc", "--locked", "--no-deps"]);
        execute(command.args(selection))?;
    }
    public_api::check()
}

/// Runs only what needs partners: the step `test` has run the rest.
fn interop() -> Result<(), String> {
    let targets = TestTargets::read()?;
    each(&targets.partners)
}

fn soak() -> Result<(), String> {
    interop()?;
    let targets = TestTargets::read()?;
    execute(select(
        &mut test_targets::soak_command(),
        &targets.measuring,
    ))
}

/// Installs the fleet as well: no other step needs it.
fn fleet() -> Result<(), String> {
    partners::install_fleet()?;
    let mut command = test_targets::command();
    command.args(["--test", FLEET]);
    // One test after the other: each chooses how many servers run at once.
    execute(command.args(["--", "--test-threads", "1"]))
}

/// Runs targets one after the other, each with as many tests at once as suit it.
fn each(targets: &[String]) -> Result<(), String> {
    let mut commands = targets.iter().map(|name| test_targets::command_for(name));
    commands.try_for_each(|mut command| execute(&mut command))
}

fn select<'c>(command: &'c mut Command, tests: &[String]) -> &'c mut Command {
    for name in tests {
        command.args(["--test", name]);
    }
    command
}

fn cargo(args: &[&str]) -> Result<(), String> {
    execute(tool::cargo().args(args))
}

fn execute(command: &mut Command) -> Result<(), String> {
    println!("$ {}", tool::line(command));
    tool::run(command)
}
