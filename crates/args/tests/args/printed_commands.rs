//! Checks with the real parser every command of this program that a report, a notice, a help text or a document
//! prints.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use switchboard_args::{Cli, slips};

/// A command, and the file that prints it.
type Printed = (String, String);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lists the files below a folder that end so.
fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

/// Returns the commands between backticks.
fn between_backticks(text: &str) -> impl Iterator<Item = String> {
    let spans = text
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    // `switchboard URL` is what people type, and not advice.
    let is_command = |span: &&str| {
        let verb = span.strip_prefix("switchboard ");
        verb.is_some_and(|verb| {
            verb.starts_with(|c: char| c.is_ascii_lowercase() || "-{".contains(c))
        })
    };
    let spans = spans.filter(is_command);
    spans.map(str::to_owned)
}

/// Returns the lines of code and of help that are commands.
fn lines(text: &str) -> impl Iterator<Item = String> {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("$ "));
    // In tables of verbs the meaning follows after two blanks; the prompt begins like a command.
    let lines = lines.map(|line| line.split("  ").next().unwrap_or_default());
    let is_command = |line: &&str| {
        let verb = line.strip_prefix("switchboard ");
        verb.is_some_and(|verb| verb.starts_with(|c: char| c.is_ascii_lowercase() || c == '-'))
    };
    lines.filter(is_command).map(str::to_owned)
}

fn printed() -> Vec<Printed> {
    let mut all = Vec::new();
    let mut add = |from: &Path, commands: Vec<String>| {
        let from = from
            .strip_prefix(root())
            .unwrap_or(from)
            .display()
            .to_string();
        all.extend(commands.into_iter().map(|command| (from.clone(), command)));
    };
    // Documents: code and what is between backticks.
    let mut documents = vec![root().join("README.md")];
    files(&root().join("docs"), ".md", &mut documents);
    for file in documents {
        // reads because: it is a file of this repository, in a test.
        let text = fs::read_to_string(&file).unwrap();
        let mut is_code = false;
        let code = text.lines().filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            is_code && !is_fence
        });
        let code = code.collect::<Vec<_>>().join("\n");
        add(
            &file,
            between_backticks(&text).chain(lines(&code)).collect(),
        );
    }
    // Reports: the snapshots, and the texts in the source with their blanks filled in.
    let mut reports = Vec::new();
    files(
        &root().join("crates/cli/tests/cli/snapshots"),
        ".txt",
        &mut reports,
    );
    for sources in ["crates/args/src", "crates/cli/src"] {
        files(&root().join(sources), ".rs", &mut reports);
    }
    for file in reports {
        // reads because: it is a file of this repository, in a test.
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        add(
            &file,
            between_backticks(text)
                .filter(|line| !line.ends_with('\\'))
                .collect(),
        );
    }
    // The help of every verb.
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![command];
    while let Some(mut page) = pages.pop() {
        let help = page.render_long_help().to_string();
        add(
            Path::new(&format!("help of {}", page.get_name())),
            lines(&help).collect(),
        );
        pages.extend(page.get_subcommands().cloned());
    }
    all
}

/// Returns the words of a command, with blanks filled in and without what a shell adds.
fn words(command: &str) -> Option<Vec<String>> {
    // Blanks of format strings, and of the syntax in help texts.
    let mut plain = command
        .replace("{{", "")
        .replace("}}", "")
        .replace("\\\"", "\"");
    while let Some((before, rest)) = plain.split_once('{') {
        let (_, after) = rest.split_once('}')?;
        plain = format!("{before}x{after}");
    }
    let words = shlex::split(&plain)?;
    let is_shell = |word: &String| {
        matches!(word.as_str(), "|" | ">" | ">>" | "<" | "&&" | "&" | ";") || word.starts_with("<(")
    };
    let words = words.into_iter().skip(1);
    let mut words: Vec<String> = words
        .take_while(|word| !is_shell(word) && word != "#")
        .collect();
    // The command ends where the next one of the line begins.
    if let Some(at) = words.iter().position(|word| word.ends_with(';')) {
        words.truncate(at + 1);
    }
    if let Some(last) = words.last_mut() {
        *last = last.trim_end_matches(';').to_owned();
    }
    Some(words)
}

#[test]
fn every_command_that_is_printed_parses() {
    let printed = printed();
    assert!(printed.len() > 150, "{}", printed.len());
    let mut wrong = Vec::new();
    for (from, command) in &printed {
        // Syntax and not a command: `[OPTIONS]`, `...`, `a|b`, and a verb that is filled in.
        let is_syntax = command.contains(['[', '<', '…', '|']) || command.contains("...");
        let is_filled = command.starts_with("switchboard {") || command.contains(" / ");
        if is_syntax || is_filled {
            continue;
        }
        let Some(words) = words(command) else {
            wrong.push(format!("{from}: {command}: cannot be split"));
            continue;
        };
        let Err(error) = slips::parse(&words) else {
            continue;
        };
        let is_mention = matches!(
            error.kind(),
            ErrorKind::DisplayHelp
                | ErrorKind::DisplayVersion
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                | ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand
        );
        // A value that stands for one, such as TIME.
        let is_blank = matches!(
            error.kind(),
            ErrorKind::ValueValidation | ErrorKind::InvalidValue
        ) && words.iter().any(|word| {
            let word = word.rsplit('=').next().unwrap_or_default();
            let is_upper = |c: char| c.is_ascii_uppercase() || !c.is_ascii_alphabetic();
            word == "x" || (word.len() > 1 && word.chars().all(is_upper))
        });
        if !is_mention && !is_blank {
            let message = error.to_string();
            wrong.push(format!(
                "{from}: `{command}`: {}",
                message.lines().next().unwrap_or_default()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        printed.len(),
        wrong.join("\n")
    );
}
