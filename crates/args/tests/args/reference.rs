//! Generates the reference of commands, `docs/reference/commands.md`, from the parser.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use switchboard_args::Cli;

/// The beginning of the page.
const HEAD: &str = "\
# Commands

Every command and option, generated from the parser. `switchboard COMMAND --help` prints the same, and
[The command line in detail](../cli.md) explains how they work together.

";

/// The command whose options are those of all commands that use servers.
const USUAL: &str = "resources";

/// Formats all commands with their arguments.
fn reference() -> String {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let usual = command.find_subcommand(USUAL).map(options);
    let usual = usual.unwrap_or_default();
    let mut out = HEAD.to_owned();
    for verb in command.get_subcommands() {
        add(verb, verb.get_name(), &usual, &mut out);
    }
    out.push_str("## Options of commands that use servers\n\n");
    table(usual.into_iter(), &mut out);
    format!("{}\n", out.trim_end())
}

fn add(command: &Command, name: &str, usual: &[&Arg], out: &mut String) {
    if command.is_hide_set() {
        return;
    }
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines();
    let usage: Vec<String> = usage.map(|line| format!("    {}", line.trim())).collect();
    let usage = usage.join("\n");
    let level = if name.contains(' ') { "###" } else { "##" };
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "{level} {name}\n\n{}.\n\n{usage}\n\n",
        about.trim_end_matches('.')
    );
    let own = options(command);
    let has_usual = !usual.is_empty() && usual.iter().all(|arg| holds(&own, arg));
    let own = own.into_iter();
    let own = own.filter(|arg| !has_usual || !holds(usual, arg));
    let positional = command.get_positionals();
    table(positional.chain(own), out);
    if has_usual {
        out.push_str(
            "And the [options of commands that use servers](#options-of-commands-that-use-servers).\n\n",
        );
    }
    for inner in command.get_subcommands() {
        add(inner, &format!("{name} {}", inner.get_name()), usual, out);
    }
}

fn holds(args: &[&Arg], arg: &Arg) -> bool {
    args.iter().any(|known| known.get_id() == arg.get_id())
}

/// Returns the options of a command, without `--help` and hidden ones.
fn options(command: &Command) -> Vec<&Arg> {
    let options = command.get_opts().chain(flags(command));
    let mut options: Vec<&Arg> = options.filter(|arg| !arg.is_hide_set()).collect();
    // In the order of declaration.
    let place = |arg: &&Arg| {
        command
            .get_arguments()
            .position(|known| known.get_id() == arg.get_id())
    };
    options.sort_by_key(place);
    options
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    let flags = command
        .get_arguments()
        .filter(|arg| !arg.is_positional() && !arg.get_action().takes_values());
    flags.filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
}

fn table<'a>(args: impl Iterator<Item = &'a Arg>, out: &mut String) {
    let mut rows = String::new();
    for arg in args {
        let _ = writeln!(rows, "| {} | {} |", spelling(arg), meaning(arg));
    }
    if !rows.is_empty() {
        let _ = write!(out, "| written | means |\n|---|---|\n{rows}\n");
    }
}

/// Formats the spelling of an argument.
fn spelling(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<&str> = values.iter().map(|value| value.as_str()).collect();
    let values = values.join(" ");
    let is_valued = arg.get_action().takes_values();
    let text = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => return format!("`{values}`"),
    };
    if is_valued {
        format!("`{text} {values}`")
    } else {
        format!("`{text}`")
    }
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let words: Vec<&str> = help.split_whitespace().collect();
    let mut text = words.join(" ").replace('|', "\\|");
    if !text.ends_with('.') {
        text.push('.');
    }
    let values = arg.get_possible_values();
    let names: Vec<String> = values
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if arg.get_action().takes_values() && !names.is_empty() {
        let _ = write!(text, " One of {}.", names.join(", "));
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, " Otherwise `{}`.", defaults.join(" "));
    }
    text
}

#[test]
fn the_reference_in_the_docs_is_what_the_parser_says() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/commands.md"
    );
    let wanted = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(file, &wanted).unwrap();
    }
    let text = std::fs::read_to_string(file).unwrap();
    // The whole of both would be pages.
    let differs = text
        .lines()
        .zip(wanted.lines())
        .find(|(is, should)| is != should);
    assert!(
        text == wanted,
        "docs/reference/commands.md is not what the parser says; `cargo xtask docs` writes it: {differs:?}"
    );
}
