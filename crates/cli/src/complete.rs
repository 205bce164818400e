//! Shell completion.
//!
//! `switchboard completions SHELL` prints a script that makes the shell call this program, with a variable
//! set, for the candidates of a word. Completion starts no server: server names come from config files, which
//! are only read, and names of tools and prompts from the [`cache`] of the last listing.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use clap::{Arg, Command, CommandFactory as _, ValueHint};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::Shells;
use switchboard::config::{Client, Config};
use switchboard::host::Host;
use switchboard::transport::Environment;

use crate::args::Cli;
use crate::cache::{self, Offer, is_plain};
use crate::described::DEMO;
use crate::scope::places;

/// Variable that the scripts set, to the name of the shell.
pub(crate) const VARIABLE: &str = "SWITCHBOARD_COMPLETE";

/// Prints completion candidates if a shell asks for them. Returns true if one did.
///
/// Errors give no candidates and no message: a message would appear in the line that is being typed.
pub(crate) fn answer_if_asked() -> bool {
    let Some(shell) = std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty()) else {
        return false;
    };
    // The shell's script passes the typed line behind `--`.
    let words = std::env::args_os().skip(1).skip_while(|word| word != "--");
    let words: Vec<OsString> = words.skip(1).collect();
    // Without words there is nothing to complete.
    if !words.is_empty() {
        let text = answer(&shell.to_string_lossy(), words).unwrap_or_default();
        // Ignored: the shell may be gone.
        std::io::stdout().write_all(&text).ok();
    }
    true
}

fn answer(shell: &str, words: Vec<OsString>) -> Option<Vec<u8>> {
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    let line = Arc::new(TypedLine::new(&words));
    let mut command = with_completers(Cli::command(), "", &line);
    command.build();
    let folder = std::env::current_dir().ok();
    let mut text = Vec::new();
    let is_option = line.current().starts_with('-');
    let written = shell.write_complete(&mut command, words, folder.as_deref(), &mut text);
    written.ok()?;
    Some(if is_option {
        text
    } else {
        without_options(&String::from_utf8(text).ok()?).into_bytes()
    })
}

/// Removes options, which all begin alike: with no other candidate the shell would insert `--`.
fn without_options(text: &str) -> String {
    let separator = std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".to_owned());
    let candidates = text.split(separator.as_str());
    let candidates: Vec<&str> = candidates.filter(|one| !one.starts_with('-')).collect();
    candidates.join(&separator)
}

/// Returns the script that makes a shell ask this program for candidates.
pub(crate) fn script(shell: &str) -> Option<String> {
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    let name = Cli::command().get_name().to_owned();
    let mut text = Vec::new();
    // Called by name and not by path, which would be wrong after the next installation.
    let written = shell.write_registration(VARIABLE, &name, &name, &name, &mut text);
    written.ok()?;
    let text = String::from_utf8(text).ok()?;
    Some(format!("{}\n", text.trim()))
}

/// The kind of name that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameKind {
    Server,
    Tool,
    Prompt,
    /// An argument of the tool or prompt that the line names.
    Argument,
    /// The URI of a resource, after its server.
    Resource,
    /// A client whose files can be read or written.
    Client,
}

/// Returns the kind of name that an argument takes. Decided by the argument's id, so that new commands need
/// no entry.
fn name_kind(verb: &str, argument: &str) -> Option<NameKind> {
    match (verb, argument) {
        ("import", "source" | "from") | ("export", "to") => Some(NameKind::Client),
        // New names, or names in another client's files.
        ("add" | "import" | "install", _) => None,
        ("token add" | "token revoke" | "token rotate", _) => None,
        ("read" | "watch", "resource") => Some(NameKind::Resource),
        (_, "server" | "resource") => Some(NameKind::Server),
        (_, "tool") | ("policy why", "target") => Some(NameKind::Tool),
        (_, "prompt") => Some(NameKind::Prompt),
        ("call" | "prompt", "values") => Some(NameKind::Argument),
        // These are names of tools.
        ("pins approve", "names") => None,
        (_, "name" | "names") | ("trust revoke", "which") => Some(NameKind::Server),
        _ => None,
    }
}

/// Attaches completers to the arguments of a command and its subcommands.
fn with_completers(command: Command, verb: &str, line: &Arc<TypedLine>) -> Command {
    let dress = |arg: Arg| -> Arg {
        if let Some(what) = name_kind(verb, arg.get_id().as_str()) {
            let line = Arc::clone(line);
            let candidates = move |current: &OsStr| line.candidates(what, current);
            return arg.add(ArgValueCompleter::new(candidates));
        }
        match arg.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
                arg.add(ArgValueCompleter::new(files))
            }
            _ => arg,
        }
    };
    command.mut_args(dress).mut_subcommands(|inner| {
        let whole = format!("{verb} {}", inner.get_name());
        with_completers(inner, whole.trim_start(), line)
    })
}

