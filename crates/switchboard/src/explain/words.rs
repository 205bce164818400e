//! What a server's own words give away, as far as programs of the field always say it alike.

/// What a server's last words mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) cause: &'static str,
    pub(super) step: &'static str,
}

/// Words that end a server, with what they mean. The first that fits counts, so the particular ones
/// stand before the general ones; all are in lower case.
const LAST_WORDS: &[(&[&str], Meaning)] = &[
    (
        &["not a tty", "not a terminal", "inappropriate ioctl"],
        Meaning {
            cause: "it wants a terminal, and a server has none",
            step: "take options such as `-t` or `--interactive` out of its arguments: of `docker run -it` leave `docker run -i`",
        },
    ),
    (
        &["cannot connect to the docker daemon"],
        Meaning {
            cause: "Docker is installed and does not run",
            step: "start it: `sudo systemctl start docker`, or open Docker Desktop",
        },
    ),
    (
        &["npm error 404", "npm err! 404", "e404"],
        Meaning {
            cause: "there is no npm package of that name",
            step: "look for its right name: `npm search NAME`",
        },
    ),
    (
        &["no solution found", "was not found in the package registry"],
        Meaning {
            cause: "there is no Python package of that name or version",
            step: "check the name of the package in its arguments",
        },
    ),
    (
        &[
            "err_module_not_found",
            "cannot find module",
            "modulenotfounderror",
            "no module named",
        ],
        Meaning {
            cause: "a module that it needs is not installed",
            step: "install what it needs: `npm install` or `pip install -r requirements.txt` in its folder",
        },
    ),
    (
        &[
            "enotfound",
            "eai_again",
            "could not resolve host",
            "temporary failure in name resolution",
        ],
        Meaning {
            cause: "it needs the network, and does not get there",
            step: "check the network; behind a proxy, hand it on: `\"env_passthrough\": [\"HTTPS_PROXY\"]`",
        },
    ),
    (
        &[
            "ebadengine",
            "unsupported engine",
            "requires python",
            "requires node",
        ],
        Meaning {
            cause: "it needs another version of its language",
            step: "see which one is used: `node --version` or `python3 --version`",
        },
    ),
    (
        &["syntaxerror"],
        Meaning {
            cause: "its own code cannot be read, often because the language is too old for it",
            step: "see which one is used: `node --version` or `python3 --version`",
        },
    ),
    (
        &["eaddrinuse", "address already in use"],
        Meaning {
            cause: "it wants a port that is taken, perhaps by another copy of itself",
            step: "see what earlier runs have left: `switchboard leftovers`",
        },
    ),
    (
        &["eacces", "permission denied"],
        Meaning {
            cause: "it may not read, write or run something that it needs",
            step: "see which file it names, and who may use it: `ls -l FILE`",
        },
    ),
    (
        &[
            "unauthorized",
            "invalid api key",
            "invalid token",
            "authentication failed",
        ],
        Meaning {
            cause: "the service behind it does not accept its key",
            step: "write a key that is valid into `env` of its entry",
        },
    ),
    (
        &[
            "environment variable",
            "env var",
            "is not set",
            "api key",
            "api_key",
            "must be set",
        ],
        Meaning {
            cause: "a variable that it needs is missing",
            step: "name it in `env` or `env_passthrough`: servers get no others",
        },
    ),
    (
        &[
            "unrecognized arguments",
            "unknown option",
            "unexpected argument",
            "usage:",
        ],
        Meaning {
            cause: "it does not understand its arguments, or lacks one",
            step: "compare `args` with what its documentation says",
        },
    ),
];

/// What a server that ended meant by its last words.
pub(super) fn meaning(lines: &[String]) -> Option<Meaning> {
    let text = lines.join("\n").to_ascii_lowercase();
    let fits = |(words, _): &&(&[&str], Meaning)| words.iter().any(|word| text.contains(word));
    LAST_WORDS.iter().find(fits).map(|(_, meaning)| *meaning)
}

/// The line in which a program asks somebody something, if its last one is such.
pub(super) fn question(lines: &[String]) -> Option<&str> {
    const ASKING: &[&str] = &[
        "password",
        "passphrase",
        "username",
        "login:",
        "press enter",
        "press any key",
        "press return",
        "(y/n)",
        "[y/n]",
        "ok to proceed",
        "are you sure",
        "continue?",
        "enter your",
        "please enter",
        "verification code",
        "enter the code",
        "sign in",
    ];
    let line = lines.iter().rev().find(|line| !line.trim().is_empty())?;
    let words = line.to_ascii_lowercase();
    let is_prompt = ASKING.iter().any(|word| words.contains(word));
    let ends_open = matches!(
        line.trim_end().chars().next_back(),
        Some(':' | '?' | '>' | ')' | ']')
    );
    (is_prompt && (ends_open || words.contains("press") || words.contains("sign in")))
        .then_some(line.as_str())
}

