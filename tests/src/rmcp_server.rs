//! A server made of rmcp 3.8, over whatever a program serves it with.
//!
//! It is written against the handler trait and without rmcp's macros, which name the crate `rmcp`
//! and could not be used with two versions of it side by side.

use std::borrow::Cow;
use std::io::Write as _;

use rmcp3::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument,
    PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp3::service::RequestContext;
use rmcp3::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use crate::offer;

/// The newest version that a server of the legacy era alone knows.
const LAST_LEGACY: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// A server that offers what [`offer`] lists.
#[derive(Debug, Clone)]
pub struct Partner {
    versions: &'static [ProtocolVersion],
    counts: bool,
}

impl Partner {
    /// Speaks both eras.
    #[must_use]
    pub fn new() -> Self {
        Self {
            versions: ProtocolVersion::KNOWN_VERSIONS,
            counts: false,
        }
    }

    /// Speaks the legacy era alone.
    #[must_use]
    pub fn legacy(self) -> Self {
        let versions = ProtocolVersion::known_up_to(&LAST_LEGACY);
        Self { versions, ..self }
    }

    /// Offers [`offer::COUNT`] too.
    #[must_use]
    pub fn counting(self) -> Self {
        Self {
            counts: true,
            ..self
        }
    }
}

impl Default for Partner {
    fn default() -> Self {
        Self::new()
    }
}

impl ServerHandler for Partner {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rmcp3-server", "3.8.0"))
            .with_instructions("A partner to test clients with.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let echo = Tool::new(offer::ECHO, "Returns its message.", offer::echo_input());
        let add = Tool::new(offer::ADD, "Adds two integers.", offer::add_input())
            .with_raw_output_schema(offer::add_output().into());
        let mut tools = vec![echo, add];
        if self.counts {
            let counts = "Reports each step, and answers or does not.";
            tools.push(Tool::new(offer::COUNT, counts, offer::count_input()));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            offer::ECHO => {
                let message = text(&arguments, "message")?;
                CallToolResult::success(vec![ContentBlock::text(message)])
            }
            offer::ADD => {
                let sum = integer(&arguments, "a")? + integer(&arguments, "b")?;
                let mut result = CallToolResult::success(vec![ContentBlock::text(sum.to_string())]);
                result.structured_content = Some(json!({ "result": sum }));
                result
            }
            offer::COUNT if self.counts => count(&arguments, &context).await?,
            other => return Err(invalid(format!("no tool is called {other}"))),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = Resource::new(offer::RESOURCE_URI, offer::RESOURCE_NAME);
        Ok(ListResourcesResult::with_all_items(vec![resource]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != offer::RESOURCE_URI {
            return Err(ErrorData::resource_not_found("no such resource", None));
        }
        let contents = ResourceContents::text(offer::RESOURCE_TEXT, offer::RESOURCE_URI);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new("name").with_required(true);
        let prompt = Prompt::new(
            offer::PROMPT,
            Some("Asks for a greeting."),
            Some(vec![name]),
        );
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != offer::PROMPT {
            return Err(invalid(format!("no prompt is called {}", request.name)));
        }
        let arguments = request.arguments.unwrap_or_default();
        let message = offer::prompt_text(text(&arguments, "name")?);
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, message)]).into())
    }
}

async fn count(
    arguments: &Map<String, Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let steps = integer(arguments, "steps")?;
    // Only servers over HTTP count: stdout is free for this.
    writeln!(std::io::stdout(), "counting").ok();
    if let Some(token) = context.meta.get_progress_token() {
        for step in 1..=steps {
            let step = f64::from(u32::try_from(step).unwrap_or(u32::MAX));
            let progress = ProgressNotificationParam::new(token.clone(), step);
            // Who no longer listens has cancelled, and gets no answer either.
            context.peer.notify_progress(progress).await.ok();
        }
    }
    if arguments.get("hang") == Some(&Value::Bool(true)) {
        context.ct.cancelled().await;
        writeln!(std::io::stdout(), "cancelled").ok();
    }
    Ok(CallToolResult::success(vec![ContentBlock::text(
        offer::counted(steps),
    )]))
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, ErrorData> {
    let value = arguments.get(name).and_then(Value::as_str);
    value.ok_or_else(|| invalid(format!("`{name}` must be a string")))
}

fn integer(arguments: &Map<String, Value>, name: &str) -> Result<i64, ErrorData> {
    let value = arguments.get(name).and_then(Value::as_i64);
    value.ok_or_else(|| invalid(format!("`{name}` must be an integer")))
}

fn invalid(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}
