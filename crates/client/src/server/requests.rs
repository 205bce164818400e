//! Requests of a server, which connect first if there is no connection.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::limits::pause;
use switchboard_wire::{
    CallToolResult, CompleteParams, CompleteResult, GetPromptParams, GetPromptResult, Raw,
    ReadResourceResult,
};
use tokio::time::{Instant, sleep};

use super::Server;
use crate::error::ServerError;
use crate::session::{CallError, CallOptions, CloseCause, CloseReason, Delivery, Session};

impl Server {
    /// Calls a tool, connecting first if need be.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call on the wire, as for [`Session::call_tool`]. The same
    /// holds for the other requests here.
    ///
    /// # Errors
    /// Fails when there is no result; a tool that reports a failure has one.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: Option<Raw>,
        options: CallOptions,
    ) -> Result<CallToolResult, ServerError> {
        // Nearly always there is a session and one request: everything else is boxed, to keep the
        // future of a call small.
        let session = match self.live() {
            Some(session) => session,
            None => Box::pin(self.session()).await?,
        };
        match session
            .call_tool_with(tool, arguments.as_ref(), &options)
            .await
        {
            Ok(result) => Ok(result),
            Err(error) => {
                let again = self.call_again(tool, arguments.as_ref(), &options, error);
                Box::pin(again).await
            }
        }
    }

    /// Repeats a call whose connection was lost: once if provably none of it left, and as often as
    /// the limits say if the caller called it idempotent.
    async fn call_again(
        &self,
        tool: &str,
        arguments: Option<&Raw>,
        options: &CallOptions,
        mut error: CallError,
    ) -> Result<CallToolResult, ServerError> {
        let mut repeats = Repeats::of(options.may_repeat());
        // The time that the caller allows in all is not exceeded by a wait.
        let total = options.deadline.map(|deadline| deadline.total);
        repeats.until = total.and_then(|total| Instant::now().checked_add(total));
        loop {
            let session = self.session_after(error, &mut repeats).await?;
            match session.call_tool_with(tool, arguments, options).await {
                Ok(result) => return Ok(result),
                Err(newer) => error = newer,
            }
        }
    }

    /// Reads a resource, connecting first if need be.
    ///
    /// # Errors
    /// Fails when there is no result; also when the server offers no resources.
    pub async fn read_resource(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<ReadResourceResult, ServerError> {
        self.using(|session| {
            let options = options.clone();
            async move { session.read_resource(uri, options).await }
        })
        .await
    }

    /// Gets a prompt, connecting first if need be.
    ///
    /// # Errors
    /// Fails when there is no result; also when the server offers no prompts.
    pub async fn get_prompt(
        &self,
        params: &GetPromptParams,
        options: CallOptions,
    ) -> Result<GetPromptResult, ServerError> {
        self.using(|session| {
            let options = options.clone();
            async move { session.get_prompt(params, options).await }
        })
        .await
    }

    /// Requests completions for an argument of a prompt or of a resource template, connecting first
    /// if need be.
    ///
    /// # Errors
    /// Fails when there is no result; also when the server completes nothing.
    pub async fn complete(
        &self,
        params: &CompleteParams,
        options: CallOptions,
    ) -> Result<CompleteResult, ServerError> {
        self.using(|session| {
            let options = options.clone();
            async move { session.complete(params, options).await }
        })
        .await
    }

    /// Measures how long the server takes to answer a ping.
    ///
    /// # Errors
    /// Fails when it did not answer.
    pub async fn ping(&self) -> Result<Duration, ServerError> {
        self.using(|session| async move { session.ping().await })
            .await
    }

    /// Makes a request, connecting first if need be. It is repeated once if provably none of it left.
    async fn using<T, Made>(&self, request: impl Fn(Session) -> Made) -> Result<T, ServerError>
    where
        Made: Future<Output = Result<T, CallError>>,
    {
        self.repeating(Repeats::of(false), request).await
    }

    /// Reads a list, connecting first if need be. Reading changes nothing, so it is repeated as often
    /// as the limits say if the connection is lost.
    pub(super) async fn listing<T, Made>(
        &self,
        request: impl Fn(Session) -> Made,
    ) -> Result<T, ServerError>
    where
        Made: Future<Output = Result<T, CallError>>,
    {
        self.repeating(Repeats::of(true), request).await
    }

    async fn repeating<T, Made>(
        &self,
        mut repeats: Repeats,
        request: impl Fn(Session) -> Made,
    ) -> Result<T, ServerError>
    where
        Made: Future<Output = Result<T, CallError>>,
    {
        let mut session = Box::pin(self.session()).await?;
        loop {
            match Box::pin(request(session)).await {
                Ok(result) => return Ok(result),
                Err(error) => {
                    session = Box::pin(self.session_after(error, &mut repeats)).await?;
                }
            }
        }
    }

    /// Connects anew after a request whose connection was lost, if the request may be repeated: at
    /// once if none of it had left, since it cannot have run; after a wait if it is safe to repeat.
    /// Over HTTP the transport repeats it, and nothing is lost in this sense.
    ///
    /// # Errors
    /// Returns the error itself if the request may not be repeated or we closed the connection; fails
    /// also when no new connection could be made.
    async fn session_after(
        &self,
        error: CallError,
        repeats: &mut Repeats,
    ) -> Result<Session, ServerError> {
        let CallError::Closed { delivery, reason } = &error else {
            return Err(self.error(error));
        };
        if reason.cause == CloseCause::ByUs {
            return Err(self.error(error));
        }
        if *delivery == Delivery::NeverSent && !repeats.was_at_once {
            repeats.was_at_once = true;
            repeats.lost = Some(Arc::clone(reason));
            return self.session().await;
        }
        // A process that ended in the same way twice would do so again.
        let earlier = repeats.lost.replace(Arc::clone(reason));
        let ended_alike = earlier.is_some_and(|earlier| reason.is_repeated(&earlier));
        if ended_alike && repeats.is_safe {
            let reason = Arc::new(CloseReason {
                starts: 2,
                ..(**reason).clone()
            });
            let delivery = *delivery;
            return Err(self.error(CallError::Closed { delivery, reason }));
        }
        let limits = &self.0.options.limits;
        let wait = pause(limits.retry_first, limits.retry_most, repeats.waits);
        let is_late = repeats
            .until
            .is_some_and(|until| Instant::now() + wait >= until);
        let is_over = repeats.waits >= limits.retries || is_late || !self.0.policy.is_on;
        if !repeats.is_safe || is_over {
            return Err(self.error(error));
        }
        repeats.waits += 1;
        sleep(wait).await;
        self.session().await
    }
}

/// The repetitions of one request.
struct Repeats {
    /// True if it may run twice without harm.
    is_safe: bool,
    /// True once it was repeated because none of it had left.
    was_at_once: bool,
    /// The number of repetitions after a wait.
    waits: u32,
    /// The end of the connection that was lost last.
    lost: Option<Arc<CloseReason>>,
    /// The time after which it is not repeated.
    until: Option<Instant>,
}

impl Repeats {
    fn of(is_safe: bool) -> Self {
        Self {
            is_safe,
            was_at_once: false,
            waits: 0,
            lost: None,
            until: None,
        }
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
