//! The person at the terminal, as a host asks them: the one [`Operator`] of the command line.
//!
//! Where no person is there, questions are answered by the command line's options (`--trust`, `--answer`,
//! `--allow-sampling`) or refused. Each question has its own module, which words it: `ask` for servers
//! of a project, `permission` for agents, `elicit` for questions of servers, `sampling` for their prompts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use switchboard::policy::{UseApproval, UseRequest};
use switchboard::protocol::ElicitResult;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::sampling::{ModelAnswer, ProviderError, SamplingApproval, SamplingRequest};
use switchboard::talk::{ChangeApproval, ChangeRequest, ElicitRequest, ElicitSupport, Operator};
use switchboard::trust::{Only, Question, ServerApproval};

use crate::ask::{self, Terminal};
use crate::elicit::Desk;
use crate::hosting::HostSource;
use crate::permission;
use crate::report::{Failure, Report};
use crate::sampling::Person;

/// The person at the terminal, or the options that stand in for them.
pub(crate) struct Attendant {
    /// A person can read a question and type an answer.
    is_attended: bool,
    /// The fingerprints of `--trust`; with any, no person is asked about servers.
    trusted: Only,
    /// Set once a use was refused, for the report of the command.
    was_refused: Arc<AtomicBool>,
    desk: Desk,
    /// Set where servers may ask a model.
    sampling: OnceLock<Person>,
}

impl Attendant {
    /// Attends to the questions of a host.
    ///
    /// # Errors
    /// Fails if the answers of the command line cannot be read.
    pub(crate) fn new(
        source: HostSource<'_>,
        was_refused: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let HostSource {
            connection,
            environment,
            screen,
            ..
        } = source;
        let answers = connection.given.read();
        let answers = answers.map_err(|error| Report::usage(error.to_string()))?;
        Ok(Self {
            is_attended: Terminal::is_available(screen),
            trusted: Only(connection.trust.clone()),
            was_refused,
            desk: Desk::new(answers, environment, screen),
            sampling: OnceLock::new(),
        })
    }

    /// Lets servers ask a model, as far as this person lets them.
    pub(crate) fn attend_sampling(&self, person: Person) {
        // A host has one sampler, so the second of two does not come.
        let _ = self.sampling.set(person);
    }
}

impl Operator for Attendant {
    async fn approve_server(&self, question: Question) -> ServerApproval {
        if !self.trusted.0.is_empty() {
            self.trusted.answer(&question)
        } else if self.is_attended {
            ask::approve_server(&question).await
        } else {
            ServerApproval::Refuse
        }
    }

    async fn approve_use(&self, request: UseRequest) -> UseApproval {
        let answer = if self.is_attended {
            permission::approve_use(&request).await
        } else {
            UseApproval::Refuse
        };
        if answer == UseApproval::Refuse {
            self.was_refused.store(true, Ordering::Relaxed);
        }
        answer
    }

    async fn approve_change(&self, request: ChangeRequest) -> ChangeApproval {
        if self.is_attended {
            permission::approve_change(&request).await
        } else {
            ChangeApproval::Refuse
        }
    }

    async fn approve_sampling(&self, request: SamplingRequest) -> SamplingApproval {
        match self.sampling.get() {
            Some(person) => person.approve(&request).await,
            None => SamplingApproval::No,
        }
    }

    async fn approve_sampled(&self, request: SamplingRequest, answer: ModelAnswer) -> bool {
        match self.sampling.get() {
            Some(person) => person.approve_answer(&request, &answer).await,
            None => false,
        }
    }

    fn sampling_failed(&self, server: &ServerName, provider: &str, error: &ProviderError) {
        if let Some(person) = self.sampling.get() {
            person.report_failure(server, provider, error);
        }
    }

    fn elicit_support(&self) -> ElicitSupport {
        self.desk.support()
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        self.desk.elicit(&request.server, &request.params).await
    }

    async fn finish_visit(&self, request: ElicitRequest) -> Result<bool, Refusal> {
        self.desk.finish_visit(&request.server).await
    }

    fn visit_completed(&self, server: &ServerName, _elicitation: &str) {
        self.desk.report_visit(server);
    }

    fn elicit_refused(&self, server: &ServerName, why: &str) {
        self.desk.report_refusal(server, why);
    }
}
