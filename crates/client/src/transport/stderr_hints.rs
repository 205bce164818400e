//! Known causes of failure in a server's stderr, in the words that common tools use.

// long because: most of it is the table of what servers say.

/// The meaning of a server's last lines of stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    pub cause: &'static str,
    pub step: &'static str,
    pub about: About,
}

/// The subject of a cause, for which a report can say more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// A certificate that is not trusted.
    Certificates,
    /// An address that cannot be reached.
    Network,
    /// An address at which nothing answers.
    Service,
    /// An npm package that does not exist.
    NpmPackage,
    /// A Python package that does not exist.
    PythonPackage,
    /// A module that is not installed, or a script that does not exist.
    Module,
    /// A file that does not exist.
    File,
    /// A variable that is not set.
    Variable,
    /// Something that a process of an earlier run may still hold.
    Leftovers,
    Other,
}

/// Phrases that precede the end of a server, with their meaning, all in lower case. The first match
/// counts, so specific ones come before general ones.
const HINTS: &[(&[&str], Meaning)] = &[
    (
        &["not a tty", "not a terminal", "inappropriate ioctl"],
        Meaning {
            cause: "it wants a terminal, and a server has none",
            step: "take options such as `-t` or `--interactive` out of its arguments: of `docker run -it` leave `docker run -i`",
            about: About::Other,
        },
    ),
    (
        &["cannot connect to the docker daemon"],
        Meaning {
            cause: "Docker is installed but not running",
            step: "start it: `sudo systemctl start docker`, or open Docker Desktop",
            about: About::Other,
        },
    ),
    (
        &["npm error 404", "npm err! 404", "e404"],
        Meaning {
            cause: "there is no npm package of that name",
            step: "look for its right name: `npm search NAME`",
            about: About::NpmPackage,
        },
    ),
    (
        &["no solution found", "was not found in the package registry"],
        Meaning {
            cause: "there is no Python package of that name or version",
            step: "check the name of the package in its arguments",
            about: About::PythonPackage,
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
            about: About::Module,
        },
    ),
    (
        &[
            "certificate_verify_failed",
            "certificate verify failed",
            "unable to verify the first certificate",
            "unable_to_verify_leaf_signature",
            "unable to get local issuer certificate",
            "unable_to_get_issuer_cert",
            "self_signed_cert_in_chain",
            "depth_zero_self_signed_cert",
            "self-signed certificate",
            "self signed certificate",
            "certificate signed by unknown authority",
            "unknownissuer",
            "sslcertverificationerror",
            "certificate has expired",
            "cert_has_expired",
            "err_tls_cert_altname_invalid",
        ],
        Meaning {
            cause: "it does not trust the certificate of the host that it connects to",
            step: "name the authority's certificate for it: `NODE_EXTRA_CA_CERTS` for Node.js, `SSL_CERT_FILE` for Python and others",
            about: About::Certificates,
        },
    ),
    (
        &["proxy authentication required", "407 proxy"],
        Meaning {
            cause: "the proxy requires a user name and a password",
            step: "check the user name and the password in the proxy's variable",
            about: About::Network,
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
            cause: "it cannot reach the network, or the host does not exist",
            step: "check the network; a proxy that `HTTPS_PROXY` names is passed on to servers",
            about: About::Network,
        },
    ),
    (
        &["econnrefused", "connection refused", "etimedout"],
        Meaning {
            cause: "something that it connects to does not answer: a database, another service, the network",
            step: "see which address it names, and whether something listens there",
            about: About::Service,
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
            about: About::Other,
        },
    ),
    (
        &["syntaxerror"],
        Meaning {
            cause: "its own code cannot be read, often because the language is too old for it",
            step: "see which one is used: `node --version` or `python3 --version`",
            about: About::Other,
        },
    ),
    (
        &["eaddrinuse", "address already in use"],
        Meaning {
            cause: "it wants a port that is taken, perhaps by another copy of itself",
            step: "look for a process of an earlier run that still has the port",
            about: About::Leftovers,
        },
    ),
    (
        &[
            "can't open file",
            "cannot open file",
            "enoent: no such file",
        ],
        Meaning {
            cause: "a file that it needs does not exist",
            step: "correct the path in its arguments; a relative path starts at its working folder (`cwd`)",
            about: About::File,
        },
    ),
    (
        &["eacces", "permission denied"],
        Meaning {
            cause: "it may not read, write or run something that it needs",
            step: "see which file it names, and who may use it: `ls -l FILE`",
            about: About::Other,
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
            about: About::Other,
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
            about: About::Variable,
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
            about: About::Other,
        },
    ),
];

/// Returns the known cause in the last lines of a server that ended.
pub fn meaning(lines: &[String]) -> Option<Meaning> {
    let text = lines.join("\n").to_ascii_lowercase();
    let fits = |(words, _): &&(&[&str], Meaning)| words.iter().any(|word| text.contains(word));
    // The first that fits: the table goes from the specific to the vague.
    HINTS.iter().find(fits).map(|(_, meaning)| *meaning)
}

