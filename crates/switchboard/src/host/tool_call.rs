//! A call of a tool, with its options, before it is sent.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_wire::Raw;

use super::clients::ClientCore;
use super::handle::ToolHandle;
use super::result::ToolResult;
use super::server_request::{CallTerms, Sending, call_setters};
use super::view::View;
use crate::catalog::ToolRef;
use crate::error::{Error, HostError};

/// A call of a tool that is not sent yet: await it to send it.
///
/// ```no_run
/// # async fn example(tool: switchboard::ToolHandle) -> Result<(), switchboard::Error> {
/// use serde_json::json;
/// use std::time::Duration;
///
/// let result = tool
///     .call(json!({ "path": "." }))
///     .timeout(Duration::from_secs(60))
///     .on_progress(|step| println!("{} of {:?}", step.progress, step.total))
///     .await?;
/// println!("{}", result.text());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Awaiting it fails if there is no such tool, its server cannot be used, the arguments do not fit
/// the tool's schema (nothing is sent then), or there is no result. A tool that reports a failure
/// has a result: see [`ToolResult::is_error`].
///
/// # Cancel safety
/// Dropping the future withdraws the call if it has not left, and cancels it on the wire otherwise.
/// The server may ignore the cancellation and go on.
#[must_use = "nothing is sent until the call is awaited"]
pub struct ToolCall<'a> {
    tool: Callee<'a>,
    arguments: Result<Raw, Error>,
    /// The client whose connections are used, if not those of the handle or view.
    pub(super) connections: Option<Arc<ClientCore>>,
    terms: CallTerms<'a>,
}

/// The tool that is called.
enum Callee<'a> {
    /// One that is prepared.
    Handle(&'a ToolHandle),
    /// One that is looked up first.
    Name(View, ToolRef<'a>),
}

impl<'a> ToolCall<'a> {
    pub(super) fn prepared(tool: &'a ToolHandle, arguments: impl Serialize) -> Self {
        Self::new(Callee::Handle(tool), json_of(&arguments))
    }

    pub(super) fn prepared_raw(tool: &'a ToolHandle, arguments: Raw) -> Self {
        Self::new(Callee::Handle(tool), Ok(arguments))
    }

    pub(super) fn by_name(view: View, name: ToolRef<'a>, arguments: impl Serialize) -> Self {
        Self::new(Callee::Name(view, name), json_of(&arguments))
    }

    pub(super) fn by_name_raw(view: View, name: ToolRef<'a>, arguments: Raw) -> Self {
        Self::new(Callee::Name(view, name), Ok(arguments))
    }

    fn new(tool: Callee<'a>, arguments: Result<Raw, Error>) -> Self {
        Self {
            tool,
            arguments,
            connections: None,
            terms: CallTerms::default(),
        }
    }

    call_setters!();

    /// Allows the call to run twice: it is sent again when the connection was lost before the answer.
    pub fn idempotent(mut self) -> Self {
        self.terms.options.idempotent = true;
        self
    }

    /// Reads the structured result into a type. Set the other options first.
    ///
    /// ```no_run
    /// # async fn example(host: switchboard::Host) -> Result<(), switchboard::Error> {
    /// #[derive(serde::Deserialize)]
    /// struct Sum {
    ///     sum: f64,
    /// }
    ///
    /// let arguments = serde_json::json!({ "a": 2, "b": 3 });
    /// let sum: Sum = host.call("demo/add", arguments).typed().await?;
    /// # drop(sum.sum);
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed<T: DeserializeOwned>(self) -> TypedCall<'a, T> {
        TypedCall {
            call: self,
            result: PhantomData,
        }
    }

    /// Looks the tool up if it is only named, calls it, and reads the result.
    async fn send<T>(
        mut self,
        read: impl FnOnce(&ToolHandle, ToolResult) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let arguments = self.arguments?;
        let found;
        let tool = match self.tool {
            Callee::Handle(tool) => tool,
            Callee::Name(view, name) => {
                let deadline = &mut self.terms.options.deadline;
                found = view.find_tool(&name, Some(&arguments), deadline).await?;
                &found
            }
        };
        let connections = self.connections;
        let sent = (self.terms).send(|options| tool.send(arguments, options, connections));
        let result = sent.await?;
        read(tool, result)
    }
}

impl<'a> IntoFuture for ToolCall<'a> {
    type Output = Result<ToolResult, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Sending<'a, ToolResult> {
        match self {
            // The usual call. Its future has some kilobytes: it is boxed once, as it is made, and not
            // moved about inside of another.
            Self {
                tool: Callee::Handle(tool),
                arguments: Ok(arguments),
                connections,
                terms:
                    CallTerms {
                        options,
                        on_progress: None,
                    },
            } => Box::pin(tool.send(arguments, options, connections)),
            call => Box::pin(call.send(|_, result| Ok(result))),
        }
    }
}

/// A call whose structured result is read into a type: see [`ToolCall::typed`].
///
/// # Errors
/// Awaiting it fails like a [`ToolCall`], and when the tool reports an error or its structured result
/// is not of the type.
#[must_use = "nothing is sent until the call is awaited"]
pub struct TypedCall<'a, T> {
    call: ToolCall<'a>,
    result: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for TypedCall<'a, T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.call.send(|tool, result| {
            let read = result.structured_as();
            read.map_err(|error| tool.with_context(error))
        }))
    }
}

fn json_of(arguments: &impl Serialize) -> Result<Raw, Error> {
    Raw::of(arguments).map_err(|error| {
        let why = Some(error.to_string());
        Error::from(HostError::NoObject { why })
    })
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.tool {
            Callee::Handle(tool) => tool.name(),
            Callee::Name(_, name) => name.as_str(),
        };
        f.debug_struct("ToolCall")
            .field("tool", &name)
            .field("options", &self.terms.options)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for TypedCall<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedCall")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
