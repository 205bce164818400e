//! Somebody who is asked by way of the library's own handlers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::SessionOptions;
use switchboard::protocol::ElicitResult;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::{
    Answers, ElicitRequest, ElicitSupport, Handlers, Operator, Responder, SharedOperator,
};

use super::legacy_options;

/// A person who writes down what they hear, and answers after a while.
#[derive(Clone, Default)]
pub(crate) struct Person {
    pub(crate) heard: Arc<Mutex<Vec<String>>>,
    pub(crate) declines: bool,
    pub(crate) takes_no_urls: bool,
    /// Whether they say themselves that they are done at an address, and then whether to go on.
    pub(crate) is_done: Option<bool>,
    pub(crate) after: Duration,
    pub(crate) now: Arc<AtomicUsize>,
    pub(crate) most: Arc<AtomicUsize>,
}

impl Person {
    pub(crate) fn note(&self, text: String) {
        self.heard.lock().unwrap().push(text);
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl Operator for Person {
    fn elicit_support(&self) -> ElicitSupport {
        if self.takes_no_urls {
            ElicitSupport::Forms
        } else {
            ElicitSupport::FormsAndUrls
        }
    }

    async fn elicit(&self, request: ElicitRequest) -> Result<ElicitResult, Refusal> {
        let message = request.params.message();
        self.note(format!("{} asks {message}", request.server));
        let open = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(open, Ordering::SeqCst);
        tokio::time::sleep(self.after).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        if self.declines {
            return Ok(ElicitResult::decline());
        }
        match request.params.url() {
            Some(_) => Ok(ElicitResult::accept(None)),
            None => Answers::new().text("name", "Ada").elicit(request).await,
        }
    }

    async fn finish_visit(&self, _request: ElicitRequest) -> Result<bool, Refusal> {
        match self.is_done {
            Some(goes_on) => Ok(goes_on),
            None => std::future::pending().await,
        }
    }

    fn visit_completed(&self, server: &ServerName, elicitation: &str) {
        self.note(format!("{server} has completed {elicitation}"));
    }

    fn elicit_refused(&self, server: &ServerName, why: &str) {
        self.note(format!("{server} was refused: {why}"));
    }
}

pub(crate) fn responder(operator: impl Operator + 'static) -> Responder {
    let handlers = Handlers {
        operator: Some(SharedOperator::new(operator)),
        ..Handlers::default()
    };
    Responder::new(ServerName::parse("mine").unwrap(), handlers, false)
}

pub(crate) fn legacy_person(operator: impl Operator + 'static) -> SessionOptions {
    legacy_options().respond(responder(operator))
}

pub(crate) fn form(properties: &Value, required: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"message": "who?", "requestedSchema": schema})
}

pub(crate) fn name_form() -> Value {
    form(
        &json!({"name": {"type": "string"}, "age": {"type": "integer", "default": 30}}),
        &["name"],
    )
}

pub(crate) fn url(address: &str) -> Value {
    json!({"mode": "url", "message": "sign in", "url": address, "elicitationId": "e-1"})
}
