//! Options for reading config files.

/// Options for reading config files: see [`Config::load_with`](super::Config::load_with).
///
/// ```
/// use switchboard_config::ReadOptions;
///
/// let options = ReadOptions::default().strict(true);
/// assert!(options.strict && !options.name_unnamed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// An unknown key is an error, and the entry that has it is not used. Otherwise it is a warning.
    pub strict: bool,
    /// An entry of a list that has no name is used as `unnamed-N`, with a warning; `N` is its place in the
    /// list, from 1. Otherwise it is an error.
    pub name_unnamed: bool,
}

impl ReadOptions {
    /// Sets whether an unknown key is an error.
    #[must_use]
    pub fn strict(mut self, is_on: bool) -> Self {
        self.strict = is_on;
        self
    }

    /// Sets whether an entry without a name is used as `unnamed-N`.
    #[must_use]
    pub fn name_unnamed(mut self, is_on: bool) -> Self {
        self.name_unnamed = is_on;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use switchboard_core::environment::Environment;
    use switchboard_core::spec::{Endpoint, Layer};

    use super::*;
    use crate::{Config, Expansion, ProblemKind};

    const FILE: &str = "/home/me/mcp.json";

    fn read(text: &str, options: ReadOptions) -> Config {
        Config::read_with(text, Path::new(FILE), Layer::User, options)
    }

    #[test]
    fn an_unknown_key_is_an_error_in_strict_mode() {
        let text = r#"{"mcpServers": {
            "good": {"command": "x"},
            "odd": {"command": "x", "comand_line": 1}}, "extra": 1}"#;
        let usual = read(text, ReadOptions::default());
        assert_eq!((usual.entries().len(), usual.problems().len()), (2, 2));
        assert!(usual.problems().iter().all(|problem| !problem.is_error()));
        let strict = read(text, ReadOptions::default().strict(true));
        assert_eq!(strict.entries().len(), 1);
        assert!(strict.get("good").is_some() && strict.bad("odd").is_some());
        for problem in strict.problems() {
            assert_eq!(problem.kind(), ProblemKind::UnknownKey);
            assert!(problem.is_error(), "{problem}");
        }
        assert_eq!(strict.problems().len(), 2);
    }

    #[test]
    fn an_entry_without_a_name_is_reported_and_named_on_request() {
        let text =
            r#"{"servers": [{"command": "a"}, {"name": "b", "command": "b"}, {"command": "c"}]}"#;
        let usual = read(text, ReadOptions::default());
        assert_eq!(usual.entries().len(), 1);
        assert!(usual.problems()[0].is_error());
        let named = read(text, ReadOptions::default().name_unnamed(true));
        let names: Vec<&str> = named
            .entries()
            .iter()
            .map(|entry| entry.name().as_str())
            .collect();
        assert_eq!(names, ["unnamed-1", "b", "unnamed-3"]);
        assert_eq!(named.problems().len(), 2);
        for problem in named.problems() {
            assert_eq!(
                (problem.kind(), problem.is_error()),
                (ProblemKind::NoName, false)
            );
        }
        // A name that is taken already is not taken away.
        let text = r#"{"servers": [{"command": "a"}, {"name": "unnamed-1", "command": "b"}]}"#;
        let named = read(text, ReadOptions::default().name_unnamed(true));
        assert_eq!(named.entries().len(), 1);
        assert_eq!(named.get("unnamed-1").unwrap().command(), Some("b"));
    }

    #[test]
    fn a_tilde_at_the_beginning_of_a_path_is_the_home_folder() {
        let text = r#"{"mcpServers": {"a": {"command": "~/bin/x", "args": ["~/y", "a~b"], "cwd": "~",
            "roots": ["~/one", "two/~"]}}}"#;
        let config = read(text, ReadOptions::default());
        assert!(config.problems().is_empty(), "{:?}", config.problems());
        let environment = Environment::default();
        let expansion =
            Expansion::new(&environment, Path::new("/w")).home(Some(Path::new("/home/you")));
        let spec = config.get("a").unwrap().expand(&expansion).unwrap();
        let Endpoint::Process(process) = &spec.endpoint else {
            unreachable!("it has a command");
        };
        assert_eq!(process.command, "/home/you/bin/x");
        // Arguments are the program's own: no shell reads them.
        assert_eq!(process.args, ["~/y", "a~b"]);
        assert_eq!(process.cwd.as_deref(), Some(Path::new("/home/you")));
        let roots = ["/home/you/one", "/home/me/two/~"].map(|root| Path::new(root).to_owned());
        assert_eq!(spec.settings.roots, roots);
        // Without a home it is an error that says so.
        let expansion = Expansion::new(&environment, Path::new("/w"));
        let error = config.get("a").unwrap().expand(&expansion).unwrap_err();
        assert!(error.to_string().contains("no home folder"), "{error}");
    }

    #[test]
    fn settings_of_messages_and_requests_are_read() {
        let text = r#"{"mcpServers": {
            "a": {"command": "x", "message_bytes": "16 MiB"},
            "b": {"url": "http://y", "message_bytes": 65536, "follow_redirects": false,
                "override_headers": true},
            "c": {"command": "x", "message_bytes": 1}}}"#;
        let config = read(text, ReadOptions::default());
        let bytes = |name: &str| config.get(name).unwrap().settings().message_bytes;
        assert_eq!((bytes("a"), bytes("b")), (Some(16 << 20), Some(65536)));
        assert!(config.bad("c").is_some());
        let environment = Environment::default();
        let expansion = Expansion::new(&environment, Path::new("/w"));
        let spec = config.get("b").unwrap().expand(&expansion).unwrap();
        let Endpoint::Remote(remote) = &spec.endpoint else {
            unreachable!("it has a URL");
        };
        assert!(remote.override_headers && !remote.follow_redirects);
    }
}
