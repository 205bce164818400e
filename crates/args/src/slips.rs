//! Everyday slips on the command line: habits from other clients, and typing mistakes.
//!
//! [`parse`] rewrites words whose meaning is certain before it reads them. For the rest,
//! [`intended_command`] and [`with_name`] propose a whole command, and only one that parses.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _, Parser as _};
use switchboard::protocol::Raw;
use switchboard::text::{closest, shell_path};

use crate::Cli;

/// Verbs of other programs, and the ones of this program that do the same.
const OTHER_VERBS: &[(&[&str], &str)] = &[
    (&["list-tools", "tools/list"], "tools"),
    (&["list-resources"], "resources"),
    (&["list-prompts"], "prompts"),
    (&["discover"], "import"),
    (&["describe", "inspect", "show"], "tool"),
    (
        &["run", "exec", "invoke", "use", "call-tool", "tools/call"],
        "call",
    ),
    (&["install"], "add"),
    (&["uninstall", "delete"], "remove"),
    (&["check", "diagnose"], "doctor"),
    (&["validate"], "config check"),
    (&["approve"], "trust approve"),
    (&["shell", "interactive"], "repl"),
];

/// Options of other programs that stand before `key=value`.
const ARGUMENT_FLAGS: &[&str] = &["--arg", "--tool-arg", "--param", "--set", "-a", "-p"];

/// Parses the words after the program's name, corrected.
///
/// # Errors
/// Returns clap's error about words that cannot be corrected.
pub fn parse(words: &[String]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(["switchboard".to_owned()].into_iter().chain(correct(words)))
}

/// Rewrites words whose meaning is certain.
fn correct(words: &[String]) -> Vec<String> {
    let all = Cli::command();
    // The verb first: every rule below depends on it.
    let Some(words) = verb_first(words, &all) else {
        return words.to_vec();
    };
    let Some((verb, rest)) = words.split_first() else {
        return words;
    };
    let Some(command) = all.find_subcommand(verb) else {
        return words;
    };
    let (mut name, mut rest) = (command.get_name(), rest.to_vec());
    // The first word of `read` and `watch` may be the URI of a resource.
    let has_url = command
        .get_arguments()
        .any(|arg| arg.get_long() == Some("url"));
    let is_by_place = has_url && !matches!(name, "add" | "read" | "watch" | "repl");
    if is_by_place && !has_option(&rest, &["--url", "--stdio"]) {
        by_place(&mut rest, command);
    }
    // Counted after a URL or a program has become an option.
    let given = positions(&rest, command);
    let word = |n: usize| given.get(n).and_then(|at| rest.get(*at)).cloned();
    match (name, word(0), word(1)) {
        // No server has a slash in its name, so this is one of its tools. A path is something else.
        ("tools" | "prompts", Some(item), _)
            if item.contains('/') && !item.starts_with(['.', '/', '~']) =>
        {
            name = name.trim_end_matches('s');
        }
        // `call SERVER TOOL`: nothing else can follow a tool that has no `=` in it.
        ("call" | "tool" | "prompt", Some(server), Some(item))
            if !server.contains('/')
                && !server.starts_with("mcp_")
                && !item.contains('=')
                && !item.starts_with('{')
                && !has_option(&rest, &["--url", "--stdio"]) =>
        {
            if let [first, second, ..] = given.as_slice() {
                rest.remove(*second);
                rest.splice(*first..=*first, [format!("{server}/{item}")]);
            }
        }
        // `add NAME URL` and `add NAME CMD ARGS`, as in other clients.
        ("add", Some(_), Some(place)) if !has_option(&rest, &["--url"]) => {
            let mark = if is_url(&place) { "--url" } else { "--" };
            rest.insert(given.get(1).copied().unwrap_or_default(), mark.to_owned());
        }
        _ => {}
    }
    // The name of the tool is one word by now, so the object can only come behind it.
    if name == "call" && !has_option(&rest, &["--args"]) {
        let given = positions(&rest, command).into_iter().skip(1);
        let is_object = |at: &usize| {
            let object = rest.get(*at).and_then(|word| Raw::parse(word).ok());
            object.is_some_and(|object| object.is_object())
        };
        if let Some(at) = given.into_iter().find(is_object) {
            rest.insert(at, "--args".to_owned());
        }
    }
    let verb = if name == command.get_name() {
        verb
    } else {
        name
    };
    [verb.to_owned()].into_iter().chain(rest).collect()
}