/// Completes file names that are safe in a shell: a folder may have come from anywhere.
fn files(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut files = PathCompleter::any().complete(current);
    // The shell would have to quote other names, and not every shell does.
    files.retain(|file| file.get_value().to_str().is_some_and(is_plain));
    files
}

/// The line that is being typed, and the known servers.
struct TypedLine {
    words: Vec<String>,
    /// Index of the word to complete.
    at: usize,
    known: OnceLock<Vec<KnownServer>>,
}

/// A configured server, and its names from the last listing.
struct KnownServer {
    name: String,
    is_enabled: bool,
    offer: Option<Offer>,
}

impl TypedLine {
    fn new(words: &[OsString]) -> Self {
        let last = words.len().saturating_sub(1);
        // Set by the scripts of some shells; the others complete the last word.
        let at = std::env::var("_CLAP_COMPLETE_INDEX").ok();
        let at = at.and_then(|at| at.parse().ok()).unwrap_or(last);
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        Self {
            words: words.collect(),
            at,
            known: OnceLock::new(),
        }
    }

    fn servers(&self) -> &[KnownServer] {
        let config = || {
            let at = self.words.iter().position(|word| word == "--config")?;
            self.words.get(at + 1)
        };
        self.known
            .get_or_init(|| look(config().map(Path::new)).unwrap_or_default())
    }

    fn candidates(&self, what: NameKind, current: &OsStr) -> Vec<CompletionCandidate> {
        let current = current.to_string_lossy();
        let mut names = match what {
            NameKind::Server => self
                .servers()
                .iter()
                .map(|known| known.name.clone())
                .collect(),
            NameKind::Tool => self.items(|offer| offer.tools.keys()),
            NameKind::Prompt => self.items(|offer| offer.prompts.keys()),
            NameKind::Argument => self.arguments(),
            NameKind::Resource => self.resources(),
            NameKind::Client => Client::ALL.iter().map(ToString::to_string).collect(),
        };
        // Names come from servers: one with spaces or quotes could break out of its word.
        names.retain(|name| name.starts_with(&*current) && is_plain(name));
        names.into_iter().map(CompletionCandidate::new).collect()
    }

