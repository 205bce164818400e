//! Completion rules: the words that may come next in a line, given the known names.

use clap::CommandFactory as _;
use switchboard::text::sanitise_line;

use super::complete::{OfferedArgument, Offers};
use super::input::BUILT_IN;
use super::slash::Slash;
use crate::args::Cli;

/// A word that may come next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) value: String,
    /// A short description.
    pub(super) about: String,
    /// True if another word follows, false if this one continues.
    pub(super) is_whole: bool,
}

/// The kind of name that a word of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Server,
    Tool,
    Prompt,
    Resource,
}

/// An argument that is being typed, of a prompt or template that a server may suggest values for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) server: String,
    pub(super) of: Of,
    pub(super) argument: String,
    pub(super) value: String,
    /// The other arguments typed so far.
    pub(super) others: Vec<(String, String)>,
}

/// The owner of such an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Of {
    Prompt(String),
    Template(String),
}

/// Returns the argument at the end of a line, if a server can be asked for its values.
pub(super) fn typed_argument(before: &str) -> Option<Asked> {
    let (done, word) = match before.rfind(char::is_whitespace) {
        Some(at) => before.split_at(at),
        None => return None,
    };
    let (argument, value) = word.trim_start().split_once('=')?;
    let mut done = done.split_whitespace();
    // Only prompts and templates have arguments that a server completes.
    let verb = match done.next()? {
        "/mcp" => done.next().filter(|verb| *verb == "prompt")?,
        verb => verb.trim_start_matches('/'),
    };
    let mut given = done.filter(|word| !word.starts_with('-'));
    let (server, of) = match verb {
        "prompt" => {
            let (server, name) = given.next()?.split_once('/')?;
            (server, Of::Prompt(name.to_owned()))
        }
        "read" => {
            let (server, template) = (given.next()?, given.next()?);
            if !template.contains('{') {
                return None;
            }
            (server, Of::Template(template.to_owned()))
        }
        _ => return None,
    };
    let others = given.filter_map(|word| word.split_once('='));
    let own = |text: &str| text.to_owned();
    Some(Asked {
        server: own(server),
        of,
        argument: own(argument),
        value: own(value),
        others: others
            .map(|(name, value)| (own(name), own(value)))
            .collect(),
    })
}

/// Returns the start of the last word, and its possible completions.
pub(super) fn next(before: &str, offers: &Offers) -> (usize, Vec<Candidate>) {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    });
    let (done, word) = before.split_at(start);
    // The words before the cursor decide, the last one filters.
    let mut done: Vec<&str> = done.split_whitespace().collect();
    let mut candidates = match done.first().copied() {
        None => verbs(),
        Some("/mcp") => {
            done.remove(0);
            slash(&done, word, offers)
        }
        Some(verb) => {
            let verb = verb.trim_start_matches('/');
            let rest = done.get(1..).unwrap_or_default();
            arguments(&Cli::command(), verb, rest, word, offers)
        }
    };
    // A name that is changed by sanitising cannot be typed.
    candidates.retain_mut(|candidate| {
        candidate.value.starts_with(word)
            && sanitise_line(&candidate.value) == candidate.value.as_str()
            && quote(&mut candidate.value)
    });
    // Sorted and without duplicates: several sources may offer the same name.
    candidates.sort_by(|a, b| a.value.cmp(&b.value));
    candidates.dedup_by(|a, b| a.value == b.value);
    (start, candidates)
}

/// Quotes the value of `key=value` if it has spaces; returns false for what cannot be typed.
fn quote(candidate: &mut String) -> bool {
    if !candidate.contains(char::is_whitespace) {
        return true;
    }
    let quoted = candidate
        .split_once('=')
        .filter(|(_, value)| !value.contains('\''));
    let quoted = quoted.map(|(key, value)| format!("{key}='{value}'"));
    quoted.map(|quoted| *candidate = quoted).is_some()
}

fn verbs() -> Vec<Candidate> {
    let own = BUILT_IN
        .iter()
        .map(|(name, about)| Candidate::whole((*name).to_owned(), about));
    let all = Cli::command();
    own.chain(verbs_of(&all)).collect()
}

/// Returns the visible subcommands of a command.
fn verbs_of(command: &clap::Command) -> impl Iterator<Item = Candidate> + '_ {
    let verbs = command.get_subcommands();
    let verbs = verbs.filter(|verb| !verb.is_hide_set());
    verbs.map(|verb| {
        let about = verb.get_about().map(ToString::to_string);
        Candidate::whole(verb.get_name().to_owned(), &about.unwrap_or_default())
    })
}

