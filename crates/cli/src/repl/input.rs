//! Parsing of typed lines.

use clap::Parser as _;

use super::greeting::help_text;
use super::slash::{Slash, SlashVerb};
use crate::args::Cli;
use crate::report::{Failure, Report};
use crate::slips;

/// Words that can be typed besides the commands of the command line.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("/mcp", "Show servers, connect and disconnect them."),
    ("as", "Act as an agent: `as AGENT`; `as me` ends it."),
    ("reload", "Read the config files again."),
    ("help", "List commands; `help VERB` explains one."),
    ("exit", "Leave the prompt, as Ctrl-D does."),
];

/// A parsed line.
#[derive(Debug)]
pub(super) enum Input {
    Nothing,
    Leave,
    Reload,
    /// Act as this agent, or as the person.
    As(Option<String>),
    /// Show the help.
    Help,
    /// Show the servers and the help of `/mcp`.
    Mcp,
    Slash(SlashVerb),
    Verb(Box<Cli>),
    /// A text to show: help with a command, or the reason that a line is invalid.
    Said(String),
}

/// Parses a line.
///
/// # Errors
/// Returns a usage error if a quote does not end.
pub(super) fn read(line: &str) -> Result<Input, Failure> {
    let Some(words) = shlex::split(line) else {
        return Err(Report::usage("a quote is not closed")
            .hint("put a \\ before a quote that is meant as one"));
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // Quotes are gone by now, so only an operator that stands alone is taken for one.
    let is_shell = |word: &&str| matches!(*word, "|" | ">" | ">>" | "<" | "&&" | "||" | ";" | "&");
    if words.iter().any(is_shell) && !line.contains(['\'', '"', '\\']) {
        return Err(
            Report::usage("no pipes or redirections here: this is not a shell")
                .hint("leave with `exit`, then type it in a shell, with the name of this program in front")
                .hint("or write a result to a file with `--output FILE`"),
        );
    }
    Ok(match words.as_slice() {
        [] => Input::Nothing,
        ["exit" | "quit" | "/exit" | "/quit"] => Input::Leave,
        ["reload" | "/reload"] => Input::Reload,
        ["as", "me"] => Input::As(None),
        ["as", agent] => Input::As(Some((*agent).to_owned())),
        ["as", ..] => return Err(Report::usage("write `as AGENT`, or `as me`")),
        ["help" | "/help" | "?"] => Input::Help,
        ["help" | "/help", "/mcp"] => Input::Mcp,
        // clap answers `help VERB` of an unknown verb with an error that carries the text.
        ["help" | "/help", rest @ ..] => {
            if let Some(text) = help_text(rest) {
                return Ok(Input::Said(text));
            }
            let words = ["switchboard", "help"].iter().chain(rest).copied();
            match Cli::try_parse_from(words) {
                Err(error) => message_without_tips(error),
                Ok(_) => Input::Nothing,
            }
        }
        ["/mcp"] | ["/mcp", "help"] => Input::Mcp,
        ["/mcp", rest @ ..] => match Slash::try_parse_from(rest) {
            Ok(Slash { verb: Some(verb) }) => Input::Slash(verb),
            Ok(Slash { verb: None }) => Input::Mcp,
            Err(error) => clap_message(Some(error)),
        },
        [verb, rest @ ..] => {
            // Every command may be typed with a slash, as in other clients.
            let verb = verb.strip_prefix('/').unwrap_or(verb);
            let words = [&[verb], rest].concat();
            self::verb(&words)
        }
    })
}

/// Returns clap's message without the program's name, which was not typed.
fn clap_message(error: Option<clap::Error>) -> Input {
    let text = error.map(|error| error.to_string()).unwrap_or_default();
    let text = text.replace("Usage: switchboard ", "Usage: ");
    let text = text.replace("Usage: [COMMAND]\n\n", "");
    let text = text.replace(
        "For more information, try '--help'.",
        "`help` lists the commands.",
    );
    Input::Said(text.replace("'switchboard ", "'"))
}

/// Returns clap's message without its tips: a command that is similar enough to be meant was proposed before.
fn message_without_tips(error: clap::Error) -> Input {
    let Input::Said(text) = clap_message(Some(error)) else {
        return Input::Nothing;
    };
    let is_tip = |line: &&str| line.trim_start().starts_with("tip: ");
    let lines: Vec<&str> = text.lines().filter(|line| !is_tip(line)).collect();
    Input::Said(format!("{}\n", lines.join("\n")).replace("\n\n\n", "\n\n"))
}

/// Parses words as a command of the command line.
pub(super) fn verb(words: &[&str]) -> Input {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match slips::parse(&words) {
        Ok(cli) => Input::Verb(Box::new(cli)),
        Err(error) => match slips::intended_command(&error, &words) {
            Some(command) => {
                let text = error.to_string();
                let title = text.lines().next().unwrap_or_default();
                let command = command.trim_start_matches("switchboard ");
                Input::Said(format!("{title}\n  did you mean `{command}`?\n"))
            }
            None => message_without_tips(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Command;

    fn meaning(line: &str) -> Input {
        read(line).unwrap()
    }

    #[test]
    fn slash_commands_and_verbs_are_told_apart() {
        assert!(matches!(meaning("  "), Input::Nothing));
        assert!(matches!(meaning("/mcp"), Input::Mcp));
        assert!(matches!(meaning("/mcp help"), Input::Mcp));
        assert!(matches!(
            meaning("/mcp connect demo --allow-all --shared"),
            Input::Slash(SlashVerb::Connect {
                allow_all: true,
                shared: true,
                ..
            })
        ));
        for line in ["tools demo", "/tools demo"] {
            let Input::Verb(cli) = meaning(line) else {
                panic!("{line}")
            };
            assert!(matches!(cli.command, Some(Command::Tools(_))));
        }
        assert!(read("call 'x").is_err());
    }

    #[test]
    fn pipes_are_answered_with_a_line_for_a_shell() {
        for line in ["tools demo | head", "tools > tools.txt", "tools && servers"] {
            assert!(read(line).is_err(), "{line}");
        }
        assert!(read("call demo/echo 'message=a | b'").is_ok());
        assert!(read("call demo/echo message='|'").is_ok());
    }

    #[test]
    fn what_is_not_understood_is_said_without_a_program_name() {
        let Input::Said(text) = meaning("tolls") else {
            panic!()
        };
        assert!(text.contains("tolls") && text.contains("tools"), "{text}");
        let Input::Said(text) = meaning("/mcp conect x") else {
            panic!()
        };
        assert!(text.contains("connect"), "{text}");
        let Input::Said(text) = meaning("help call") else {
            panic!()
        };
        assert!(text.contains("Usage: call"), "{text}");
    }
}
