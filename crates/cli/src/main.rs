//! The command line of Switchboard.
//!
//! `args` says what can be written, `commands` does it. A command finds its server (`servers`),
//! works with it while signals are listened for (`attend`), and shows what comes of it on a
//! `screen`: results on stdout, a `report` of what went wrong on stderr, no secrets on either.

mod args;
mod attend;
mod commands;
mod duration;
mod exit;
mod moment;
mod pretty;
mod remote;
mod render;
mod report;
mod schema;
mod screen;
mod secrets;
mod servers;
mod signals;
mod state;
mod table;
mod values;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command, EXAMPLES};
use commands::{call, leftovers, test_server, tools};
use exit::Exit;
use report::Report;
use screen::{Screen, talk};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    switchboard::keeper::run_if_asked();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error).into(),
    };
    let exit = match &cli.command {
        Some(Command::Tools(args)) => tools::run(args),
        Some(Command::Call(args)) => call::run(args),
        Some(Command::Leftovers(args)) => leftovers::run(args),
        Some(Command::TestServer(args)) => test_server::run(args),
        None => {
            talk(&format!(
                "switchboard: what shall it do?\n\n{EXAMPLES}\n\n`switchboard --help` shows everything.\n"
            ));
            Exit::Usage
        }
    };
    exit.into()
}

/// Shows what clap has to say: help and version on stdout, complaints on stderr.
fn refused(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // A reader that has gone wants no help.
        error.print().ok();
        return Exit::Ok;
    }
    let is_json = std::env::args_os().any(|word| word == "--json");
    if is_torn_header(error) {
        let report = Report::usage("a header is one word: put quotes around it");
        let report = report.hint("write it like -H \"Authorization: Bearer TOKEN\"");
        return Screen::plain(is_json).fail(&report);
    }
    if is_json {
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let title = lines.next().unwrap_or_default();
        let mut report = Report::usage(title.trim_start_matches("error: "));
        for line in lines {
            report = report.hint(line);
        }
        return Screen::plain(true).fail(&report);
    }
    talk(&error.to_string());
    Exit::Usage
}

/// Whether there is a word too many behind a header, which may be its value: clap would show it.
fn is_torn_header(error: &clap::Error) -> bool {
    let is_header = |word: &str| word.starts_with("-H") || word.starts_with("--header");
    error.kind() == clap::error::ErrorKind::UnknownArgument
        && std::env::args_os().any(|word| word.to_str().is_some_and(is_header))
        && match error.get(clap::error::ContextKind::InvalidArg) {
            Some(clap::error::ContextValue::String(word)) => !word.starts_with('-'),
            _ => false,
        }
}
