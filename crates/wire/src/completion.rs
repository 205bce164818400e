//! Argument completion (`completion/complete`): suggestions while a person types.

use serde::{Deserialize, Serialize};

use crate::{Pairs, Raw};

/// The prompt or resource template that the argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CompletionRef {
    /// A prompt, by name.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// The prompt's name.
        name: String,
    },
    /// A resource template, by its URI.
    #[serde(rename = "ref/resource")]
    Resource {
        /// The template, or a URI.
        uri: String,
    },
}

/// The argument being completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionArgument {
    /// The argument's name.
    pub name: String,
    /// The text typed so far.
    pub value: String,
}

/// Values already chosen for the other arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionContext {
    /// The other arguments.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub arguments: Pairs<String>,
}

/// Parameters of `completion/complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteParams {
    /// The prompt or resource template that the argument belongs to.
    #[serde(rename = "ref")]
    pub target: CompletionRef,
    /// The argument.
    pub argument: CompletionArgument,
    /// Since 2025-06-18: values already chosen for the other arguments.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<CompletionContext>,
}

wire_object! {
    /// The suggested values of an argument.
    pub struct Completion {
        /// The values, best first; at most 100 by the specification.
        values: [list String] = "values",
        /// The number of suggestions in all.
        total: [opt copy u64] = "total",
        /// True if there are more suggestions than these.
        has_more: [opt copy bool] = "hasMore",
    }
}

wire_object! {
    /// The result of `completion/complete`.
    pub struct CompleteResult {
        /// The suggested values.
        completion: [of Completion] = "completion",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

method! {
    /// Asks for suggested values of an argument.
    Complete = "completion/complete", CompleteParams => CompleteResult
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_reads_back() {
        let params = CompleteParams {
            target: CompletionRef::Resource {
                uri: "file:///{path}".to_owned(),
            },
            argument: CompletionArgument {
                name: "path".to_owned(),
                value: "s".to_owned(),
            },
            context: Some(CompletionContext {
                arguments: [("owner", "me".to_owned())].into_iter().collect(),
            }),
        };
        let text = serde_json::to_string(&params).unwrap();
        assert_eq!(
            text,
            r#"{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":"s"},"context":{"arguments":{"owner":"me"}}}"#
        );
        assert_eq!(
            serde_json::from_str::<CompleteParams>(&text).unwrap(),
            params
        );
    }
}
