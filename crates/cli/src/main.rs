//! The command-line program.
//!
//! The crate `switchboard-args` defines the command line, `commands` runs it. A command opens its servers (`hosting`, `described`),
//! works with them until it is done or a signal arrives (`lifecycle`), and prints on a `screen`: results on
//! stdout, a `report` of failures on stderr, secrets on neither.

mod approvals;
mod ask;
mod blocking;
mod browser;
mod cache;
mod commands;
mod complete;
mod daemon;
mod delivery;
mod described;
mod doctor;
mod editing;
mod elicit;
mod exit;
mod hosting;
mod importing;
mod journal;
mod level_notice;
mod lifecycle;
mod live;
mod log_stream;
mod login;
mod lost_records;
mod output_file;
mod permission;
mod problems;
mod reloading;
mod remote;
mod render;
mod repl;
mod report;
mod role;
mod sampling;
mod saving;
mod scope;
mod screen;
mod secrets;
mod signals;
mod state;
mod status_table;
mod tokens;
mod trace;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command, EXAMPLES};
use exit::Exit;
use report::Report;
use screen::{Screen, talk};
use switchboard::Limits;
use switchboard::text::sanitise;
// The command line, the terminal and rendering are crates of their own; their modules are used as if they were here.
use switchboard_args::{self as args, slips};
use switchboard_console::output;
use switchboard_terminal::{pretty, style, table, tabular, timestamp};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First: this process may be a keeper, which must not parse arguments.
    switchboard::keeper::run_if_asked();
    if complete::answer_if_asked() {
        return ExitCode::SUCCESS;
    }
    // Slips are found in text; words that are not UTF-8 are parsed as they are.
    let words: Result<Vec<String>, _> = std::env::args_os()
        .skip(1)
        .map(OsString::into_string)
        .collect();
    let words = words.unwrap_or_default();
    let parsed = match words.as_slice() {
        [] => Cli::try_parse(),
        words => slips::parse(words),
    };
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return print_refusal(&error, &words).into(),
    };
    // Orphans of a server that kills its keeper are reparented to us. Not for the bundled server: it starts no
    // servers, and the orphans that it leaves on purpose are for the client under test.
    // Nor for the start of the daemon, which is to go on.
    let is_start = matches!(&cli.command, Some(Command::Up(up)) if !up.foreground);
    if !is_start && !matches!(cli.command, Some(Command::TestServer(_))) {
        switchboard::keeper::adopt_orphans();
    }
    let exit = match &cli.command {
        Some(command) => commands::run(command),
        None if ask::is_attended() => commands::prompt(),
        None => {
            talk(&format!(
                "switchboard: no command given\n\n{EXAMPLES}\n\n`switchboard --help` shows everything.\n"
            ));
            Exit::Usage
        }
    };
    // After the connections are closed: a server may have killed its keeper afterwards.
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

/// Prints clap's message: help and version on stdout, errors on stderr. A slip is answered with the command that
/// was meant.
fn print_refusal(error: &clap::Error, words: &[String]) -> Exit {
    if !error.use_stderr() {
        // Ignored: the reader may be gone.
        error.print().ok();
        return Exit::Ok;
    }
    let is_json = is_json();
    if is_torn_header(error) {
        let report = Report::usage("a header is one word: put quotes around it");
        let report = report.hint("write it like -H \"Authorization: Bearer TOKEN\"");
        return Screen::plain(is_json).fail(&report);
    }
    if let Some(command) = slips::intended_command(error, words) {
        let text = error.to_string();
        let title = text.lines().next().unwrap_or_default();
        let report = Report::usage(title.trim_start_matches("error: "));
        return Screen::plain(is_json).fail(&report.hint(format!("did you mean `{command}`?")));
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
    // Sanitised, because the message repeats what was typed or pasted.
    talk(&sanitise(&error.to_string()));
    Exit::Usage
}

/// Returns true if `--json` was typed; the parser may not have got that far.
fn is_json() -> bool {
    std::env::args_os().any(|word| word == "--json")
}

/// Returns true for an unexpected word after a header: it may be the header's value, which clap would show.
fn is_torn_header(error: &clap::Error) -> bool {
    let is_header = |word: &str| word.starts_with("-H") || word.starts_with("--header");
    error.kind() == clap::error::ErrorKind::UnknownArgument
        && std::env::args_os().any(|word| word.to_str().is_some_and(is_header))
        && match error.get(clap::error::ContextKind::InvalidArg) {
            Some(clap::error::ContextValue::String(word)) => !word.starts_with('-'),
            _ => false,
        }
}
