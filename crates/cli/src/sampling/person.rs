//! Consent of the person to sampling requests.

use switchboard::secret::Redactor;
use switchboard::spec::ServerName;
use switchboard::talk::sampling::{
    ModelAnswer, ModelRequest, ProviderError, SamplingApproval, SamplingRequest,
};
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use super::edit::{self, Editing};
use super::show;
use crate::ask::{self, Dialogue};
use crate::screen::Screen;

/// Asks the person at the terminal, or consents to everything with `--allow-sampling`.
pub(crate) struct Person {
    auto_approve: bool,
    is_silent: bool,
    secrets: Redactor,
    environment: Environment,
}

impl Person {
    pub(super) fn new(auto_approve: bool, screen: &Screen, environment: &Environment) -> Self {
        Self {
            auto_approve,
            is_silent: screen.is_json() || screen.is_quiet(),
            secrets: screen.secrets(),
            environment: environment.clone(),
        }
    }

    fn safe(&self, text: &str) -> String {
        sanitise_line(&self.secrets.redact(text)).into_owned()
    }

    async fn ask_person(&self, asking: &SamplingRequest) -> SamplingApproval {
        let Some(mut dialogue) = Dialogue::with(&asking.server).await else {
            return SamplingApproval::No;
        };
        let mut request: ModelRequest = asking.request.clone();
        let mut is_edited = false;
        loop {
            self.show(asking, &request, is_edited, &mut dialogue);
            let question = "Send it? [y]es, [e]dit first, [s]ession (later requests too), [N]o: ";
            let Some(answer) = dialogue.ask(question).await else {
                ask::leave(&asking.server);
                return SamplingApproval::No;
            };
            match answer.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" if is_edited => return SamplingApproval::Edited(request.prompt),
                "y" | "yes" => return SamplingApproval::Yes,
                // An edited request is consented to once: a yes for the session would cover requests that
                // were never seen.
                "s" | "session" if !is_edited => return SamplingApproval::Session,
                "s" | "session" => dialogue.say("Changed. [y]es sends it.\n"),
                "e" | "edit" => {
                    let prompt = &request.prompt;
                    match edit::edit(prompt, &self.environment, &mut dialogue).await {
                        Editing::Changed(prompt) => {
                            is_edited |= prompt != request.prompt;
                            request.prompt = prompt;
                        }
                        Editing::Failed(why) => {
                            let why = self.safe(&why);
                            dialogue.say(&format!("The edit was not used: {why}.\n"));
                        }
                    }
                }
                _ => return SamplingApproval::No,
            }
        }
    }

    fn show(
        &self,
        asking: &SamplingRequest,
        request: &ModelRequest,
        is_edited: bool,
        dialogue: &mut Dialogue,
    ) {
        let SamplingRequest {
            server, provider, ..
        } = asking;
        let (model, provider) = (self.safe(&request.model), self.safe(provider));
        let server = self.safe(server.as_str());
        let what = if is_edited {
            "With your changes, the server"
        } else {
            "The server"
        };
        dialogue.say(&format!(
            "\n{what} {server:?} asks the model {model} of {provider}, for at most {} tokens:\n",
            request.max_tokens
        ));
        dialogue.say(&lines(&show::request(request, &self.secrets)));
    }
}

/// Indents lines, which are safe to show already.
fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

impl Person {
    /// Shows a prompt that would be sent, and asks about it.
    pub(crate) async fn approve(&self, request: &SamplingRequest) -> SamplingApproval {
        if self.auto_approve {
            SamplingApproval::Yes
        } else {
            self.ask_person(request).await
        }
    }

    /// Shows the answer of the model, and asks whether the server gets it.
    pub(crate) async fn approve_answer(
        &self,
        request: &SamplingRequest,
        answer: &ModelAnswer,
    ) -> bool {
        if self.auto_approve {
            return true;
        }
        let Some(mut dialogue) = Dialogue::with(&request.server).await else {
            return false;
        };
        let server = self.safe(request.server.as_str());
        dialogue.say(&format!(
            "\nThe model {} answers the server {server:?}:\n",
            self.safe(&answer.model)
        ));
        let mut shown = Vec::new();
        show::parts("it", &answer.parts, &self.secrets, &mut shown);
        dialogue.say(&lines(&shown));
        let answer = dialogue.ask("Send this answer to the server? [y/N] ").await;
        if answer.is_none() {
            ask::leave(&request.server);
        }
        answer.is_some_and(|answer| ask::is_yes_in(&answer))
    }

    /// Reports that the model did not answer, unless the command is silent.
    pub(crate) fn report_failure(
        &self,
        server: &ServerName,
        provider: &str,
        error: &ProviderError,
    ) {
        if !self.is_silent {
            let error =
                format!("the model for the server {server:?} did not answer: {provider}: {error}");
            ask::tell(&format!("warning: {}", self.safe(&error)));
        }
    }
}
