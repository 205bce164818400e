//! `switchboard completions` and `switchboard man`, both generated from the parser.

use std::io::{self, Write as _};
use std::path::Path;

use clap::builder::Resettable;
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
        let report = Report::new(
            Exit::Internal,
            "internal",
            "there is no completion script for this shell",
        );
        return screen.fail(&report);
    };
    screen.finish(screen.result(&script))
}

/// Prints the manual page, or writes one page for each command.
pub(crate) fn man(args: &Man) -> Exit {
    let screen = Screen::plain(false);
    let command = with_page_names(Cli::command());
    let done = match &args.dir {
        None => page(&command)
            .map_err(|error| manual_failure(&error))
            .and_then(|text| screen.result(&text)),
        Some(folder) => write(&command, folder).map_err(|error| {
            let report = manual_failure(&error);
            report
                .fact("folder", folder.display().to_string())
                .hint("name an existing folder that you can write to")
        }),
    };
    screen.finish(done)
}

/// Sections that all pages share: exit status, files and environment.
const SHARED: &str = include_str!("manual.roff");
/// Examples of all commands, one a line. The first ones are those of the program's own page.
const EXAMPLES: &str = include_str!("manual-examples.txt");
const OWN_EXAMPLES: usize = 8;
/// The heading of examples in help texts.
const HEADING: &str = "Examples:\n";

/// Renders the page of a command, which lists its subcommands.
fn page(command: &Command) -> io::Result<String> {
    let help = command.get_after_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let (help, written) = help.split_once(HEADING).unwrap_or((&help, ""));
    // Examples have a section of their own here.
    let help = match help.trim_end() {
        "" => Resettable::Reset,
        help => Resettable::Value(help.to_owned().into()),
    };
    let without = command.clone().after_help(help);
    let mut text = Vec::new();
    Page::new(without).render(&mut text)?;
    text.extend_from_slice(SHARED.as_bytes());
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut examples: Vec<&str> = written.lines().map(str::trim).collect();
    let own = match name.split_once(' ') {
        None => EXAMPLES.lines().take(OWN_EXAMPLES).collect::<Vec<_>>(),
        Some(_) => {
            let is_its = |line: &&str| line.strip_prefix(name).is_some_and(is_end_of_word);
            EXAMPLES.lines().filter(is_its).collect()
        }
    };
    examples.extend(own.into_iter().filter(|line| !written.contains(line)));
    // As they are written: a backslash, a dash and a quote mean something else in a manual page.
    let examples = examples.join("\n").replace('\\', "\\e");
    let examples = examples.replace('-', "\\-").replace('\'', "\\(aq");
    write!(
        text,
        ".SH \"EXAMPLES\"\n.nf\n{examples}\n.fi\n.SH \"SEE ALSO\"\n.BR switchboard (1)\n"
    )?;
    String::from_utf8(text).map_err(io::Error::other)
}

fn is_end_of_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(' ')
}

/// Builds the command tree, so that every subcommand has its page's name: `switchboard-trust-list`.
fn with_page_names(mut command: Command) -> Command {
    command = command.disable_help_subcommand(true);
    command.build();
    command
}

/// Writes the page of a command and of all its subcommands.
fn write(command: &Command, folder: &Path) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    std::fs::write(folder.join(format!("{name}.1")), page(command)?)?;
    let mut verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs.try_for_each(|verb| write(verb, folder))
}

fn manual_failure(error: &dyn std::fmt::Display) -> Failure {
    let message = "the manual could not be written";
    let report = Report::new(Exit::Internal, "internal", message);
    report.fact("the system says", error.to_string())
}
