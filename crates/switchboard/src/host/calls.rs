//! The calls of a host: checked, sent, reported and recorded for an audit.
//!
//! [`Calls`] owns the numbers of calls and the events about them. It promises that nothing is sent whose
//! arguments break the tool's schema, that each attempt is reported with the rule that allowed or denied
//! it and never with what was sent, and that no secret of a server is in an event or an error.
//!
//! Its inputs are decided elsewhere: a member that was admitted, an entry, a [`Permit`]. A tool
//! goes through [`Calls::call_tool`], everything else through [`Calls::request`].

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_wire::Raw;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::access::Permit;
use super::member::{Member, Ready};
use super::result::ToolResult;
use crate::catalog::ToolEntry;
use crate::error::{Error, HostError};
use crate::events::{ArgumentHash, Call, Event, EventSender, Rule, What};
use crate::policy::{Caller, Decision};
use crate::schema::{self, Verdict, clean};
use crate::server::Server;
use crate::session::CallOptions;

/// The calls of a host.
pub(super) struct Calls {
    events: EventSender,
    /// The number of the last call.
    last: AtomicU64,
    schema: schema::SchemaLimits,
}

/// The subject of a request: its kind, name and arguments.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    what: What,
    name: &'a Arc<str>,
    arguments: Option<&'a Raw>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(what: What, name: &'a Arc<str>) -> Self {
        Self {
            what,
            name,
            arguments: None,
        }
    }

    pub(super) fn arguments(self, arguments: Option<&'a Raw>) -> Self {
        Self { arguments, ..self }
    }
}

/// An attempt to use a server, with everything that was decided about it.
pub(super) struct Attempt<'a> {
    pub(super) caller: &'a Caller,
    pub(super) member: &'a Member,
    pub(super) ready: &'a Ready,
    /// The connection that it goes over.
    pub(super) server: &'a Server,
    pub(super) permit: &'a Permit,
}

impl Calls {
    pub(super) fn new(events: EventSender, schema: schema::SchemaLimits) -> Self {
        Self {
            events,
            last: AtomicU64::new(0),
            schema,
        }
    }

    /// Calls a tool of an admitted server.
    ///
    /// # Errors
    /// Fails if the arguments do not fit the schema, or the server returns no result.
    pub(super) async fn call_tool(
        &self,
        attempt: Attempt<'_>,
        entry: &ToolEntry,
        arguments: Raw,
        mut options: CallOptions,
    ) -> Result<ToolResult, Error> {
        let (member, ready) = (attempt.member, attempt.ready);
        let tool = entry.key().shared_name();
        // 1. Clean, then check: cleaning may remove arguments that the schema refuses.
        let arguments = if ready.settings.clean_arguments {
            cleaned(member, &arguments)?
        } else {
            arguments
        };
        self.check_arguments(member, entry, &arguments).await?;
        // A retry after an uncertain delivery is only for tools that the config or the caller calls
        // safe.
        let idempotent = &ready.settings.idempotent_tools;
        options.idempotent |= idempotent.iter().any(|known| known.as_str() == &**tool);
        // 2. Recorded, before anything leaves: an audit has every call that may have run.
        let subject = Subject::new(What::Tool, tool).arguments(Some(&arguments));
        let call = self.begin(&attempt, subject);
        let began = Instant::now();
        // 3. Send. The future is created where it is awaited: it is large, and should not be moved.
        let (server, arguments) = (attempt.server, Some(arguments));
        let is_traced = tracing::enabled!(target: "switchboard", tracing::Level::DEBUG);
        let sent = if is_traced {
            let sent = server.call_tool(tool, arguments, options);
            Box::pin(sent.instrument(span(&call))).await
        } else {
            server.call_tool(tool, arguments, options).await
        };
        // 4. Reported, and the structured result held against the output schema.
        match sent {
            Ok(result) => {
                self.events.emit(|| Event::CallCompleted {
                    call,
                    took: began.elapsed(),
                    is_error: result.is_error(),
                });
                // A result that does not fit its schema is still the result: the caller gets both.
                let fits = match (entry.output(&self.schema), result.structured_content()) {
                    (Some(output), Some(structured)) if !result.is_error() => {
                        Some(output.check_text(structured).await)
                    }
                    _ => None,
                };
                Ok(ToolResult::new(result, fits))
            }
            Err(error) => Err(self.failed(&attempt, call, began, error)),
        }
    }

