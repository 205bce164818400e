//! Elicitation: questions of servers to the person, answered at a terminal or from a script.
//!
//! The library has screened a question before it arrives here: its form can be read and asks for no secret,
//! its URL is one that a person may be sent to. This module shows it, with every text of the server marked as
//! such, and answers it: from the command line (`args::Given`), with a form (`form`, `words`), or by opening
//! a URL (`visit`). Without a person the answer is no.

mod form;
mod visit;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use switchboard::protocol::{ElicitAction, ElicitMode, ElicitParams, ElicitResult};
use switchboard::secret::Redactor;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::{Answers, ElicitLimits, ElicitSupport, Form, Link};
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use crate::ask::{self, Dialogue};
use crate::screen::Screen;

/// Answers elicitation requests, from the command line or by asking the person.
pub(crate) struct Desk {
    answers: Answers,
    environment: Environment,
    /// True if a person can read a question and type an answer.
    has_person: bool,
    /// True if warnings about questions that are answered without the person are shown.
    talks: bool,
}

impl Desk {
    /// Creates a desk with these answers, and with the person if the screen has one.
    pub(crate) fn new(answers: Answers, environment: &Environment, screen: &Screen) -> Self {
        Self {
            answers,
            environment: environment.clone(),
            has_person: ask::Terminal::is_available(screen),
            talks: !screen.is_json() && !screen.is_quiet(),
        }
    }

    /// Returns the questions that can be answered, which is what servers are told of this client.
    pub(crate) fn support(&self) -> ElicitSupport {
        if self.has_person || IS_ALL_DECLARED.load(Ordering::Relaxed) {
            ElicitSupport::FormsAndUrls
        } else if self.answers.is_empty() {
            ElicitSupport::None
        } else {
            ElicitSupport::Forms
        }
    }

    fn warn(&self, text: &str) {
        if self.talks {
            ask::tell(&format!("warning: {}", safe_line(text)));
        }
    }

    async fn answer(
        &self,
        server: &ServerName,
        question: &ElicitParams,
    ) -> Result<ElicitResult, Refusal> {
        let invalid = |error: &dyn std::fmt::Display| Refusal::Invalid(error.to_string());
        let limits = ElicitLimits::default();
        if question.mode() == ElicitMode::Url {
            if !self.has_person {
                self.warn(&format!(
                    "{server} asks you to open a URL, but there is no terminal: declined"
                ));
                return Ok(ElicitResult::decline());
            }
            let url = question.url().unwrap_or_default();
            let link = Link::parse(url, &limits).map_err(|error| invalid(&error))?;
            let Some(mut dialogue) = Dialogue::with(server).await else {
                return Ok(ElicitResult::cancel());
            };
            let message = question.message();
            let visit = visit::ask(server, message, &link, &self.environment, &mut dialogue);
            return Ok(note_if_left(server, visit.await));
        }
        // A form: first the answers of the command line, then the person.
        let form = Form::read(question, &limits).map_err(|error| invalid(&error))?;
        // Not from defaults alone: the person has not seen what they would agree to.
        if self.answers.concern(&form) {
            match self.answers.fill(&form) {
                Ok(content) => return Ok(ElicitResult::accept(Some(content))),
                Err(problems) => {
                    for problem in problems {
                        self.warn(&format!("{server} asks for {problem}"));
                    }
                }
            }
        }
        if !self.has_person {
            self.warn(&format!(
                "{server} asks a question, but there is no terminal to answer at: declined \
                 (--answer KEY=VALUE answers a field)"
            ));
            return Ok(ElicitResult::decline());
        }
        let known = self.answers.values(&form);
        // The person starts from the answers that fit, and from the form's defaults.
        let known = known.unwrap_or_else(|_| form.defaults());
        let Some(mut dialogue) = Dialogue::with(server).await else {
            return Ok(ElicitResult::cancel());
        };
        let answer = form::ask(server, &form, known, &mut dialogue).await;
        Ok(note_if_left(server, answer))
    }
}

/// Records that the person has left the question, if they have.
fn note_if_left(server: &ServerName, answer: ElicitResult) -> ElicitResult {
    if answer.action == ElicitAction::Cancel {
        ask::leave(server);
    }
    answer
}

impl Desk {
    /// Answers a question of a server, unless the person gives up what it is for.
    pub(crate) async fn elicit(
        &self,
        server: &ServerName,
        question: &ElicitParams,
    ) -> Result<ElicitResult, Refusal> {
        let answered = ask::unless_given_up(self.answer(server, question)).await;
        answered.unwrap_or_else(|| Ok(ElicitResult::cancel()))
    }

    /// Waits until the person is done at an address, and returns whether to go on.
    pub(crate) async fn finish_visit(&self, server: &ServerName) -> Result<bool, Refusal> {
        if !self.has_person {
            return std::future::pending().await;
        }
        let mut dialogue = Dialogue::begin().await;
        Ok(visit::is_done(server, &mut dialogue).await)
    }

    /// Reports that a server calls a visit done.
    pub(crate) fn report_visit(&self, server: &ServerName) {
        if self.talks {
            ask::tell(&format!("{server}: the step in your browser is complete"));
        }
    }

    /// Reports a question that was refused without the person.
    pub(crate) fn report_refusal(&self, server: &ServerName, why: &str) {
        // The prompt shows it as news already.
        if !ask::has_prompt() {
            self.warn(&format!("a question of {server} was refused: {why}"));
        }
    }
}

/// True if all questions are declared, whether there is a person or not.
static IS_ALL_DECLARED: AtomicBool = AtomicBool::new(false);

/// Declares all questions from now on, for a command that compares definitions and calls nothing: what a
/// server offers may depend on it, and must be the same at a terminal and on a pipe.
pub(crate) fn declare_all() {
    IS_ALL_DECLARED.store(true, Ordering::Relaxed);
}

/// Secrets that must not appear in questions, as far as they are known by now.
static KNOWN: Mutex<Option<Redactor>> = Mutex::new(None);

/// Adds secrets that must not appear in questions.
pub(crate) fn learn(secrets: &Redactor) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().merge(secrets);
}

/// Redacts and sanitises a line of a server.
pub(crate) fn safe_line(text: &str) -> String {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some(known) => sanitise_line(&known.redact(text)).into_owned(),
        None => sanitise_line(text).into_owned(),
    }
}

/// Formats a text of a server, each line marked as the server's own.
fn quote_lines(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| format!("  | {}\n", safe_line(line)));
    lines.collect()
}