/// The line in which a program says that it fetches or builds something, if one does.
pub(super) fn fetching(lines: &[String]) -> Option<&str> {
    const FETCHING: &[&str] = &[
        "download",
        "fetching",
        "installing",
        "unable to find image",
        "pulling",
        "resolving dependencies",
        "compiling",
        "building",
        "npm warn exec",
        "packages are looking for funding",
        "preparing packages",
        "will be installed",
    ];
    let is_fetching = |line: &&String| {
        let words = line.to_ascii_lowercase();
        FETCHING.iter().any(|word| words.contains(word))
    };
    lines.iter().rev().find(is_fetching).map(String::as_str)
}

/// Whether a command is one that fetches its program at the first run.
pub(super) fn fetches(program: &str, args: &str) -> bool {
    let mut words = args.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    match program.trim_end_matches(".cmd").trim_end_matches(".exe") {
        "npx" | "uvx" | "bunx" | "pipx" => true,
        "npm" => matches!(first, "exec" | "x"),
        "pnpm" | "yarn" => first == "dlx",
        "uv" => matches!(first, "run" | "tool"),
        "deno" => args.contains("npm:") || args.contains("jsr:") || args.contains("https:"),
        "docker" | "podman" => first == "run",
        "cargo" | "go" | "dotnet" => first == "run",
        _ => false,
    }
}

/// The words of the last line that may be names of programs.
pub(super) fn programs(lines: &[String]) -> impl Iterator<Item = &str> {
    let last = lines.last().map(String::as_str).unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    last.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

/// The address at which a server says that it listens, if a line says so.
pub(super) fn listening(lines: &[String]) -> Option<&str> {
    let mut words = lines.iter().flat_map(|line| line.split_whitespace());
    let url = words.find(|word| word.starts_with("http://") || word.starts_with("https://"))?;
    Some(url.trim_end_matches(['.', ',', ')', ']', '"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn last_words_lead_to_what_is_missing() {
        for (words, cause) in [
            ("Error: Cannot find module 'express'", "a module"),
            ("ModuleNotFoundError: No module named 'mcp'", "a module"),
            ("npm error 404 Not Found - GET https://x", "no npm package"),
            ("the input device is not a TTY", "a terminal"),
            (
                "GITHUB_TOKEN environment variable is required",
                "a variable",
            ),
            ("OSError: [Errno 98] Address already in use", "a port"),
            (
                "server.py: error: unrecognized arguments: --foo",
                "its arguments",
            ),
        ] {
            let meaning = meaning(&lines(&["starting", words])).unwrap();
            assert!(meaning.cause.contains(cause), "{words}: {meaning:?}");
        }
        assert_eq!(meaning(&lines(&["boom"])), None);
    }

    #[test]
    fn a_question_is_told_from_a_remark() {
        for asking in [
            "Password: ",
            "Ok to proceed? (y) ",
            "Press any key to continue",
            "Continue? [y/N]",
        ] {
            assert!(question(&lines(&["hello", asking])).is_some(), "{asking}");
        }
        for remark in [
            "starting",
            "password store opened",
            "listening on :3000",
            "ready:",
        ] {
            assert_eq!(question(&lines(&[remark])), None, "{remark}");
        }
        assert_eq!(question(&lines(&["Password: ", "thank you"])), None);
    }

    #[test]
    fn downloads_are_seen_in_the_command_or_in_what_it_says() {
        assert!(fetches("npx", "-y thing"));
        assert!(fetches("docker", "run -i thing"));
        assert!(!fetches("docker", "exec thing"));
        assert!(!fetches("node", "server.js"));
        assert!(fetching(&lines(&["Downloading numpy (15 MiB)"])).is_some());
        assert_eq!(fetching(&lines(&["ready"])), None);
    }

    #[test]
    fn an_address_in_a_line_is_found() {
        let said = lines(&["Server listening on http://localhost:3000/mcp."]);
        assert_eq!(listening(&said), Some("http://localhost:3000/mcp"));
    }
}
