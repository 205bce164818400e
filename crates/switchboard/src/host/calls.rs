//! One call of a tool: arguments checked, sent, the result checked.

use std::borrow::Cow;
use std::sync::Arc;

use switchboard_wire::Raw;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::Inner;
use super::access::Permit;
use super::manage::Lists;
use super::member::{Member, Ready, Source};
use super::result::ToolResult;
use crate::catalog::{Freshness, ToolEntry};
use crate::error::{Error, HostError};
use crate::events::{ArgumentHash, Call, Event, Rule, What};
use crate::pins::Mode;
use crate::policy::{Caller, Decision, Reason};
use crate::schema::{Verdict, clean};
use crate::session::CallOptions;

impl Inner {
    /// Calls a tool.
    pub(super) async fn call(
        self: &Arc<Self>,
        caller: &Caller,
        entry: &Arc<ToolEntry>,
        arguments: Raw,
        mut options: CallOptions,
    ) -> Result<ToolResult, Error> {
        let member = self.member(entry.server());
        let member = member.ok_or_else(|| self.no_tool(caller, entry.exposed()))?;
        let tool = entry.key().shared_name();
        let allowed;
        // Nearly always there is nothing to ask and nothing to wait for.
        let permit = match caller.is_owner() {
            true => Some(Permit::owner()),
            false => self.cleared(caller, &member, entry),
        };
        let (permit, entry) = match permit {
            Some(permit) => (permit, entry),
            None => {
                let allow = self.allow_tool(caller, &member, entry, &arguments);
                allowed = Box::pin(allow).await?;
                (allowed.0, &allowed.1)
            }
        };
        let ready = match member.ready() {
            Some(ready) => ready,
            None => Box::pin(self.admit_tool(&member, entry, &arguments)).await?,
        };
        let arguments = match ready.settings.clean_arguments {
            true => cleaned(&member, &arguments)?,
            false => arguments,
        };
        self.check_arguments(&member, entry, &arguments).await?;
        let idempotent = &ready.settings.idempotent_tools;
        options.idempotent |= idempotent.iter().any(|known| known.as_str() == &**tool);
        let what = (What::Tool, tool, Some(&arguments));
        let call = self.begin(caller, &member, what, &permit);
        let began = Instant::now();
        let (server, arguments) = (&ready.server, Some(arguments));
        // Made where it is waited for: it is large, and not to be moved there.
        let sent = match tracing::enabled!(target: "switchboard", tracing::Level::DEBUG) {
            true => {
                let sent = server.call_tool(tool, arguments, options);
                Box::pin(sent.instrument(span(&call))).await
            }
            false => server.call_tool(tool, arguments, options).await,
        };
        match sent {
            Ok(result) => {
                self.events.emit(|| Event::CallCompleted {
                    call,
                    took: began.elapsed(),
                    is_error: result.is_error(),
                });
                let fits = match (
                    entry.output(&self.options.host_limits.schema),
                    result.structured_content(),
                ) {
                    (Some(output), Some(structured)) if !result.is_error() => {
                        Some(output.check_text(structured).await)
                    }
                    _ => None,
                };
                Ok(ToolResult::new(result, fits))
            }
            Err(error) => Err(self.failed(&member, ready, call, began, error)),
        }
    }

