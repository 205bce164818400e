//! Requests of a caller to servers: calls, resources, prompts, completions, subscriptions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use switchboard_wire::{
    CompleteParams, CompletionRef, GetPromptParams, GetPromptResult, Raw, ReadResourceResult,
};

use super::access::Permit;
use super::calls::{Attempt, Subject};
use super::catalog_keeper::Lists;
use super::clients::Lease;
use super::member::{Member, MemberUse, Ready};
use super::registry::Want;
use super::server_request::ServerRequest;
use super::tool_call::ToolCall;
use super::unknown;
use super::view::View;
use super::watching::Watching;
use crate::catalog::{
    Catalog, Fill, ItemKind, PromptEntry, ResourceEntry, TemplateError, ToolRef, UriTemplate,
};
use crate::error::{Error, HostError};
use crate::events::What;
use crate::formats::context::{Room, rank};
use crate::formats::{self, TextLimits};
use crate::policy::{Request, Target, Verb};
use crate::schema::Violation;
use crate::session::CallOptions;
use crate::spec::ServerName;

/// The values that an argument can have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completions {
    /// The values, best first.
    pub values: Vec<String>,
    /// The total number of values, if the server sends it.
    pub total: Option<u64>,
    /// True if there are more values than these.
    pub has_more: bool,
    /// The whole result, as the server sent it.
    #[doc(hidden)]
    pub raw: Option<Raw>,
}

/// The resources that were chosen for a model to read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Reading {
    /// The texts, the most important one first.
    pub texts: Vec<Passage>,
    /// The resources that were left out: server, address and reason.
    pub left_out: Vec<(ServerName, String, String)>,
    /// Bytes of all texts together.
    pub bytes: usize,
}

/// One resource that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Passage {
    /// The server that has it.
    pub server: ServerName,
    /// Its address.
    pub uri: String,
    /// Its content as text.
    pub text: String,
}

