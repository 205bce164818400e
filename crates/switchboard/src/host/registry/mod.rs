//! The servers of a host: which there are, which may be connected to, and their end.
//!
//! [`Registry`] owns the members by name, the rules of admission and the connections. It promises that
//! nothing is started or sent before a server is admitted (enabled, approved where it came with a
//! folder, every placeholder filled), that a server is admitted once however many ask, that no two
//! servers have one name, and that after [`Registry::shutdown`] no connection is left and none is made.
//!
//! A member is admitted on first use ([`admission`](self::admission)): [`approval_claims`] reads what an
//! approval is bound to, [`transport_for`] makes the transport, and the result is a [`Ready`] with a
//! [`Server`](crate::server::Server) that connects, rests and connects again. Each new connection is
//! reported by an [`observer`] as events and handed to [`OnConnected`]; the host passes it on to
//! `CatalogKeeper`. The registry knows nothing of lists, policies or calls.

mod admission;
#[cfg(feature = "config")]
mod approval_claims;
#[cfg(feature = "auth")]
mod logins;
mod observer;
#[cfg(test)]
mod tests;
mod transport_for;

use std::collections::BTreeMap;
#[cfg(feature = "config")]
use std::sync::Weak;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Mutex as Turn, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[cfg(all(test, feature = "config"))]
pub(super) use admission::InputAnswers;
#[cfg(all(test, feature = "config"))]
pub(super) use approval_claims::Approved;
#[cfg(feature = "config")]
pub(super) use approval_claims::describe;
#[cfg(test)]
pub(super) use transport_for::transport;

use super::member::{Member, MemberUse, Ready, Source};
use super::{Options, SHOWN_NAMES, logs};
#[cfg(feature = "auth")]
use crate::auth::{AuthFetch, Authorizer};
use crate::error::{Error, HostError};
use crate::events::{Event, EventSender};
use crate::limits::pause;
use crate::secret::Redactor;
use crate::session::Session;
use crate::spec::ServerName;
use crate::text::closest;
use crate::transport::Cleanup;
use crate::trust::Question;
#[cfg(feature = "config")]
use crate::trust::Standing;

/// The most processes of one server that are named; more are not worth reading.
const MOST_LEFT: usize = 1024;

/// Takes every new connection. It must not wait: the opener of the connection does.
pub(super) type OnConnected = Arc<dyn Fn(Arc<Member>, &Session) + Send + Sync>;

/// The reason for which a connection is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Something is to be used: a server that rests after failures stays at rest.
    Use,
    /// A connection was asked for: it is tried at once, whatever failed before.
    Outright,
}

/// The servers of a host.
pub(super) struct Registry {
    options: RwLock<Arc<Options>>,
    members: RwLock<BTreeMap<ServerName, Arc<Member>>>,
    events: EventSender,
    logs: logs::LogSender,
    /// Cleanups after servers that have ended, in sum for each server.
    cleanups: Arc<Mutex<BTreeMap<ServerName, Cleanup>>>,
    /// Held while the person is asked something; `Access` has it too.
    #[cfg_attr(
        not(feature = "config"),
        expect(dead_code, reason = "only entries of files are asked about")
    )]
    asking: Arc<Turn<()>>,
    on_connected: OnConnected,
    /// Servers that have left and still have calls in flight.
    #[cfg(feature = "config")]
    leaving: Mutex<Vec<Weak<Member>>>,
    /// One permit for each connection of a single client.
    client_permits: Arc<Semaphore>,
    /// Cancelled when nothing is to be connected to any more.
    closing: CancellationToken,
    tasks: TaskTracker,
}

