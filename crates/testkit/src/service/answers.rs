//! The methods that are answered at once.

use serde_json::{Map, Value, json};

use super::Service;
use super::era::{Context, Keep, server_info};
use super::failure::{Failure, object, string};
use crate::{completion, conformance, pages, resources};

const INSTRUCTIONS: &str = "A server to test clients against. `echo` is a good first call; \
    `slow_operation` shows progress and can be cancelled; the resources and prompts are samples.";

/// Cache lifetime of lists: short enough for a test to wait for it.
const KEEP: Keep = Keep::Milliseconds(60_000);

type MethodResult = Result<Map<String, Value>, Failure>;

impl Service {
    /// Answers methods that need nothing of the connection; `None` for a method that the era lacks.
    pub(crate) fn answer(
        &self,
        context: Context,
        method: &str,
        params: &Map<String, Value>,
    ) -> Option<MethodResult> {
        let catalog = self.catalog();
        let answer = match (method, context.modern()) {
            ("initialize", false) => Ok(self.initialized(context)),
            ("ping", false) => Ok(Map::new()),
            ("tools/list", _) => {
                let tools = catalog.tools.iter().map(|tool| &tool.definition);
                self.list(context, "tools", &tools.collect::<Vec<_>>(), params)
            }
            ("resources/list", _) => {
                let resources = catalog.resources.iter();
                let resources = resources.map(|resource| &resource.definition);
                self.list(context, "resources", &resources.collect::<Vec<_>>(), params)
            }
            ("resources/templates/list", _) => {
                let templates: Vec<&Value> = catalog.templates.iter().collect();
                self.list(context, "resourceTemplates", &templates, params)
            }
            ("prompts/list", _) => {
                let prompts = catalog.prompts.iter().map(|prompt| &prompt.definition);
                self.list(context, "prompts", &prompts.collect::<Vec<_>>(), params)
            }
            ("resources/read", _) => self.read(context, params),
            ("prompts/get", _) => self.prompt(context, params),
            ("completion/complete", _) if self.talking || self.conformance => {
                self.complete(context, params)
            }
            _ => return None,
        };
        Some(answer)
    }

    fn list(
        &self,
        context: Context,
        key: &str,
        items: &[&Value],
        params: &Map<String, Value>,
    ) -> MethodResult {
        let page = pages::cut(key, items, self.page_size, params)
            .map_err(|pages::InvalidCursor| Failure::invalid_params("unknown cursor"))?;
        let features = context.features();
        let items = page.items.iter().map(|item| features.fit(item)).collect();
        let mut body = Map::new();
        body.insert(key.to_owned(), Value::Array(items));
        if let Some(next) = page.next {
            body.insert("nextCursor".to_owned(), next.into());
        }
        Ok(context.complete(body, KEEP))
    }

    fn read(&self, context: Context, params: &Map<String, Value>) -> MethodResult {
        let uri = string(params, "uri")?;
        let contents = self
            .catalog()
            .resource(uri)
            .map(crate::resources::Resource::contents)
            .or_else(|| self.expanded(uri))
            .or_else(|| self.note(uri))
            .ok_or_else(|| Failure::unknown_resource(uri, context.modern()))?;
        let mut body = Map::new();
        body.insert("contents".to_owned(), Value::Array(vec![contents]));
        Ok(context.complete(body, KEEP))
    }

    fn prompt(&self, context: Context, params: &Map<String, Value>) -> MethodResult {
        let name = string(params, "name")?;
        let catalog = self.catalog();
        let prompt = catalog
            .prompt(name)
            .ok_or_else(|| Failure::invalid_params(format!("unknown prompt {name}")))?;
        let none = Map::new();
        let arguments = object(params, "arguments")?.unwrap_or(&none);
        let body = prompt.fill(arguments).map_err(Failure::invalid_params)?;
        Ok(context.complete(body, Keep::Unsaid))
    }

    /// Reads what the template has.
    fn expanded(&self, uri: &str) -> Option<Value> {
        if self.conformance {
            return conformance::from_template(uri);
        }
        resources::from_template(uri)
    }

    /// Reads one of the notes that can be completed.
    fn note(&self, uri: &str) -> Option<Value> {
        let text = self.talking.then(|| completion::note(uri)).flatten()?;
        Some(resources::contents(uri, "text/plain", &text))
    }

    fn initialized(&self, context: Context) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert(
            "protocolVersion".to_owned(),
            context.version.as_str().into(),
        );
        body.insert("capabilities".to_owned(), self.capabilities(context));
        body.insert("serverInfo".to_owned(), server_info(context.features()));
        body.insert("instructions".to_owned(), INSTRUCTIONS.into());
        body
    }

    /// The result of `server/discover`.
    pub(crate) fn discovered(&self, context: Context, supported: &[&str]) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("supportedVersions".to_owned(), json!(supported));
        body.insert("capabilities".to_owned(), self.capabilities(context));
        body.insert("instructions".to_owned(), INSTRUCTIONS.into());
        context.complete(body, KEEP)
    }

    fn capabilities(&self, context: Context) -> Value {
        let resources = if self.is_watchable() {
            json!({"subscribe": true, "listChanged": true})
        } else {
            json!({"listChanged": true})
        };
        let talks = self.talking || self.conformance;
        let declared = [
            ("tools", true, json!({"listChanged": true})),
            ("resources", true, resources),
            ("prompts", true, json!({"listChanged": true})),
            // A legacy client may always set a level, even if nothing is logged.
            ("logging", !context.modern() || talks, json!({})),
            (
                "completions",
                talks && context.features().annotations,
                json!({}),
            ),
        ];
        let declared = declared.into_iter().filter(|(_, is_so, _)| *is_so);
        declared
            .map(|(name, _, value)| (name.to_owned(), value))
            .collect()
    }
}
