//! A server made of rmcp 3.8 that talks back in the way of 2026-07-28: its questions come as rounds, its news to
//! whoever listens.
//!
//! [`talk`](crate::talk) lists what it offers.

#![expect(
    deprecated,
    reason = "logging is deprecated, and clients have to know it"
)]

mod rounds;
mod tools;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp3::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp3::service::{RequestContext, SubscriptionContext};
use rmcp3::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::broadcast;

use crate::talk;
use rounds::{Form, Round};

/// What whoever listens may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Number,
    Tools,
}

/// A server that asks, logs, and tells of progress and of changes.
#[derive(Debug, Clone)]
pub struct Talker {
    state: Arc<Mutex<State>>,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug, Default)]
struct State {
    number: u64,
    grown: BTreeSet<String>,
}

impl Talker {
    /// Begins with nothing changed yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::default(),
            changes: broadcast::Sender::new(64),
        }
    }

    fn change(&self, change: Change, by: impl FnOnce(&mut State)) {
        by(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        // Nobody may be listening.
        self.changes.send(change).ok();
    }

    fn look<T>(&self, at: impl FnOnce(&State) -> T) -> T {
        at(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Talker {
    fn default() -> Self {
        Self::new()
    }
}

impl ServerHandler for Talker {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rmcp3-talker", "3.8.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        tools::log(&context, "info", "tools were listed").await;
        let grown = self.look(|state| state.grown.clone());
        Ok(ListToolsResult::with_all_items(tools::all(&grown)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, request, context).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let number = Resource::new(talk::NUMBER, "number");
        Ok(ListResourcesResult::with_all_items(vec![number]))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = [(talk::NOTES, "notes"), (talk::LOCKED, "locked")];
        let templates = templates.map(|(uri, name)| ResourceTemplate::new(uri, name));
        Ok(ListResourceTemplatesResult::with_all_items(
            templates.into(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let text = if uri == talk::NUMBER {
            self.look(|state| state.number).to_string()
        } else if let Some(name) = uri.strip_prefix("partner://notes/") {
            format!("a note for {name}")
        } else if let Some(name) = uri.strip_prefix("partner://locked/") {
            match Form::Name.round(request.input_responses.as_ref())? {
                Round::Ask(ask) => return Ok(ask.into()),
                Round::Answered(who) => format!("{name}, opened by {who}"),
            }
        } else {
            return Err(ErrorData::resource_not_found("no such resource", None));
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new("name").with_required(true);
        let greet = Prompt::new(talk::GREET, None::<&str>, Some(vec![name]));
        let letter = Prompt::new(talk::LETTER, None::<&str>, None);
        Ok(ListPromptsResult::with_all_items(vec![greet, letter]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = if request.name == talk::GREET {
            let arguments = request.arguments.unwrap_or_default();
            format!("Please greet {}.", tools::text(&arguments, "name")?)
        } else {
            match Form::Name.round(request.input_responses.as_ref())? {
                Round::Ask(ask) => return Ok(ask.into()),
                Round::Answered(who) => format!("Please write to {who}."),
            }
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let values = talk::NAMES.iter().filter(|name| name.starts_with(&begun));
        let values = values.map(|name| (*name).to_owned()).collect();
        let info = CompletionInfo::with_all_values(values);
        let info = info.map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(info))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        // Whoever begins to watch the number sees it change: a program that only watches could not make it.
        // What a stream was not opened for is not sent, which the SDK sees to.
        let sink = context.sink();
        sink.notify_resource_updated(talk::NUMBER).await.ok();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => match change {
                    Ok(Change::Number) => sink.notify_resource_updated(talk::NUMBER).await.ok(),
                    Ok(Change::Tools) => sink.notify_tool_list_changed().await.ok(),
                    Err(_) => return Ok(()),
                },
            };
        }
    }
}
