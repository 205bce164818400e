//! A partner made of rmcp 3.8: speaks both eras, or with `--legacy` only the one that shakes hands.
//!
//! It is written against the handler trait and without rmcp's macros, which name the crate `rmcp`
//! and could not be used with two versions of it side by side.

use std::borrow::Cow;

use rmcp3::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp3::service::RequestContext;
use rmcp3::{ErrorData, RoleServer, ServerHandler, ServiceExt, transport};
use serde_json::{Map, Value, json};
use switchboard_tests::offer;

/// The newest version that a server started with `--legacy` knows.
const LAST_LEGACY: ProtocolVersion = ProtocolVersion::V_2025_11_25;

struct Partner {
    versions: &'static [ProtocolVersion],
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
        Ok(ListToolsResult::with_all_items(vec![echo, add]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let versions = match std::env::args().nth(1).as_deref() {
        None => ProtocolVersion::KNOWN_VERSIONS,
        Some("--legacy") => ProtocolVersion::known_up_to(&LAST_LEGACY),
        Some(other) => return Err(format!("unknown argument: {other}").into()),
    };
    let running = Partner { versions }.serve(transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
