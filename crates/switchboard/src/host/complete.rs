//! What an argument of a prompt, or of a template, may become.

use std::sync::Arc;

use switchboard_wire::{CompleteParams, CompletionRef};
use tokio::time::Instant;

use super::access::{Permit, unknown};
use super::manage::Lists;
use super::member::Member;
use super::view::View;
use crate::catalog::{Catalog, ItemKind};
use crate::error::Error;
use crate::events::What;
use crate::policy::{Request, Target, Verb};
use crate::session::CallOptions;
use crate::spec::ServerName;

/// What an argument may become.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completions {
    /// The values, best first.
    pub values: Vec<String>,
    /// How many there are in all, where the server says.
    pub total: Option<u64>,
    /// Whether there are more than these.
    pub has_more: bool,
}

impl View {
    /// Asks a server what an argument of one of its prompts, or of a template of its resources, may
    /// become, connecting first if need be.
    ///
    /// # Errors
    /// When there is no such prompt or template, the server completes nothing, or has no answer.
    pub async fn complete(
        &self,
        server: &str,
        params: &CompleteParams,
    ) -> Result<Completions, Error> {
        self.complete_with(server, params, CallOptions::default())
            .await
    }

    /// Asks on terms of the caller's own.
    ///
    /// # Errors
    /// As [`View::complete`].
    pub async fn complete_with(
        &self,
        server: &str,
        params: &CompleteParams,
        options: CallOptions,
    ) -> Result<Completions, Error> {
        let host = &self.host;
        let (kind, name) = match &params.target {
            CompletionRef::Prompt { name } => (ItemKind::Prompt, name.as_str()),
            CompletionRef::Resource { uri } => (ItemKind::Template, uri.as_str()),
        };
        let member = match host.named_member(server) {
            Ok(member) => member,
            Err(error) if self.caller.is_owner() => return Err(error),
            Err(_) => return Err(missing(kind, name)),
        };
        let permit = match self.caller.is_owner() {
            true => Permit::owner(),
            false => self.may_complete(&member, kind, name).await?,
        };
        let ready = host.admit(&member).await?;
        let what = (What::Completion, &Arc::from(name), None);
        let call = host.begin(&self.caller, &member, what, &permit);
        let began = Instant::now();
        let result = ready.server.complete(params, options).await;
        let result = host.ended(&member, ready, call, began, result)?;
        let completion = result.completion();
        let most = host.options.host_limits.completions;
        let sent = completion.values();
        Ok(Completions {
            values: sent.iter().take(most).cloned().collect(),
            total: completion.total(),
            has_more: completion.has_more().unwrap_or_default() || sent.len() > most,
        })
    }

    /// Whether an agent may have something completed that it sees.
    async fn may_complete(
        &self,
        member: &Member,
        kind: ItemKind,
        name: &str,
    ) -> Result<Permit, Error> {
        let target = target(&member.name, kind, name);
        let what = (What::Completion, name, None);
        let known = |_: &Catalog| self.has_seen(&member.name, kind, name);
        let path = format!("{}/{name}", member.name);
        self.connect_for(&path, Lists::All, known).await?;
        if !self.has_seen(&member.name, kind, name) {
            // It has to be there to be completed, and be what was approved.
            self.denied(target, what);
            return Err(missing(kind, name));
        }
        let request = Request::new(&self.caller, Verb::Complete, target);
        let permit = Box::pin(self.host.permit_to(&request, member)).await;
        permit.map_err(|decision| {
            self.host.refused(&self.caller, member, what, &decision);
            missing(kind, name)
        })
    }

    /// Whether the caller can see it among what is known by now.
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
