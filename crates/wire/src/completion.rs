//! Completing what a person types into an argument.

use serde::{Deserialize, Serialize};

use crate::{Pairs, Raw};

/// What the argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CompletionRef {
    /// A prompt, whose blanks are filled in.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// The prompt's name.
        name: String,
    },
    /// A resource template, whose variables are filled in.
    #[serde(rename = "ref/resource")]
    Resource {
        /// The template, or an address.
        uri: String,
    },
}

/// What was typed so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionArgument {
    /// The argument's name.
    pub name: String,
    /// What was typed so far.
    pub value: String,
}

/// What is already filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionContext {
    /// The other arguments.
    #[serde(skip_serializing_if = "Pairs::is_empty", default)]
    pub arguments: Pairs<String>,
}

/// What to complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteParams {
    /// What the argument belongs to.
    #[serde(rename = "ref")]
    pub target: CompletionRef,
    /// The argument.
    pub argument: CompletionArgument,
    /// Since 2025-06-18: what is already filled in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<CompletionContext>,
}

wire_object! {
    /// What the argument may become.
    pub struct Completion {
        /// The values, best first; at most 100 by the specification.
        values: [list String] = "values",
        /// How many there are in all.
        total: [opt copy u64] = "total",
        /// Whether there are more than these.
        has_more: [opt copy bool] = "hasMore",
    }
}

wire_object! {
    /// What a server answers to `completion/complete`.
    pub struct CompleteResult {
        /// What the argument may become.
        completion: [of Completion] = "completion",
        /// Anything else, by agreement.
        meta: [opt of Raw] = "_meta",
    }
}

method! {
    /// Asks what an argument may become.
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
