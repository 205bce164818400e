//! `completion/complete`: values of arguments of prompts and templates.

use serde_json::{Map, Value, json};

use super::Service;
use super::era::{Context, Keep};
use super::failure::{Failure, object, string};
use crate::completion::{self, Of};

/// Maximum number of values in one answer.
const MOST: usize = 100;

impl Service {
    pub(super) fn complete(
        &self,
        context: Context,
        params: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Failure> {
        let missing = |name: &str| Failure::invalid_params(format!("{name} is missing"));
        let reference = object(params, "ref")?.ok_or_else(|| missing("ref"))?;
        let argument = object(params, "argument")?.ok_or_else(|| missing("argument"))?;
        let (name, begun) = (string(argument, "name")?, string(argument, "value")?);
        let of = match string(reference, "type")? {
            "ref/prompt" => Of::Prompt(string(reference, "name")?),
            "ref/resource" => Of::Template(string(reference, "uri")?),
            other => return Err(Failure::invalid_params(format!("unknown ref {other}"))),
        };
        if !self.has_argument(of, name) {
            let what = format!("nothing that is offered has this argument {name}");
            return Err(Failure::invalid_params(what));
        }
        let none = Map::new();
        let about = object(params, "context")?.unwrap_or(&none);
        let known = object(about, "arguments")?.unwrap_or(&none);
        if let Some((name, _)) = known.iter().find(|(_, value)| !value.is_string()) {
            let what = format!("context.arguments.{name} must be a string");
            return Err(Failure::invalid_params(what));
        }
        let mut values =
            completion::values(of, name, |name| known.get(name).and_then(Value::as_str));
        values.retain(|value| is_begun(value, begun));
        let total = values.len();
        values.truncate(MOST);
        let completion = json!({"values": values, "total": total, "hasMore": total > MOST});
        let body = Map::from_iter([("completion".to_owned(), completion)]);
        Ok(context.complete(body, Keep::Unsaid))
    }

    fn has_argument(&self, of: Of<'_>, name: &str) -> bool {
        let catalog = self.catalog();
        match of {
            Of::Prompt(prompt) => {
                let prompt = catalog.prompt(prompt).map(|prompt| &prompt.definition);
                let arguments = prompt.and_then(|prompt| prompt.get("arguments"));
                let mut arguments = arguments.and_then(Value::as_array).into_iter().flatten();
                arguments.any(|argument| argument.get("name").is_some_and(|known| known == name))
            }
            Of::Template(template) => {
                let mut templates = catalog.templates.iter();
                let is_listed = templates.any(|known| {
                    known
                        .get("uriTemplate")
                        .is_some_and(|known| known == template)
                });
                is_listed && template.contains(&format!("{{{name}}}"))
            }
        }
    }
}

/// Returns true if a value continues the typed text, ignoring case.
fn is_begun(value: &str, begun: &str) -> bool {
    value.to_lowercase().starts_with(&begun.to_lowercase())
}
