//! A server asks a person.

use serde::{Deserialize, Serialize};

use crate::Raw;

/// How the person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitMode {
    /// With a form.
    Form,
    /// By visiting a URL.
    Url,
    /// In a way that nobody here knows.
    Unknown,
}

wire_object! {
    /// What a server asks a person.
    pub struct ElicitParams {
        /// How, as sent: `form` or `url`.
        mode_name: [opt str] = "mode",
        /// What to tell the person. Untrusted.
        message: [str] = "message",
        /// Forms: what the answer must look like.
        requested_schema: [opt of Raw] = "requestedSchema",
        /// URLs: where to go. Untrusted.
        url: [opt str] = "url",
        /// 2025-11-25, URLs: the id that the end of the visit will name.
        elicitation_id: [opt str] = "elicitationId",
        /// 2025-11-25: the server wants a task.
        task: [opt of Raw] = "task",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

impl ElicitParams {
    /// How the person is asked; a form where the server does not say.
    pub fn mode(&self) -> ElicitMode {
        match self.mode_name() {
            None | Some("form") => ElicitMode::Form,
            Some("url") => ElicitMode::Url,
            Some(_) => ElicitMode::Unknown,
        }
    }
}

/// What the person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Answered, or agreed to visit the URL.
    Accept,
    /// Said no.
    Decline,
    /// Went away without a choice.
    Cancel,
}

/// What we answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitResult {
    /// What the person did.
    pub action: ElicitAction,
    /// The filled-in form: an object of strings, numbers, booleans and lists of strings.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub content: Option<Raw>,
}

impl ElicitResult {
    /// The person filled in the form, or with `None` agreed to visit the URL.
    pub fn accept(content: Option<Raw>) -> Self {
        Self {
            action: ElicitAction::Accept,
            content,
        }
    }

    /// The person said no.
    pub fn decline() -> Self {
        Self {
            action: ElicitAction::Decline,
            content: None,
        }
    }

    /// The person went away without a choice.
    pub fn cancel() -> Self {
        Self {
            action: ElicitAction::Cancel,
            content: None,
        }
    }
}

ask! {
    /// A server asks a person.
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
