//! Requests that a server has to answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard::host::Completions;
use switchboard::session::CancelReason;
use switchboard::{Error, ErrorKind, ServerName, ToolHandle};
use switchboard_wire::{
    CompleteParams, CompletionArgument, CompletionContext, CompletionRef, Raw, RpcError, Version,
};

use super::failure::Subject;
use super::params::{Params, invalid};
use super::result::{Answer, Members, Outcome};
use super::rounds::Round;
use super::{Asked, Client};
use crate::offer::{Offer, OfferedPrompt, OfferedResource};

impl Client {
    /// Calls a tool.
    pub(super) async fn call_tool(&self, asked: &Asked<'_>, reason: CancelReason) -> Outcome {
        let params = &asked.params;
        let name = Params::text(params.name.as_ref(), "name")?;
        let arguments = params.arguments.clone();
        let arguments = arguments.unwrap_or_else(Raw::empty_object);
        if !arguments.is_object() {
            return Err(invalid("the parameter arguments must be an object"));
        }
        let mut offer = self.offer()?;
        let mut tool = offer.tool(&name);
        // Only an unknown name waits: a known tool is called without delay.
        if tool.is_none() {
            offer = self.later_offer(asked).await?;
            tool = offer.tool(&name);
        }
        let Some(tool) = tool else {
            return Err(self.missing_tool(asked, &name));
        };
        // By the server's own name: a state stays valid when the exposed name changes.
        let round = Round::new("tools/call", tool.server(), tool.raw_name(), &arguments);
        let options = self
            .upstream
            .options(self, asked, tool.server(), &round, reason)?;
        // Awaited here, not in a function of its own: its future is large.
        let sent = self.upstream.call(&tool, arguments.clone(), options);
        let called = self.with_logs(asked, tool.server(), sent).await;
        match called {
            Ok(result) => {
                let result = result.whole().raw().clone();
                let result = offer.rewrite_result(tool.server(), result);
                Answer::of_server(asked.version, result, false)
            }
            Err(error) => self.failed_call(asked, &tool, &name, &round, &error),
        }
    }

    fn failed_call(
        &self,
        asked: &Asked<'_>,
        tool: &ToolHandle,
        name: &str,
        round: &Round<'_>,
        error: &Error,
    ) -> Outcome {
        // Questions first: they come as an error, but the client takes them as a result.
        if let Some(questions) = self.relayed(asked, round, error) {
            return questions;
        }
        // 2025-11-25: the model gets input errors as results, so that it can correct itself.
        let is_since = matches!(asked.version, Version::V2025_11_25 | Version::V2026_07_28);
        if is_since && error.kind() == ErrorKind::Arguments && !error.violations().is_empty() {
            let each = error.violations().iter().map(ToString::to_string);
            let each = each.collect::<Vec<_>>().join("; ");
            let why = format!("the arguments of {} do not fit: {each}", tool.raw_name());
            let block = Members::new().text("type", "text").text("text", &why).end();
            let mut result = Members::of_result(asked.version);
            result
                .raw("content", &format!("[{block}]"))
                .raw("isError", "true");
            return Ok(Answer::own(result.end_raw()));
        }
        Err(self.failure(asked, Subject::Tool(name), error))
    }

    /// The error for a tool that is not offered. The host is asked about it, so that a denial is recorded
    /// for an audit, and a client on this machine learns of it.
    fn missing_tool(&self, asked: &Asked<'_>, name: &str) -> RpcError {
        let subject = Subject::Tool(name);
        match self.upstream.known_tool(&self.scope, name) {
            Err(error) if error.kind() == ErrorKind::Denied => self.failure(asked, subject, &error),
            _ => subject.unknown(asked.version),
        }
    }

    /// Gets a prompt.
    pub(super) async fn get_prompt(&self, asked: &Asked<'_>, reason: CancelReason) -> Outcome {
        let params = &asked.params;
        let name = Params::text(params.name.as_ref(), "name")?;
        let given = params.arguments.clone().unwrap_or_else(Raw::empty_object);
        let arguments: BTreeMap<String, String> = (given.decode())
            .map_err(|_| invalid("the parameter arguments must be an object of strings"))?;
        let mut offer = self.offer()?;
        let mut prompt = offer.prompt(&name);
        if prompt.is_none() {
            offer = self.later_offer(asked).await?;
            prompt = offer.prompt(&name);
        }
        let prompt = prompt.ok_or_else(|| Subject::Prompt(&name).unknown(asked.version))?;
        let OfferedPrompt {
            server,
            name: own_name,
            call_name,
        } = prompt;
        let round = Round::new("prompts/get", &server, &own_name, &given);
        let options = self
            .upstream
            .options(self, asked, &server, &round, reason)?;
        let sent = self.upstream.view.prompt(&call_name, arguments);
        let sent = sent.options(options).into_future();
        match self.with_logs(asked, &server, sent).await {
            Ok(result) => {
                let result = offer.rewrite_result(&server, result.raw().clone());
                Answer::of_server(asked.version, result, false)
            }
            Err(error) => self
                .relayed(asked, &round, &error)
                .unwrap_or_else(|| Err(self.failure(asked, Subject::Prompt(&name), &error))),
        }
    }