    /// Returns the word to complete.
    fn current(&self) -> &str {
        self.words
            .get(self.at)
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// Returns the resources of the server in the line, or all servers if it names none.
    fn resources(&self) -> Vec<String> {
        let before = self.words.get(..self.at).unwrap_or_default();
        let mut servers = self.servers().iter();
        match servers.find(|known| before.contains(&known.name)) {
            Some(known) => known
                .offer
                .as_ref()
                .map(|offer| offer.resources.clone())
                .unwrap_or_default(),
            None => self
                .servers()
                .iter()
                .map(|known| known.name.clone())
                .collect(),
        }
    }

    /// Returns `SERVER/NAME` for all items of a kind.
    fn items<'l, N: Iterator<Item = &'l String>>(
        &'l self,
        names: impl Fn(&'l Offer) -> N,
    ) -> Vec<String> {
        let known = self.servers().iter().filter(|known| known.is_enabled);
        let items = known.flat_map(|known| {
            let names = known.offer.as_ref().map(&names).into_iter().flatten();
            names.map(|name| format!("{}/{name}", known.name))
        });
        items.collect()
    }

    /// Returns `name=` for each argument of the tool or prompt in the line that has no value yet.
    fn arguments(&self) -> Vec<String> {
        let before = self.words.get(..self.at).unwrap_or_default();
        // Bash makes `=` a word of its own; the word after it is a value.
        if before
            .last()
            .is_some_and(|word| word == "=" || word == ":=")
        {
            return Vec::new();
        }
        let names = before.iter().find_map(|word| {
            let (server, item) = word.split_once('/')?;
            let known = self.servers().iter().find(|known| known.name == server)?;
            let offer = known.offer.as_ref()?;
            let items = if before.iter().any(|word| word == "prompt") {
                &offer.prompts
            } else {
                &offer.tools
            };
            items.get(item)
        });
        // An argument that has a value already is not offered again.
        let is_given = |name: &&String| {
            let mut words = before.iter();
            words.any(|word| word.split([':', '=']).next() == Some(name))
        };
        let names = names.into_iter().flatten();
        let names = names.filter(|name| !is_given(name));
        names.map(|name| format!("{name}=")).collect()
    }
}

/// Reads the config files and the cache. Nothing is expanded, started or written.
fn look(config: Option<&Path>) -> Option<Vec<KnownServer>> {
    let environment = Environment::of_process();
    let config = Config::load(&places(config, &environment).ok()?);
    let builder = Host::builder().environment(&environment).config(&config);
    // The host is never started: it only computes the identities that the cache is keyed by.
    let host = builder.build().ok()?;
    let cache = cache::recall(&environment);
    let mut known = Vec::new();
    for entry in config.entries() {
        let name = entry.name().as_str();
        let key = host
            .identity(name)
            .ok()
            .map(|identity| identity.to_string());
        known.push(KnownServer {
            name: name.to_owned(),
            is_enabled: entry.is_enabled(),
            offer: key.and_then(|key| cache.offer(&key)).cloned(),
        });
    }
    let is_defined = config.get(DEMO).is_some() || config.bad(DEMO).is_some();
    // The bundled server is offered unless a file defines one of that name.
    if !is_defined {
        known.push(KnownServer {
            name: DEMO.to_owned(),
            is_enabled: true,
            offer: cache.offer(&cache::demo()).cloned(),
        });
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> TypedLine {
        let tools = [("echo", vec!["message", "count"]), ("$(x)", vec![])];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let tools = tools.map(|(name, arguments)| (name.to_owned(), names(&arguments)));
        let mut offer = Offer::default();
        offer.tools.extend(tools);
        offer.prompts.insert("greet".to_owned(), names(&["who"]));
        offer.resources.push("file:///a".to_owned());
        let known = |name: &str, is_enabled| KnownServer {
            name: name.to_owned(),
            is_enabled,
            offer: Some(offer.clone()),
        };
        let known = vec![
            known("demo", true),
            known("off", false),
            known("`id`", true),
        ];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        TypedLine {
            at: words.len() - 1,
            words,
            known: known.into(),
        }
    }

    fn offered(what: NameKind, words: &[&str]) -> Vec<String> {
        let current = words.last().unwrap();
        let found = line(words).candidates(what, OsStr::new(current));
        let found = found.iter().map(|one| one.get_value().to_str().unwrap());
        found.map(str::to_owned).collect()
    }

    #[test]
    fn names_are_those_that_are_known_and_harmless() {
        assert_eq!(
            offered(NameKind::Server, &["s", "tools", ""]),
            ["demo", "off"]
        );
        assert_eq!(offered(NameKind::Server, &["s", "tools", "d"]), ["demo"]);
        assert_eq!(offered(NameKind::Tool, &["s", "call", ""]), ["demo/echo"]);
        assert_eq!(
            offered(NameKind::Prompt, &["s", "prompt", "demo/"]),
            ["demo/greet"]
        );
    }

    #[test]
    fn options_are_not_offered_for_an_empty_word() {
        assert_eq!(without_options("--json\ndemo\n--help"), "demo");
        assert_eq!(without_options("--json\n--help"), "");
    }

    #[test]
    fn clients_and_resources_are_offered() {
        assert_eq!(offered(NameKind::Client, &["s", "import", "go"]), ["goose"]);
        let read = ["s", "read", "demo", "file"];
        assert_eq!(offered(NameKind::Resource, &read), ["file:///a"]);
        assert_eq!(offered(NameKind::Resource, &["s", "read", "d"]), ["demo"]);
    }

    #[test]
    fn arguments_are_those_of_the_tool_in_the_line_that_are_not_given() {
        let call = |words: &[&str]| {
            let words = [&["s", "call", "demo/echo"], words].concat();
            offered(NameKind::Argument, &words)
        };
        assert_eq!(call(&[""]), ["message=", "count="]);
        assert_eq!(call(&["m"]), ["message="]);
        assert_eq!(call(&["message=x", ""]), ["count="]);
        assert_eq!(call(&["message", "=", "x", "c"]), ["count="]);
        assert_eq!(call(&["message", "=", ""]), [""; 0]);
        let prompt = ["s", "prompt", "demo/greet", ""];
        assert_eq!(offered(NameKind::Argument, &prompt), ["who="]);
        assert_eq!(
            offered(NameKind::Argument, &["s", "call", "demo/no", ""]),
            [""; 0]
        );
    }

    #[test]
    fn every_verb_that_names_a_server_completes_it() {
        fn unnamed(command: &Command, verb: &str, found: &mut Vec<String>) {
            for argument in command.get_positionals() {
                let id = argument.get_id().as_str();
                if name_kind(verb, id).is_none() && argument.get_possible_values().is_empty() {
                    found.push(format!("{verb} {id}"));
                }
            }
            for inner in command.get_subcommands() {
                let whole = format!("{verb} {}", inner.get_name());
                unnamed(inner, whole.trim_start(), found);
            }
        }
        let mut found = Vec::new();
        unnamed(&Cli::command(), "", &mut found);
        found.retain(|argument| argument.contains("server"));
        assert_eq!(found, [""; 0]);
    }
}
