//! State that all connections of a server share.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::channel::{Channel, Entry, Role};
use super::config::{Answers, Http, Transport};
use super::faults::{HttpFaults, is_of_lines};
use super::record::Log;
use super::sessions::Sessions;
use crate::Eras;
use crate::chaos::{Act, Chaos, ClientRequest, Ending, Group, Player, adjust};
use crate::conformance::RECONNECTING;
use crate::issuer::Issuer;
use crate::service::{Incoming, Service};

/// State that all connections of a server share.
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
    pub(super) faults: HttpFaults,
    pub(super) issuer: Option<Issuer>,
    ending: watch::Sender<Option<Ending>>,
    /// The faults of messages.
    player: Option<Mutex<Player>>,
    ready_at: Option<Instant>,
    listener: Mutex<Weak<Channel>>,
}

/// Time for the last answer of a server that is about to end.
const LAST_WORDS: Duration = Duration::from_millis(100);

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
            // HTTP+SSE has no modern era.
            options.eras = Eras::Legacy;
        }
        let chaos = &http.options.chaos;
        if let Some(chaos) = chaos.iter().find(|chaos| !chaos.flag().over_http()) {
            let what = format!("{chaos} is no fault of a server over HTTP");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        adjust(&mut options);
        // Faults of HTTP and of line framing are applied to bodies, all others to messages.
        let (of_http, of_messages): (Vec<Chaos>, Vec<Chaos>) = chaos
            .iter()
            .cloned()
            .partition(|chaos| chaos.flag().group() == Group::Http || is_of_lines(chaos.flag()));
        let mut player = (!of_messages.is_empty()).then(|| Player::new(&of_messages));
        let mut ready_at = options.start_delay.map(|delay| Instant::now() + delay);
        let ending = watch::Sender::default();
        for act in player.as_mut().map(Player::start).unwrap_or_default() {
            match act {
                Act::Wait(time) => ready_at = Some(Instant::now() + time),
                Act::End(end) => drop(ending.send_replace(Some(end))),
                _ => {}
            }
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
            faults: HttpFaults::new(&of_http, options.conformance.then_some(RECONNECTING)),
            issuer: http.issuer.clone(),
            ending,
            player: player.map(Mutex::new),
            ready_at,
            listener: Mutex::default(),
        }))
    }

    /// Returns true if faults change messages.
    pub(super) fn is_faulty(&self) -> bool {
        self.player.is_some()
    }

    /// Waits for the end that a fault orders.
    pub(super) fn ended(&self) -> impl Future<Output = Ending> + Send + use<> {
        let mut ending = self.ending.subscribe();
        async move {
            let found = ending.wait_for(Option::is_some).await.map(|ending| *ending);
            match found {
                Ok(Some(ending)) => ending,
                // The server is gone, and not because of a fault.
                _ => Ending::Done,
            }
        }
    }

    /// Ends the server after a short time in which the last answer can leave, even if its client
    /// goes away.
    fn end_soon(&self, ending: Ending) {
        let known = self.ending.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LAST_WORDS).await;
            known.send_replace(Some(ending));
        });
    }

    /// Waits for the end of a delayed start.
    pub(super) async fn ready(&self) {
        if let Some(time) = self.ready_at {
            tokio::time::sleep_until(time).await;
        }
    }

    /// Remembers the channel of a subscription.
    pub(super) fn listens(&self, channel: &Arc<Channel>) {
        *lock(&self.listener) = Arc::downgrade(channel);
    }

    /// The channel of the latest subscription.
    pub(super) fn listener(&self) -> Option<Arc<Channel>> {
        lock(&self.listener).upgrade()
    }

    /// Shows an incoming message to the faults.
    pub(super) fn hear(&self, text: &str, incoming: Incoming) -> HeardBy {
        let heard = self
            .player
            .as_ref()
            .and_then(|player| lock(player).hear(text));
        let Some(heard) = heard else {
            return HeardBy {
                incoming: Some(incoming),
                request: None,
                acts: Vec::new(),
            };
        };
        let incoming = if heard.changed {
            Incoming::parse(&heard.message.to_string())
        } else {
            incoming
        };
        HeardBy {
            incoming: (!heard.kept).then_some(incoming),
            request: heard.request,
            acts: heard.acts,
        }
    }

    /// Puts a line of the server into a channel; returns true if its answer was suppressed.
    pub(super) async fn say(
        &self,
        ways: &Ways,
        line: String,
        role: Role,
        answered: Option<ClientRequest>,
    ) -> bool {
        let Some(player) = &self.player else {
            ways.channel.push(vec![Entry::line(line, role)]).await;
            return false;
        };
        let saying = lock(player).change(line, answered);
        let of_list = saying
            .answers
            .as_ref()
            .is_some_and(|request| request.method == "tools/list");
        // Delay and hold are the same here: every answer has a stream of its own to wait in.
        tokio::time::sleep(saying.delay.max(saying.hold.unwrap_or_default())).await;
        let (silent, instead) = (saying.silent, saying.instead);
        let main = match instead {
            Some(acts) => acts,
            None => vec![Act::Bytes(saying.text)],
        };
        let mut entries = Vec::new();
        if !saying.before.is_empty() {
            entries.push(Entry {
                acts: saying.before,
                role: Role::Other,
            });
        }
        if !silent {
            entries.push(Entry { acts: main, role });
        }
        // Announcements after a list go to the subscription, not to the answer.
        let aside = ways.aside.as_ref().filter(|_| of_list);
        let (later, now): (Vec<Act>, Vec<Act>) =
            saying.after.into_iter().partition(Act::takes_time);
        let after = Entry {
            acts: now,
            role: Role::Other,
        };
        match aside {
            _ if after.acts.is_empty() => ways.channel.push(entries).await,
            Some(aside) => {
                ways.channel.push(entries).await;
                aside.push(vec![after]).await;
            }
            None => {
                entries.push(after);
                ways.channel.push(entries).await;
            }
        }
        // After the answer: an act that takes time must not delay it.
        for act in later {
            match act {
                Act::End(ending) => self.end_soon(ending),
                act => self.act(&ways.channel, act).await,
            }
        }
        silent
    }

    /// Performs an act that a fault takes on its own.
    pub(super) async fn act(&self, channel: &Channel, act: Act) {
        match act {
            Act::End(ending) => drop(self.ending.send_replace(Some(ending))),
            Act::Every(time, line) => {
                for number in 1.. {
                    let entry = Entry::line(line(number), Role::Other);
                    channel.push(vec![entry]).await;
                    tokio::time::sleep(time).await;
                }
            }
            Act::Later(time, line) => {
                tokio::time::sleep(time).await;
                channel.push(vec![Entry::line(line, Role::Other)]).await;
            }
            act => {
                let role = Role::Other;
                channel
                    .push(vec![Entry {
                        acts: vec![act],
                        role,
                    }])
                    .await;
            }
        }
    }
}

/// The channels of a request's messages.
pub(super) struct Ways {
    pub(super) channel: Arc<Channel>,
    /// The channel for messages outside of the request.
    pub(super) aside: Option<Arc<Channel>>,
}

/// An incoming message after the faults have seen it.
pub(super) struct HeardBy {
    /// The message for the server; `None` if it is withheld.
    pub(super) incoming: Option<Incoming>,
    pub(super) request: Option<ClientRequest>,
    pub(super) acts: Vec<Act>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks can stop halfway, so a poisoned lock is fine.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
