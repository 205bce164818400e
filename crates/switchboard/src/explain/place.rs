//! Facts about a server for the steps of a diagnosis, read off the context of an error.

use super::{Diagnosis, ServerEntry, Step, StepTarget, TryPurpose};
use crate::error::Context;
use crate::secret::MASK;
use crate::text::shell_line;

/// The context of an error.
#[derive(Clone, Copy)]
pub(super) struct Place<'a>(pub(super) &'a Context);

impl<'a> Place<'a> {
    /// Returns whether a file describes the server.
    pub(super) fn is_in_file(self) -> bool {
        self.0.file.is_some()
    }

    /// Returns the file and line of the server's entry.
    pub(super) fn entry_place(self) -> Option<String> {
        self.entry().place()
    }

    /// Returns the server and its entry, as steps name them.
    pub(super) fn entry(self) -> ServerEntry {
        ServerEntry {
            server: self.0.server.clone(),
            file: self.0.file.clone(),
            line: self.0.line,
            is_file_named: self.0.layer.as_deref() == Some("named"),
        }
    }

    /// Returns how the server can be tried again, or `None` where a secret would have to be in it.
    pub(super) fn target(self) -> Option<StepTarget> {
        if self.is_in_file() {
            return Some(StepTarget::Entry(self.entry()));
        }
        let url = || {
            let url = self.url().filter(|url| !url.contains(MASK))?;
            Some(StepTarget::Url(url.to_owned()))
        };
        self.command_line().map(StepTarget::Command).or_else(url)
    }

    /// Returns the step that tries the server again, if it can be described.
    pub(super) fn try_again(self, purpose: TryPurpose) -> Option<Step> {
        let target = self.target()?;
        Some(Step::TryAgain { target, purpose })
    }

    /// Returns the program that is run, without its folder.
    pub(super) fn program(self) -> Option<&'a str> {
        let (command, _) = self.command()?;
        command.rsplit(['/', '\\']).next()
    }

    /// Returns the arguments, with blanks between them.
    pub(super) fn args(self) -> &'a str {
        self.command().map_or("", |(_, args)| args)
    }

    /// Returns the URL of a server that is reached by one.
    pub(super) fn url(self) -> Option<&'a str> {
        let identity = self.0.identity.as_deref()?;
        let url = identity.strip_prefix("http:");
        url.or_else(|| identity.strip_prefix("sse:"))
    }

    /// Returns the step that writes a member into the server's entry, if a file has one.
    pub(super) fn edit(self, member: &str) -> Option<Step> {
        self.is_in_file().then(|| Step::EditEntry {
            member: member.to_owned(),
            entry: self.entry(),
        })
    }

    /// Adds the steps that give the server more time: now, and from now on.
    pub(super) fn more_time(self, setting: &'static str, diagnosis: &mut Diagnosis) {
        // Only connecting can be tried without knowing the call that took too long.
        let target = self.target().filter(|_| setting == "connect_timeout");
        diagnosis.steps.push(Step::RaiseTimeout { target, setting });
        let always = self.edit(&format!("\"{setting}\": \"2m\""));
        diagnosis.steps.extend(always);
    }

    /// Returns the command and its arguments as a shell reads them, or `None` where a part of it is masked or
    /// is filled in, or where it is not known which words belong together.
    pub(super) fn command_line(self) -> Option<String> {
        if let Some(words) = &self.0.command {
            let is_plain = |word: &String| {
                !word.contains(MASK) && !word.contains("${") && !word.contains(char::is_control)
            };
            let words = words.iter().all(is_plain).then_some(words)?;
            return Some(shell_line(words));
        }
        let (command, args) = self.command()?;
        let line = match args {
            "" => command.to_owned(),
            args => format!("{command} {args}"),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.@:+/=, ".contains(c);
        let is_word = !command.is_empty() && !command.contains(' ');
        (is_word && line.chars().all(is_plain)).then_some(line)
    }

    /// Returns the command and its arguments, out of `stdio:CMD:ARGS`.
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
            ..Context::default()
        }
    }

    #[test]
    fn a_server_of_a_file_is_named_and_its_file_where_it_must_be() {
        let own = context("stdio:npx:-y thing", Some("/h/mcp.json"), "user");
        let Some(StepTarget::Entry(entry)) = Place(&own).target() else {
            panic!("a file describes it");
        };
        assert_eq!(entry.server.as_ref().unwrap().as_str(), "my-server");
        assert!(!entry.is_file_named);
        assert_eq!(Place(&own).entry_place().unwrap(), "/h/mcp.json:7");
        let named = context("stdio:npx", Some("/a b/mcp.json"), "named");
        assert!(Place(&named).entry().is_file_named);
    }

    #[test]
    fn a_server_of_the_program_is_described_again_unless_something_is_masked() {
        let started = context("stdio:npx:-y thing", None, "");
        let line = "npx -y thing".to_owned();
        assert_eq!(
            Place(&started).target(),
            Some(StepTarget::Command(line.clone()))
        );
        assert_eq!(Place(&started).program(), Some("npx"));
        assert_eq!(Place(&started).command_line(), Some(line));
        for risky in [
            "stdio:npx:--token ***",
            "stdio:sh:-c a; b",
            "stdio:sh:$(id)",
            "stdio:a b",
        ] {
            let risky = context(risky, None, "");
            assert_eq!(Place(&risky).target(), None);
            assert_eq!(Place(&risky).command_line(), None);
        }
        // With the words apart, quotes can be put where a shell needs them.
        let worded = |words: &[&str]| Context {
            command: Some(words.iter().map(|word| (*word).to_owned()).collect()),
            ..context("stdio:sh:-c a; b", None, "")
        };
        let line = Some("sh -c 'a; b'".to_owned());
        assert_eq!(Place(&worded(&["sh", "-c", "a; b"])).command_line(), line);
        for risky in [&["npx", "--token", "***"][..], &["npx", "${TOKEN}"]] {
            assert_eq!(Place(&worded(risky)).command_line(), None);
        }
        let remote = context("http:https://example.com/mcp", None, "");
        assert_eq!(
            Place(&remote).target(),
            Some(StepTarget::Url("https://example.com/mcp".to_owned()))
        );
        let masked = context("http:https://example.com/***", None, "");
        assert_eq!(Place(&masked).target(), None);
    }
}
