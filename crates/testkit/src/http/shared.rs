//! What all connections of a server share.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::watch;

use super::channel::{Channel, Entry, Role};
use super::config::{Answers, Http, Transport};
use super::record::Log;
use super::sessions::Sessions;
use crate::Eras;
use crate::chaos::Ending;
use crate::service::Service;

/// What all connections of a server share.
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    pub(super) sessions: Sessions,
    pub(super) log: Arc<Log>,
    pub(super) transport: Transport,
    pub(super) answers: Answers,
    pub(super) stateless: bool,
    pub(super) address: SocketAddr,
    /// The other origin.
    pub(super) other: SocketAddr,
    ending: watch::Sender<Option<Ending>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(
        http: &Http,
        log: Arc<Log>,
        address: SocketAddr,
        other: SocketAddr,
    ) -> io::Result<Arc<Self>> {
        let mut options = http.options.clone();
        if http.transport == Transport::Sse {
            // There is nothing modern about it.
            options.eras = Eras::Legacy;
        }
        Ok(Arc::new(Self {
            service: Arc::new(Service::new(&options)),
            sessions: Sessions::new(Arc::clone(&log)),
            log,
            transport: http.transport,
            answers: http.answers,
            stateless: http.stateless,
            address,
            other,
            ending: watch::Sender::default(),
        }))
    }

    /// Whether messages are changed on their way.
    pub(super) fn is_faulty(&self) -> bool {
        false
    }

    /// Waits for the end that a fault brings about.
    pub(super) fn ended(&self) -> impl Future<Output = Ending> + Send + use<> {
        let mut ending = self.ending.subscribe();
        async move {
            let found = ending.wait_for(Option::is_some).await.map(|ending| *ending);
            match found {
                Ok(Some(ending)) => ending,
                // The server is gone, and its end was no fault.
                _ => Ending::Done,
            }
        }
    }

    /// Puts a line of the server into a channel; says whether an answer was left out.
    pub(super) async fn say(
        &self,
        channel: &Channel,
        line: String,
        role: Role,
        _answered: Option<crate::chaos::Request>,
    ) -> bool {
        channel.push(vec![Entry::line(line, role)]).await;
        false
    }
}