fn slash(done: &[&str], word: &str, offers: &Offers) -> Vec<Candidate> {
    match done.split_first() {
        None => verbs_of(&Slash::command()).collect(),
        Some((verb, rest)) => arguments(&Slash::command(), verb, rest, word, offers),
    }
}

fn arguments(
    all: &clap::Command,
    verb: &str,
    done: &[&str],
    word: &str,
    offers: &Offers,
) -> Vec<Candidate> {
    if verb == "help" {
        return verbs();
    }
    let Some(command) = all.find_subcommand(verb) else {
        return Vec::new();
    };
    // A subcommand, as in `trust approve`.
    if command.has_subcommands() {
        return match done.split_first() {
            Some((inner, rest)) => arguments(command, inner, rest, word, offers),
            None => verbs_of(command).collect(),
        };
    }
    if word.starts_with('-') {
        return flags(command);
    }
    let given: Vec<&str> = done
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    match (place(verb), given.as_slice()) {
        (Some(Place::Server), []) => offers.servers.clone(),
        (Some(Place::Tool), []) => candidates(&offers.tools),
        (Some(Place::Tool), [tool, given @ ..]) => values(&offers.tools, tool, given, word),
        (Some(Place::Prompt), []) => candidates(&offers.prompts),
        (Some(Place::Prompt), [prompt, given @ ..]) => values(&offers.prompts, prompt, given, word),
        (Some(Place::Resource), []) => offers.servers.clone(),
        (Some(Place::Resource), [server, picked @ ..])
            if picked.is_empty() || verb == "context" =>
        {
            let its = offers.resources.iter().filter(|(of, _)| of == server);
            let its = its.map(|(_, uri)| uri.clone());
            let templates = offers.templates.iter().filter(|(of, ..)| of == server);
            // Templates can be read, but not watched or picked.
            let templates = templates.filter(|_| verb == "read");
            its.chain(templates.map(|(_, (uri, _))| uri.clone()))
                .collect()
        }
        (Some(Place::Resource), [server, template, given @ ..]) => {
            let its = offers.templates.iter().filter(|(of, ..)| of == server);
            let its: Vec<_> = its.map(|(_, template)| template.clone()).collect();
            values(&its, template, given, word)
        }
        _ => Vec::new(),
    }
}

fn place(verb: &str) -> Option<Place> {
    Some(match verb {
        "servers" | "tools" | "resources" | "templates" | "prompts" | "ping" | "logs"
        | "doctor" | "connect" | "disconnect" | "retry" | "enable" | "disable" | "remove"
        | "export" | "diff" => Place::Server,
        "call" | "tool" => Place::Tool,
        "prompt" => Place::Prompt,
        "read" | "watch" | "context" => Place::Resource,
        _ => return None,
    })
}

fn candidates(all: &[(Candidate, Vec<OfferedArgument>)]) -> Vec<Candidate> {
    all.iter().map(|(name, _)| name.clone()).collect()
}

/// Returns the argument names that are not given yet, or the values of the one that is being typed.
fn values(
    all: &[(Candidate, Vec<OfferedArgument>)],
    name: &str,
    given: &[&str],
    word: &str,
) -> Vec<Candidate> {
    let found = all.iter().find(|(known, _)| known.value == name);
    let arguments = found
        .map(|(_, arguments)| arguments.as_slice())
        .unwrap_or_default();
    // After the `=`: complete the value, otherwise the name.
    if let Some((name, _)) = word.split_once('=') {
        let argument = arguments.iter().find(|argument| argument.name == name);
        let values = argument
            .map(|argument| argument.values.as_slice())
            .unwrap_or_default();
        return values
            .iter()
            .map(|value| Candidate::whole(format!("{name}={value}"), ""))
            .collect();
    }
    let is_given = |argument: &&OfferedArgument| {
        given.iter().any(|word| {
            word.split_once('=')
                .is_some_and(|(name, _)| name.trim_end_matches(':') == argument.name)
        })
    };
    let left = arguments.iter().filter(|argument| !is_given(argument));
    left.map(|argument| Candidate {
        is_whole: false,
        ..Candidate::whole(format!("{}=", argument.name), &argument.about)
    })
    .collect()
}

