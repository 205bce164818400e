//! Methods of a host for its owner: servers, approvals, the policy, logs.

use std::sync::Arc;
use std::time::Duration;

use switchboard_wire::{LogLevel, Root};
use tokio::task::JoinSet;

use super::Host;
use super::catalog_keeper::Lists;
use super::description::Description;
use super::logs::Logs;
use super::member::{Member, Source};
use super::registry::Want;
use super::status::{State, Status};
#[cfg(feature = "auth")]
use crate::auth::{AuthFetch, Authorizer};
use crate::error::{Context, Error, HostError};
use crate::pins::Drift;
use crate::policy::{Caller, Decision, Policy, Request, Target};
use crate::private_store::StoreError;
use crate::secret::Redactor;
use crate::session::CallError;
use crate::spec::{Identity, ServerName, ServerSpec};
use crate::transport::Cleanup;
use crate::trust::Question;
use std::path::Path;

impl Host {
    /// Returns the status of every server, by name. Nothing is started.
    pub fn servers(&self) -> Vec<Status> {
        let members = self.0.registry.members();
        members
            .iter()
            .map(|member| self.status_of(member))
            .collect()
    }

    fn status_of(&self, member: &Member) -> Status {
        Status::of(member, self.0.keeper.part(member).as_deref())
    }

    /// Like [`Host::servers`], but looks up approvals too: a server that nothing has used yet and that
    /// has to be approved first is [`State::NeedsApproval`]. Nothing is started.
    pub fn check_approvals(&self) -> Vec<Status> {
        let mut statuses = self.servers();
        let idle = statuses
            .iter_mut()
            .filter(|status| matches!(status.state, State::Idle));
        for status in idle {
            let member = self.0.registry.find(status.name.as_str());
            if let (Ok(member), Ok(Some(question))) = (member, self.question(status.name.as_str()))
            {
                let error = member.with_context(HostError::Untrusted(Box::new(question)));
                status.state = State::NeedsApproval(error);
            }
        }
        statuses
    }

