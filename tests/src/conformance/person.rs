//! Who answers what the suite's servers ask.

use std::sync::Arc;

use switchboard::protocol::{
    ClientCapabilities, CreateMessageResult, InputRequest, ListRootsResult, Raw, Root,
    RootsCapability, SamplingCapability,
};
use switchboard::session::{Refusal, Respond, Responding};
use switchboard::spec::ServerName;
use switchboard::talk::{Answers, Handlers, Responder};

/// A person who takes every form as it is filled in, which is the library's own handler, a model of one sentence,
/// and one folder.
#[derive(Debug)]
pub struct Person(Responder);

impl Person {
    /// Answers a server of that name.
    #[must_use]
    pub fn new(server: ServerName) -> Self {
        let handlers = Handlers {
            elicit: Some(Arc::new(Answers::new())),
            ..Handlers::default()
        };
        Self(Responder::new(server, handlers, false))
    }
}

impl Respond for Person {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            roots: Some(RootsCapability::default()),
            sampling: Some(SamplingCapability::default()),
            ..self.0.capabilities()
        }
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let answer = match request {
                InputRequest::Elicit(_) => return self.0.respond(request).await,
                InputRequest::Sample(_) => {
                    Raw::of(&CreateMessageResult::text("none", "I have nothing to say."))
                }
                InputRequest::Roots => Raw::of(&ListRootsResult {
                    roots: vec![Root {
                        uri: "file:///srv/project".to_owned(),
                        name: Some("project".to_owned()),
                    }],
                }),
                _ => return Err(Refusal::NotAvailable),
            };
            answer.map_err(|error| Refusal::Invalid(error.to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::{ElicitParams, FromRaw};

    use super::*;

    async fn answer(params: &str) -> Result<String, Refusal> {
        let params = ElicitParams::from_raw(&Raw::parse(params).unwrap()).unwrap();
        let person = Person::new(ServerName::parse("suite").unwrap());
        let answer = person.respond(&InputRequest::Elicit(params)).await?;
        Ok(answer.as_str().to_owned())
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_form_is_taken_with_its_defaults_and_declined_without() {
        let whole = r#"{"message":"?","requestedSchema":{"properties":{"age":{"type":"integer","default":30}},"required":["age"]}}"#;
        assert_eq!(
            answer(whole).await.unwrap(),
            r#"{"action":"accept","content":{"age":30}}"#
        );
        let blank = r#"{"message":"?","requestedSchema":{"properties":{"age":{"type":"integer"}},"required":["age"]}}"#;
        assert_eq!(answer(blank).await.unwrap(), r#"{"action":"decline"}"#);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_url_is_not_visited() {
        let url = r#"{"message":"?","mode":"url","url":"https://example.com"}"#;
        assert_eq!(answer(url).await.unwrap(), r#"{"action":"decline"}"#);
    }
}
