//! Elicitation (`elicitation/create`): a server asks a person for input.

use serde::{Deserialize, Serialize};

use crate::Raw;

/// The way a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitMode {
    /// With a form.
    Form,
    /// By opening a URL.
    Url,
    /// A mode that this crate does not know.
    Unknown,
}

wire_object! {
    /// Parameters of `elicitation/create`.
    pub struct ElicitParams {
        /// The mode as sent: `form` or `url`.
        mode_name: [opt str] = "mode",
        /// The message to show to the person. Untrusted.
        message: [str] = "message",
        /// Forms: the schema of the answer.
        requested_schema: [opt of Raw] = "requestedSchema",
        /// URLs: the address to open. Untrusted.
        url: [opt str] = "url",
        /// 2025-11-25, URLs: the id that the completion notification will carry.
        elicitation_id: [opt str] = "elicitationId",
        /// 2025-11-25: the server wants a task.
        task: [opt of Raw] = "task",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl ElicitParams {
    /// The mode; a form if the server names none.
    pub fn mode(&self) -> ElicitMode {
        match self.mode_name() {
            None | Some("form") => ElicitMode::Form,
            Some("url") => ElicitMode::Url,
            Some(_) => ElicitMode::Unknown,
        }
    }
}

/// The decision of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Answered, or agreed to visit the URL.
    Accept,
    /// Refused.
    Decline,
    /// Dismissed the question without choosing.
    Cancel,
}

/// The result of `elicitation/create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitResult {
    /// The decision of the person.
    pub action: ElicitAction,
    /// The filled-in form: an object of strings, numbers, booleans and lists of strings.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub content: Option<Raw>,
}

impl ElicitResult {
    /// The person filled in the form or, with `None`, agreed to visit the URL.
    pub fn accept(content: Option<Raw>) -> Self {
        Self {
            action: ElicitAction::Accept,
            content,
        }
    }

    /// The person refused.
    pub fn decline() -> Self {
        Self {
            action: ElicitAction::Decline,
            content: None,
        }
    }

    /// The person dismissed the question without choosing.
    pub fn cancel() -> Self {
        Self {
            action: ElicitAction::Cancel,
            content: None,
        }
    }
}

ask! {
    /// Asks a person for input, on behalf of a server.
    Elicit = "elicitation/create", ElicitParams => ElicitResult
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRaw;

    #[test]
    fn a_server_that_names_no_mode_means_a_form() {
        let mode = |text: &str| {
            ElicitParams::from_raw(&Raw::parse(text).unwrap())
                .unwrap()
                .mode()
        };
        assert_eq!(mode(r#"{"message":""}"#), ElicitMode::Form);
        assert_eq!(mode(r#"{"message":"","mode":"url"}"#), ElicitMode::Url);
        assert_eq!(mode(r#"{"message":"","mode":"x"}"#), ElicitMode::Unknown);
    }

    #[test]
    fn answers_are_written_as_the_specification_says() {
        let text = |result: &ElicitResult| serde_json::to_string(result).unwrap();
        assert_eq!(text(&ElicitResult::decline()), r#"{"action":"decline"}"#);
        assert_eq!(text(&ElicitResult::cancel()), r#"{"action":"cancel"}"#);
        let form = Raw::parse(r#"{"b":1.10,"a":"x"}"#).unwrap();
        assert_eq!(
            text(&ElicitResult::accept(Some(form))),
            r#"{"action":"accept","content":{"b":1.10,"a":"x"}}"#
        );
    }
}