/// Returns true if a server that ended right after the first request names a cause of its own.
/// Phrases about the request itself do not count: they mean an older server that fails on it.
pub fn names_cause(lines: &[String]) -> bool {
    let is_about_question = |line: &String| {
        let line = line.to_ascii_lowercase();
        let asked = [
            "server/discover",
            "initialize request",
            "initialized request",
        ];
        asked.iter().any(|words| line.contains(words))
    };
    !lines.iter().any(is_about_question) && lines.iter().any(|line| is_cause(line))
}

/// Words that tell a failure from ordinary output.
const FAILURE: &[&str] = &[
    "already in use",
    "cannot",
    "can't",
    "could not",
    "denied",
    "eacces",
    "eaddrinuse",
    "etimedout",
    "err",
    "exception",
    "fail",
    "fatal",
    "invalid",
    "missing",
    "must be",
    "no such",
    "not found",
    "not set",
    "refused",
    "required",
    "unable",
    "unknown",
];

/// Returns true if a line reports a known failure. `memory usage: 41 MB` does not.
fn is_cause(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_usage = lower.trim_start().starts_with("usage:");
    (is_usage || FAILURE.iter().any(|word| lower.contains(word))) && meaning(&[lower]).is_some()
}

/// The lines that look like the cause of a failure, at most three: those with a known meaning, or
/// those that begin like errors.
pub fn cause_lines(lines: &[String]) -> Vec<&str> {
    const MOST: usize = 3;
    const BEGINNINGS: &[&str] = &["error", "fatal", "panic", "uncaught", "failed to"];
    let text = lines.join("\n").to_ascii_lowercase();
    let known = HINTS
        .iter()
        .find(|(words, _)| words.iter().any(|word| text.contains(word)));
    let is_error = |line: &&String| {
        let line = line.trim_start().to_ascii_lowercase();
        // `TypeError: ...` and `java.lang.IOException: ...` begin with the name of the error.
        let head = line.split([':', ' ']).next().unwrap_or_default();
        BEGINNINGS.iter().any(|word| line.starts_with(word))
            || head.ends_with("error")
            || head.ends_with("exception")
    };
    let is_known = |line: &&String| {
        let line = line.to_ascii_lowercase();
        known.is_some_and(|(words, _)| words.iter().any(|word| line.contains(word)))
    };
    // A line that is both is the best evidence; `usage:` alone is known too, but not an error.
    let both = |line: &&String| is_error(line) && is_known(line);
    let first = |is: &dyn Fn(&&String) -> bool| -> Vec<&str> {
        let found = lines.iter().filter(is).map(String::as_str);
        found.take(MOST).collect()
    };
    [first(&both), first(&is_error), first(&is_known)]
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// The line in which a launcher reports that it fetches or builds something, if there is one.
pub fn fetching(lines: &[String]) -> Option<&str> {
    let mut lines = lines.iter().rev().map(String::as_str);
    lines.find(|line| is_fetching(line))
}

/// Returns true if a line on stderr reports that something is fetched or built, as launchers do.
pub fn is_fetching(line: &str) -> bool {
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
    let words = line.to_ascii_lowercase();
    FETCHING.iter().any(|word| words.contains(word))
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
                "Error: unable to verify the first certificate",
                "the certificate",
            ),
            (
                "x509: certificate signed by unknown authority",
                "the certificate",
            ),
            (
                "npm error code SELF_SIGNED_CERT_IN_CHAIN",
                "the certificate",
            ),
            (
                "Error: connect ECONNREFUSED 127.0.0.1:5432",
                "does not answer",
            ),
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
    fn a_server_that_cannot_bear_the_probe_names_no_cause() {
        for said in [
            &["boom"][..],
            &["Error: expect initialize request, but received: server/discover"],
            &["unknown method server/discover", "usage: thing"],
            &[],
        ] {
            assert!(!names_cause(&lines(said)), "{said:?}");
        }
        for said in [
            "memory usage: 41 MB",
            "LOG_LEVEL env var empty, using info",
            "build 5e40401",
        ] {
            assert!(!names_cause(&lines(&[said])), "{said:?}");
        }
        assert!(names_cause(&lines(&["API_KEY is not set"])));
        assert!(names_cause(&lines(&[
            "Cannot find module 'x'",
            "at node:internal"
        ])));
    }

    #[test]
    fn the_cause_is_found_among_pages_of_usage() {
        let cause = "Error: invalid configuration: no configuration has been provided, try setting \
                     KUBERNETES_MASTER environment variable";
        let mut said = lines(&[cause, "Usage:", "  kubernetes-mcp-server [command]"]);
        said.extend((0..20).map(|n| format!("      --flag-{n} string   error: does something")));
        assert_eq!(cause_lines(&said), [cause]);
        let trace = lines(&[
            "Traceback (most recent call last):",
            "  File \"a.py\", line 1, in <module>",
            "ValueError: boom",
        ]);
        assert_eq!(cause_lines(&trace), ["ValueError: boom"]);
        assert_eq!(cause_lines(&lines(&["ready", "bye"])), [""; 0]);
    }

    #[test]
    fn downloads_are_seen_in_what_a_launcher_says() {
        assert!(fetching(&lines(&["Downloading numpy (15 MiB)"])).is_some());
        assert_eq!(fetching(&lines(&["ready"])), None);
    }
}
