//! `switchboard completions` and `switchboard man`, both generated from the parser.

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::args::{Cli, Completions, Man};
use crate::complete;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// Prints a shell completion script.
pub(crate) fn completions(args: &Completions) -> Exit {
    let screen = Screen::plain(false);
    let Some(script) = complete::script(args.shell.name()) else {
        let report = Report::new(Exit::Internal, "internal", "there is no such script");
        return screen.fail(&report);
    };
    screen.finish(screen.result(&script))
}

/// Prints the manual page, or writes one page for each command.
pub(crate) fn man(args: &Man) -> Exit {
    let screen = Screen::plain(false);
    let done = match &args.dir {
        None => page(with_page_names(Cli::command())).and_then(|text| screen.result(&text)),
        Some(folder) => write(folder),
    };
    screen.finish(done)
}

/// Renders the page of a command, which lists its subcommands.
fn page(command: Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    let rendered = Page::new(command).render(&mut text);
    rendered.map_err(|error| manual_failure(&error))?;
    String::from_utf8(text).map_err(|error| manual_failure(&error))
}

/// Builds the command tree, so that every subcommand has its page's name: `switchboard-trust-list`.
fn with_page_names(mut command: Command) -> Command {
    command = command.disable_help_subcommand(true);
    command.build();
    command
}

fn write(folder: &Path) -> Result<(), Failure> {
    clap_mangen::generate_to(with_page_names(Cli::command()), folder).map_err(|error| {
        let report = manual_failure(&error);
        report
            .fact("folder", folder.display().to_string())
            .hint("name a folder that is there and can be written to")
    })
}

fn manual_failure(error: &dyn std::fmt::Display) -> Failure {
    let message = "the manual could not be written";
    let report = Report::new(Exit::Internal, "internal", message);
    report.fact("the system says", error.to_string())
}
