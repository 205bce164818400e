//! Prompts: found by name, filled in, and got.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_wire::{GetPromptParams, GetPromptResult, Raw};
use tokio::time::Instant;

use super::SHOWN_NAMES;
use super::access::Permit;
use super::manage::Lists;
use super::view::View;
use crate::catalog::{Catalog, PromptEntry};
use crate::error::{Error, HostError};
use crate::events::What;
use crate::schema::Violation;
use crate::session::CallOptions;

impl View {
    /// Gets a prompt, filled in with arguments: by its name for models, or `server/prompt`.
    /// Connects first if need be.
    ///
    /// # Errors
    /// When there is no such prompt, an argument is missing, or there is no result.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<GetPromptResult, Error> {
        self.prompt_with(name, arguments, CallOptions::default())
            .await
    }

    /// Gets a prompt on terms of the caller's own.
    ///
    /// # Errors
    /// As [`View::prompt`].
    pub async fn prompt_with(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
        options: CallOptions,
    ) -> Result<GetPromptResult, Error> {
        let host = &self.host;
        let sent = Raw::of(&arguments).ok();
        let entry = self.find_prompt_for(name, sent.as_ref()).await?;
        let member = host.member(entry.server());
        let member = member.ok_or_else(|| host.no_prompt(&self.caller, name))?;
        let permit = match self.caller.is_owner() {
            true => Permit::owner(),
            false => match Box::pin(host.permit(&self.caller, &member, &*entry)).await {
                Ok(permit) => permit,
                Err(decision) => {
                    let what = (What::Prompt, entry.name(), sent.as_ref());
                    host.refused(&self.caller, &member, what, &decision);
                    return Err(host.no_prompt(&self.caller, name));
                }
            },
        };
        let ready = host.admit(&member).await?;
        let violations = misfits(&entry, &arguments);
        if !violations.is_empty() {
            return Err(member.about(HostError::Arguments {
                tool: entry.name().to_owned(),
                violations,
            }));
        }
        let params = GetPromptParams {
            name: entry.name().to_owned(),
            arguments: arguments.into_iter().collect(),
        };
        let name: Arc<str> = Arc::from(entry.name());
        let what = (What::Prompt, &name, sent.as_ref());
        let call = host.begin(&self.caller, &member, what, &permit);
        let began = Instant::now();
        let result = ready.server.get_prompt(&params, options).await;
        host.ended(&member, ready, call, began, result)
    }

    /// The prompt of that name, connecting to whatever server may have it first.
    ///
    /// # Errors
    /// When there is none, or its server cannot be used.
    pub async fn find_prompt(&self, name: &str) -> Result<Arc<PromptEntry>, Error> {
        self.find_prompt_for(name, None).await
    }

    async fn find_prompt_for(
        &self,
        name: &str,
        arguments: Option<&Raw>,
    ) -> Result<Arc<PromptEntry>, Error> {
        let is_known = |catalog: &Catalog| catalog.resolve_prompt(name).is_ok();
        self.connect_for(name, Lists::All, is_known).await?;
        let catalog = self.catalog();
        match catalog.resolve_prompt(name) {
            Ok(entry) if !self.host.sees_prompt(&self.caller, entry) => {
                self.denied(&**entry, (What::Prompt, entry.name(), arguments));
                Err(self.host.no_prompt(&self.caller, name))
            }
            Err(_) if !self.caller.is_owner() => Err(self.host.no_prompt(&self.caller, name)),
            Ok(entry) => Ok(Arc::clone(entry)),
            Err(unknown) => Err(self.unknown(&catalog, unknown, "prompt", |catalog| {
                let shown = catalog
                    .prompts()
                    .filter(|entry| self.is_shown(entry.server(), entry.name()));
                let names = shown.map(|entry| entry.exposed().to_owned());
                names.take(SHOWN_NAMES).collect()
            })),
        }
    }
}

/// What is wrong with the arguments of a prompt: they are all texts, so a name can be missing or
/// unknown.
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
