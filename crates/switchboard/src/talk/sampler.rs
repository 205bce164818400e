//! Answers sampling requests with a model, within limits and with the user's consent.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use switchboard_questions::sampling::{
    Meter, ModelAnswer, ModelRequest, Part, Provider, ProviderError, SamplingApproval,
    SamplingLimits, SamplingRequest, check_rounds, choose_model, read_request,
};
use switchboard_wire::{CreateMessageParams, CreateMessageResult, Raw};

use super::operator::{Operator, SharedOperator};
use super::{Answering, Sample};
use crate::session::Refusal;
use crate::spec::ServerName;

/// Answers servers' questions with the models of one provider or several.
///
/// Every request is within [`SamplingLimits`] and approved by an [`Operator`]. No context of other servers is
/// added, whatever `includeContext` says.
pub struct Sampler {
    /// The providers; `choice` selects one of their models.
    providers: Vec<Arc<dyn Provider>>,
    operator: SharedOperator,
    limits: SamplingLimits,
    meter: Meter,
    /// The servers that the user allowed for the session.
    allowed: Mutex<BTreeSet<ServerName>>,
}

impl Sampler {
    /// Asks the models of a provider, once the operator has approved a prompt.
    pub fn new(provider: impl Provider + 'static, operator: impl Operator + 'static) -> Self {
        Self {
            providers: vec![Arc::new(provider)],
            operator: SharedOperator::new(operator),
            limits: SamplingLimits::default(),
            meter: Meter::default(),
            allowed: Mutex::default(),
        }
    }

    /// Adds a provider, for servers that wish for one of its models.
    #[must_use]
    pub fn or(mut self, provider: impl Provider + 'static) -> Self {
        self.providers.push(Arc::new(provider));
        self
    }

    /// Sets how much servers may ask.
    #[must_use]
    pub fn limits(mut self, limits: SamplingLimits) -> Self {
        self.limits = limits;
        self
    }

    async fn answer(
        &self,
        server: &ServerName,
        question: &CreateMessageParams,
    ) -> Result<CreateMessageResult, Refusal> {
        // 2025-11-25: tools in a request need the capability, which was declared for all providers
        // or none.
        let wants_tools = !question.tools().is_empty() || question.tool_choice().is_some();
        if wants_tools && !self.takes_tools() {
            let why = "tools were not declared to be taken here";
            return Err(Refusal::Invalid(why.to_owned()));
        }
        // 1. The model, 2. the request as that model takes it, 3. the budget, 4. the person, 5. the
        // model's answer.
        let chosen = choose_model(&self.providers, question.model_preferences());
        let (provider, model) = chosen.ok_or(Refusal::NotAvailable)?;
        let mut request = read_request(question, model, &self.limits).map_err(Refusal::Invalid)?;
        // The lower of the two limits holds.
        let most = provider.max_tokens().unwrap_or(u64::MAX);
        request.max_tokens = request.max_tokens.min(most);
        // A token has four bytes, more or less.
        let bytes = u64::try_from(question.raw().len_bytes()).unwrap_or(u64::MAX);
        let most = request.max_tokens.saturating_add(bytes / 4);
        // Before the person is asked: a server over its budget cannot cause questions.
        let ticket = self.meter.admit(server, most, &self.limits);
        let ticket = ticket.map_err(Refusal::Failed)?;
        // An approval for the session covers the prompts that follow, too.
        let is_allowed = self.is_allowed(server);
        if !is_allowed {
            let asked = self.ask(server, &**provider, &mut request).await;
            if let Err(refusal) = asked {
                // A refused request still counts, so that a server cannot ask the user again and again.
                self.meter.settle(server, ticket, 0);
                return Err(refusal);
            }
        }
        let failed = |error: ProviderError| {
            self.operator
                .sampling_failed(server, provider.name(), &error);
            match error {
                ProviderError::Unsupported(what) => Refusal::Invalid(what),
                other => Refusal::Failed(other.for_server()),
            }
        };
        let answer = provider.complete(&request).await.map_err(failed)?;
        // The real number replaces the estimate; without one, the estimate stays.
        if let Some(tokens) = answer.tokens {
            self.meter.settle(server, ticket, tokens);
        }
        // Asked again about the answer: it may repeat what the person would not tell the server.
        if !self.is_allowed(server) {
            let shown = SamplingRequest::new(server, provider.name(), &request);
            if !self.operator.approve_sampled(shown, answer.clone()).await {
                return Err(Refusal::ByThePerson);
            }
        }
        to_result(&answer).map_err(Refusal::Failed)
    }

    /// Asks the user, who may change the prompt.
    async fn ask(
        &self,
        server: &ServerName,
        provider: &dyn Provider,
        request: &mut ModelRequest,
    ) -> Result<(), Refusal> {
        let shown = SamplingRequest::new(server, provider.name(), request);
        match self.operator.approve_sampling(shown).await {
            SamplingApproval::Yes => {}
            SamplingApproval::Session => {
                let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
                allowed.insert(server.clone());
            }
            SamplingApproval::Edited(prompt) => {
                // An edit can separate a use from its result.
                check_rounds(&prompt.turns).map_err(Refusal::Failed)?;
                request.prompt = prompt;
            }
            // `No`; only the answers above permit anything.
            _ => return Err(Refusal::ByThePerson),
        }
        Ok(())
    }

    fn is_allowed(&self, server: &ServerName) -> bool {
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        allowed.contains(server)
    }
}

impl Sample for Sampler {
    fn takes_tools(&self) -> bool {
        self.providers.iter().all(|provider| provider.takes_tools())
    }

    fn sample<'a>(
        &'a self,
        server: &'a ServerName,
        question: &'a CreateMessageParams,
    ) -> Answering<'a, CreateMessageResult> {
        Box::pin(self.answer(server, question))
    }
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let providers: Vec<&str> = self
            .providers
            .iter()
            .map(|provider| provider.name())
            .collect();
        f.debug_struct("Sampler")
            .field("providers", &providers)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Writes an answer. Texts alone become one block, which every version of the protocol takes; with uses of
/// tools, it is an array, which came with them.
///
/// # Errors
/// Fails if it has no JSON form.
fn to_result(answer: &ModelAnswer) -> Result<CreateMessageResult, String> {
    let blocks: Vec<Value> = answer.parts.iter().filter_map(block).collect();
    let has_uses = answer
        .parts
        .iter()
        .any(|part| matches!(part, Part::Use { .. }));
    let content = if has_uses {
        Value::Array(blocks)
    } else {
        let texts = answer.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        json!({"type": "text", "text": texts.collect::<String>()})
    };
    Ok(CreateMessageResult {
        role: "assistant".to_owned(),
        content: Raw::of(&content).map_err(|error| error.to_string())?,
        model: answer.model.clone(),
        stop_reason: Some(answer.stop.word().to_owned()),
    })
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Use { id, name, input } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        // Providers return no other parts.
        _ => None,
    }
}
