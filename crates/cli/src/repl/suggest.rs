//! Completions that servers suggest for an argument that is being typed.
//!
//! The editor's thread asks and waits only briefly: an answer that takes longer is shown when it arrives, and
//! a request that is no longer wanted is cancelled. A key typed right after another causes no request of its
//! own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard::host::View;
use switchboard::protocol::{CompleteParams, CompletionArgument, CompletionContext, CompletionRef};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::words::{Asked, Of};

/// Delay before a request, so that fast typing causes only one.
const CALM: Duration = Duration::from_millis(50);
/// Longest wait of the editor for an answer before it goes on without.
const WAIT: Duration = Duration::from_millis(300);
/// Timeout of a request.
const LONGEST: Duration = Duration::from_secs(5);

/// The last question, and its answer.
#[derive(Clone, Default)]
pub(super) struct Suggestions(Arc<Shared>);

#[derive(Default)]
struct Shared {
    last: Mutex<Last>,
    answered: Condvar,
}

#[derive(Default)]
struct Last {
    asked: Option<Asked>,
    values: Option<Vec<String>>,
    asking: Option<AbortHandle>,
    /// True if the editor went on without the answer.
    is_late: bool,
}

impl Suggestions {
    /// Returns the suggestions of a server, or `None` if they have not arrived in time.
    pub(super) fn ask(&self, asked: Asked, view: &View, runtime: &Handle) -> Option<Vec<String>> {
        let mut last = self.last();
        if last.asked.as_ref() != Some(&asked) {
            if let Some(before) = last.asking.take() {
                // Dropping the task cancels the request on the wire.
                before.abort();
            }
            let (shared, view, question) = (self.clone(), view.clone(), asked.clone());
            let asking = runtime.spawn(async move {
                // A key typed within this time aborts the task before it sends anything.
                sleep(CALM).await;
                let values = request_suggestions(&question, &view).await;
                shared.answer(&question, values);
            });
            *last = Last {
                asked: Some(asked),
                asking: Some(asking.abort_handle()),
                ..Last::default()
            };
        }
        let waited = self
            .0
            .answered
            .wait_timeout_while(last, WAIT, |last| last.values.is_none());
        let (mut last, _) = waited.unwrap_or_else(PoisonError::into_inner);
        last.is_late = last.values.is_none();
        last.values.clone()
    }

    /// Returns the state of an answer that the editor went on without.
    pub(super) fn late(&self) -> Option<Arrival> {
        let mut last = self.last();
        match (last.is_late, last.values.is_some()) {
            (false, _) => None,
            (true, false) => Some(Arrival::ToCome),
            (true, true) => {
                last.is_late = false;
                Some(Arrival::Now)
            }
        }
    }

    fn answer(&self, question: &Asked, values: Vec<String>) {
        let mut last = self.last();
        if last.asked.as_ref() == Some(question) {
            last.values = Some(values);
            self.0.answered.notify_all();
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of a late answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    ToCome,
    Now,
}

async fn request_suggestions(asked: &Asked, view: &View) -> Vec<String> {
    let params = CompleteParams {
        target: match &asked.of {
            Of::Prompt(name) => CompletionRef::Prompt { name: name.clone() },
            Of::Template(uri) => CompletionRef::Resource { uri: uri.clone() },
        },
        argument: CompletionArgument {
            name: asked.argument.clone(),
            value: asked.value.clone(),
        },
        context: (!asked.others.is_empty()).then(|| CompletionContext {
            arguments: asked.others.iter().cloned().collect(),
        }),
    };
    let answer = timeout(LONGEST, view.complete(&asked.server, &params).into_future()).await;
    // Errors give no suggestions and no message.
    match answer {
        Ok(Ok(completions)) => completions.values,
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}
