//! Reports as text.

use std::io::{self, IsTerminal as _};

use switchboard::secret::Redactor;
use switchboard::text::{excerpt, sanitise_line, shell_line};
use switchboard_terminal::path::shorten;

use super::{Report, ReportSource};
use crate::exit::Exit;
use crate::role;
use crate::style::Style;

/// Maximum length of a line; servers write some of them.
const LONGEST_LINE: usize = 1000;

impl Report {
    /// Formats the report for a terminal, without secrets, and without control characters except those of the
    /// style.
    pub(crate) fn text(&self, secrets: &Redactor, style: Style, verbose: bool) -> String {
        let whole = |text: &str| sanitise_line(&secrets.redact(text)).into_owned();
        let line =
            |text: &str| sanitise_line(&excerpt(&secrets.redact(text), LONGEST_LINE)).into_owned();
        let title = style.strong(&line(&self.message));
        let mut out = format!("{} {title}\n", style.error("error:"));
        // Server, command and file first, then the facts of the failure.
        let file = self.source.as_ref().and_then(ReportSource::display);
        let mut facts: Vec<(&str, &str)> = Vec::new();
        facts.extend(self.server.as_deref().map(|name| ("server", name)));
        let command = self.command.as_deref();
        let command = command.and_then(|command| self.place(command, secrets));
        facts.extend(
            command
                .as_ref()
                .map(|(name, value)| (*name, value.as_str())),
        );
        facts.extend(file.as_deref().map(|file| ("file", file)));
        facts.extend(
            self.shown_facts(verbose)
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        for (name, value) in facts {
            let name = style.dim(&format!("{}:", line(name)));
            out.push_str(&format!("  {name} {}\n", line(value)));
        }
        for (title, lines) in &self.evidence {
            out.push_str(&format!("  {}\n", style.dim(&format!("{}:", line(title)))));
            // The unmasked text of a project's file is for the person, not for an agent at the prompt.
            let is_seen = io::stderr().is_terminal() && role::agent().is_none();
            let at_terminal = self.whole.as_ref().filter(|_| is_seen);
            for text in at_terminal.unwrap_or(lines) {
                // Text that is to be approved is shown to its end.
                let is_whole = matches!(self.exit, Exit::Denied | Exit::Changed);
                let text = if is_whole || self.kind == "untrusted" {
                    whole(text)
                } else {
                    line(text)
                };
                out.push_str(&format!("    {} {text}\n", style.dim("|")));
            }
        }
        for (title, lines) in [
            ("possible causes:", &self.causes),
            ("what to do:", &self.hints),
        ] {
            if !lines.is_empty() {
                out.push_str(&format!("  {}\n", style.dim(title)));
            }
            for text in lines {
                out.push_str(&format!("    - {}\n", style.code(&line(text))));
            }
        }
        out
    }

    /// Returns the command of the server, or its URL if no fact has it.
    fn place(&self, identity: &str, secrets: &Redactor) -> Option<(&'static str, String)> {
        let url = identity.strip_prefix("http:");
        let Some(url) = url.or_else(|| identity.strip_prefix("sse:")) else {
            let command = || {
                let command = identity.strip_prefix("stdio:").unwrap_or(identity);
                command.replacen(':', " ", 1)
            };
            // Quoted, so that it can be pasted; without secrets first, which quotes would hide from the search.
            let words = self.words.as_ref();
            let quoted = words.map(|words| {
                let words: Vec<_> = words.iter().map(|word| secrets.redact(word)).collect();
                shell_line(&words)
            });
            return Some(("command", quoted.unwrap_or_else(command)));
        };
        let is_told = self.facts.iter().any(|(name, _)| name == "url");
        (!is_told).then(|| ("url", url.to_owned()))
    }
}

impl ReportSource {
    /// Formats the place as editors read it, and the layer of the file.
    fn display(&self) -> Option<String> {
        let file = &shorten(self.file.as_deref()?);
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            (Some(line), None) => format!("{file}:{line}"),
            (None, _) => file.clone(),
        };
        Some(match &self.layer {
            // The file that was named.
            Some(layer) if layer == "named" => format!("{place} (--config)"),
            Some(layer) => format!("{place} ({layer})"),
            None => place,
        })
    }
}
