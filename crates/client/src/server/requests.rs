//! Requests of a server, which connect first if there is no connection.

use std::time::Duration;

use switchboard_wire::{
    CallToolResult, CompleteParams, CompleteResult, GetPromptParams, GetPromptResult, Raw,
    ReadResourceResult,
};

use super::Server;
use crate::error::ServerError;
use crate::session::{CallError, CallOptions, CloseCause, Delivery, Session};

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
            // Repeated once, and only if provably none of it left.
            Err(error) => {
                let session = Box::pin(self.session_after(error)).await?;
                let again = Box::pin(session.call_tool_with(tool, arguments.as_ref(), &options));
                again.await.map_err(|error| self.error(error))
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

    /// Makes a request, connecting first if need be.
    pub(super) async fn using<T, Made>(
        &self,
        request: impl Fn(Session) -> Made,
    ) -> Result<T, ServerError>
    where
        Made: Future<Output = Result<T, CallError>>,
    {
        let session = Box::pin(self.session()).await?;
        match request(session).await {
            Ok(result) => Ok(result),
            Err(error) => {
                let session = Box::pin(self.session_after(error)).await?;
                let again = Box::pin(request(session)).await;
                again.map_err(|error| self.error(error))
            }
        }
    }

    /// Connects anew after a request whose connection was lost before any of it had left: it cannot
    /// have run, so it may be repeated once.
    ///
    /// # Errors
    /// Returns the error itself if the request may have left or we closed the connection; fails
    /// also when no new connection could be made.
    async fn session_after(&self, error: CallError) -> Result<Session, ServerError> {
        match error {
            CallError::Closed {
                delivery: Delivery::NeverSent,
                reason,
            } if reason.cause != CloseCause::ByUs => self.session().await,
            error => Err(self.error(error)),
        }
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
