//! Completion at the prompt. Starts no server: names come from the catalog, and values from the completions
//! of a connected server.

use std::sync::{Arc, Mutex, PoisonError};

use reedline::{Completer, CompletionResult, CompletionStatus, Span, Suggestion};
use switchboard::catalog::{PromptEntry, TemplateEntry, UriTemplate};
use switchboard::host::{Host, ToolHandle, View};
use switchboard::schema::parameters::{JsonType, Parameters};
use switchboard::text::sanitise_line;
use tokio::runtime::Handle;

use super::suggest::{Arrival, Suggestions};
use super::words::{self, Asked, Candidate, Of};

/// Maximum number of candidates.
const MOST: usize = 500;
/// Maximum length of the description of a candidate.
const LONGEST_WORDS: usize = 60;

/// The completer of the prompt: names of an open host, and suggestions of its servers.
#[derive(Clone, Default)]
pub(crate) struct Names {
    known: Arc<Mutex<Option<(Host, View)>>>,
    suggestions: Suggestions,
    /// The runtime that requests to servers are spawned on.
    runtime: Option<Handle>,
}

impl Names {
    /// Creates a completer that asks servers on the current runtime.
    pub(super) fn here() -> Self {
        Self {
            runtime: Handle::try_current().ok(),
            ..Self::default()
        }
    }

    /// Switches to another host.
    pub(super) fn set(&self, host: Host, view: View) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((host, view));
    }

    fn current(&self) -> Option<(Host, View)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Asks a connected server for the values of an argument. Returns false if the answer takes longer than
    /// the editor waits.
    fn suggest(&self, before: &str, (host, view): &(Host, View), offers: &mut Offers) -> bool {
        let Some((asked, runtime)) = words::typed_argument(before).zip(self.runtime.as_ref())
        else {
            return true;
        };
        // Not for agents: their request may raise a question to the person, who is typing.
        let is_ready = view.caller().is_owner()
            && host.server(&asked.server).is_ok_and(|status| {
                let offers = status.capabilities.as_ref();
                offers.is_some_and(switchboard::protocol::ServerCapabilities::has_completions)
            });
        let argument = offers.argument(&asked).filter(|_| is_ready);
        // Values that the definition lists need no request.
        let Some(argument) = argument.filter(|argument| argument.values.is_empty()) else {
            return true;
        };
        match self.suggestions.ask(asked, view, runtime) {
            Some(values) => {
                argument.values = values;
                true
            }
            None => false,
        }
    }
}

impl Completer for Names {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        // The text after the cursor plays no role.
        let before = line.get(..position).unwrap_or(line);
        let known = self.current();
        let mut offers = match &known {
            Some((host, view)) => Offers::of(host, view),
            None => Offers::default(),
        };
        if let Some(known) = &known
            && !self.suggest(before, known, &mut offers)
        {
            // The line editor asks again when the values have arrived.
            return CompletionResult::Pending;
        }
        let (start, candidates) = words::next(before, &offers);
        // Only the last word is replaced.
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

    fn poll_completion(&mut self) -> CompletionStatus {
        match self.suggestions.late() {
            None => CompletionStatus::Idle,
            Some(Arrival::ToCome) => CompletionStatus::Pending,
            Some(Arrival::Now) => CompletionStatus::Ready,
        }
    }
}

/// The names that can be completed.
#[derive(Debug, Default)]
pub(super) struct Offers {
    /// The servers.
    pub(super) servers: Vec<Candidate>,
    /// `SERVER/TOOL`, with its arguments.
    pub(super) tools: Vec<(Candidate, Vec<OfferedArgument>)>,
    /// `SERVER/PROMPT`, with its arguments.
    pub(super) prompts: Vec<(Candidate, Vec<OfferedArgument>)>,
    /// Resources, by server.
    pub(super) resources: Vec<(String, Candidate)>,
    /// Templates with their variables, by server.
    pub(super) templates: Vec<(String, (Candidate, Vec<OfferedArgument>))>,
}

/// An argument, and its possible values if they are few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OfferedArgument {
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
            // An agent completes only what it may see.
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
            templates: view.templates().iter().map(template).collect(),
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

impl Offers {
    /// Returns the argument that is being typed, if it exists.
    fn argument(&mut self, asked: &Asked) -> Option<&mut OfferedArgument> {
        let arguments = match &asked.of {
            Of::Prompt(name) => {
                let key = format!("{}/{name}", asked.server);
                let mut prompts = self.prompts.iter_mut();
                &mut prompts.find(|(known, _)| known.value == key)?.1
            }
            Of::Template(uri) => {
                let mut templates = self.templates.iter_mut();
                let is_meant = |(server, (known, _)): &&mut (String, (Candidate, _))| {
                    *server == asked.server && known.value == *uri
                };
                &mut templates.find(is_meant)?.1.1
            }
        };
        let mut arguments = arguments.iter_mut();
        arguments.find(|argument| argument.name == asked.argument)
    }
}

fn template(entry: &Arc<TemplateEntry>) -> (String, (Candidate, Vec<OfferedArgument>)) {
    let words = entry.title().or(entry.description()).unwrap_or_default();
    let read = UriTemplate::parse(entry.uri_template());
    let arguments = read.iter().flat_map(UriTemplate::variables);
    let arguments = arguments.map(|(name, is_required)| OfferedArgument {
        name: name.to_owned(),
        about: if is_required {
            "required".to_owned()
        } else {
            String::new()
        },
        values: Vec::new(),
    });
    let uri = Candidate::whole(entry.uri_template().to_owned(), words);
    (entry.server().to_string(), (uri, arguments.collect()))
}

fn tool(tool: &ToolHandle) -> (Candidate, Vec<OfferedArgument>) {
    let entry = tool.entry();
    let words = entry.title().or(entry.description()).unwrap_or_default();
    let parameters = Parameters::read(entry.tool().input_schema().raw());
    let arguments = parameters.iter().map(|parameter| {
        // Choices of the schema complete without asking the server.
        let choices = parameter.shape.choices.iter().flatten();
        let mut values: Vec<String> = choices
            .map(|value| value.as_text().unwrap_or_else(|| value.as_str().to_owned()))
            .collect();
        if values.is_empty() && parameter.shape.kinds.as_deref() == Some(&[JsonType::Boolean]) {
            values = vec!["true".to_owned(), "false".to_owned()];
        }
        OfferedArgument {
            name: parameter.name.clone(),
            about: if parameter.required {
                "required".to_owned()
            } else {
                String::new()
            },
            values,
        }
    });
    let key = format!("{}/{}", tool.server(), tool.raw_name());
    (Candidate::whole(key, words), arguments.collect())
}

fn prompt(entry: &Arc<PromptEntry>) -> (Candidate, Vec<OfferedArgument>) {
    let words = entry.title().or(entry.description()).unwrap_or_default();
    let arguments = entry
        .prompt()
        .arguments()
        .iter()
        .map(|argument| OfferedArgument {
            name: argument.name().to_owned(),
            about: if argument.required() {
                "required".to_owned()
            } else {
                String::new()
            },
            values: Vec::new(),
        });
    let key = format!("{}/{}", entry.server(), entry.name());
    (Candidate::whole(key, words), arguments.collect())
}

impl Candidate {
    /// Creates a candidate for a complete word. Its description is made safe to show.
    pub(super) fn whole(value: String, about: &str) -> Self {
        Self {
            value,
            about: sanitise_line(about.lines().next().unwrap_or_default()).into_owned(),
            is_whole: true,
        }
    }
}
