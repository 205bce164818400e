//! Operators refuse by default, and every way to one passes every question on.

use std::sync::{Arc, Mutex};

use serde_json::json;
use switchboard_wire::{ElicitParams, FromRaw as _, Raw};

use super::*;
use crate::policy::{Caller, Reason, Request, Scope, Target};
use crate::secret::SafeUrl;
use crate::spec::{Identity, Layer};
use crate::talk::sampling::{ModelRequest, Part, Prompt, Stop, ToolUse};
use crate::trust::Claim;

fn server() -> ServerName {
    ServerName::parse("demo").unwrap()
}

fn question() -> Question {
    let entry = json!({"command": "sh"});
    let claim = Claim::new(server(), "/src/app/.mcp.json", Layer::Project, entry);
    Question::new(claim, Vec::new())
}

fn use_request() -> UseRequest {
    let (caller, server) = (Caller::agent("planner").unwrap(), server());
    let target = Target::Tool {
        server: &server,
        name: "echo",
    };
    let reason = Reason::Refused;
    let request = Request::usual(&caller, target);
    UseRequest::new(
        &request,
        reason,
        Scope::Server,
        Identity::new([1; 32]),
        "/src/app/.mcp.json",
    )
}

fn sampling_request() -> SamplingRequest {
    let request = ModelRequest {
        model: "small".to_owned(),
        prompt: Prompt::default(),
        max_tokens: 10,
        temperature: None,
        stop_sequences: Vec::new(),
        tools: Vec::new(),
        tool_use: ToolUse::default(),
    };
    SamplingRequest::new(&server(), "provider", &request)
}

fn elicit_request() -> ElicitRequest {
    let params =
        json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    let raw = Raw::parse(&params.to_string()).unwrap();
    ElicitRequest::new(server(), ElicitParams::from_raw(&raw).unwrap())
}

fn model_answer() -> ModelAnswer {
    ModelAnswer {
        model: "small".to_owned(),
        parts: vec![Part::Text("hello".to_owned())],
        stop: Stop::EndTurn,
        tokens: None,
    }
}

/// Asks an operator everything, and returns its answers in words.
async fn ask_everything(operator: &impl Operator) -> Vec<String> {
    let changes = ChangeRequest::new(server(), Vec::new());
    let mut answers = vec![
        format!("{:?}", operator.approve_server(question()).await),
        format!("{:?}", operator.approve_use(use_request()).await),
        format!("{:?}", operator.approve_change(changes).await),
        format!("{:?}", operator.approve_sampling(sampling_request()).await),
        format!("{:?}", operator.elicit_support()),
        format!("{:?}", operator.elicit(elicit_request()).await.is_ok()),
    ];
    #[cfg(feature = "config")]
    {
        let prompt = InputPrompt::new(server(), crate::config::Input::default());
        answers.push(format!("{:?}", operator.input(prompt).await.is_some()));
    }
    let page = SafeUrl::parse("https://login.example.com/authorize").expect("a URL");
    let login = LoginRequest::new(server(), "https://login.example.com", page);
    answers.push(format!("{:?}", operator.login(login).await));
    answers
}

#[tokio::test]
async fn an_operator_that_implements_nothing_refuses_everything() {
    let mut refusals = vec!["Refuse", "Refuse", "Refuse", "No", "None", "false"];
    #[cfg(feature = "config")]
    refusals.push("false");
    refusals.push("Refuse");
    assert_eq!(ask_everything(&Unattended).await, refusals);
    assert_eq!(ask_everything(&SharedOperator::default()).await, refusals);
    assert_eq!(ask_everything(&ClosureOperator::default()).await, refusals);
}

/// Approves everything, and writes down what it is told.
#[derive(Default)]
struct Eager(Mutex<Vec<String>>);

impl Operator for Eager {
    async fn approve_server(&self, _: Question) -> ServerApproval {
        ServerApproval::Approve
    }

    async fn approve_use(&self, _: UseRequest) -> UseApproval {
        UseApproval::Always
    }

