//! The command-line program.
//!
//! `args` defines the command line, `commands` runs it. A command opens its servers (`hosting`, `described`),
//! works with them until it is done or a signal arrives (`attend`), and prints on a `screen`: results on
//! stdout, a `report` of failures on stderr, secrets on neither.

mod approvals;
mod args;
mod aside;
mod ask;
mod attend;
mod cache;
mod commands;
mod complete;
mod delivery;
mod described;
mod doctor;
mod duration;
mod editing;
mod elicit;
mod exit;
mod exporting;
mod grid;
mod hosting;
mod importing;
mod item_name;
mod journal;
mod live;
mod lockfile;
mod lost;
mod masked;
mod moment;
mod output;
mod output_file;
mod permission;
mod pretty;
mod problems;
#[cfg(test)]
mod reference;
mod remote;
mod render;
mod repl;
mod report;
mod role;
mod sampling;
mod saving;
mod schema;
mod scope;
mod screen;
mod secrets;
mod signals;
mod state;
mod style;
mod table;
mod tabular;
mod telling;
mod trace;
mod values;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command, EXAMPLES};
use exit::Exit;
use report::Report;
use screen::{Screen, talk};
use switchboard::Limits;
use switchboard::text::sanitise;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    switchboard::keeper::run_if_asked();
    if complete::answer_if_asked() {
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error).into(),
    };
    // What a server leaves that kills its keeper comes to us. The bundled server starts no others, and what it
    // leaves on purpose is for the client that is tested with it.
    if !matches!(cli.command, Some(Command::TestServer(_))) {
        switchboard::keeper::adopt_orphans();
    }
    let exit = match &cli.command {
        Some(command) => commands::run(command),
        None if ask::is_attended() => commands::prompt(),
        None => {
            talk(&format!(
                "switchboard: what shall it do?\n\n{EXAMPLES}\n\n`switchboard --help` shows everything.\n"
            ));
            Exit::Usage
        }
    };
    // A server may have killed its keeper when its connection was gone already.
    let left = switchboard::keeper::end_orphans(Limits::default().end_after_kill);
    let exit = match (exit, left.is_empty()) {
        (Exit::Ok, false) => {
            let left: Vec<String> = left.iter().map(u32::to_string).collect();
            let title = format!("processes of a server still run: {}", left.join(", "));
            Screen::plain(is_json()).fail(&Report::new(Exit::Internal, "internal", title))
        }
        (exit, _) => exit,
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
    let is_json = is_json();
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
    // It repeats what was typed, or pasted.
    talk(&sanitise(&error.to_string()));
    Exit::Usage
}

/// Whether a program reads, by what was typed.
fn is_json() -> bool {
    std::env::args_os().any(|word| word == "--json")
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