impl View {
    /// Calls a tool by its name, `server/tool` or the one for models, connecting first if need be.
    ///
    /// Await it to send it; see [`ToolCall`] for its options and errors.
    pub fn call<'a>(
        &self,
        name: impl Into<ToolRef<'a>>,
        arguments: impl Serialize,
    ) -> ToolCall<'a> {
        ToolCall::by_name(self.clone(), name.into(), arguments)
    }

    /// Makes the call that a model asked for: see [`formats::openai::chat_call`] and the like.
    pub fn call_for_model<'a>(&self, call: &'a formats::Call) -> ToolCall<'a> {
        let name = ToolRef::parse(&call.name);
        ToolCall::by_name_raw(self.clone(), name, call.arguments.clone())
    }

    /// Reads the resources of all known servers that are worth a model's attention, as long as they
    /// fit into a budget of bytes: those for models, the important ones first, of these the newer.
    ///
    /// The text that was read counts, whatever its server says of its size. A resource that cannot be
    /// read or does not fit any more is left out and named. Resources without a size are read to learn
    /// it, until [`HostLimits::unused_context_bytes`](super::HostLimits) were read in vain.
    pub async fn context(&self, budget: u64) -> Reading {
        self.context_of(&self.resources(), budget).await
    }

    /// Does the same with some of [`View::resources`]: those of one server, or those that a person picked.
    pub async fn context_of(&self, entries: &[Arc<ResourceEntry>], budget: u64) -> Reading {
        let resources: Vec<_> = entries.iter().map(|entry| entry.resource()).collect();
        let most_in_vain = self
            .host
            .registry
            .options()
            .host_limits
            .unused_context_bytes;
        let (mut reading, mut room) = (Reading::default(), Room::new(budget, most_in_vain));
        let mut silent = Vec::new();
        for (at, for_people) in rank(&resources) {
            let Some(entry) = entries.get(at) else {
                continue;
            };
            let passage = match for_people {
                Some(why) => Err(why.to_string()),
                None => self.read_within(&mut room, entry, &mut silent).await,
            };
            // A smaller one may still fit, so the loop goes on.
            match passage {
                Ok(passage) => {
                    reading.bytes += passage.text.len();
                    reading.texts.push(passage);
                }
                Err(why) => {
                    let (server, uri) = (entry.server().clone(), entry.uri().to_owned());
                    reading.left_out.push((server, uri, why));
                }
            }
        }
        reading
    }

    /// Reads a resource if there is room for it; fails with the reason that it is left out. Servers that
    /// did not answer in time are `silent`, and not asked again for each of their resources.
    async fn read_within<'e>(
        &self,
        room: &mut Room,
        entry: &'e ResourceEntry,
        silent: &mut Vec<&'e ServerName>,
    ) -> Result<Passage, String> {
        let (server, uri) = (entry.server(), entry.uri());
        // By its declared size, which may be missing or wrong: the real text is measured below.
        let admitted = room.admit(entry.resource().size());
        admitted.map_err(|why| why.to_string())?;
        if silent.contains(&server) {
            return Err("its server does not answer".to_owned());
        }
        let read = self.read(server.as_str(), uri).await.map_err(|error| {
            if error.is_timeout() {
                silent.push(server);
            }
            error.to_string()
        })?;
        let text = formats::resource_text(&read, &TextLimits::default()).text;
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        room.take(bytes).map_err(|why| why.to_string())?;
        Ok(Passage {
            server: server.clone(),
            uri: uri.to_owned(),
            text,
        })
    }

    /// Reads a resource of a server, connecting first if need be. Await it to send it.
    ///
    /// # Errors
    /// Fails if there is no such server, or it returns no result.
    pub fn read<'a>(&self, server: &'a str, uri: &'a str) -> ServerRequest<'a, ReadResourceResult> {
        let view = self.clone();
        ServerRequest::new(
            move |options| async move { view.read_resource(server, uri, options).await },
        )
    }

    async fn read_resource(
        &self,
        server: &str,
        uri: &str,
        mut options: CallOptions,
    ) -> Result<ReadResourceResult, Error> {
        // The permit before admission: a denied agent must not start a server.
        let (member, _in_use, permit) = self.may_use_resource(server, uri, Verb::Read).await?;
        let ready = self.host.registry.admit(&member).await?;
        let name = Arc::from(uri);
        let subject = Subject::new(What::Resource, &name);
        let lease = self.lease(&member, ready, &mut options).await?;
        let attempt = self.attempt(&member, ready, &lease, &permit);
        let read = lease.server().read_resource(uri, options);
        self.host.calls.request(attempt, subject, read).await
    }

    /// Begins a use of the server of a resource, if the caller may use the resource that way.
    ///
    /// # Errors
    /// Fails if the caller may not.
    async fn may_use_resource(
        &self,
        server: &str,
        uri: &str,
        verb: Verb,
    ) -> Result<(Arc<Member>, MemberUse, Permit), Error> {
        let host = &self.host;
        let (member, in_use) = match host.registry.find_for_use(server) {
            Ok((member, in_use)) if self.caller.is_owner() => {
                return Ok((member, in_use, Permit::owner()));
            }
            Err(error) if self.caller.is_owner() => return Err(error),
            Err(_) => return Err(no_resource(uri)),
            Ok(found) => found,
        };
        let server = &member.name;
        // The URI decides, not the catalog: servers read resources that they do not list.
        let request = Request::new(&self.caller, verb, Target::Resource { server, uri });
        match Box::pin(host.access.permit_to(&request, &member)).await {
            Ok(permit) => Ok((member, in_use, permit)),
            Err(decision) => {
                let what = match verb {
                    Verb::Subscribe => What::Subscription,
                    _ => What::Resource,
                };
                let name = Arc::from(uri);
                let subject = Subject::new(what, &name);
                (host.calls).record_refusal(&self.caller, &member, subject, &decision);
                let absent = || no_resource(uri);
                Err(host.access.denied(&request, &decision, absent))
            }
        }
    }

    /// Fills in a template of a server's resources, and reads the resource at that address,
    /// connecting first if need be. Permission is decided for the filled-in address.
    ///
    /// # Errors
    /// Fails if the template cannot be filled in, or for the reasons of [`View::read`].
    pub async fn read_template(
        &self,
        server: &str,
        template: &str,
        values: &BTreeMap<String, Fill>,
    ) -> Result<ReadResourceResult, Error> {
        let uri = UriTemplate::parse(template).and_then(|read| read.expand(values));
        let uri = uri.map_err(|error| no_address(template, &error))?;
        self.read(server, &uri).await
    }

    /// Gets a prompt, `server/prompt` or its name for models, filled in with arguments: an object,
    /// such as a struct, a map or `json!({...})`. Connects first if need be. Await it to send it.
    ///
    /// The protocol takes strings: strings are sent as they are, other values as their compact JSON
    /// text; a `null` is an argument that is not given.
    ///
    /// # Errors
    /// Fails if there is no such prompt, an argument is missing or unknown, or there is no result.
    pub fn prompt<'a>(
        &self,
        name: &'a str,
        arguments: impl Serialize,
    ) -> ServerRequest<'a, GetPromptResult> {
        // Converted now, reported when it is awaited: building a request never fails.
        let (view, arguments) = (self.clone(), texts(&arguments));
        ServerRequest::new(move |options| async move {
            view.get_prompt(name, arguments?, options).await
        })
    }

    async fn get_prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
        mut options: CallOptions,
    ) -> Result<GetPromptResult, Error> {
        let host = &self.host;
        let sent = Raw::of(&arguments).ok();
        let entry = self.find_prompt_with(name, sent.as_ref()).await?;
        let found = host.registry.begin_use(entry.server());
        let (member, _in_use) = found.ok_or_else(|| host.no_prompt(&self.caller, name))?;
        let own_name = Arc::from(entry.name());
        let subject = Subject::new(What::Prompt, &own_name).arguments(sent.as_ref());
        let permit = if self.caller.is_owner() {
            Permit::owner()
        } else {
            match Box::pin(host.access.permit(&self.caller, &member, &*entry)).await {
                Ok(permit) => permit,
                Err(decision) => {
                    (host.calls).record_refusal(&self.caller, &member, subject, &decision);
                    let request = Request::usual(&self.caller, &*entry);
                    let absent = || host.no_prompt(&self.caller, name);
                    return Err(host.access.denied(&request, &decision, absent));
                }
            }
        };
        // What is known of a server without a connection may have changed: its lists are read again.
        let entry = if !self.caller.is_owner() && host.keeper.is_stale(&member) {
            drop(Box::pin(host.open(&member, Want::Use, Lists::All)).await);
            Box::pin(self.find_prompt_with(name, sent.as_ref())).await?
        } else {
            entry
        };
        let ready = host.registry.admit(&member).await?;
        let violations = misfits(&entry, &arguments);
        if !violations.is_empty() {
            return Err(member.with_context(HostError::Arguments {
                tool: entry.name().to_owned(),
                violations,
            }));
        }
        let params = GetPromptParams {
            name: entry.name().to_owned(),
            arguments: arguments.into_iter().collect(),
        };
        let lease = self.lease(&member, ready, &mut options).await?;
        let attempt = self.attempt(&member, ready, &lease, &permit);
        let got = lease.server().get_prompt(&params, options);
        let result = host.calls.request(attempt, subject, got).await?;
        let mut messages = result.messages().iter();
        if let Some(deviation) = messages.find_map(|message| message.deviation()) {
            let text = || member.redact(&format!("prompt {}: {deviation}", entry.name()));
            host.calls.notice(&member, text);
        }
        Ok(result)
    }

    /// Asks a server for the values that an argument of one of its prompts, or of a template of its
    /// resources, can have. Connects first if need be. Await it to send it.
    ///
    /// # Errors
    /// Fails if there is no such prompt or template, the server completes nothing, or it does not
    /// answer.
    pub fn complete<'a>(
        &self,
        server: &'a str,
        params: &'a CompleteParams,
    ) -> ServerRequest<'a, Completions> {
        let view = self.clone();
        ServerRequest::new(move |options| async move {
            view.complete_argument(server, params, options).await
        })
    }

    async fn complete_argument(
        &self,
        server: &str,
        params: &CompleteParams,
        mut options: CallOptions,
    ) -> Result<Completions, Error> {
        let host = &self.host;
        let (kind, name) = match &params.target {
            CompletionRef::Prompt { name } => (ItemKind::Prompt, name.as_str()),
            CompletionRef::Resource { uri } => (ItemKind::Template, uri.as_str()),
        };
        let (member, _in_use) = match host.registry.find_for_use(server) {
            Ok(found) => found,
            Err(error) if self.caller.is_owner() => return Err(error),
            Err(_) => return Err(missing(kind, name)),
        };
        let name = Arc::from(name);
        let subject = Subject::new(What::Completion, &name);
        let permit = if self.caller.is_owner() {
            Permit::owner()
        } else {
            self.may_complete(&member, kind, &name).await?
        };
        let ready = host.registry.admit(&member).await?;
        let lease = self.lease(&member, ready, &mut options).await?;
        let attempt = self.attempt(&member, ready, &lease, &permit);
        let completed = lease.server().complete(params, options);
        let result = host.calls.request(attempt, subject, completed).await?;
        let completion = result.completion();
        let most = host.registry.options().host_limits.completions;
        let sent = completion.values();
        Ok(Completions {
            values: sent.iter().take(most).cloned().collect(),
            total: completion.total(),
            has_more: completion.has_more().unwrap_or_default() || sent.len() > most,
            raw: Some(result.raw().clone()),
        })
    }

    /// Decides whether an agent may complete arguments of an item that it sees.
    async fn may_complete(
        &self,
        member: &Member,
        kind: ItemKind,
        name: &Arc<str>,
    ) -> Result<Permit, Error> {
        let subject = Subject::new(What::Completion, name);
        let target = target(&member.name, kind, name);
        let is_known = |_: &Catalog| self.has_seen(&member.name, kind, name);
        let server = member.name.as_str();
        self.connect_for(Some(server), Lists::All, is_known).await?;
        if !self.has_seen(&member.name, kind, name) {
            // It has to exist to be completed, and be as it was approved.
            let is_denied = self.is_denied(target);
            let error = self.denial(target, subject, || missing(kind, name));
            return Err(if is_denied {
                error
            } else {
                missing(kind, name)
            });
        }
        let request = Request::new(&self.caller, Verb::Complete, target);
        let permit = Box::pin(self.host.access.permit_to(&request, member)).await;
        permit.map_err(|decision| {
            let calls = &self.host.calls;
            calls.record_refusal(&self.caller, member, subject, &decision);
            let absent = || missing(kind, name);
            self.host.access.denied(&request, &decision, absent)
        })
    }

    /// Returns true if the item is known by now and the caller can see it.
    fn has_seen(&self, server: &ServerName, kind: ItemKind, name: &str) -> bool {
        match kind {
            ItemKind::Prompt => self
                .prompts()
                .iter()
                .any(|entry| entry.server() == server && entry.name() == name),
            _ => self
                .templates()
                .iter()
                .any(|entry| entry.server() == server && entry.uri_template() == name),
        }
    }

    /// Watches a resource of a server, connecting first if need be, and returns once the server has
    /// agreed to announce its changes.
    ///
    /// Dropping the future ends the subscription.
    ///
    /// # Errors
    /// Fails if there is no such server, it does not announce changes, or not those of this
    /// resource.
    pub async fn watch(&self, server: &str, uri: &str) -> Result<Watching, Error> {
        let (member, _in_use, permit) = self.may_use_resource(server, uri, Verb::Subscribe).await?;
        let ready = self.host.registry.admit(&member).await?;
        let name = Arc::from(uri);
        let subject = Subject::new(What::Subscription, &name);
        let lease = self
            .lease(&member, ready, &mut CallOptions::default())
            .await?;
        let attempt = self.attempt(&member, ready, &lease, &permit);
        let watching = Watching::begin(self, &member, ready, uri);
        self.host.calls.request(attempt, subject, watching).await
    }

    /// Returns the connection for a use of an admitted server.
    pub(super) async fn lease<'r>(
        &self,
        member: &Arc<Member>,
        ready: &'r Ready,
        options: &mut CallOptions,
    ) -> Result<Lease<'r>, Error> {
        match &self.connections {
            None => Ok(Lease::Shared(&ready.server)),
            Some(client) => {
                let lease = client.lease(&self.host.registry, member, ready, options);
                Box::pin(lease).await
            }
        }
    }

    fn attempt<'a>(
        &'a self,
        member: &'a Member,
        ready: &'a Ready,
        lease: &'a Lease<'_>,
        permit: &'a Permit,
    ) -> Attempt<'a> {
        Attempt {
            caller: &self.caller,
            member,
            ready,
            server: lease.server(),
            permit,
        }
    }
}

