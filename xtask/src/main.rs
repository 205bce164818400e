//! The project's own commands: `cargo xtask check` is the one that everything has to pass.
//!
//! Each command is a module with a function `run` that takes the arguments after its name. They
//! need nothing on the machine but Rust, Node and Python; what else they use, they install below
//! `target/`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people at a terminal"
)]

mod bench;
mod book;
mod check;
mod compare;
mod conformance;
mod daemon_tests;
mod deps;
mod docs;
mod fuzz;
mod partners;
mod platforms;
mod public_api;
mod release;
mod test_targets;
mod tool;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
The project's own commands.

  cargo xtask check               everything that a change has to pass
  cargo xtask check --full        soaks and large matrices too; what CI runs
  cargo xtask check --only STEP   one step of it; `--only help` lists them
  cargo xtask partners            install the partners of the interop tests, nothing else
  cargo xtask partners --relock   rewrite their lock files from the pinned versions; names of
                                  folders after it rewrite theirs alone
  cargo xtask conformance WHAT    the official suite against our `client`, the `fixture` of the test
                                  server, the `gateway` before it, or any server: `url URL`
  cargo xtask platforms           compile the library for Windows and macOS
  cargo xtask release --dry-run   make and try the files of a release: archive, wheel, npm packages,
                                  checksums; `--target T` makes them for another platform
  cargo xtask bench               compare our session with a raw pipe and with rmcp
  cargo xtask compare             time ten everyday tasks with four command lines; docs/comparison.md
  cargo xtask docs                write what the program says into the documentation: the reference,
                                  output of examples, docs/public-names.txt
  cargo xtask screenshot          draw the picture of a session, docs/session.svg, and nothing else
  cargo xtask fuzz [TARGET]       look for inputs that break a promise; docs/fuzzing.md
  cargo xtask --help              this text";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.is_empty() {
        eprintln!("{HELP}");
        return ExitCode::from(2);
    }
    let command = args.remove(0);
    // A new command gets its `mod` line above, its line in `HELP` and its arm here.
    let outcome = match command.as_str() {
        "bench" => bench::run(&args),
        "check" => check::run(&args),
        "conformance" => conformance::command(&args),
        "compare" => compare::run(&args),
        "docs" => docs::run(&args),
        "fuzz" => fuzz::run(&args),
        "partners" => partners::run(&args),
        "platforms" => platforms::run(&args),
        "release" => release::run(&args),
        "screenshot" => docs::screenshot(&args),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        unknown => Err(format!("no command is called `{unknown}`\n\n{HELP}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