    async fn approve_change(&self, _: ChangeRequest) -> ChangeApproval {
        ChangeApproval::Approve
    }

    async fn approve_sampling(&self, _: SamplingRequest) -> SamplingApproval {
        SamplingApproval::Session
    }

    async fn approve_sampled(&self, _: SamplingRequest, _: ModelAnswer) -> bool {
        false
    }

    fn sampling_failed(&self, _: &ServerName, provider: &str, _: &ProviderError) {
        self.0.lock().unwrap().push(provider.to_owned());
    }

    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::FormsAndUrls
    }

    fn elicit_limits(&self) -> ElicitLimits {
        let mut limits = ElicitLimits::default();
        limits.fields = 1;
        limits
    }

    async fn elicit(&self, _: ElicitRequest) -> Result<ElicitResult, Refusal> {
        Ok(ElicitResult::decline())
    }

    async fn finish_visit(&self, _: ElicitRequest) -> Result<bool, Refusal> {
        Ok(true)
    }

    fn visit_completed(&self, _: &ServerName, elicitation: &str) {
        self.0.lock().unwrap().push(elicitation.to_owned());
    }

    fn elicit_refused(&self, _: &ServerName, why: &str) {
        self.0.lock().unwrap().push(why.to_owned());
    }

    #[cfg(feature = "config")]
    async fn input(&self, _: InputPrompt) -> Option<Secret<String>> {
        Some(Secret::new("answer".to_owned()))
    }

    async fn login(&self, _: LoginRequest) -> LoginDecision {
        LoginDecision::PageOpened
    }
}

/// Asks and tells what `ask_everything` leaves out, and returns the answers.
async fn ask_the_rest(operator: &impl Operator) -> (bool, bool, usize) {
    operator.visit_completed(&server(), "e-1");
    operator.elicit_refused(&server(), "a secret");
    let error = ProviderError::Unsupported("images".to_owned());
    operator.sampling_failed(&server(), "provider", &error);
    (
        operator
            .approve_sampled(sampling_request(), model_answer())
            .await,
        operator.finish_visit(elicit_request()).await.unwrap(),
        operator.elicit_limits().fields,
    )
}

#[tokio::test]
async fn every_pointer_to_an_operator_passes_every_question_on() {
    let mut yes = vec![
        "Approve",
        "Always",
        "Approve",
        "Session",
        "FormsAndUrls",
        "true",
    ];
    #[cfg(feature = "config")]
    yes.push("true");
    yes.push("PageOpened");
    let eager = Arc::new(Eager::default());
    let shared = SharedOperator::new(Arc::clone(&eager));
    let closures = ClosureOperator {
        operator: shared.clone(),
        ..ClosureOperator::default()
    };
    assert_eq!(ask_everything(&eager).await, yes);
    assert_eq!(ask_everything(&shared).await, yes);
    assert_eq!(ask_everything(&closures).await, yes);
    assert_eq!(ask_the_rest(&shared).await, (false, true, 1));
    assert_eq!(ask_the_rest(&closures).await, (false, true, 1));
    let told = ["e-1", "a secret", "provider"];
    assert_eq!(*eager.0.lock().unwrap(), [told, told].concat());
}

#[tokio::test]
async fn a_closure_answers_its_question_and_the_operator_the_others() {
    let closures = ClosureOperator {
        operator: SharedOperator::new(Eager::default()),
        approve_use: boxed(|_| async { UseApproval::Once }),
        ..ClosureOperator::default()
    };
    assert_eq!(closures.approve_use(use_request()).await, UseApproval::Once);
    let others = closures.approve_server(question()).await;
    assert_eq!(others, ServerApproval::Approve);
    // A closure for forms is enough for servers to be told that they can ask.
    let forms = ClosureOperator {
        elicit: boxed(|_| async { Ok(ElicitResult::decline()) }),
        ..ClosureOperator::default()
    };
    assert_eq!(forms.elicit_support(), ElicitSupport::Forms);
    assert!(forms.elicit(elicit_request()).await.is_ok());
}
