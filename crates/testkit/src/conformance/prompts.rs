//! The prompts of the fixture.

use serde_json::{Value, json};

use super::asking::{self, Ask, Asking};
use super::content::{embedded, image, text};
use crate::prompts::{Prompt, PromptArguments};

pub(super) const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
const ASKING: &str = "test_input_required_result_prompt";

pub(super) fn all() -> Vec<Prompt> {
    let argument = |name: &str, description: &str| json!({"name": name, "description": description, "required": true});
    let prompt = |name: &str, description: &str, arguments: Vec<Value>, contents| {
        let mut definition = json!({"name": name, "description": description});
        if let Some(members) = definition.as_object_mut().filter(|_| !arguments.is_empty()) {
            members.insert("arguments".to_owned(), Value::Array(arguments));
        }
        Prompt::of_contents(definition, contents)
    };
    vec![
        prompt(
            "test_simple_prompt",
            "A prompt without arguments",
            vec![],
            |_| vec![text("This is a simple prompt for testing.")],
        ),
        prompt(
            WITH_ARGUMENTS,
            "A prompt with two arguments",
            vec![
                argument("arg1", "First test argument"),
                argument("arg2", "Second test argument"),
            ],
            with_arguments,
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            "A prompt with a resource in it",
            vec![argument("resourceUri", "URI of the resource to embed")],
            with_resource,
        ),
        prompt(
            "test_prompt_with_image",
            "A prompt with a picture in it",
            vec![],
            |_| vec![image(), text("Please analyze the image above.")],
        ),
        // Asks before it is filled: these contents are never sent.
        prompt(
            ASKING,
            "A prompt that asks a person for its context",
            vec![],
            |_| Vec::new(),
        ),
    ]
}

fn with_arguments(arguments: &PromptArguments<'_>) -> Vec<Value> {
    let [one, two] = ["arg1", "arg2"].map(|name| arguments.required(name));
    vec![text(&format!(
        "Prompt with arguments: arg1='{one}', arg2='{two}'"
    ))]
}

fn with_resource(arguments: &PromptArguments<'_>) -> Vec<Value> {
    let uri = arguments.required("resourceUri");
    vec![
        embedded(uri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
    ]
}

/// The questions of a prompt; `None` for one that asks nothing.
pub(crate) fn asking(name: &str) -> Option<Asking> {
    (name == ASKING).then(|| {
        let question = Ask::form(
            "user_context",
            "What context should the prompt use?",
            asking::texts(&["context"]),
        );
        Asking::once(ASKING, vec![question], |answers| {
            format!(
                "Use this context: {}",
                answers.field("user_context", "context")
            )
        })
    })
}
