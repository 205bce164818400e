//! The tools of the fixture: what is listed, and what each of them does.

use serde_json::{Map, Value, json};

use super::asking::{Ask, Asking, InputResponses, object, texts};
use super::content::{audio, embedded, image, text};
use crate::tools::{Action, Kind, Tool};

/// The tool whose stream ends before its answer, in a session over HTTP.
pub(crate) const RECONNECTING: &str = "test_reconnection";

/// The behaviour of a tool.
#[derive(Debug)]
pub(crate) enum Behaviour {
    /// Takes steps, then answers.
    Play(Script),
    Ask(Asking),
    /// Adds an item to the catalog, or removes it if it is there.
    Toggle(Kind),
}

#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) steps: &'static [ScriptStep],
    pub(crate) content: Vec<Value>,
    pub(crate) is_error: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ScriptStep {
    /// Waits for as long as the suite asks for.
    Wait,
    /// Logs a text at `info`.
    Log(&'static str),
    /// Reports progress, of 100.
    Progress(u32),
}

/// The name of the item that [`Behaviour::Toggle`] adds and removes.
pub(crate) const TOGGLED: &str = "test_toggled_item";

const LOGGING: &[ScriptStep] = &[
    ScriptStep::Log("Tool execution started"),
    ScriptStep::Wait,
    ScriptStep::Log("Tool processing data"),
    ScriptStep::Wait,
    ScriptStep::Log("Tool execution completed"),
];

const PROGRESSING: &[ScriptStep] = &[
    ScriptStep::Progress(0),
    ScriptStep::Wait,
    ScriptStep::Progress(50),
    ScriptStep::Wait,
    ScriptStep::Progress(100),
];

/// Name and description of each tool. The first takes no arguments: the suite calls it with none.
const TOOLS: &[(&str, &str)] = &[
    ("test_simple_text", "InputResponses with a text"),
    ("test_image_content", "InputResponses with a picture"),
    ("test_audio_content", "InputResponses with a sound"),
    ("test_embedded_resource", "InputResponses with a resource"),
    (
        "test_multiple_content_types",
        "InputResponses with a text, a picture and a resource",
    ),
    ("test_error_handling", "Always fails"),
    ("test_tool_with_logging", "Logs three times while it runs"),
    (
        "test_logging_tool",
        "Logs three times if the request asks for it",
    ),
    ("test_tool_with_progress", "Reports progress three times"),
    (
        RECONNECTING,
        "Ends its event stream before the answer, which a client finds on its return",
    ),
    ("test_sampling", "Asks the client's model"),
    ("test_elicitation", "Asks a person for two texts"),
    (
        "test_elicitation_sep1034_defaults",
        "Asks with a form that has defaults",
    ),
    (
        "test_elicitation_sep1330_enums",
        "Asks with a form of every kind of choice",
    ),
    (
        "test_streaming_elicitation",
        "Asks a person on a response stream",
    ),
    ("test_missing_capability", "Needs a client with a model"),
    (
        "test_trigger_tool_change",
        "Adds a tool or removes it again",
    ),
    (
        "test_trigger_prompt_change",
        "Adds a prompt or removes it again",
    ),
    (
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
    ),
    (
        "test_custom_header",
        "Takes an argument that is repeated in a header",
    ),
    (
        "test_input_required_result_elicitation",
        "Asks a person for a name",
    ),
    (
        "test_input_required_result_sampling",
        "Asks the client's model for a capital",
    ),
    (
        "test_input_required_result_list_roots",
        "Asks for the client's roots",
    ),
    (
        "test_input_required_result_request_state",
        "Asks a person, with a state to return",
    ),
    (
        "test_input_required_result_tampered_state",
        "Asks a person, with a state that cannot be changed",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Asks a person, the model and for roots at once",
    ),
    (
        "test_input_required_result_multi_round",
        "Asks a person twice, one question after the other",
    ),
    (
        "test_input_required_result_capabilities",
        "Asks whatever the client can answer",
    ),
];

pub(super) fn all() -> Vec<Tool> {
    let tool = |(name, description): &(&str, &str)| Tool {
        name: (*name).to_owned(),
        definition: json!({"name": name, "description": description, "inputSchema": schema(name)}),
        action: Action::Fixture,
    };
    TOOLS.iter().map(tool).collect()
}

fn schema(name: &str) -> Value {
    let argument = |name: &str, description: &str| {
        let argument = json!({"type": "string", "description": description});
        object(
            &Value::Object(Map::from_iter([(name.to_owned(), argument)])),
            &[name],
        )
    };
    match name {
        "test_sampling" => argument("prompt", "The prompt for the model"),
        "test_elicitation" => argument("message", "The message for the person"),
        "test_custom_header" => json!({
            "type": "object",
            "properties": {
                "region": {"type": "string", "description": "Goes into a header too", "x-mcp-header": "Region"},
            },
            "required": ["region"],
        }),
        "json_schema_2020_12_tool" => dialect(),
        _ => object(&json!({}), &[]),
    }
}

/// Keywords that a careless server or proxy loses.
fn dialect() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// The behaviour of a tool, with arguments that fit its schema.
pub(crate) fn behaviour(name: &str, arguments: &Map<String, Value>) -> Behaviour {
    match name {
        "test_trigger_tool_change" => Behaviour::Toggle(Kind::Tool),
        "test_trigger_prompt_change" => Behaviour::Toggle(Kind::Prompt),
        _ => match asking(name, arguments) {
            Some(asking) => Behaviour::Ask(asking),
            None => Behaviour::Play(script(name, arguments)),
        },
    }
}

fn script(name: &str, arguments: &Map<String, Value>) -> Script {
    let steps = match name {
        "test_tool_with_logging" | "test_logging_tool" => LOGGING,
        "test_tool_with_progress" => PROGRESSING,
        RECONNECTING => &[ScriptStep::Wait, ScriptStep::Wait],
        _ => &[],
    };
    let content = match name {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![image()],
        "test_audio_content" => vec![audio()],
        "test_embedded_resource" => vec![embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )],
        "test_multiple_content_types" => vec![
            text("Multiple content types test:"),
            image(),
            embedded(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_error_handling" => vec![text("This tool intentionally returns an error for testing")],
        _ if arguments.is_empty() => vec![text(&format!("{name} is done"))],
        _ => vec![text(&Value::Object(arguments.clone()).to_string())],
    };
    Script {
        steps,
        content,
        is_error: name == "test_error_handling",
    }
}

/// The questions of a tool; `None` for one that asks nothing.
fn asking(name: &str, arguments: &Map<String, Value>) -> Option<Asking> {
    let argument = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    // The constant name of a tool, which its states carry.
    let name = TOOLS
        .iter()
        .map(|(known, _)| *known)
        .find(|known| *known == name)?;
    let user_name = || Ask::form("user_name", "What is your name?", texts(&["name"]));
    let confirm = || {
        let form = object(&json!({"ok": {"type": "boolean"}}), &["ok"]);
        Ask::form("confirm", "Please confirm", form)
    };
    let completed = |answers: &InputResponses| {
        let (action, content) = (answers.action("form"), answers.content("form"));
        format!("Elicitation completed: action={action}, content={content}")
    };
    Some(match name {
        "test_sampling" => {
            let question = Ask::model("model", argument("prompt"), 100);
            Asking::once(name, vec![question], |answers| {
                format!("LLM response: {}", answers.model("model"))
            })
        }
        "test_missing_capability" => {
            let question = Ask::model("model", "What is the answer?", 100);
            Asking::once(name, vec![question], |answers| answers.model("model"))
        }
        "test_elicitation" => {
            let form = object(
                &json!({
                    "username": {"type": "string", "description": "User's response"},
                    "email": {"type": "string", "description": "User's email address"},
                }),
                &["username", "email"],
            );
            Asking::once(
                name,
                vec![Ask::form("form", argument("message"), form)],
                |answers| {
                    let (action, content) = (answers.action("form"), answers.content("form"));
                    format!("User response: action={action}, content={content}")
                },
            )
        }
        "test_elicitation_sep1034_defaults" => {
            let question = Ask::form("form", "Please check the defaults", defaults());
            Asking::once(name, vec![question], completed)
        }
        "test_elicitation_sep1330_enums" => {
            let question = Ask::form("form", "Please choose", choices());
            Asking::once(name, vec![question], completed)
        }
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            Asking::once(name, vec![user_name()], |answers| {
                format!("Hello, {}!", answers.field("user_name", "name"))
            })
        }
        "test_input_required_result_sampling" => {
            let question = Ask::model("capital_question", "What is the capital of France?", 100);
            Asking::once(name, vec![question], |answers| {
                answers.model("capital_question")
            })
        }
        "test_input_required_result_list_roots" => {
            Asking::once(name, vec![Ask::roots("client_roots")], |answers| {
                format!("Roots: {}", answers.roots("client_roots"))
            })
        }
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            Asking::once(name, vec![confirm()], |answers| {
                format!("state-ok, confirmed: {}", answers.field("confirm", "ok"))
            })
            .sealed()
        }
        "test_input_required_result_multiple_inputs" => {
            let greeting = Ask::model("greeting", "Generate a greeting", 50);
            let asks = vec![user_name(), greeting, Ask::roots("client_roots")];
            Asking::once(name, asks, all_three).sealed()
        }
        "test_input_required_result_multi_round" => {
            let first = Ask::form(
                "step1",
                "ScriptStep 1: What is your name?",
                texts(&["name"]),
            );
            let second = Ask::form(
                "step2",
                "ScriptStep 2: What is your favorite color?",
                texts(&["color"]),
            );
            Asking::once(name, vec![first], |answers| {
                let (name, color) = (
                    answers.field("step1", "name"),
                    answers.field("step2", "color"),
                );
                format!("{name} likes {color}.")
            })
            .then(vec![second])
        }
        "test_input_required_result_capabilities" => {
            let question = Ask::model("greeting", "Generate a greeting", 50);
            let asks = vec![user_name(), question, Ask::roots("client_roots")];
            Asking::once(name, asks, all_three).only_declared()
        }
        _ => return None,
    })
}

fn all_three(answers: &InputResponses) -> String {
    let name = answers.field("user_name", "name");
    let (greeting, roots) = (answers.model("greeting"), answers.roots("client_roots"));
    format!("Name: {name}; greeting: {greeting}; roots: {roots}")
}

/// A form with a default of every primitive type.
fn defaults() -> Value {
    let properties = json!({
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string", "description": "User status",
            "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": true},
    });
    object(&properties, &[])
}

/// A form with every kind of choice.
fn choices() -> Value {
    let options = ["option1", "option2", "option3"];
    let titled = |word: &str| {
        let titled = |number: usize, ordinal: &str| json!({"const": format!("value{number}"), "title": format!("{ordinal} {word}")});
        json!([titled(1, "First"), titled(2, "Second"), titled(3, "Third")])
    };
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    });
    object(&properties, &[])
}