impl Registry {
    pub(super) fn new(
        options: Arc<Options>,
        members: BTreeMap<ServerName, Arc<Member>>,
        events: EventSender,
        asking: Arc<Turn<()>>,
        on_connected: OnConnected,
    ) -> Self {
        Self {
            logs: logs::LogSender::new(options.host_limits.logs),
            client_permits: permits(options.host_limits.client_connections),
            options: RwLock::new(options),
            members: RwLock::new(members),
            events,
            cleanups: Arc::default(),
            #[cfg(feature = "config")]
            leaving: Mutex::default(),
            asking,
            on_connected,
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// The options as they are now: config files decide some of them.
    pub(super) fn options(&self) -> Arc<Options> {
        let options = self.options.read();
        Arc::clone(&options.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the options of servers that are admitted from now on.
    #[cfg(feature = "config")]
    pub(super) fn set_options(&self, options: Arc<Options>) {
        let mut current = self.options.write().unwrap_or_else(PoisonError::into_inner);
        *current = options;
    }

    /// The server of that name.
    pub(super) fn member(&self, name: &ServerName) -> Option<Arc<Member>> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members.get(name).cloned()
    }

    /// The server of that name, as a person wrote it.
    ///
    /// # Errors
    /// Fails if there is no such server; the error names the closest one.
    pub(super) fn find(&self, name: &str) -> Result<Arc<Member>, Error> {
        Ok(self.find_for_use(name)?.0)
    }

    /// The server of that name, as a person wrote it, and a use of it that has begun.
    ///
    /// # Errors
    /// As [`Registry::find`].
    pub(super) fn find_for_use(&self, name: &str) -> Result<(Arc<Member>, MemberUse), Error> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = members.get(name) {
            // Under the lock: a server that is found has not left.
            return Ok((Arc::clone(member), member.begin_use()));
        }
        let names = || members.keys().map(ServerName::as_str);
        Err(Error::from(HostError::Unknown {
            what: "server",
            name: name.to_owned(),
            closest: closest(name, names()).map(str::to_owned),
            known: names().take(SHOWN_NAMES).map(str::to_owned).collect(),
        }))
    }

    /// The server of that name, and a use of it that has begun.
    pub(super) fn begin_use(&self, name: &ServerName) -> Option<(Arc<Member>, MemberUse)> {
        // Under the lock: a server that is found has not left.
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        let member = Arc::clone(members.get(name)?);
        let begun = member.begin_use();
        Some((member, begun))
    }

    /// All servers, by name.
    pub(super) fn members(&self) -> Vec<Arc<Member>> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members.values().cloned().collect()
    }

    /// Adds a server. `prepare` runs once its name is known to be free, before it can be found.
    ///
    /// # Errors
    /// Fails if there is a server of that name.
    pub(super) fn add(
        &self,
        member: Member,
        prepare: impl FnOnce(&Member),
    ) -> Result<Arc<Member>, Error> {
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        let name = member.name.clone();
        if members.contains_key(&name) {
            return Err(HostError::Twice(name).into());
        }
        // Under the lock: a server that takes a name must not meet the rules of another.
        prepare(&member);
        let member = Arc::new(member);
        members.insert(name, Arc::clone(&member));
        Ok(member)
    }

    /// Takes a server out; false where another of that name has taken its place. `forget` runs once
    /// it cannot be found any more, before another can take its name.
    pub(super) fn remove(&self, member: &Arc<Member>, forget: impl FnOnce(&Member)) -> bool {
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        let known = members.get(&member.name);
        if !known.is_some_and(|known| Arc::ptr_eq(known, member)) {
            return false;
        }
        // Before it is out of the map: a reader that does not find it any more can rely on the token.
        member.gone.cancel();
        members.remove(&member.name);
        forget(member);
        // Under the lock: a prepared call that looks again must not find it.
        member.leave();
        true
    }

    /// Puts a server in the place of another, or takes it out where there is no other; false where it has
    /// left already. `forget` runs once it cannot be found any more, before another can. Its uses go on:
    /// see [`Registry::drain_in_background`].
    #[cfg(feature = "config")]
    pub(super) fn replace(
        &self,
        member: &Arc<Member>,
        with: Option<&Arc<Member>>,
        forget: impl FnOnce(&Member),
    ) -> bool {
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        let known = members.get(&member.name);
        if !known.is_some_and(|known| Arc::ptr_eq(known, member)) {
            return false;
        }
        members.remove(&member.name);
        member.leave();
        forget(member);
        if let Some(with) = with {
            members.insert(with.name.clone(), Arc::clone(with));
        }
        true
    }

    /// Ends the connections of a server that has left once nothing uses it any more, after
    /// [`HostLimits::drain`](crate::host::HostLimits::drain), or when it is `gone`.
    #[cfg(feature = "config")]
    pub(super) fn drain_in_background(&self, member: &Arc<Member>) {
        let member = Arc::clone(member);
        {
            let mut leaving = lock(&self.leaving);
            leaving.retain(|known| known.strong_count() > 0);
            leaving.push(Arc::downgrade(&member));
        }
        let (closing, most) = (self.closing.clone(), self.options().host_limits.drain);
        drop(self.tasks.spawn(async move {
            tokio::select! {
                () = member.is_unused() => {}
                () = member.gone.cancelled() => {}
                () = tokio::time::sleep(most) => {}
                () = closing.cancelled() => {}
            }
            member.gone.cancel();
            if let Some(ready) = member.ready() {
                ready.server.retire().await;
            }
            member.sharing.end_own().await;
        }));
    }

    /// The servers that have left, and whose calls in flight have not ended yet.
    #[cfg(feature = "config")]
    pub(super) fn leaving(&self) -> Vec<Arc<Member>> {
        let leaving = lock(&self.leaving);
        leaving.iter().filter_map(Weak::upgrade).collect()
    }

    /// Connects to a server, or returns its live session if there is one already.
    ///
    /// # Errors
    /// Fails if the server is not admitted, or no connection can be made.
    pub(super) async fn connect(&self, member: &Arc<Member>, want: Want) -> Result<Session, Error> {
        let ready = self.admit(member).await?;
        let session = match want {
            Want::Use => ready.server.session().await,
            Want::Outright => ready.server.connect().await,
        };
        session.map_err(|error| member.with_context(error))
    }

    /// Answers for the person.
    #[cfg(feature = "auth")]
    pub(super) fn operator(&self) -> crate::talk::SharedOperator {
        self.options().operator.clone()
    }

    /// Returns the wait before the lists of a server are read again on a new connection; `None` if they
    /// were tried often enough, or lost connections are not made again.
    pub(super) fn pause_before_listing(&self, member: &Member, failed: u32) -> Option<Duration> {
        let settings = &member.ready()?.settings;
        let limits = transport_for::limits(settings, &self.options());
        let may_retry = settings.reconnect && failed < limits.retries;
        may_retry.then(|| pause(limits.retry_first, limits.retry_most, failed))
    }

    /// The login of a server, which its connections use too.
    ///
    /// # Errors
    /// Fails if the server is not admitted, or has no login.
    #[cfg(feature = "auth")]
    pub(super) async fn authorizer(&self, member: &Arc<Member>) -> Result<Authorizer, Error> {
        let ready = self.admit(member).await?;
        let authorizer = ready.authorizer.clone();
        authorizer.ok_or_else(|| logins::no_login(member, &ready.identity))
    }

    /// Makes requests to issuers.
    ///
    /// # Errors
    /// Fails if nothing at a URL may be reached.
    #[cfg(feature = "auth")]
    pub(super) fn auth_fetch(&self) -> Result<Arc<dyn AuthFetch>, Error> {
        let options = self.options();
        #[cfg(feature = "config")]
        if let Some(problem) = &options.no_network {
            return Err(HostError::Problem(problem.clone()).into());
        }
        Ok(logins::fetch_with(&options))
    }

    /// Returns the question that the person has to answer before a server is used, or `None` if it
    /// needs no approval.
    ///
    /// # Errors
    /// Fails if approvals cannot be looked up.
    #[cfg(feature = "config")]
    pub(super) fn question(&self, member: &Member) -> Result<Option<Question>, Error> {
        let Source::Entry(entry) = &member.source else {
            return Ok(None);
        };
        if !entry.origin().layer.needs_approval() {
            return Ok(None);
        }
        let claim = approval_claims::claim(entry, &self.options(), self.own_servers());
        let standing = self.options().store.standing(&claim);
        match standing.map_err(|error| member.with_context(HostError::Store(error)))? {
            Standing::Approved => Ok(None),
            standing => Ok(Some(Question::with_standing(claim, standing))),
        }
    }

    /// Without config files there is nothing to approve.
    #[cfg(not(feature = "config"))]
    pub(super) fn question(&self, _: &Member) -> Result<Option<Question>, Error> {
        Ok(None)
    }

    /// The names of the servers that the person described, which a cloned folder must not pass for.
    #[cfg(feature = "config")]
    fn own_servers(&self) -> Vec<ServerName> {
        let own = self.members().into_iter();
        let own = own.filter(|member| !member.origin().layer.needs_approval());
        let own = own.filter(|member| !matches!(member.source, Source::Broken(_)));
        own.map(|member| member.name.clone()).collect()
    }

    /// Emits a notice for each root folder that does not exist; the server is not sent it.
    pub(super) fn report_missing_roots(&self, member: &Member) {
        for folder in member.roots.missing() {
            self.events.emit(|| Event::Notice {
                server: member.name.clone(),
                text: format!(
                    "it is not told of {}: there is no such folder",
                    folder.display()
                ),
            });
        }
    }

    /// The secrets of all servers that were admitted.
    pub(super) fn secrets(&self) -> Redactor {
        let mut all = Redactor::new();
        for member in self.members() {
            if let Some(ready) = member.ready() {
                all.merge(&ready.secrets);
            }
        }
        all
    }

    /// Takes the cleanups that were necessary so far.
    pub(super) fn take_cleanups(&self) -> Vec<(ServerName, Cleanup)> {
        let mut all = lock(&self.cleanups);
        std::mem::take(&mut *all).into_iter().collect()
    }

    pub(super) fn logs(&self) -> &logs::LogSender {
        &self.logs
    }

    /// Cancelled when nothing is to be connected to any more.
    pub(super) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub(super) fn events(&self) -> &EventSender {
        &self.events
    }

    /// The permits for connections of single clients.
    pub(super) fn client_permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.client_permits)
    }

    /// Runs a task until its end, which [`Registry::shutdown`] waits for.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.tasks.spawn(task));
    }

    /// The listener to a server's output.
    pub(super) fn listener(&self, member: &Member, secrets: &Arc<Redactor>) -> logs::Listener {
        // The listener has the redactor: nothing that a server writes is shown without it.
        logs::Listener {
            server: member.name.clone(),
            secrets: Arc::clone(secrets),
            sender: self.logs.clone(),
            most: self.options().host_limits.log_bytes,
        }
    }

    /// Lets connections that were begun be made in the background, until the host closes.
    pub(super) fn finish_in_background<T: Send + 'static>(&self, mut opening: JoinSet<T>) {
        let closing = self.closing.clone();
        drop(self.tasks.spawn(async move {
            tokio::select! {
                () = async { while opening.join_next().await.is_some() {} } => {}
                () = closing.cancelled() => {}
            }
        }));
    }

    /// Closes the connection of a server that was taken out, for good, without waiting for its end.
    pub(super) fn retire_in_background(&self, member: &Arc<Member>) {
        let member = Arc::clone(member);
        drop(self.tasks.spawn(async move {
            if let Some(ready) = member.ready() {
                ready.server.retire().await;
            }
        }));
    }

    /// Closes all connections and waits until every server has ended. Calls in flight fail.
    pub(super) async fn shutdown(&self) {
        // First: no connection is made again while the others are being closed.
        self.closing.cancel();
        let mut closing = JoinSet::new();
        for member in self.members() {
            closing.spawn(async move {
                if let Some(ready) = member.ready() {
                    ready.server.close().await;
                }
            });
        }
        closing.join_all().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

fn permits(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)))
}

/// Adds a cleanup to those of a server.
fn add_cleanup(all: &mut BTreeMap<ServerName, Cleanup>, server: &ServerName, cleanup: &Cleanup) {
    match all.get_mut(server) {
        None => {
            all.insert(server.clone(), cleanup.clone());
        }
        Some(sum) => {
            sum.keeper_lost = cleanup.keeper_lost.or(sum.keeper_lost);
            sum.ended = sum.ended.saturating_add(cleanup.ended);
            sum.left.extend(&cleanup.left);
            sum.left.truncate(MOST_LEFT);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
