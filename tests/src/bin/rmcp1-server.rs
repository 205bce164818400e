//! A partner made of rmcp 1.8: legacy only, and exits without a word when it is probed.
//!
//! Like its newer sibling it does without rmcp's macros, which name the crate `rmcp` and could not
//! be used with two versions of it side by side.

use rmcp1::model::{
    AnnotateAble, CallToolRequestParams, CallToolResult, Content, GetPromptRequestParams,
    GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, PromptMessageRole, RawResource,
    ReadResourceRequestParams, ReadResourceResult, ResourceContents, ServerCapabilities,
    ServerInfo, Tool,
};
use rmcp1::service::RequestContext;
use rmcp1::{ErrorData, RoleServer, ServerHandler, ServiceExt, transport};
use serde_json::{Map, Value, json};
use switchboard_tests::offer;

struct Partner;

impl ServerHandler for Partner {
    fn get_info(&self) -> ServerInfo {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerInfo::new(capabilities)
            .with_server_info(Implementation::new("rmcp1-server", "1.8.0"))
            .with_instructions("A partner to test clients with.")
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
    ) -> Result<CallToolResult, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match request.name.as_ref() {
            offer::ECHO => {
                let message = text(&arguments, "message")?;
                CallToolResult::success(vec![Content::text(message)])
            }
            offer::ADD => {
                let sum = integer(&arguments, "a")? + integer(&arguments, "b")?;
                let mut result = CallToolResult::success(vec![Content::text(sum.to_string())]);
                result.structured_content = Some(json!({ "result": sum }));
                result
            }
            other => return Err(invalid(format!("no tool is called {other}"))),
        };
        Ok(result)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = RawResource::new(offer::RESOURCE_URI, offer::RESOURCE_NAME).no_annotation();
        Ok(ListResourcesResult::with_all_items(vec![resource]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        if request.uri != offer::RESOURCE_URI {
            return Err(ErrorData::resource_not_found("no such resource", None));
        }
        let contents = ResourceContents::text(offer::RESOURCE_TEXT, offer::RESOURCE_URI);
        Ok(ReadResourceResult::new(vec![contents]))
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
    ) -> Result<GetPromptResult, ErrorData> {
        if request.name != offer::PROMPT {
            return Err(invalid(format!("no prompt is called {}", request.name)));
        }
        let arguments = request.arguments.unwrap_or_default();
        let message = offer::prompt_text(text(&arguments, "name")?);
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(
            PromptMessageRole::User,
            message,
        )]))
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
    let running = Partner.serve(transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