    /// Makes a request other than a call of a tool, and reports it.
    ///
    /// # Errors
    /// Fails if the server returns no result.
    pub(super) async fn request<T, E: Into<Error>>(
        &self,
        attempt: Attempt<'_>,
        subject: Subject<'_>,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Error> {
        let call = self.begin(&attempt, subject);
        let began = Instant::now();
        match request.await {
            Ok(result) => {
                self.events.emit(|| Event::CallCompleted {
                    call,
                    took: began.elapsed(),
                    is_error: false,
                });
                Ok(result)
            }
            Err(error) => Err(self.failed(&attempt, call, began, error)),
        }
    }

    /// Holds arguments against the tool's schema, so that nothing is sent that does not fit.
    ///
    /// # Errors
    /// Fails if the arguments are not an object or do not fit.
    pub(super) async fn check_arguments(
        &self,
        member: &Member,
        entry: &ToolEntry,
        arguments: &Raw,
    ) -> Result<(), Error> {
        if !arguments.is_object() {
            return Err(member.with_context(HostError::NoObject { why: None }));
        }
        match entry.input(&self.schema).check_text(arguments).await {
            // A schema that cannot be used, or takes too long, is no reason to refuse: the server
            // decides then.
            Verdict::Fits | Verdict::NotChecked(_) => Ok(()),
            Verdict::Misfits(violations) => Err(member.with_context(HostError::Arguments {
                tool: entry.key().name().to_string(),
                violations,
            })),
        }
    }

    /// Records for an audit that a call was not made.
    pub(super) fn record_refusal(
        &self,
        caller: &Caller,
        member: &Member,
        subject: Subject<'_>,
        decision: &Decision,
    ) {
        let Subject { what, name, .. } = subject;
        // It gets a number of its own, so that an audit can tell two refusals of one tool apart.
        let call = Call::new(self.next(), &member.name, what, name, caller.shared());
        self.record_decision(&call, decision, subject.arguments);
    }

    /// Emits a notice about a server for the person.
    pub(super) fn notice(&self, member: &Member, text: impl FnOnce() -> String) {
        self.events.emit(|| Event::Notice {
            server: member.name.clone(),
            text: text(),
        });
    }

    /// Records a decision for the audit: the rule, and a hash of the arguments.
    fn record_decision(&self, call: &Call, decision: &Decision, arguments: Option<&Raw>) {
        self.events.emit(|| Event::Decided {
            call: call.clone(),
            decision: decision.as_str(),
            rule: Rule::new(decision.reason().clone()),
            arguments: arguments.map(ArgumentHash::of),
        });
    }

    /// Reports that a call begins, and for an agent the decision about it.
    fn begin(&self, attempt: &Attempt<'_>, subject: Subject<'_>) -> Call {
        let (caller, member) = (attempt.caller, attempt.member);
        let id = self.next();
        // A server can name a tool after a secret that it was sent.
        let hidden = match (self.events.is_heard()).then(|| member.redacted(subject.name)) {
            Some(Cow::Owned(text)) => Some(Arc::from(text)),
            _ => None,
        };
        let name = hidden.as_ref().unwrap_or(subject.name);
        let call = Call::new(id, &member.name, subject.what, name, caller.shared());
        self.events.emit(|| Event::CallStarted(call.clone()));
        // There is no decision about the owner.
        if !caller.is_owner() {
            self.record_decision(&call, &attempt.permit.decision, subject.arguments);
        }
        call
    }

    /// Reports that a call has no result.
    fn failed(
        &self,
        attempt: &Attempt<'_>,
        call: Call,
        began: Instant,
        error: impl Into<Error>,
    ) -> Error {
        let error = attempt
            .member
            .with_context(error)
            .without(&attempt.ready.secrets);
        let took = began.elapsed();
        if error.input_required().is_some() {
            // The server did answer: each round of questions is a call of its own.
            self.events.emit(|| Event::CallCompleted {
                call,
                took,
                is_error: false,
            });
            return error;
        }
        self.events.emit(|| Event::CallFailed {
            call,
            took,
            error: match error.rpc() {
                // The text of a server's error may repeat the arguments.
                Some(rpc) => format!("the server answered with error {}", rpc.code()),
                None => error.to_string(),
            },
        });
        error
    }

    fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Arguments without nulls and empty containers.
fn cleaned(member: &Member, arguments: &Raw) -> Result<Raw, Error> {
    match clean::clean(arguments) {
        Ok(cleaned) => Ok(cleaned.arguments),
        Err(error) => {
            let why = Some(error.to_string());
            Err(member.with_context(HostError::NoObject { why }))
        }
    }
}

/// The same facts for a tracer.
fn span(call: &Call) -> tracing::Span {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::catalog::{Catalog, ServerCatalog};
    use crate::events::Events;
    use crate::host::test_support::{Script, member, name, settings, tool};
    use crate::policy::Reason;
    use crate::session::SessionOptions;
    use crate::spec::Protocol;

    /// Calls of one server, which was admitted elsewhere.
    struct Fixture {
        calls: Calls,
        events: Events,
        member: Member,
        ready: Ready,
        script: Script,
        entry: Arc<ToolEntry>,
    }

    fn fixture() -> Fixture {
        let (script, sender) = (Script::answering(0), EventSender::new(16));
        let options = SessionOptions::default().protocol(Protocol::Legacy);
        let part = ServerCatalog::builder(name("a")).tools(vec![tool("echo", "")]);
        let catalog = Catalog::default().with(Arc::new(part.build(None)));
        Fixture {
            events: sender.subscribe(),
            calls: Calls::new(sender, schema::SchemaLimits::default()),
            member: member("a", &script),
            ready: Ready {
                server: Server::new(name("a"), script.transport(), options),
                settings: settings(),
                secrets: Arc::default(),
                identity: "memory:script".to_owned(),
                #[cfg(feature = "config")]
                approval: None,
                #[cfg(feature = "auth")]
                authorizer: None,
            },
            script,
            entry: Arc::clone(catalog.by_key("a", "echo").unwrap()),
        }
    }

    impl Fixture {
        async fn call(&self, caller: &Caller, arguments: &str) -> Result<ToolResult, Error> {
            let attempt = Attempt {
                caller,
                member: &self.member,
                ready: &self.ready,
                server: &self.ready.server,
                permit: &Permit::owner(),
            };
            let (arguments, options) = (Raw::parse(arguments).unwrap(), CallOptions::default());
            let called = (self.calls).call_tool(attempt, &self.entry, arguments, options);
            Box::pin(called).await
        }

        fn told(&mut self) -> Vec<&'static str> {
            let told = std::iter::from_fn(|| self.events.try_recv().ok());
            told.map(|event| event.name()).collect()
        }
    }

    #[tokio::test]
    async fn a_call_is_reported_from_its_beginning_to_its_end() {
        let mut it = fixture();
        let result = it.call(&Caller::owner(), r#"{"message": "hello"}"#).await;
        assert_eq!(result.unwrap().text(), "hello");
        assert_eq!(it.told(), ["call_started", "call_completed"]);
        let agent = Caller::agent("planner").unwrap();
        it.call(&agent, r#"{"message": "hello"}"#).await.unwrap();
        let told = ["call_started", "decided", "call_completed"];
        assert_eq!(it.told(), told);
    }

    #[tokio::test]
    async fn arguments_that_are_no_object_are_not_sent() {
        let mut it = fixture();
        let error = it.call(&Caller::owner(), "[1]").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Arguments);
        assert_eq!(it.script.count("tools/call"), 0);
        assert!(it.told().is_empty());
    }

    #[test]
    fn a_refusal_is_recorded_and_nothing_begins() {
        let mut it = fixture();
        let (name, denied) = (Arc::from("echo"), Decision::Deny(Reason::Refused));
        let subject = Subject::new(What::Tool, &name);
        let agent = Caller::agent("planner").unwrap();
        (it.calls).record_refusal(&agent, &it.member, subject, &denied);
        assert_eq!(it.told(), ["decided"]);
    }
}