/// Moves options that stand before the verb behind it; options alone open the prompt.
fn verb_first(words: &[String], all: &Command) -> Option<Vec<String>> {
    let prompt = all.find_subcommand("repl")?;
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        // Options that no verb has, such as --help, stay where they are.
        at += if takes_value(word, prompt)? { 2 } else { 1 };
    }
    let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) else {
        // `switchboard --config FILE` opens the prompt with those servers.
        let has_servers = has_option(words, &["--config", "--stdio", "--url"]);
        let opened = ["repl".to_owned()].into_iter().filter(|_| has_servers);
        return Some(opened.chain(words.iter().cloned()).collect());
    };
    // The verb may have several words, as in `trust list`.
    let (mut command, mut verbs) = (Some(all), 0);
    while let Some(inner) = command.and_then(|command| command.find_subcommand(rest.get(verbs)?)) {
        (command, verbs) = (Some(inner), verbs + 1);
    }
    let (verb, rest) = rest.split_at_checked(verbs)?;
    Some([verb, words.get(..at)?, rest].concat())
}

/// Writes a URL or a command in the place of a server's name as the option that it is.
fn by_place(rest: &mut Vec<String>, command: &Command) {
    let first = positions(rest, command).first().copied();
    if let Some(at) = first.filter(|at| rest.get(*at).is_some_and(|word| is_url(word))) {
        rest.insert(at, "--url".to_owned());
        return;
    }
    let Some(mark) = rest.iter().position(|word| word == "--") else {
        return;
    };
    // What has a `=` in it is an argument of a tool, and the first word of some verbs is a tool.
    let is_program = rest.get(mark + 1).is_some_and(|word| !word.contains('='));
    let needs_item = matches!(command.get_name(), "call" | "tool" | "prompt");
    if !is_program || (needs_item && first.is_none()) {
        return;
    }
    let program = rest.split_off(mark);
    let program = program.iter().skip(1).map(String::as_str);
    // shlex refuses only NUL, which no argument has.
    let line = shlex::try_join(program).unwrap_or_default();
    rest.extend(["--stdio".to_owned(), line]);
}

/// Proposes the command that was meant by words that cannot be parsed.
pub fn intended_command(error: &clap::Error, words: &[String]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let all = Cli::command();
    // The verb first, as the parser saw it: what it says is about the command with that verb.
    let words = &verb_first(words, &all).unwrap_or_else(|| words.to_vec());
    let verb = words.first().and_then(|verb| all.find_subcommand(verb));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = text(ContextKind::InvalidSubcommand)?;
            // `switchboard URL` and `switchboard SERVER/TOOL`, as in other programs.
            let left_out = if is_url(&wrong) { "tools" } else { "call" };
            let is_item = verb.is_none() && wrong.contains('/');
            let whole = || [&[left_out.to_owned()], words.as_slice()].concat();
            if let Some(line) = is_item.then(whole).and_then(|words| command_line(&words)) {
                return Some(line);
            }
            let parent = verb.unwrap_or(&all);
            let other = OTHER_VERBS
                .iter()
                .find(|(others, _)| others.contains(&wrong.as_str()));
            let other = other.filter(|_| verb.is_none()).map(|(_, verb)| *verb);
            let known = parent.get_subcommands().map(Command::get_name);
            let right = other.or_else(|| closest(&wrong, known))?;
            let fixed = words.iter().flat_map(|word| {
                let word = if *word == wrong { right } else { word };
                word.split(' ').map(str::to_owned)
            });
            let fixed: Vec<String> = fixed.collect();
            command_line(&fixed).or_else(|| Some(format!("switchboard {right} --help")))
        }
        ErrorKind::UnknownArgument => {
            let wrong = text(ContextKind::InvalidArg)?;
            let wrong = wrong.split('=').next().unwrap_or_default();
            // A misspelt option comes before an argument of the tool that is written like one.
            let flags = verb?.get_arguments().filter_map(clap::Arg::get_long);
            let flags: Vec<String> = flags.map(|flag| format!("--{flag}")).collect();
            // Two characters more than a flag's own: only a long one can be misspelled recognisably.
            let flag = closest(wrong, &flags).filter(|_| wrong.len() > 5);
            if let Some(flag) = flag {
                let fixed = words.iter().map(|word| match word.strip_prefix(wrong) {
                    Some(value) if value.is_empty() || value.starts_with('=') => {
                        format!("{flag}{value}")
                    }
                    _ => word.clone(),
                });
                return command_line(&fixed.collect::<Vec<_>>());
            }
            let verb = verb.filter(|verb| matches!(verb.get_name(), "call" | "prompt"))?;
            command_line(&as_values(words, verb))
        }
        ErrorKind::MissingRequiredArgument => {
            // The names to choose from are what another verb lists.
            let list = match verb?.get_name() {
                "call" | "tool" => "tools",
                "prompt" => "prompts",
                "read" | "watch" => "resources",
                "remove" | "enable" | "disable" => "servers",
                _ => return None,
            };
            command_line(&[list.to_owned()])
        }
        _ => None,
    }
}

