//! A request to a server, with its options, before it is sent.

use std::fmt;
use std::pin::Pin;

use crate::error::Error;
use crate::session::{CallOptions, Progress, progress};

/// The future of a request.
pub(super) type Sending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The options of one request, and the function that is called on its progress.
#[derive(Default)]
pub(super) struct CallTerms<'a> {
    pub(super) options: CallOptions,
    pub(super) on_progress: Option<Box<dyn FnMut(Progress) + Send + 'a>>,
}

impl CallTerms<'_> {
    /// Sends a request with these options, and calls the function on its progress meanwhile.
    pub(super) async fn send<F: Future>(self, send: impl FnOnce(CallOptions) -> F) -> F::Output {
        let (mut options, on_progress) = (self.options, self.on_progress);
        let Some(mut on_progress) = on_progress else {
            return send(options).await;
        };
        let (sender, mut seen) = progress();
        options.progress = Some(sender);
        let mut sent = std::pin::pin!(send(options));
        let outcome = loop {
            tokio::select! {
                // The answer first: a server that never stops reporting must not keep it back.
                biased;
                outcome = &mut sent => break outcome,
                Ok(()) = seen.changed() => {}
            }
            // Cloned: the connection's reader must not wait for the function.
            let step = seen.borrow_and_update().clone();
            if let Some(step) = step {
                on_progress(step);
            }
        };
        // The last report may have come together with the answer.
        let last = {
            let last = seen.borrow_and_update();
            last.has_changed().then(|| (*last).clone()).flatten()
        };
        if let Some(step) = last {
            on_progress(step);
        }
        outcome
    }
}

/// Writes the option setters of a type that has `terms: CallTerms`.
macro_rules! call_setters {
    () => {
        /// Sets how long it may take in all, whether there is progress or not. Without it, the time
        /// is that of the server's settings.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.terms.options.deadline = Some(crate::limits::Deadline::within(timeout));
            self
        }

        /// Sets how long it may take without any progress, and in all.
        pub fn deadline(mut self, deadline: crate::limits::Deadline) -> Self {
            self.terms.options.deadline = Some(deadline);
            self
        }

        /// Calls a function on the progress that the server reports. Reports that come while it runs
        /// are merged into the latest.
        pub fn on_progress(
            mut self,
            on_progress: impl FnMut(crate::session::Progress) + Send + 'a,
        ) -> Self {
            self.terms.on_progress = Some(Box::new(on_progress));
            self
        }

        /// Sets the reason that is sent to the server if the future is dropped.
        pub fn cancel_reason(mut self, reason: &crate::session::CancelReason) -> Self {
            self.terms.options.reason = reason.clone();
            self
        }

        /// Adds members to the `_meta` of the request: an object.
        pub fn meta(mut self, meta: switchboard_wire::Raw) -> Self {
            self.terms.options.meta = Some(meta);
            self
        }

        /// Passes the questions of a modern server on to the client that the request is made for.
        #[doc(hidden)]
        pub fn relay(mut self, relay: std::sync::Arc<crate::session::InputRelay>) -> Self {
            self.terms.options.relay = Some(relay);
            self
        }

        /// Sets all options at once, in place of those that were set before.
        pub fn options(mut self, options: crate::session::CallOptions) -> Self {
            self.terms.options = options;
            self
        }
    };
}
pub(super) use call_setters;

/// A request to a server that is not sent yet: await it to send it.
///
/// [`Host::read`](super::Host::read), [`Host::prompt`](super::Host::prompt) and
/// [`View::complete`](super::View::complete) return one.
///
/// ```no_run
/// use std::time::Duration;
/// use switchboard::Host;
///
/// # async fn example(host: Host) -> Result<(), switchboard::Error> {
/// let readme = host.read("files", "file:///readme.txt");
/// let readme = readme.timeout(Duration::from_secs(5)).await?;
/// println!("{} contents", readme.contents().len());
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// Dropping the future withdraws the request if it has not left, and cancels it on the wire otherwise.
#[must_use = "nothing is sent until the request is awaited"]
pub struct ServerRequest<'a, T> {
    send: Box<dyn FnOnce(CallOptions) -> Sending<'a, T> + Send + 'a>,
    terms: CallTerms<'a>,
}

impl<'a, T> ServerRequest<'a, T> {
    pub(super) fn new<F>(send: impl FnOnce(CallOptions) -> F + Send + 'a) -> Self
    where
        F: Future<Output = Result<T, Error>> + Send + 'a,
    {
        Self {
            send: Box::new(|options| Box::pin(send(options))),
            terms: CallTerms::default(),
        }
    }

    call_setters!();
}

impl<'a, T: Send + 'a> IntoFuture for ServerRequest<'a, T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        if self.terms.on_progress.is_none() {
            return (self.send)(self.terms.options);
        }
        Box::pin(self.terms.send(self.send))
    }
}

impl<T> fmt::Debug for ServerRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("options", &self.terms.options)
            .finish_non_exhaustive()
    }
}
