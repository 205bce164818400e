//! What is done in each scenario.

use std::error::Error;

use switchboard::auth::Authorizer;
use switchboard::protocol::{CallToolResult, GetPromptParams, Pairs, Raw, Tool};
use switchboard::{CallOptions, Listing, Server};

use super::Task;
use super::login::with_login;

type Played = Result<(), Box<dyn Error>>;

/// The tools of `http-invalid-tool-headers` that must not be offered to anybody.
const INVALID: &str = "invalid_";

/// Lists and calls everything, as soon as the server lets us in.
pub(super) async fn play_authorized(server: &Server, authorizer: &Authorizer) -> Played {
    let tools = with_login(authorizer, || server.list_tools()).await?;
    for tool in &tools.items {
        let called = with_login(authorizer, || {
            server.call_tool(
                tool.name(),
                Some(Raw::empty_object()),
                CallOptions::default(),
            )
        });
        let result = called.await?;
        if result.is_error() {
            return Err(format!("{} failed: {:?}", tool.name(), result.content()).into());
        }
    }
    Ok(())
}

pub(super) async fn play(server: &Server, task: &Task) -> Played {
    match task.scenario.as_str() {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {
            server.list_tools().await?;
            Ok(())
        }
        "tools_call" => add(server).await,
        "sse-retry" | "elicitation-sep1034-client-defaults" => call_all(server, "{}").await,
        "sep-2322-client-request-state" => ask_back(server).await,
        "http-standard-headers" => use_everything(server).await,
        "http-custom-headers" => call_as_told(server, task).await,
        "http-invalid-tool-headers" => call_valid(server).await,
        "json-schema-2020-12-preservation" => give_schema_back(server).await,
        unknown => Err(format!("no scenario is called {unknown:?} here").into()),
    }
}

async fn call(
    server: &Server,
    tool: &str,
    arguments: &str,
) -> Result<CallToolResult, Box<dyn Error>> {
    let arguments = Raw::parse(arguments)?;
    let result = server
        .call_tool(tool, Some(arguments), CallOptions::default())
        .await?;
    if result.is_error() {
        return Err(format!("{tool} failed: {:?}", result.content()).into());
    }
    Ok(result)
}

fn expect_text(result: &CallToolResult, expected: &str) -> Played {
    let texts: Vec<_> = result
        .content()
        .iter()
        .map(|block| block.as_text())
        .collect();
    if texts == [Some(expected)] {
        return Ok(());
    }
    Err(format!("expected {expected:?}, got {texts:?}").into())
}

fn find<'a>(tools: &'a Listing<Tool>, name: &str) -> Result<&'a Tool, Box<dyn Error>> {
    let found = tools.items.iter().find(|tool| tool.name() == name);
    found.ok_or_else(|| format!("{name} is not listed").into())
}

async fn add(server: &Server) -> Played {
    find(&server.list_tools().await?, "add_numbers")?;
    let sum = call(server, "add_numbers", r#"{"a": 5, "b": 3}"#).await?;
    expect_text(&sum, "The sum of 5 and 3 is 8")
}

async fn call_all(server: &Server, arguments: &str) -> Played {
    for tool in &server.list_tools().await?.items {
        call(server, tool.name(), arguments).await?;
    }
    Ok(())
}

/// Calls tools that ask back, two of them at the same time as one that does not.
async fn ask_back(server: &Server) -> Played {
    server.list_tools().await?;
    let (state, stateless, unrelated) = tokio::join!(
        call(server, "test_mrtr_echo_state", "{}"),
        call(server, "test_mrtr_no_state", "{}"),
        call(server, "test_mrtr_unrelated", "{}"),
    );
    expect_text(&state?, "echo-state-ok")?;
    expect_text(&stateless?, "no-state-ok")?;
    expect_text(&unrelated?, "unrelated-ok")?;
    let plain = call(server, "test_mrtr_no_result_type", "{}").await?;
    expect_text(&plain, "no-result-type-test-ok")
}

async fn use_everything(server: &Server) -> Played {
    call_all(server, "{}").await?;
    for resource in &server.list_resources().await?.items {
        let read = server.read_resource(resource.uri(), CallOptions::default());
        read.await?;
    }
    for prompt in &server.list_prompts().await?.items {
        let params = GetPromptParams {
            name: prompt.name().to_owned(),
            arguments: Pairs::new(),
        };
        server.get_prompt(&params, CallOptions::default()).await?;
    }
    Ok(())
}

/// Calls what the suite says, with the arguments that it says.
async fn call_as_told(server: &Server, task: &Task) -> Played {
    let calls = task.context.as_ref().and_then(|it| it.member("toolCalls"));
    let calls = calls.ok_or("the context has no toolCalls")?.items();
    server.list_tools().await?;
    for told in &calls {
        let name = told.member("name").and_then(|name| name.as_text());
        let name = name.ok_or("a tool call without a name")?;
        let arguments = told.member("arguments").unwrap_or_else(Raw::empty_object);
        call(server, &name, arguments.as_str()).await?;
    }
    Ok(())
}

async fn call_valid(server: &Server) -> Played {
    let tools = server.list_tools().await?;
    find(&tools, "valid_tool")?;
    for tool in &tools.items {
        if tool.name().starts_with(INVALID) {
            return Err(format!("{} should have been set aside", tool.name()).into());
        }
        call(server, tool.name(), r#"{"region": "us-west1"}"#).await?;
    }
    if tools.set_aside.is_empty() {
        return Err("no tool was set aside".into());
    }
    Ok(())
}

async fn give_schema_back(server: &Server) -> Played {
    let tools = server.list_tools().await?;
    let schema = find(&tools, "json_schema_2020_12_tool")?.input_schema();
    let arguments = format!(r#"{{"schema":{}}}"#, schema.raw().as_str());
    call(server, "json_schema_echo", &arguments).await?;
    Ok(())
}