/// Writes unknown options as `key=value`: `--a 1`, `--a=1` and `--tool-arg a=1`.
fn as_values(words: &[String], verb: &Command) -> Vec<String> {
    let mut fixed = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if ARGUMENT_FLAGS.contains(&word.as_str()) {
            continue;
        }
        let key = word.strip_prefix("--").filter(|key| !key.is_empty());
        match (key, takes_value(word, verb)) {
            (None, _) | (_, Some(false)) => fixed.push(word.clone()),
            (Some(_), Some(true)) => {
                fixed.push(word.clone());
                fixed.extend(words.next().cloned().filter(|_| !word.contains('=')));
            }
            (Some(key), None) => match words.next_if(|next| !next.starts_with("--")) {
                _ if key.contains('=') => fixed.push(key.to_owned()),
                Some(value) => fixed.push(format!("{key}={value}")),
                None => fixed.push(format!("{key}=true")),
            },
        }
    }
    fixed
}

/// Proposes the typed command with another name of a server or a tool, unless it was typed at the prompt.
pub fn with_name(wrong: &str, right: &str) -> Option<String> {
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let mut words = correct(&typed);
    let is_it = |word: &&mut String| {
        let rest = word.strip_prefix(wrong);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let word = words.iter_mut().find(is_it)?;
    *word = word.replacen(wrong, right, 1);
    command_line(&words)
}

/// Writes words as a command to paste; `None` if they do not parse, or may contain a secret.
fn command_line(words: &[String]) -> Option<String> {
    let is_secret = |word: &String| {
        let options = ["-H", "--header", "-e", "--env"];
        options.iter().any(|option| word.starts_with(option))
    };
    // A proposal is printed, and may be logged.
    if words.iter().any(is_secret) || parse(words).is_err() {
        return None;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-=".contains(c);
    let quoted = words.iter().map(|word| match word.split_once('=') {
        _ if word.starts_with('-') && word.chars().all(is_plain) => word.clone(),
        // Only the value is quoted, as people write it.
        Some((key, value)) if shell_path(key) == key => format!("{key}={}", shell_path(value)),
        _ => shell_path(word).into_owned(),
    });
    let line: Vec<String> = quoted.collect();
    Some(format!("switchboard {}", line.join(" ")))
}

/// Returns whether an option of a verb takes a value in the next word; `None` if the verb has no such option.
fn takes_value(word: &str, verb: &Command) -> Option<bool> {
    let (option, is_inline) = match word.split_once('=') {
        Some((option, _)) => (option, true),
        None => (word, false),
    };
    let is_it = |arg: &&clap::Arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => option.chars().nth(1) == arg.get_short() && arg.get_short().is_some(),
    };
    let arg = verb.get_arguments().find(is_it)?;
    // `-H'A: b'` has its value in the same word.
    let is_inline = is_inline || (!option.starts_with("--") && option.chars().count() > 2);
    Some(arg.get_action().takes_values() && !is_inline)
}

/// Returns the places of the words before `--` that are neither options nor their values.
fn positions(words: &[String], verb: &Command) -> Vec<usize> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at).filter(|word| *word != "--") {
        match word.strip_prefix('-') {
            Some(_) if takes_value(word, verb) == Some(true) => at += 1,
            Some(_) => {}
            None => found.push(at),
        }
        at += 1;
    }
    found
}

