//! Where a server is described, for the lines that a person is told to paste.

use super::Diagnosis;
use crate::error::Context;
use crate::secret::MASK;
use crate::text::{shell_path, shell_word};

/// Where a server is described.
#[derive(Clone, Copy)]
pub(super) struct Place<'a>(pub(super) &'a Context);

impl<'a> Place<'a> {
    /// The server's name, as a word of a shell's line.
    pub(super) fn name(self) -> String {
        let name = self.0.server.as_ref().map_or("NAME", |name| name.as_str());
        shell_word(name).into_owned()
    }

    /// Whether a file describes the server.
    pub(super) fn is_in_file(self) -> bool {
        self.0.file.is_some()
    }

    /// The file and line of the server's entry.
    pub(super) fn entry(self) -> Option<String> {
        let file = self.0.file.as_ref()?.display();
        Some(match self.0.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_string(),
        })
    }

    /// A verb about the server, with the file where that has to be named.
    pub(super) fn verb(self, verb: &str) -> String {
        let file = self.0.file.as_ref().filter(|_| self.is_named());
        let file =
            file.map(|file| format!(" --config {}", shell_path(&file.display().to_string())));
        format!(
            "`switchboard {verb} {}{}`",
            self.name(),
            file.unwrap_or_default()
        )
    }

    /// What tries the server again, with more options; nothing where secrets would have to be in it.
    pub(super) fn again(self, options: &str) -> Option<String> {
        let options = match options {
            "" => String::new(),
            options => format!(" {options}"),
        };
        if self.is_in_file() {
            let verb = self.verb("tools");
            return Some(format!("{}{options}`", verb.trim_end_matches('`')));
        }
        let described = match (self.command_line(), self.url()) {
            (Some(line), _) => format!("--stdio \"{line}\""),
            (None, Some(url)) if !url.contains(MASK) => format!("--url {}", shell_path(url)),
            (None, _) => return None,
        };
        Some(format!("`switchboard tools {described}{options}`"))
    }

    /// The command and its arguments, as they can be typed.
    pub(super) fn by_hand(self) -> Option<String> {
        self.command_line().map(|line| format!("`{line}`"))
    }

    /// The program that is run, without its folder.
    pub(super) fn program(self) -> Option<&'a str> {
        let (command, _) = self.command()?;
        command.rsplit(['/', '\\']).next()
    }

    /// The arguments, with blanks between them.
    pub(super) fn args(self) -> &'a str {
        self.command().map_or("", |(_, args)| args)
    }

    /// The URL of a server that is reached by one.
    pub(super) fn url(self) -> Option<&'a str> {
        let identity = self.0.identity.as_deref()?;
        let url = identity.strip_prefix("http:");
        url.or_else(|| identity.strip_prefix("sse:"))
    }

    /// Tells to write a member into the server's entry.
    pub(super) fn set(self, member: &str) -> Option<String> {
        let entry = self.entry()?;
        Some(format!("or write `{member}` into its entry: {entry}"))
    }

    /// Adds what gives the server more time: now, and from now on.
    pub(super) fn more_time(self, field: &str, diagnosis: &mut Diagnosis) {
        let now = match self.again("--timeout 2m") {
            Some(again) if field == "connect_timeout" => format!("give it more time: {again}"),
            _ => "give it more time: add `--timeout 2m` to the command".to_owned(),
        };
        diagnosis.steps.push(now);
        let always = self.set(&format!("\"{field}\": \"2m\""));
        diagnosis.steps.extend(always);
    }

    /// Whether the file is one that the person named, so that it is not looked at by itself.
    fn is_named(self) -> bool {
        self.0.layer.as_deref() == Some("named")
    }

    /// The command and its arguments; nothing where a part of it is masked, or where a shell would
    /// make something else of it: which words belong together is not known here.
    fn command_line(self) -> Option<String> {
        let (command, args) = self.command()?;
        let line = match args {
            "" => command.to_owned(),
            args => format!("{command} {args}"),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.@:+/=, ".contains(c);
        let is_word = !command.is_empty() && !command.contains(' ');
        (is_word && line.chars().all(is_plain)).then_some(line)
    }

    /// The command and its arguments, out of `stdio:CMD:ARGS`.
    fn command(self) -> Option<(&'a str, &'a str)> {
        let line = self.0.identity.as_deref()?.strip_prefix("stdio:")?;
        Some(line.split_once(':').unwrap_or((line, "")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(identity: &str, file: Option<&str>, layer: &str) -> Context {
        Context {
            server: "my-server".parse().ok(),
            identity: Some(identity.to_owned()),
            file: file.map(Into::into),
            layer: file.map(|_| layer.to_owned()),
            line: file.map(|_| 7),
            column: None,
        }
    }

    #[test]
    fn a_server_of_a_file_is_named_and_its_file_where_it_must_be() {
        let own = context("stdio:npx:-y thing", Some("/h/mcp.json"), "user");
        assert_eq!(
            Place(&own).again("--timeout 2m").unwrap(),
            "`switchboard tools my-server --timeout 2m`"
        );
        assert_eq!(Place(&own).entry().unwrap(), "/h/mcp.json:7");
        let named = context("stdio:npx", Some("/a b/mcp.json"), "named");
        assert_eq!(
            Place(&named).verb("enable"),
            "`switchboard enable my-server --config '/a b/mcp.json'`"
        );
    }

    #[test]
    fn a_server_of_the_command_line_is_described_again_unless_something_is_masked() {
        let started = context("stdio:npx:-y thing", None, "");
        assert_eq!(
            Place(&started).again("").unwrap(),
            "`switchboard tools --stdio \"npx -y thing\"`"
        );
        assert_eq!(Place(&started).program(), Some("npx"));
        assert_eq!(Place(&started).by_hand().unwrap(), "`npx -y thing`");
        for risky in [
            "stdio:npx:--token ***",
            "stdio:sh:-c a; b",
            "stdio:sh:$(id)",
            "stdio:a b",
        ] {
            let risky = context(risky, None, "");
            assert_eq!(Place(&risky).again(""), None);
            assert_eq!(Place(&risky).by_hand(), None);
        }
        let remote = context("http:https://example.com/mcp", None, "");
        assert_eq!(
            Place(&remote).again("").unwrap(),
            "`switchboard tools --url https://example.com/mcp`"
        );
    }
}
