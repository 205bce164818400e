//! Parsing of typed lines.

use clap::Parser as _;

use super::slash::{Slash, SlashVerb};
use crate::args::Cli;
use crate::report::{Failure, Report};

/// Words that can be typed besides the commands of the command line.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("/mcp", "Connect to servers, and see what they offer."),
    ("as", "Act as an agent: `as AGENT`; `as me` ends it."),
    ("reload", "Read the config files again."),
    ("help", "Show what can be typed; `help VERB` says more."),
    ("exit", "Leave; so does Ctrl-D."),
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
        return Err(Report::usage("a quote does not end")
            .hint("put a \\ before a quote that is meant as one"));
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words.as_slice() {
        [] => Input::Nothing,
        ["exit" | "quit" | "/exit" | "/quit"] => Input::Leave,
        ["reload" | "/reload"] => Input::Reload,
        ["as", "me"] => Input::As(None),
        ["as", agent] => Input::As(Some((*agent).to_owned())),
        ["as", ..] => return Err(Report::usage("write `as AGENT`, or `as me`")),
        ["help" | "/help" | "?"] => Input::Help,
        ["help" | "/help", "/mcp"] => Input::Mcp,
        // clap answers `help VERB` with an error that carries the text.
        ["help" | "/help", rest @ ..] => {
            let words = ["switchboard", "help"].iter().chain(rest).copied();
            clap_message(Cli::try_parse_from(words).err())
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
            let words = ["switchboard", verb]
                .into_iter()
                .chain(rest.iter().copied());
            match Cli::try_parse_from(words) {
                Ok(cli) => Input::Verb(Box::new(cli)),
                Err(error) => clap_message(Some(error)),
            }
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
        "`help` shows what can be typed.",
    );
    Input::Said(text.replace("'switchboard ", "'"))
}

/// Parses words as a command of the command line.
pub(super) fn verb(words: &[&str]) -> Input {
    let words = ["switchboard"].iter().chain(words).copied();
    match Cli::try_parse_from(words) {
        Ok(cli) => Input::Verb(Box::new(cli)),
        Err(error) => clap_message(Some(error)),
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
