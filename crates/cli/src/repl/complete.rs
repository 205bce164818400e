//! Which words may come next. Nothing is started for it: names are those that are known already.

use std::sync::{Arc, Mutex, PoisonError};

use reedline::{Completer, CompletionResult, Span, Suggestion};
use switchboard::catalog::PromptEntry;
use switchboard::host::{Host, ToolHandle, View};
use switchboard::text::sanitise_line;

use super::words::{self, Candidate};
use crate::schema::{Kind, Parameters};

/// The most names that are offered at once: nobody looks through more.
const MOST: usize = 500;
/// What is said about a name is at most this long.
const LONGEST_WORDS: usize = 60;

/// The names that can be completed: those of an open host.
#[derive(Clone, Default)]
pub(crate) struct Names(Arc<Mutex<Option<(Host, View)>>>);

impl Names {
    /// Completes from another host from now on.
    pub(super) fn set(&self, host: Host, view: View) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((host, view));
    }

    fn offers(&self) -> Offers {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((host, view)) => Offers::of(host, view),
            None => Offers::default(),
        }
    }
}

impl Completer for Names {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let before = line.get(..position).unwrap_or(line);
        let (start, candidates) = words::next(before, &self.offers());
        let span = Span::new(start.min(before.len()), before.len());
        let suggestions = candidates.into_iter().take(MOST).map(|candidate| {
            let words: String = candidate.about.chars().take(LONGEST_WORDS).collect();
            Suggestion {
                value: candidate.value,
                description: (!words.is_empty()).then_some(words),
                span,
                append_whitespace: candidate.is_whole,
                ..Suggestion::default()
            }
        });
        CompletionResult::fresh(suggestions.collect::<Vec<_>>())
    }
}

/// What there is to name.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// The servers.
    pub(super) servers: Vec<Candidate>,
    /// `SERVER/TOOL`, with its arguments.
    pub(super) tools: Vec<(Candidate, Vec<Argument>)>,
    /// `SERVER/PROMPT`, with its arguments.
    pub(super) prompts: Vec<(Candidate, Vec<Argument>)>,
    /// Resources, by server.
    pub(super) resources: Vec<(String, Candidate)>,
}

/// An argument, and the values that it can have where they are few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) values: Vec<String>,
}

impl Offers {
    fn of(host: &Host, view: &View) -> Self {
        let is_owner = view.caller().is_owner();
        let (tools, prompts, resources) = (view.tools(), view.prompts(), view.resources());
        let statuses = host.servers();
        let mut servers: Vec<Candidate> = statuses
            .iter()
            .map(|status| Candidate::whole(status.name.to_string(), status.state.word()))
            .collect();
        if !is_owner {
            // An agent completes what it sees, and nothing else.
            servers.retain(|server| {
                tools
                    .iter()
                    .any(|tool| tool.server().as_str() == server.value)
                    || prompts
                        .iter()
                        .any(|one| one.server().as_str() == server.value)
                    || resources
                        .iter()
                        .any(|one| one.server().as_str() == server.value)
            });
        }
        Self {
            servers,
            tools: tools.iter().map(tool).collect(),
            prompts: prompts.iter().map(prompt).collect(),
            resources: resources
                .iter()
                .map(|entry| {
                    let words = entry.title().unwrap_or_default();
                    let uri = Candidate::whole(entry.uri().to_owned(), words);
                    (entry.server().to_string(), uri)
                })
                .collect(),
        }
    }
}

fn tool(tool: &ToolHandle) -> (Candidate, Vec<Argument>) {
    let entry = tool.entry();
    let words = entry.title().or(entry.description()).unwrap_or_default();
    let parameters = Parameters::read(entry.tool().input_schema().raw());
    let arguments = parameters.iter().map(|parameter| {
        let choices = parameter.shape.choices.iter().flatten();
        let mut values: Vec<String> = choices
            .map(|value| value.as_text().unwrap_or_else(|| value.as_str().to_owned()))
            .collect();
        if values.is_empty() && parameter.shape.kinds.as_deref() == Some(&[Kind::Boolean]) {
            values = vec!["true".to_owned(), "false".to_owned()];
        }
        Argument {
            name: parameter.name.clone(),
            about: match parameter.required {
                true => "required".to_owned(),
                false => String::new(),
            },
            values,
        }
    });
    let key = format!("{}/{}", tool.server(), tool.raw_name());
    (Candidate::whole(key, words), arguments.collect())
}

fn prompt(entry: &Arc<PromptEntry>) -> (Candidate, Vec<Argument>) {
    let words = entry.title().or(entry.description()).unwrap_or_default();
    let arguments = entry.prompt().arguments().iter().map(|argument| Argument {
        name: argument.name().to_owned(),
        about: match argument.required() {
            true => "required".to_owned(),
            false => String::new(),
        },
        values: Vec::new(),
    });
    let key = format!("{}/{}", entry.server(), entry.name());
    (Candidate::whole(key, words), arguments.collect())
}

impl Candidate {
    /// A word that is complete. What is said about it is made safe to show.
    pub(super) fn whole(value: String, about: &str) -> Self {
        Self {
            value,
            about: sanitise_line(about.lines().next().unwrap_or_default()).into_owned(),
            is_whole: true,
        }
    }
}
