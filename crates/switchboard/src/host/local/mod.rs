//! Tools that the program itself runs, registered while the host runs.
//!
//! A [`LocalTool`] is a definition and an async function. The local tools of one server name are behind
//! a small server in the same process ([`serve`]), which the host connects to like to any other: so
//! they are listed, checked, allowed, called, cancelled, limited and reported by the same code, and
//! nothing above the transport knows that they are local. [`register`] has the methods of the host.

mod register;
mod serve;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use switchboard_wire::{FromRaw as _, Raw, Tool};

use crate::error::Error;
use crate::transport::{Connect, Connecting, Memory};

/// The future of a local tool's result.
type Running = Pin<Box<dyn Future<Output = ToolOutput> + Send>>;

/// A tool that the program itself runs: a definition and an async function.
///
/// ```
/// use serde_json::{Value, json};
/// use switchboard::host::{Host, LocalTool};
///
/// # async fn example(host: Host) -> Result<(), switchboard::Error> {
/// let schema = json!({"type": "object", "required": ["a", "b"]});
/// let add = LocalTool::new("add", "Adds two numbers", schema, async |numbers: Value| {
///     match (numbers["a"].as_f64(), numbers["b"].as_f64()) {
///         (Some(a), Some(b)) => Ok((a + b).to_string()),
///         _ => Err("both have to be numbers"),
///     }
/// });
/// let add = host.register_tool("calculator", add).await?;
/// assert_eq!(add.name(), "mcp__calculator__add");
/// assert_eq!(add.call(json!({"a": 2, "b": 3})).await?.text(), "5");
/// # Ok(())
/// # }
/// # let host = Host::builder().build().unwrap();
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(example(host)).unwrap();
/// ```
#[derive(Clone)]
pub struct LocalTool {
    name: String,
    definition: Map<String, Value>,
    run: Arc<dyn Fn(Value) -> Running + Send + Sync>,
}

impl LocalTool {
    /// Defines a tool: its name, its description for models, the schema of its arguments, and the
    /// function that runs it.
    ///
    /// The function gets the arguments, once they fit the schema, as a [`Value`] or as any type that
    /// they are read into. An error of it, and arguments that the type does not take, are a result with
    /// [`is_error`](super::ToolResult::is_error) set, which a model can read.
    pub fn new<A, F, R, T, E>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        run: F,
    ) -> Self
    where
        A: DeserializeOwned,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<ToolOutput>,
        E: fmt::Display,
    {
        let (name, mut definition) = (name.into(), Map::new());
        definition.insert("name".to_owned(), json!(name));
        definition.insert("description".to_owned(), json!(description.into()));
        definition.insert("inputSchema".to_owned(), input_schema);
        let run = move |arguments: Value| -> Running {
            match serde_json::from_value(arguments) {
                Ok(arguments) => {
                    let running = run(arguments);
                    Box::pin(async move {
                        match running.await {
                            Ok(output) => output.into(),
                            Err(error) => ToolOutput::error(error.to_string()),
                        }
                    })
                }
                Err(error) => {
                    let words = format!("the arguments cannot be read: {error}");
                    Box::pin(std::future::ready(ToolOutput::error(words)))
                }
            }
        };
        Self {
            name,
            definition,
            run: Arc::new(run),
        }
    }

    /// Sets a name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.with("title", json!(title.into()))
    }

    /// Sets the schema of its structured results.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        self.with("outputSchema", schema)
    }

    /// Sets its annotations, such as `{"readOnlyHint": true}`.
    #[must_use]
    pub fn annotations(self, annotations: Value) -> Self {
        self.with("annotations", annotations)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.definition.insert(key.to_owned(), value);
        self
    }

    /// Checks the definition.
    ///
    /// # Errors
    /// Fails if it is not the definition of a tool: its name is empty, or a schema is not an object.
    fn check(&self) -> Result<(), Error> {
        let wrong = |why: String| Error::configuration(format!("tool {:?}: {why}", self.name));
        if self.name.is_empty() {
            return Err(wrong("its name is empty".to_owned()));
        }
        let raw = Raw::of(&self.definition).map_err(|error| wrong(error.to_string()))?;
        Tool::from_raw(&raw).map_err(|error| wrong(error.to_string()))?;
        Ok(())
    }
}

impl fmt::Debug for LocalTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalTool")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

/// The result of a local tool. Texts and JSON values convert into one.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    text: String,
    structured: Option<Value>,
    is_error: bool,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            structured: None,
            is_error: false,
        }
    }

    /// A JSON value, which is also sent as text. Only an object is structured content: the protocol
    /// takes no other value there.
    pub fn json(value: Value) -> Self {
        let text = value.to_string();
        Self {
            structured: Some(value).filter(Value::is_object),
            ..Self::text(text)
        }
    }

    /// A failure of the tool, in words that a model can read.
    pub fn error(words: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(words)
        }
    }

    /// The result of `tools/call`.
    fn result(&self) -> Value {
        let mut result = json!({
            "content": [{"type": "text", "text": self.text}],
            "isError": self.is_error,
        });
        if let (Some(structured), Some(result)) = (&self.structured, result.as_object_mut()) {
            result.insert("structuredContent".to_owned(), structured.clone());
        }
        result
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self::json(value)
    }
}

/// The local tools of one server name, in the order in which they were registered. Clones share them.
#[derive(Clone)]
pub(super) struct LocalTools(Arc<Mutex<Registered>>);

#[derive(Default)]
struct Registered {
    tools: Vec<LocalTool>,
    /// True once the last tool was removed: the server is about to be, too.
    is_closed: bool,
}

/// The reason that a tool was not added.
enum NotAdded {
    /// There is a tool of that name.
    Taken,
    /// The server is being removed.
    Closed,
}

impl LocalTools {
    fn of(tool: LocalTool) -> Self {
        Self(Arc::new(Mutex::new(Registered {
            tools: vec![tool],
            is_closed: false,
        })))
    }

    fn registered(&self) -> MutexGuard<'_, Registered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, tool: LocalTool) -> Result<(), NotAdded> {
        let mut registered = self.registered();
        if registered.is_closed {
            return Err(NotAdded::Closed);
        }
        if registered.tools.iter().any(|known| known.name == tool.name) {
            return Err(NotAdded::Taken);
        }
        registered.tools.push(tool);
        Ok(())
    }

    /// Removes a tool, and returns true if none is left; `None` if there is no such tool.
    fn remove(&self, name: &str) -> Option<bool> {
        let mut registered = self.registered();
        let at = registered.tools.iter().position(|tool| tool.name == name)?;
        registered.tools.remove(at);
        registered.is_closed = registered.tools.is_empty();
        Some(registered.is_closed)
    }

    fn names(&self) -> Vec<String> {
        let registered = self.registered();
        let names = registered.tools.iter().map(|tool| tool.name.clone());
        names.collect()
    }

    fn get(&self, name: &str) -> Option<LocalTool> {
        let registered = self.registered();
        registered
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .cloned()
    }

    fn definitions(&self) -> Vec<Value> {
        let registered = self.registered();
        let definitions = registered.tools.iter();
        definitions
            .map(|tool| Value::Object(tool.definition.clone()))
            .collect()
    }
}

impl Connect for LocalTools {
    fn connect(&self) -> Connecting<'_> {
        let tools = self.clone();
        let memory = Memory::new("local", move |input, output| {
            serve::serve(tools.clone(), input, output)
        });
        Box::pin(async move { memory.connect().await })
    }

    fn identity(&self) -> String {
        "memory:local".to_owned()
    }
}
