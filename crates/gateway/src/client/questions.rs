//! Questions that servers ask a client of the legacy era.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use rustc_hash::FxHashMap;
use switchboard::session::{Refusal, Respond, Responding};
use switchboard_wire::{
    Cancelled, ClientCapabilities, ElicitationCapability, ElicitationComplete, InputRequest,
    Notice as _, Raw, RequestId, RootsCapability, RpcError, SamplingCapability, code,
};
use tokio::sync::oneshot;

use super::Client;
use super::result::Members;
use crate::message::{notification, question};
use crate::outlet::{Outlet, Priority};

/// The questions that wait for a client's answer.
///
/// Each goes out under an id of our own, 128 random bits, so that an answer can only come from a client
/// that was asked.
pub(super) struct Questions {
    open: Mutex<FxHashMap<String, oneshot::Sender<Result<Raw, RpcError>>>>,
    most: usize,
    patience: Duration,
}

impl Questions {
    pub(super) fn new(most: usize, patience: Duration) -> Self {
        let open = Mutex::default();
        Self {
            open,
            most,
            patience,
        }
    }

    fn open(&self) -> MutexGuard<'_, FxHashMap<String, oneshot::Sender<Result<Raw, RpcError>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the answer of the client. One that belongs to no question is dropped: the question may have
    /// been taken back.
    pub(super) fn answer(&self, id: Option<&RequestId>, outcome: Result<Raw, RpcError>) {
        let Some(RequestId::Text(key)) = id else {
            return;
        };
        // Removed and not only read: a second answer finds no question.
        if let Some(asked) = self.open().remove(key) {
            // Sending fails if the server has taken the question back.
            drop(asked.send(outcome));
        }
    }

    /// Takes all questions back.
    pub(super) fn close(&self) {
        self.open().clear();
    }

    /// Asks the client.
    ///
    /// # Errors
    /// Fails with the client's error, or if it cannot be asked or does not answer.
    ///
    /// # Cancel safety
    /// Dropping the future takes the question back, on the wire too.
    async fn ask(
        &self,
        outlet: &Arc<dyn Outlet>,
        method: &str,
        params: Option<&Raw>,
    ) -> Result<Raw, RpcError> {
        let unavailable = |why: &str| RpcError::new(code::INTERNAL_ERROR, why);
        let key = random_key().ok_or_else(|| unavailable("there is no source of randomness"))?;
        let (sender, answer) = oneshot::channel();
        // In the table before it is sent: a fast client may answer before `send` returns.
        {
            let mut open = self.open();
            if open.len() >= self.most {
                return Err(unavailable("too many questions wait for the client"));
            }
            open.insert(key.clone(), sender);
        }
        // Made before sending: from here on, every way out takes the question back.
        let asked = OpenQuestion {
            questions: self,
            outlet,
            key,
        };
        let id = RequestId::Text(asked.key.clone());
        let message = question(&id, method, params.map(Raw::as_str));
        if !outlet.send(message, Priority::MustArrive) {
            return Err(unavailable("the client cannot be asked"));
        }
        match tokio::time::timeout(self.patience, answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(unavailable("the client is gone")),
            Err(_) => Err(unavailable("the client did not answer in time")),
        }
    }
}

/// A question under way; taken back when this is dropped before the answer.
struct OpenQuestion<'a> {
    questions: &'a Questions,
    outlet: &'a Arc<dyn Outlet>,
    key: String,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        // Still in the table means unanswered: an answered question is not cancelled.
        if self.questions.open().remove(&self.key).is_some() {
            let params = Members::new().text("requestId", &self.key).end();
            let message = notification(Cancelled::NAME, Some(&params));
            self.outlet.send(message, Priority::MustArrive);
        }
    }
}

fn random_key() -> Option<String> {
    let mut bytes = [0_u8; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().fold(String::new(), |mut key, byte| {
        // Writing to a string does not fail.
        write!(key, "{byte:02x}").ok();
        key
    }))
}

/// All that clients of the legacy era can be asked: what the host of a gateway has to declare to servers
/// that clients share ([`HostBuilder::client_capabilities`](switchboard::HostBuilder::client_capabilities)).
/// A question goes to the client whose call it belongs to, if that client has declared it too, and is
/// refused otherwise.
pub fn client_capabilities() -> ClientCapabilities {
    ClientCapabilities {
        roots: Some(RootsCapability { list_changed: true }),
        sampling: Some(SamplingCapability {
            context: true,
            tools: true,
        }),
        elicitation: Some(ElicitationCapability {
            form: true,
            url: true,
        }),
        ..ClientCapabilities::default()
    }
}

/// Asks one client what servers of its own era want to know.
pub(super) struct AskClient {
    client: Weak<Client>,
    /// The way of the questions: that of the request which they belong to, if one does.
    outlet: Arc<dyn Outlet>,
}

impl AskClient {
    pub(super) fn new(client: &Weak<Client>, outlet: &Arc<dyn Outlet>) -> Self {
        Self {
            client: Weak::clone(client),
            outlet: Arc::clone(outlet),
        }
    }
}

impl Respond for AskClient {
    fn capabilities(&self) -> ClientCapabilities {
        let client = self.client.upgrade();
        client.map(|it| it.declared()).unwrap_or_default()
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let Some(client) = self.client.upgrade() else {
                return Err(Refusal::NotAvailable);
            };
            let params = match request {
                InputRequest::Elicit(params) => Some(params.raw()),
                InputRequest::Sample(params) => Some(params.raw()),
                InputRequest::Roots => None,
                _ => return Err(Refusal::NotAvailable),
            };
            let asked = client.questions.ask(&self.outlet, request.method(), params);
            asked.await.map_err(|error| refusal(&error))
        })
    }

    fn completed(&self, elicitation: &str) {
        let params = Members::new().text("elicitationId", elicitation).end();
        let message = notification(ElicitationComplete::NAME, Some(&params));
        self.outlet.send(message, Priority::MustArrive);
    }
}

/// The refusal that tells the server what the client said.
fn refusal(error: &RpcError) -> Refusal {
    let why = || error.message().to_owned();
    match error.code() {
        code::METHOD_NOT_FOUND => Refusal::NotAvailable,
        code::USER_REJECTED => Refusal::ByThePerson,
        code::INVALID_PARAMS => Refusal::Invalid(why()),
        _ => Refusal::Failed(why()),
    }
}