    /// Returns the status of a server. Nothing is started.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn server(&self, name: &str) -> Result<Status, Error> {
        Ok(self.status_of(&*self.0.registry.find(name)?))
    }

    /// Connects to a server and reads its lists; does nothing if that is done.
    ///
    /// A server that rests after failures is tried at once. One that needs a login is logged in to as [`Host::log_in`]
    /// does, if the operator offers that. Dropping the future gives up the attempt, unless another task waits for the
    /// same connection.
    ///
    /// # Errors
    /// Fails if the server cannot be used; see [`crate::explain()`].
    pub async fn connect(&self, name: &str) -> Result<Status, Error> {
        let member = self.0.registry.find(name)?;
        let opened = self.0.open(&member, Want::Outright, Lists::All).await;
        #[cfg(feature = "auth")]
        let opened = match opened {
            Err(error) if self.0.may_log_in(&error) => {
                self.0.log_in(&member).await?;
                self.0.open(&member, Want::Outright, Lists::All).await
            }
            opened => opened,
        };
        opened?;
        Ok(self.status_of(&member))
    }

    /// Connects to all servers at once, and returns the status of each once the last is done.
    ///
    /// Each can be used as soon as it is ready: a slow server delays only the return of this
    /// method.
    pub async fn connect_all(&self) -> Vec<Status> {
        let mut opening = JoinSet::new();
        for member in self.0.registry.members() {
            if member.is_disabled() || member.is_offline() {
                continue;
            }
            let host = Arc::clone(&self.0);
            // The outcome, good or bad, is in the status.
            opening
                .spawn(async move { drop(host.open(&member, Want::Outright, Lists::All).await) });
        }
        opening.join_all().await;
        self.servers()
    }

    /// Closes the connection to a server and waits until it has ended. The next use connects again.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub async fn disconnect(&self, name: &str) -> Result<(), Error> {
        let member = self.0.registry.find(name)?;
        if let Some(ready) = member.ready() {
            ready.server.close().await;
        }
        member.sharing.end_own().await;
        Ok(())
    }

    /// Closes all connections and waits until every server has ended. The host stays usable: the next
    /// use of a server connects again. [`Host::shutdown`] is the end of the host.
    pub async fn disconnect_all(&self) {
        let mut closing = JoinSet::new();
        for member in self.0.registry.members() {
            if let Some(ready) = member.ready().cloned() {
                closing.spawn(async move {
                    ready.server.close().await;
                    member.sharing.end_own().await;
                });
            }
        }
        closing.join_all().await;
    }

    /// Closes the connection to a server, if there is one, and makes a new one.
    ///
    /// # Errors
    /// Fails if there is no such server, or it cannot be used.
    pub async fn restart(&self, name: &str) -> Result<Status, Error> {
        self.disconnect(name).await?;
        self.connect(name).await
    }

    /// Pings a server, connecting first if need be, and returns the time that the answer took.
    ///
    /// # Errors
    /// Fails if the server does not answer.
    pub async fn check(&self, name: &str) -> Result<Duration, Error> {
        let member = self.0.registry.find(name)?;
        let ready = self.0.registry.admit(&member).await?;
        let answered = ready.server.ping().await;
        answered.map_err(|error| member.with_context(error))
    }

    /// Returns the login of a server at a URL, for [`Login`](crate::auth::Login) and the other ways
    /// to log in. Its connections use the same authorizer, so a new login applies to the next
    /// request.
    ///
    /// The server is admitted first, as for a connection, and nothing is sent.
    ///
    /// # Errors
    /// Fails if there is no such server, it is disabled or not approved, it is not at a URL, or its
    /// description sets an `Authorization` header, which is sent in place of a login.
    #[cfg(feature = "auth")]
    pub async fn authorizer(&self, server: &str) -> Result<Authorizer, Error> {
        let member = self.0.registry.find(server)?;
        self.0.registry.authorizer(&member).await
    }

    /// Makes requests to issuers as those of logins are made: with the proxy, the certificates and the addresses
    /// that the person's own file has now.
    ///
    /// # Errors
    /// Fails if that file says something about the network that cannot be understood.
    #[cfg(feature = "auth")]
    pub fn auth_fetch(&self) -> Result<Arc<dyn AuthFetch>, Error> {
        self.0.registry.auth_fetch()
    }

    /// Checks all servers at once as [`Host::check`] does, by name. Servers that are switched off, and
    /// tools without a server, are left out.
    pub async fn check_all(&self) -> Vec<(ServerName, Result<Duration, Error>)> {
        let mut checking = JoinSet::new();
        for member in self.0.registry.members() {
            if member.is_disabled() || member.is_offline() {
                continue;
            }
            let host = self.clone();
            checking.spawn(async move {
                let name = member.name.clone();
                let answered = host.check(name.as_str()).await;
                (name, answered)
            });
        }
        let mut checked = checking.join_all().await;
        checked.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        checked
    }

    /// The problems that keep servers from being used, now: those of config files that cannot be read,
    /// and for each broken server why it cannot be used, needs approval, or lacks one of its lists.
    /// [`explain`](crate::explain()) has causes and steps for each.
    pub fn problems(&self) -> Vec<Error> {
        #[cfg(feature = "config")]
        let files = {
            let problems = self.config_problems();
            let files = problems.iter();
            let files = files.filter(|it| it.is_error() && it.server().is_none());
            let files = files.map(|it| Error::from(HostError::Problem(Box::new(it.clone()))));
            files.collect::<Vec<_>>()
        };
        #[cfg(not(feature = "config"))]
        let files = Vec::new();
        let servers = self.servers().into_iter();
        let servers = servers.filter_map(|status| status.problem().cloned());
        files.into_iter().chain(servers).collect()
    }

    /// Reads the lists of a server again, connecting first if need be.
    ///
    /// # Errors
    /// Fails if the server cannot be used.
    pub async fn refresh(&self, name: &str) -> Result<Status, Error> {
        let member = self.0.registry.find(name)?;
        self.0.registry.admit(&member).await?;
        // Before the connection is asked for: the lists that are awaited are read after this.
        self.0.keeper.refresh(&member);
        self.0.open(&member, Want::Outright, Lists::All).await?;
        Ok(self.status_of(&member))
    }

    /// Adds a server. Nothing is started.
    ///
    /// # Errors
    /// Fails if there is a server of that name, or the description has a setting that has no
    /// meaning for its kind of server.
    pub fn add(&self, spec: ServerSpec) -> Result<(), Error> {
        let member = self.member_of(spec)?;
        let member = self.0.registry.add(member, |_| ())?;
        self.0.publish_kept(&member);
        Ok(())
    }

    /// Makes the member of a description.
    ///
    /// # Errors
    /// Fails if the description has a setting that has no meaning for its kind of server.
    pub(super) fn member_of(&self, spec: ServerSpec) -> Result<Member, Error> {
        spec.check().map_err(|error| {
            let context = Context::of(&spec.name, None, &spec.origin);
            let context = Description::of_spec(&spec).complete(context);
            Error::configuration(error.to_string()).in_context(context)
        })?;
        let (name, origin) = (spec.name.clone(), spec.origin.clone());
        let source = Source::Spec(Box::new(spec));
        let environment = &self.0.registry.options().environment;
        Ok(Member::new(name, origin, source, environment))
    }

    /// Closes the connection to a server, waits until it has ended, and forgets it. Calls in flight
    /// fail.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        let member = self.0.registry.find(name)?;
        self.0.remove(&member).await;
        Ok(())
    }

    /// Returns the question that the person has to answer before a server is used, or `None` if it
    /// needs no approval.
    ///
    /// # Errors
    /// Fails if there is no such server, or approvals cannot be looked up.
    pub fn question(&self, name: &str) -> Result<Option<Question>, Error> {
        let member = self.0.registry.find(name)?;
        self.0.registry.question(&member)
    }

    /// Returns the differences between what a server offers now and what was approved; empty if
    /// nothing was approved yet.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn drifts(&self, name: &str) -> Result<Vec<Drift>, Error> {
        let member = self.0.registry.find(name)?;
        let pinned = self.0.access.pinned(&member);
        let part = self.0.keeper.part(&member);
        Ok(match (pinned, part) {
            (Some(pinned), Some(part)) => pinned.compare(&part),
            _ => Vec::new(),
        })
    }

    /// Approves exactly these differences, as they were looked at.
    ///
    /// # Errors
    /// Fails if there is no such server, or the approval cannot be stored.
    pub fn approve_drifts(&self, name: &str, drifts: &[Drift]) -> Result<(), Error> {
        let member = self.0.registry.find(name)?;
        let approved = self.0.access.approve_drifts(&member, drifts);
        approved.map_err(|error| Error::configuration(error.to_string()))
    }

    /// The first and the last lines that a server wrote to stderr, while it runs or of its last run; empty
    /// for a server at a URL. A line such as `... 120 lines ...` stands for those between them. Secrets of
    /// the server are redacted.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn stderr(&self, name: &str) -> Result<Vec<String>, Error> {
        let member = self.0.registry.find(name)?;
        let status = self.status_of(&member);
        let lines = status.stderr.iter();
        Ok(lines.map(|line| member.redact(line)).collect())
    }

    /// Returns the identity of a server, to which approvals and pins belong.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn identity(&self, name: &str) -> Result<Identity, Error> {
        let member = self.0.registry.find(name)?;
        Ok(member.identity())
    }

    /// Returns the decision of the policy about a request, and the rule behind it. The person is
    /// not asked.
    pub fn why(&self, request: &Request<'_>) -> Decision {
        let decision = self.0.access.decide(request);
        if decision.is_denied() {
            return decision;
        }
        // Predicates look at the tool itself, as far as it is known by now.
        let Target::Tool { server, name } = request.target else {
            return decision;
        };
        let (catalog, member) = (self.catalog(), self.0.registry.member(server));
        let entry = catalog.by_key(server.as_str(), name);
        let reason = entry.zip(member).and_then(|(entry, member)| {
            let access = &self.0.access;
            access.filtered(request.caller, &member, entry)
        });
        reason.map_or(decision, Decision::Deny)
    }

    /// The secrets of all servers that were connected to, for a program that masks their output.
    pub fn secrets(&self) -> Redactor {
        self.0.registry.secrets()
    }

    /// The secrets of one server, for a program that masks this server's output; empty before it is
    /// connected to.
    pub fn secrets_of(&self, name: &str) -> Redactor {
        let member = self.0.registry.find(name).ok();
        let ready = member.as_ref().and_then(|member| member.ready());
        ready
            .map(|ready| (*ready.secrets).clone())
            .unwrap_or_default()
    }

    /// Closes all connections and waits until every server has ended. Calls in flight fail.
    pub async fn shutdown(&self) {
        // Connections first: the keeper reports the end of each before its tasks end.
        self.0.registry.shutdown().await;
        self.0.keeper.shutdown().await;
    }

    /// Returns the current policy for agents.
    pub fn policy(&self) -> Arc<Policy> {
        self.0.access.policy()
    }

    /// Replaces the policy for agents, from now on. A call that was already allowed goes on.
    pub fn set_policy(&self, policy: Policy) {
        self.0.access.set_policy(policy);
    }

    /// Approves, as long as this host lives, everything that an agent was granted of a server, so
    /// that the person is not asked about it. This grants nothing new.
    ///
    /// # Errors
    /// Fails if there is no such server, or too many approvals are kept already.
    pub fn allow_all(&self, caller: &Caller, server: &str) -> Result<(), Error> {
        let member = self.0.registry.find(server)?;
        self.0.access.allow_all(caller, &member)
    }

    /// Sets the folders that a server is sent as roots from now on, in place of those of its
    /// settings.
    ///
    /// A connected server that was told that it may ask for folders is notified of the change;
    /// another can ask on its next connection.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn set_roots<P: AsRef<Path>>(
        &self,
        server: &str,
        folders: impl IntoIterator<Item = P>,
    ) -> Result<(), Error> {
        let member = self.0.registry.find(server)?;
        if !member.roots.set(folders) {
            return Ok(());
        }
        self.0.registry.report_missing_roots(&member);
        let live = member.ready().and_then(|ready| ready.server.live());
        // A program with a responder of its own answers requests for roots itself.
        if let (Some(session), true, None) = (
            live,
            member.roots.is_declared(),
            self.0.registry.options().respond.as_ref(),
        ) {
            session.roots_changed();
        }
        Ok(())
    }

    /// The folders that a server is sent when it asks for roots. Before its first connection there
    /// are none, unless [`Host::set_roots`] has named some.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn roots(&self, server: &str) -> Result<Vec<Root>, Error> {
        Ok(self.0.registry.find(server)?.roots.list())
    }

    /// Returns true if the server was told at the handshake that it may ask for folders; if not, it
    /// learns of them on its next connection. `None` if it is not connected.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn may_ask_for_roots(&self, server: &str) -> Result<Option<bool>, Error> {
        let member = self.0.registry.find(server)?;
        let live = member.ready().and_then(|ready| ready.server.live());
        Ok(live.map(|_| member.roots.is_declared()))
    }

    /// Sets the level from which on a server logs, now and on every later connection; connects
    /// first if need be. The messages are in [`Host::logs`].
    ///
    /// A server of 2026-07-28 logs only while it answers a request.
    ///
    /// # Errors
    /// Fails if there is no such server, it cannot be used, or it does not log.
    pub async fn set_log_level(&self, name: &str, level: LogLevel) -> Result<(), Error> {
        let member = self.0.registry.find(name)?;
        let ready = self.0.registry.admit(&member).await?;
        // Before there is a connection, so that its first lists are asked for with it.
        let before = member.listing.set_log_level(Some(level));
        let session = ready.server.session().await;
        let session = session.map_err(|error| member.with_context(error))?;
        let set = session.set_log_level(level).await;
        if let Err(CallError::NotOffered { .. } | CallError::Rpc(_)) = set {
            // It would not take it the next time either.
            let kept = before.filter(|before| *before != level);
            member.listing.set_log_level(kept);
        }
        set.map_err(|error| member.with_context(error))
    }

    /// Sets the level from which on a server logs on later connections, including while it is being
    /// connected to. Nothing is started, and a live connection stays as it is; see
    /// [`Host::set_log_level`].
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn want_log_level(&self, name: &str, level: LogLevel) -> Result<(), Error> {
        let member = self.0.registry.find(name)?;
        member.listing.set_log_level(Some(level));
        Ok(())
    }

    /// Takes the reports on servers whose keeper process was lost or could not end all of their
    /// processes, and on what was done about it. Each is returned once.
    ///
    /// It is complete after [`Host::shutdown`].
    pub fn take_cleanups(&self) -> Vec<(ServerName, Cleanup)> {
        self.0.registry.take_cleanups()
    }

    /// Saves the era that each server was found to speak, if [`HostBuilder::eras`] names a folder.
    /// It blocks; if nothing is new, the file is not touched.
    ///
    /// [`HostBuilder::eras`]: super::HostBuilder::eras
    ///
    /// # Errors
    /// Fails if the file cannot be written. Nothing depends on it.
    pub fn save_eras(&self) -> Result<(), StoreError> {
        self.0.registry.options().eras.save()
    }

    /// Subscribes to the output of all servers besides their answers, from now on: lines on stderr,
    /// log messages and other notifications. Only the owner has it: there is no such method on a
    /// view.
    pub fn logs(&self) -> Logs {
        self.0.registry.logs().subscribe()
    }
}