fn flags(command: &clap::Command) -> Vec<Candidate> {
    let flags = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set());
    let flags = flags.filter_map(|argument| {
        let about = argument.get_help().map(ToString::to_string);
        let name = format!("--{}", argument.get_long()?);
        Some(Candidate::whole(name, &about.unwrap_or_default()))
    });
    flags.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers() -> Offers {
        let one = |value: &str| Candidate::whole(value.to_owned(), "");
        let argument = |name: &str, values: &[&str]| OfferedArgument {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            ..OfferedArgument::default()
        };
        Offers {
            servers: vec![one("demo"), one("files")],
            tools: vec![
                (
                    one("demo/echo"),
                    vec![
                        argument("message", &[]),
                        argument("mode", &["loud", "low", "very low"]),
                    ],
                ),
                (one("demo/bad\u{202e}name"), Vec::new()),
                (one("files/read"), Vec::new()),
            ],
            prompts: vec![(one("demo/greeting"), vec![argument("name", &[])])],
            resources: vec![("demo".to_owned(), one("file:///readme.txt"))],
            templates: vec![(
                "demo".to_owned(),
                (one("note:///{name}"), vec![argument("name", &["ada"])]),
            )],
        }
    }

    fn words(before: &str) -> Vec<String> {
        let (_, candidates) = next(before, &offers());
        candidates
            .into_iter()
            .map(|candidate| candidate.value)
            .collect()
    }

    #[test]
    fn verbs_and_slash_commands_come_first() {
        assert_eq!(words("/m"), ["/mcp"]);
        assert_eq!(words("/mcp dis"), ["disconnect"]);
        assert!(words("").contains(&"call".to_owned()));
        assert_eq!(words("trust app"), ["approve"]);
    }

    #[test]
    fn servers_tools_arguments_and_values_follow() {
        assert_eq!(words("/mcp connect d"), ["demo"]);
        assert_eq!(words("tools "), ["demo", "files"]);
        assert_eq!(
            words("call d"),
            ["demo/echo"],
            "what cannot be shown is not offered"
        );
        assert_eq!(words("call demo/echo m"), ["message=", "mode="]);
        assert_eq!(words("call demo/echo message=x m"), ["mode="]);
        assert_eq!(words("call demo/echo mode=lo"), ["mode=loud", "mode=low"]);
        assert_eq!(words("call demo/echo mode=v"), ["mode='very low'"]);
        assert_eq!(words("prompt demo/greeting "), ["name="]);
        assert_eq!(words("read demo f"), ["file:///readme.txt"]);
        assert_eq!(words("read demo n"), ["note:///{name}"]);
        assert_eq!(words("watch demo n"), [""; 0]);
        assert_eq!(words("read demo note:///{name} "), ["name="]);
        assert_eq!(words("read demo note:///{name} name="), ["name=ada"]);
        assert_eq!(words("/mcp connect demo --a"), ["--allow-all"]);
        assert_eq!(words("nonsense "), [""; 0]);
    }

    #[test]
    fn a_server_is_asked_about_values_of_prompts_and_of_templates_only() {
        let question = |of, others: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            Some(Asked {
                server: "demo".to_owned(),
                of,
                argument: "a".to_owned(),
                value: "x=".to_owned(),
                others: others.iter().map(own).collect(),
            })
        };
        let prompt = Of::Prompt("greeting".to_owned());
        for line in [
            "prompt demo/greeting b=1 --json a=x=",
            "/mcp prompt demo/greeting b=1 a=x=",
        ] {
            assert_eq!(
                typed_argument(line),
                question(prompt.clone(), &[("b", "1")]),
                "{line}"
            );
        }
        let template = Of::Template("t:{a}".to_owned());
        assert_eq!(
            typed_argument("/read demo t:{a} a=x="),
            question(template, &[])
        );
        for line in [
            "",
            "a=",
            "call demo/echo a=",
            "prompt demo/greeting a",
            "prompt a=",
            "/mcp a=",
            "/mcp read demo t:{a} a=",
            "read demo t:a a=",
        ] {
            assert_eq!(typed_argument(line), None, "{line}");
        }
    }

    #[test]
    fn the_last_word_is_replaced_and_nothing_before_it() {
        assert_eq!(next("call demo/e", &offers()).0, 5);
        assert_eq!(next("call\u{3000}demo/e", &offers()).0, 7);
        assert_eq!(next("", &offers()).0, 0);
    }
}
