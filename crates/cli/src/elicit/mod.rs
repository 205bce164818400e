//! What servers ask the person, at a terminal or from a script.
//!
//! The library has screened a question before it comes here: its form can be read and asks for no secret, its
//! address is one that a person may be sent to. Here it is shown, with everything that a server says marked as
//! such, and answered: by what the command line knows (`args::Given`), by a form (`form`, `words`), or by a visit to an address
//! (`visit`). Where nobody can answer, the answer is no.

mod form;
mod visit;
mod words;

use std::sync::{Mutex, PoisonError};

use switchboard::protocol::{ElicitAction, ElicitMode, ElicitParams, ElicitResult};
use switchboard::secret::Redactor;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::{Answering, Answers, Elicit, Form, Link};
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use crate::ask::{self, Dialogue};
use crate::screen::Screen;

/// Answers what servers ask the person.
pub(crate) struct Desk {
    answers: Answers,
    environment: Environment,
    /// Whether somebody can read a question and type an answer.
    has_person: bool,
    /// Whether somebody is told of what is answered without them.
    talks: bool,
}

impl Desk {
    /// A desk that has these answers, and the person where the screen has one.
    pub(crate) fn new(answers: Answers, environment: &Environment, screen: &Screen) -> Self {
        Self {
            answers,
            environment: environment.clone(),
            has_person: ask::Terminal::is_available(screen),
            talks: !screen.is_json() && !screen.is_quiet(),
        }
    }

    fn warn(&self, text: &str) {
        if self.talks {
            ask::tell(&format!("warning: {}", shown(text)));
        }
    }

    async fn answer(
        &self,
        server: &ServerName,
        question: &ElicitParams,
    ) -> Result<ElicitResult, Refusal> {
        let invalid = |error: &dyn std::fmt::Display| Refusal::Invalid(error.to_string());
        let bounds = self.bounds();
        if question.mode() == ElicitMode::Url {
            if !self.has_person {
                self.warn(&format!(
                    "{server} wants to send somebody to an address, and nobody is here: declined"
                ));
                return Ok(ElicitResult::decline());
            }
            let url = question.url().unwrap_or_default();
            let link = Link::parse(url, &bounds).map_err(|error| invalid(&error))?;
            let Some(mut dialogue) = Dialogue::with(server).await else {
                return Ok(ElicitResult::cancel());
            };
            let message = question.message();
            let visit = visit::ask(server, message, &link, &self.environment, &mut dialogue);
            return Ok(answered(server, visit.await));
        }
        let form = Form::read(question, &bounds).map_err(|error| invalid(&error))?;
        // Not with defaults alone: nobody has seen what they agree to.
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
                "{server} asks something, and nobody is here to answer: declined \
                 (--answer KEY=VALUE answers a field)"
            ));
            return Ok(ElicitResult::decline());
        }
        let known = self.answers.values(&form);
        let known = known.unwrap_or_else(|_| form.defaults());
        let Some(mut dialogue) = Dialogue::with(server).await else {
            return Ok(ElicitResult::cancel());
        };
        let answer = form::ask(server, &form, known, &mut dialogue).await;
        Ok(answered(server, answer))
    }
}

/// An answer of the person's, who may have left the question.
fn answered(server: &ServerName, answer: ElicitResult) -> ElicitResult {
    if answer.action == ElicitAction::Cancel {
        ask::leave(server);
    }
    answer
}

impl Elicit for Desk {
    fn takes_urls(&self) -> bool {
        // What servers offer may hang on it, and must not be another thing on a pipe.
        true
    }

    fn elicit<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a ElicitParams,
    ) -> Answering<'a, ElicitResult> {
        Box::pin(async move {
            let answered = ask::unless_given_up(self.answer(server, question)).await;
            answered.unwrap_or_else(|| Ok(ElicitResult::cancel()))
        })
    }

    fn finished<'a>(
        &'a self,
        server: &'a ServerName,
        _question: &'a ElicitParams,
    ) -> Answering<'a, bool> {
        Box::pin(async move {
            if !self.has_person {
                return std::future::pending().await;
            }
            let mut dialogue = Dialogue::begin().await;
            Ok(visit::is_done(server, &mut dialogue).await)
        })
    }

    fn completed(&self, server: &ServerName, _elicitation: &str) {
        if self.talks {
            ask::tell(&format!(
                "{server}: what you were sent to an address for is done"
            ));
        }
    }

    fn refused(&self, server: &ServerName, why: &str) {
        // At a prompt it is news already.
        if !ask::has_prompt() {
            self.warn(&format!("a question of {server} was refused: {why}"));
        }
    }
}

/// What must not be shown, as far as it is known by now.
static KNOWN: Mutex<Option<Redactor>> = Mutex::new(None);

/// Learns what must not be shown in questions.
pub(crate) fn learn(secrets: &Redactor) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().merge(secrets);
}

/// A line of a server's, without known secrets and made safe to show.
fn shown(text: &str) -> String {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some(known) => sanitise_line(&known.redact(text)).into_owned(),
        None => sanitise_line(text).into_owned(),
    }
}

/// What a server says, line by line and marked as its own.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| format!("  | {}\n", shown(line)));
    lines.collect()
}
