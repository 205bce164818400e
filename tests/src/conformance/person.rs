//! Who answers what the suite's servers ask.

use switchboard::spec::ServerName;
use switchboard::talk::Responder;

use crate::handlers::handlers;

/// Answers a server of that name with the library's own handlers.
#[must_use]
pub fn person(server: ServerName) -> Responder {
    Responder::new(server, handlers(), true)
}

#[cfg(test)]
mod tests {
    use switchboard::protocol::{InputRequest, Raw};
    use switchboard::session::{Refusal, Respond as _};

    use super::*;

    async fn answer(method: &str, params: &str) -> Result<String, Refusal> {
        let request = InputRequest::new(method, Some(Raw::parse(params).unwrap()));
        let person = person(ServerName::parse("suite").unwrap());
        let answer = person.respond(&request).await?;
        Ok(answer.as_str().to_owned())
    }

    async fn elicited(params: &str) -> String {
        answer("elicitation/create", params).await.unwrap()
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_form_is_taken_with_its_defaults_and_declined_without() {
        let whole = r#"{"message":"?","requestedSchema":{"properties":{"age":{"type":"integer","default":30}},"required":["age"]}}"#;
        assert_eq!(
            elicited(whole).await,
            r#"{"action":"accept","content":{"age":30}}"#
        );
        let blank = r#"{"message":"?","requestedSchema":{"properties":{"age":{"type":"integer"}},"required":["age"]}}"#;
        assert_eq!(elicited(blank).await, r#"{"action":"decline"}"#);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_url_is_not_visited() {
        let url = r#"{"message":"?","mode":"url","url":"https://example.com"}"#;
        assert_eq!(elicited(url).await, r#"{"action":"decline"}"#);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_model_and_folders_are_there_too() {
        let question =
            r#"{"maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"?"}}]}"#;
        let said = answer("sampling/createMessage", question).await.unwrap();
        assert!(said.contains("nothing to say"), "{said}");
        let folders = answer("roots/list", "{}").await.unwrap();
        assert!(folders.contains("file:///"), "{folders}");
    }
}