/// The arguments of a prompt as the protocol takes them: strings.
fn texts(arguments: &impl Serialize) -> Result<BTreeMap<String, String>, Error> {
    let params = GetPromptParams::of("", arguments).map_err(|error| {
        let why = Some(error.to_string());
        Error::from(HostError::NoObject { why })
    })?;
    Ok(params.arguments.into_iter().collect())
}

/// Makes the error for an unknown resource. It is the same if the resource exists and the caller
/// may not know of it.
pub(super) fn no_resource(uri: &str) -> Error {
    unknown("resource", uri, Vec::new())
}

/// Lists the violations in the arguments of a prompt. They are all texts, so a name can only be
/// missing or unknown.
fn misfits(entry: &PromptEntry, given: &BTreeMap<String, String>) -> Vec<Violation> {
    let known = entry.prompt().arguments();
    let missing = known
        .iter()
        .filter(|argument| argument.required() && !given.contains_key(argument.name()));
    let missing = missing.map(|argument| Violation {
        pointer: String::new(),
        rule: "/required".to_owned(),
        message: format!("`{}` is missing", argument.name()),
    });
    let unknown = given
        .keys()
        .filter(|name| !known.iter().any(|argument| argument.name() == *name));
    let unknown = unknown.map(|name| Violation {
        pointer: format!("/{name}"),
        rule: "/additionalProperties".to_owned(),
        message: format!("the prompt takes no `{name}`"),
    });
    missing.chain(unknown).collect()
}

fn target<'a>(server: &'a ServerName, kind: ItemKind, name: &'a str) -> Target<'a> {
    match kind {
        ItemKind::Prompt => Target::Prompt { server, name },
        _ => Target::Template {
            server,
            uri_template: name,
        },
    }
}

fn missing(kind: ItemKind, name: &str) -> Error {
    let what = match kind {
        ItemKind::Prompt => "prompt",
        _ => "template",
    };
    unknown(what, name, Vec::new())
}

fn no_address(template: &str, error: &TemplateError) -> Error {
    Error::from(HostError::Arguments {
        tool: template.to_owned(),
        violations: vec![Violation {
            pointer: String::new(),
            rule: "/uriTemplate".to_owned(),
            message: error.to_string(),
        }],
    })
}