fn has_option(words: &[String], options: &[&str]) -> bool {
    let is_one = |word: &String| {
        let name = word.split('=').next().unwrap_or_default();
        options.contains(&name)
    };
    words.iter().take_while(|word| *word != "--").any(is_one)
}

fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(line: &str) -> String {
        let words = shlex::split(line).unwrap();
        correct(&words).join(" ")
    }

    #[test]
    fn what_is_certain_is_rewritten() {
        for (typed, meant) in [
            ("call calc add a=1", "call calc/add a=1"),
            ("tool calc add --json", "tool calc/add --json"),
            (
                "call calc/add '{\"a\":1}'",
                "call calc/add --args {\"a\":1}",
            ),
            (
                "call calc add '{\"a\":1}'",
                "call calc/add --args {\"a\":1}",
            ),
            ("tools calc/add", "tool calc/add"),
            ("prompts calc/hello", "prompt calc/hello"),
            ("tools https://x/mcp -q", "tools --url https://x/mcp -q"),
            (
                "call https://x/mcp add a=1",
                "call --url https://x/mcp add a=1",
            ),
            ("tools -- npx -y 'a b'", "tools --stdio npx -y 'a b'"),
            ("add -t http s https://x", "add -t http s --url https://x"),
            ("add s https://x -H 'A: b'", "add s --url https://x -H A: b"),
            ("add time uvx it --utc", "add time -- uvx it --utc"),
            ("--config F -q tools", "tools --config F -q"),
            ("--json trust list", "trust list --json"),
            ("--config=F call a/b x=1", "call --config=F a/b x=1"),
            ("--config F", "repl --config F"),
            ("--stdio 'npx it'", "repl --stdio npx it"),
        ] {
            assert_eq!(corrected(typed), meant, "{typed}");
        }
    }

    #[test]
    fn what_is_right_or_unclear_stays_as_it_is() {
        for line in [
            "",
            "--help",
            "--json",
            "call demo/echo message=hi",
            "call demo/echo --args {}",
            "call demo/echo -- message=-1",
            "prompt -- hello name=me",
            "call --stdio npx echo it",
            "call mcp__demo__echo it",
            "tools ./server.py",
            "tools --url https://x",
            "add it -- npx it",
            "add it --url https://x",
            "read docs https://x/page",
            "config check a/b.json",
            "nonsense calc/add",
        ] {
            assert_eq!(corrected(line), line);
        }
    }

    #[test]
    fn a_proposal_parses_and_repeats_no_secret() {
        for (typed, proposal) in [
            ("tolls demo", Some("switchboard tools demo")),
            ("list-tools demo", Some("switchboard tools demo")),
            ("validate", Some("switchboard config check")),
            ("trust aprove x", Some("switchboard trust approve x")),
            ("https://x/mcp", Some("switchboard tools https://x/mcp")),
            ("a/b x='1 2'", Some("switchboard call a/b x='1 2'")),
            (
                "tools demo --tiemout 5s",
                Some("switchboard tools demo --timeout 5s"),
            ),
            ("call a/b --a 1 --b=2", Some("switchboard call a/b a=1 b=2")),
            ("call a/b --tool-arg x=1", Some("switchboard call a/b x=1")),
            (
                "call a/b --a --json",
                Some("switchboard call a/b a=true --json"),
            ),
            ("call", Some("switchboard tools")),
            ("tolls demo -H 'A: s3cret'", None),
            ("frobnicate", None),
        ] {
            let words = shlex::split(typed).unwrap();
            let error = parse(&words).unwrap_err();
            let proposed = intended_command(&error, &words);
            let is_help = proposed
                .as_deref()
                .is_some_and(|line| line.ends_with("--help"));
            assert!(
                proposal.is_some() || proposed.is_none() || is_help,
                "{typed}"
            );
            if proposal.is_some() {
                assert_eq!(proposed.as_deref(), proposal, "{typed}");
            }
        }
    }
}