    /// Reads a resource.
    pub(super) async fn read_resource(&self, asked: &Asked<'_>, reason: CancelReason) -> Outcome {
        let uri = Params::text(asked.params.uri.as_ref(), "uri")?;
        let subject = Subject::Resource(&uri);
        let mut offer = self.offer()?;
        let mut resource = offer.resource(&uri);
        if resource.is_none() {
            offer = self.later_offer(asked).await?;
            resource = offer.resource(&uri);
        }
        let resource = resource.ok_or_else(|| subject.unknown(asked.version))?;
        let OfferedResource {
            server,
            uri: own_uri,
        } = resource;
        let none = Raw::null();
        let round = Round::new("resources/read", &server, &own_uri, &none);
        let options = self
            .upstream
            .options(self, asked, &server, &round, reason)?;
        let sent = self.upstream.view.read(server.as_str(), &own_uri);
        let sent = sent.options(options).into_future();
        match self.with_logs(asked, &server, sent).await {
            Ok(result) => {
                let result = offer.rewrite_result(&server, result.raw().clone());
                Answer::of_server(asked.version, result, true)
            }
            Err(error) => {
                let relayed = self.relayed(asked, &round, &error);
                relayed.unwrap_or_else(|| Err(self.failure(asked, subject, &error)))
            }
        }
    }

    /// Completes an argument of a prompt or of a template.
    pub(super) async fn complete(&self, asked: &Asked<'_>, reason: CancelReason) -> Outcome {
        let offer = self.offer()?;
        let target = asked.params.member("ref");
        let target = target.ok_or_else(|| invalid("the parameter ref is missing"))?;
        let target: CompletionRef = target
            .decode()
            .map_err(|_| invalid("the parameter ref does not fit"))?;
        let argument = asked.params.member("argument");
        let argument = argument.ok_or_else(|| invalid("the parameter argument is missing"))?;
        let argument: CompletionArgument =
            (argument.decode()).map_err(|_| invalid("the parameter argument does not fit"))?;
        let context = asked.params.member("context");
        let context = context.map(|context| context.decode::<CompletionContext>());
        let context = context
            .transpose()
            .map_err(|_| invalid("the parameter context does not fit"))?;
        let named = match &target {
            CompletionRef::Prompt { name } => name.clone(),
            CompletionRef::Resource { uri } => uri.clone(),
        };
        let subject = Subject::Completion(&named);
        let found = completed(&offer, target);
        let (server, target) = found.ok_or_else(|| subject.unknown(asked.version))?;
        let params = CompleteParams {
            target,
            argument,
            context,
        };
        let none = Raw::null();
        let round = Round::new("completion/complete", &server, &named, &none);
        let options = self
            .upstream
            .options(self, asked, &server, &round, reason)?;
        let sent = self.upstream.view.complete(server.as_str(), &params);
        let mut completion = Members::new();
        match sent.options(options).await {
            // As the server sent it: unknown members pass too.
            Ok(Completions { raw: Some(raw), .. }) => {
                return Answer::of_server(asked.version, raw, false);
            }
            Ok(found) => {
                let values = serde_json::to_string(&found.values).unwrap_or_default();
                completion.raw("values", &values);
            }
            // Of all that are offered, some complete nothing: the client knows of the one capability alone.
            Err(error) if error.kind() == ErrorKind::NotOffered => {
                completion.raw("values", "[]");
            }
            Err(error) => return Err(self.failure(asked, subject, &error)),
        }
        let mut result = Members::of_result(asked.version);
        result.raw("completion", &completion.end());
        Ok(Answer::own(result.end_raw()))
    }
}

/// The server that completes an argument, and its own name for the prompt or template.
fn completed(offer: &Arc<Offer>, target: CompletionRef) -> Option<(ServerName, CompletionRef)> {
    match target {
        CompletionRef::Prompt { name } => {
            let OfferedPrompt { server, name, .. } = offer.prompt(&name)?;
            Some((server, CompletionRef::Prompt { name }))
        }
        CompletionRef::Resource { uri } => {
            // 2025-11-25, completion: the `uri` of a reference is a template or a plain address.
            let found = offer.template(&uri).or_else(|| offer.resource(&uri));
            let OfferedResource { server, uri } = found?;
            Some((server, CompletionRef::Resource { uri }))
        }
    }
}
