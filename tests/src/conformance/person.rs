//! Who answers what the suite's servers ask.

use switchboard::protocol::{
    ClientCapabilities, CreateMessageResult, ElicitMode, ElicitParams, ElicitResult,
    ElicitationCapability, InputRequest, ListRootsResult, Raw, RawError, Root, RootsCapability,
    SamplingCapability,
};
use switchboard::session::{Refusal, Respond, Responding};

/// A person who takes every form as it is filled in, a model of one sentence, and one folder.
#[derive(Debug, Clone, Copy)]
pub struct Person;

impl Respond for Person {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            elicitation: Some(ElicitationCapability {
                form: true,
                url: false,
            }),
            roots: Some(RootsCapability::default()),
            sampling: Some(SamplingCapability::default()),
            ..ClientCapabilities::default()
        }
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let answer = match request {
                InputRequest::Elicit(question) => fill_in(question)?,
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

/// Takes the defaults; says no to a form that wants more than they give.
fn fill_in(question: &ElicitParams) -> Result<Result<Raw, RawError>, Refusal> {
    if question.mode() != ElicitMode::Form {
        return Err(Refusal::Invalid("only forms are taken".to_owned()));
    }
    let form = question.defaults();
    Ok(Raw::of(&if form.is_complete() {
        ElicitResult::accept(Some(form.content))
    } else {
        ElicitResult::decline()
    }))
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::FromRaw;

    use super::*;

    async fn answer(params: &str) -> Result<String, Refusal> {
        let params = ElicitParams::from_raw(&Raw::parse(params).unwrap()).unwrap();
        let answer = Person.respond(&InputRequest::Elicit(params)).await?;
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
        assert!(matches!(answer(url).await, Err(Refusal::Invalid(_))));
    }
}
