//! The prompts.

use serde_json::{Map, Value, json};

/// A prompt and the message it becomes.
#[derive(Clone)]
pub(crate) struct Prompt {
    pub(crate) name: String,
    pub(crate) definition: Value,
    message: Message,
}

/// The text of a prompt.
#[derive(Clone)]
enum Message {
    Made(fn(&PromptArguments<'_>) -> String),
    /// The content of the message, in any shape.
    Fixed(Value),
    /// The contents of several messages.
    Contents(fn(&PromptArguments<'_>) -> Vec<Value>),
}

/// The arguments of a prompt, all of them strings.
pub(crate) struct PromptArguments<'a>(&'a Map<String, Value>);

impl PromptArguments<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A required argument, whose presence was checked before.
    pub(crate) fn required(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }
}

impl Prompt {
    /// Creates a prompt without arguments and with a fixed content.
    pub(crate) fn fixed(name: &str, description: &str, content: Value) -> Self {
        Self {
            name: name.to_owned(),
            definition: json!({"name": name, "description": description}),
            message: Message::Fixed(content),
        }
    }

    /// Creates a prompt of several messages.
    pub(crate) fn of_contents(
        definition: Value,
        make: fn(&PromptArguments<'_>) -> Vec<Value>,
    ) -> Self {
        let name = definition.get("name").and_then(Value::as_str);
        Self {
            name: name.unwrap_or_default().to_owned(),
            definition,
            message: Message::Contents(make),
        }
    }

    /// Returns the result of `prompts/get`, or the reason that the arguments do not fit.
    pub(crate) fn fill(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        if let Some((name, _)) = arguments.iter().find(|(_, value)| !value.is_string()) {
            return Err(format!("argument {name} must be a string"));
        }
        if let Some(name) = self.required().find(|name| !arguments.contains_key(*name)) {
            return Err(format!("missing required argument {name}"));
        }
        let mut result = Map::new();
        if let Some(description) = self.definition.get("description") {
            result.insert("description".to_owned(), description.clone());
        }
        let contents = match &self.message {
            Message::Made(make) => vec![block(&make(&PromptArguments(arguments)))],
            Message::Fixed(content) => vec![content.clone()],
            Message::Contents(make) => make(&PromptArguments(arguments)),
        };
        let message = |content| json!({"role": "user", "content": content});
        let messages = contents.into_iter().map(message).collect();
        result.insert("messages".to_owned(), Value::Array(messages));
        Ok(result)
    }

    /// The names of the arguments that must be there.
    fn required(&self) -> impl Iterator<Item = &str> {
        let arguments = self.definition.get("arguments").and_then(Value::as_array);
        let arguments = arguments.into_iter().flatten();
        let required = arguments.filter(|one| one.get("required") == Some(&Value::Bool(true)));
        required.filter_map(|one| one.get("name").and_then(Value::as_str))
    }
}

/// A block of text.
pub(crate) fn block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn all() -> Vec<Prompt> {
    vec![
        Prompt {
            name: "greeting".to_owned(),
            definition: json!({
                "name": "greeting",
                "title": "Greeting",
                "description": "Asks for a greeting",
                "arguments": [
                    {"name": "name", "description": "Who is greeted", "required": true},
                    {"name": "formal", "description": "\"true\" for a formal greeting", "required": false},
                ],
            }),
            message: Message::Made(greeting),
        },
        Prompt {
            name: "code_review".to_owned(),
            definition: json!({
                "name": "code_review",
                "title": "Code review",
                "description": "Asks for a review of code",
                "arguments": [
                    {"name": "language", "description": "The language of the code", "required": true},
                    {"name": "focus", "description": "What to look at most closely", "required": false},
                ],
            }),
            message: Message::Made(code_review),
        },
        Prompt {
            name: "summarize".to_owned(),
            definition: json!({
                "name": "summarize",
                "title": "Summary",
                "description": "Asks for a summary",
                "arguments": [
                    {"name": "max_length", "description": "The most words it may have", "required": false},
                ],
            }),
            message: Message::Made(summarize),
        },
    ]
}

/// The prompt whose arguments can be completed, the second depending on the first.
pub(crate) fn travel() -> Prompt {
    Prompt {
        name: "travel".to_owned(),
        definition: json!({
            "name": "travel",
            "title": "Travel",
            "description": "Asks for a plan of a journey; what countries and cities there are can be completed",
            "arguments": [
                {"name": "country", "description": "Where it goes", "required": true},
                {"name": "city", "description": "Where in the country", "required": false},
            ],
        }),
        message: Message::Made(journey),
    }
}

fn journey(arguments: &PromptArguments<'_>) -> String {
    let country = arguments.required("country");
    match arguments.get("city") {
        Some(city) => format!("Please plan a journey to {city} in {country}."),
        None => format!("Please plan a journey to {country}."),
    }
}

fn greeting(arguments: &PromptArguments<'_>) -> String {
    let name = arguments.required("name");
    match arguments.get("formal") {
        Some("true") => format!("Please write a formal greeting addressed to {name}."),
        _ => format!("Say hello to {name} in a friendly way."),
    }
}

fn code_review(arguments: &PromptArguments<'_>) -> String {
    let language = arguments.required("language");
    let mut text = format!("Please review the following {language} code.");
    if let Some(focus) = arguments.get("focus") {
        text.push_str(&format!(" Look most closely at {focus}."));
    }
    text
}

fn summarize(arguments: &PromptArguments<'_>) -> String {
    match arguments.get("max_length") {
        Some(words) => format!("Please summarize our conversation in at most {words} words."),
        None => "Please summarize our conversation.".to_owned(),
    }
}