    async fn admit_tool<'m>(
        self: &Arc<Self>,
        member: &'m Member,
        entry: &ToolEntry,
        arguments: &Raw,
    ) -> Result<&'m Arc<Ready>, Error> {
        if let Source::Offline(_) = &member.source {
            self.check_arguments(member, entry, arguments).await?;
            let tool = entry.name().to_owned();
            return Err(member.about(HostError::Offline { tool }));
        }
        self.admit(member).await
    }

    /// Allows a call of a tool as it is now, or says that there is no such tool.
    async fn allow_tool(
        self: &Arc<Self>,
        caller: &Caller,
        member: &Member,
        entry: &Arc<ToolEntry>,
        arguments: &Raw,
    ) -> Result<(Permit, Arc<ToolEntry>), Error> {
        let permit = async {
            let permit = self.permit(caller, member, &**entry).await?;
            if self
                .part(member)
                .is_some_and(|part| part.freshness() == Freshness::Stale)
            {
                // A server that was started again may tell another story. Why it cannot be is said
                // when it is called.
                drop(self.open(member, Lists::Tools).await);
            }
            self.settle(member).await;
            let shown = self.current(entry);
            let is_reviewed = self.is_reviewed(member, &shown).await;
            // The person takes their time, and the server may have used it.
            let current = self.current(entry);
            match is_reviewed && self.is_as_approved(member, &current) {
                true => Ok((permit, current)),
                false => Err(Decision::Deny(Reason::Refused)),
            }
        };
        match permit.await {
            Ok((permit, current)) => {
                self.warn(member, &current);
                Ok((permit, current))
            }
            Err(decision) => {
                let what = (What::Tool, entry.name(), Some(arguments));
                self.refused(caller, member, what, &decision);
                Err(self.no_tool(caller, entry.exposed()))
            }
        }
    }

    /// Tells the person that what is used is not what was approved, where that is all that is wanted.
    fn warn(&self, member: &Member, entry: &ToolEntry) {
        if self.options.pin_mode != Mode::Warn {
            return;
        }
        for drift in self.drifts_of(member, entry) {
            self.events.emit(|| Event::Notice {
                server: member.name.clone(),
                text: format!("{drift} since it was approved"),
            });
        }
    }

    /// Says that a call was not made, for an audit.
    pub(super) fn refused(
        &self,
        caller: &Caller,
        member: &Member,
        (what, name, arguments): (What, &str, Option<&Raw>),
        decision: &Decision,
    ) {
        let id = self.next_call();
        let call = Call::new(id, &member.name, what, &Arc::from(name), caller.shared());
        self.audit(&call, decision, arguments);
    }

    /// Says what was decided about a call, for an audit: which rule, and a hash of what was sent.
    pub(super) fn audit(&self, call: &Call, decision: &Decision, arguments: Option<&Raw>) {
        self.events.emit(|| Event::Decided {
            call: call.clone(),
            decision: decision.as_str(),
            rule: Rule::new(decision.reason().clone()),
            arguments: arguments.map(ArgumentHash::of),
        });
    }

    /// Holds arguments against the tool's schema, so that nothing is sent that does not fit.
    pub(super) async fn check_arguments(
        &self,
        member: &Member,
        entry: &ToolEntry,
        arguments: &Raw,
    ) -> Result<(), Error> {
        if !arguments.is_object() {
            return Err(member.about(HostError::NoObject { why: None }));
        }
        let checker = entry.input(&self.options.host_limits.schema);
        match checker.check_text(arguments).await {
            Verdict::Fits | Verdict::NotChecked(_) => Ok(()),
            Verdict::Misfits(violations) => Err(member.about(HostError::Arguments {
                tool: entry.key().name().to_string(),
                violations,
            })),
        }
    }

    /// Says that a call begins, and for an agent what was decided about it.
    pub(super) fn begin(
        &self,
        caller: &Caller,
        member: &Member,
        (what, name, arguments): (What, &Arc<str>, Option<&Raw>),
        permit: &Permit,
    ) -> Call {
        let id = self.next_call();
        // A server can name a tool after what it was told in confidence.
        let hidden = match self.events.is_heard().then(|| member.redacted(name)) {
            Some(Cow::Owned(text)) => Some(Arc::from(text)),
            _ => None,
        };
        let name = hidden.as_ref().unwrap_or(name);
        let call = Call::new(id, &member.name, what, name, caller.shared());
        self.events.emit(|| Event::CallStarted(call.clone()));
        // Nobody decides about the owner.
        if !caller.is_owner() {
            self.audit(&call, &permit.decision, arguments);
        }
        call
    }

    /// Says what came of a call that cannot report an error of its own.
    pub(super) fn ended<T>(
        &self,
        member: &Member,
        ready: &Ready,
        call: Call,
        began: Instant,
        result: Result<T, impl Into<Error>>,
    ) -> Result<T, Error> {
        match result {
            Ok(result) => {
                self.events.emit(|| Event::CallCompleted {
                    call,
                    took: began.elapsed(),
                    is_error: false,
                });
                Ok(result)
            }
            Err(error) => Err(self.failed(member, ready, call, began, error)),
        }
    }

    /// Says that a call has no result.
    pub(super) fn failed(
        &self,
        member: &Member,
        ready: &Ready,
        call: Call,
        began: Instant,
        error: impl Into<Error>,
    ) -> Error {
        let error = member.about(error).without(&ready.secrets);
        self.events.emit(|| Event::CallFailed {
            call,
            took: began.elapsed(),
            error: match error.rpc() {
                // What a server says may have in it what was sent.
                Some(rpc) => format!("the server answered with error {}", rpc.code()),
                None => error.to_string(),
            },
        });
        error
    }
}

/// Arguments without nulls and empty containers.
fn cleaned(member: &Member, arguments: &Raw) -> Result<Raw, Error> {
    match clean::clean(arguments) {
        Ok(cleaned) => Ok(cleaned.arguments),
        Err(error) => {
            let why = Some(error.to_string());
            Err(member.about(HostError::NoObject { why }))
        }
    }
}

/// The same facts for whoever traces.
pub(super) fn span(call: &Call) -> tracing::Span {
    tracing::debug_span!(
        target: "switchboard",
        "call",
        id = call.id,
        server = %call.server,
        kind = call.what.as_str(),
        name = %call.name,
        caller = %call.caller,
    )
}
