//! What server-everything asks a person: a form with every kind of field, and a visit to an address.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard::host::{Caller, Host};
use switchboard::protocol::{ElicitMode, ElicitResult};
use switchboard::session::Refusal;
use switchboard::spec::ServerSpec;
use switchboard::talk::{Answers, ElicitRequest, ElicitSupport, Link, Operator};
use switchboard::transport::Environment;
use switchboard_tests::partners;

/// Somebody who fills forms in, goes wherever they are sent, and says so.
#[derive(Clone, Default)]
struct Visitor {
    answers: Answers,
    visits: Arc<AtomicUsize>,
}

impl Operator for Visitor {
    fn elicit_support(&self) -> ElicitSupport {
        ElicitSupport::FormsAndUrls
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        if request.params.mode() == ElicitMode::Form {
            return self.answers.elicit(request).await;
        }
        Link::parse(request.params.url().unwrap(), &self.elicit_limits()).unwrap();
        self.visits.fetch_add(1, Ordering::SeqCst);
        Ok(ElicitResult::accept(None))
    }

    async fn finish_visit(&self, _request: ElicitRequest) -> Result<bool, Refusal> {
        Ok(true)
    }
}

/// Calls a tool of server-everything, and gives all of its text.
async fn call(visitor: &Visitor, tool: &str, arguments: Value) -> String {
    let launch = partners::everything();
    let spec = ServerSpec::stdio("everything", launch.program.to_str().unwrap()).unwrap();
    let host = Host::builder()
        .environment(&Environment::of_process())
        .server(spec.args(launch.args))
        .operator(visitor.clone())
        .build()
        .unwrap();
    let tool = format!("everything/{tool}");
    let tool = host.view(Caller::owner()).find(&tool).await.unwrap();
    let result = tool.call(arguments).await.unwrap();
    assert!(!result.is_error(), "{}", result.text());
    host.shutdown().await;
    result.text()
}

#[tokio::test]
async fn a_form_with_every_kind_of_field_is_filled_in() {
    let answers = Answers::new()
        .text("name", "Ada")
        .text("check", "yes")
        .text("email", "ada@example.com")
        .text("birthdate", "1815-12-10")
        .text("titledSingleSelectEnum", "wonder woman")
        .text("titledMultipleSelectEnum", "1, trout");
    let visitor = Visitor {
        answers,
        ..Visitor::default()
    };
    let said = call(&visitor, "trigger-elicitation-request", json!({})).await;
    assert!(said.contains("- Name: Ada"), "{said}");
    let raw = said.split_once("Raw result:").unwrap().1;
    let raw: Value = serde_json::from_str(raw).unwrap();
    assert_eq!(
        raw,
        json!({"action": "accept", "content": {
            "name": "Ada",
            "check": true,
            "firstLine": "It was a dark and stormy night.",
            "email": "ada@example.com",
            "birthdate": "1815-12-10",
            "integer": 42,
            "number": "3.14".parse::<f64>().unwrap(),
            "untitledSingleSelectEnum": "Monica",
            "untitledMultipleSelectEnum": ["Guitar"],
            "titledSingleSelectEnum": "hero-3",
            "titledMultipleSelectEnum": ["fish-1", "fish-3"],
            "legacyTitledEnum": "pet-1",
        }})
    );
    let said = call(
        &Visitor::default(),
        "trigger-elicitation-request",
        json!({}),
    )
    .await;
    assert!(said.contains("declined"), "{said}");
}

#[tokio::test]
async fn a_person_is_sent_to_an_address_by_a_question_and_by_an_error() {
    for (by_error, visits) in [(false, 1), (true, 2)] {
        let visitor = Visitor::default();
        let arguments = json!({
            "url": "https://example.com/sign-in",
            "message": "Sign in",
            "elicitationId": "sign-in-1",
            "errorPath": by_error,
        });
        let said = call(&visitor, "trigger-url-elicitation", arguments).await;
        assert!(
            said.contains("completed the URL elicitation flow"),
            "{said}"
        );
        assert_eq!(visitor.visits.load(Ordering::SeqCst), visits);
    }
}
