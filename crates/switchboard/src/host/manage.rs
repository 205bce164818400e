//! What the owner of a host does with its servers.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use switchboard_client::{ServerError, ServerErrorCause};
use tokio::task::JoinSet;

use super::member::{Member, Ready, Source};
use super::status::{State, Status};
use super::{Host, Inner};
use crate::error::{Error, HostError};
use crate::pins::Drift;
use crate::policy::{Decision, Request};
use crate::secret::Redactor;
use crate::session::Session;
use crate::spec::{Identity, ServerName, ServerSpec};
use crate::trust::{Question, Standing};

impl Host {
    /// How every server is, by name. Nothing is started.
    pub fn servers(&self) -> Vec<Status> {
        let members = self.0.all_members();
        members.iter().map(|member| self.0.status(member)).collect()
    }

    /// Like [`Host::servers`], but looks up approvals too: a server that nothing has used yet and that
    /// has to be approved first is [`State::NeedsApproval`]. Nothing is started.
    pub fn check_approvals(&self) -> Vec<Status> {
        let mut statuses = self.servers();
        let idle = statuses
            .iter_mut()
            .filter(|status| matches!(status.state, State::Idle));
        for status in idle {
            let member = self.0.named_member(status.name.as_str());
            if let (Ok(member), Ok(Some(question))) = (member, self.question(status.name.as_str()))
            {
                let error = member.about(HostError::Untrusted(Box::new(question)));
                status.state = State::NeedsApproval(error);
            }
        }
        statuses
    }

    /// How a server is. Nothing is started.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn server(&self, name: &str) -> Result<Status, Error> {
        Ok(self.0.status(&*self.0.named_member(name)?))
    }

    /// Connects to a server and reads what it offers; does nothing where that is done.
    ///
    /// A server that rests after failures is tried at once. Dropping the future gives up the
    /// attempt, unless somebody else waits for it.
    ///
    /// # Errors
    /// When it cannot be used; see [`crate::explain()`].
    pub async fn connect(&self, name: &str) -> Result<Status, Error> {
        let member = self.0.named_member(name)?;
        self.0.open_outright(&member, Lists::All).await?;
        Ok(self.0.status(&member))
    }

    /// Connects to all servers at once, and says how each is once the last is done.
    ///
    /// Each can be used as soon as it is ready; a slow one delays nobody but this method.
    pub async fn connect_all(&self) -> Vec<Status> {
        let mut opening = JoinSet::new();
        for member in self.0.all_members() {
            if member.is_disabled() || matches!(member.source, Source::Offline(_)) {
                continue;
            }
            let host = Arc::clone(&self.0);
            // What comes of it is in the status.
            opening.spawn(async move { drop(host.open_outright(&member, Lists::All).await) });
        }
        opening.join_all().await;
        self.servers()
    }

    /// Closes the connection to a server and waits until it has ended. The next use connects again.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn disconnect(&self, name: &str) -> Result<(), Error> {
        let member = self.0.named_member(name)?;
        if let Some(ready) = member.ready() {
            ready.server.close().await;
        }
        Ok(())
    }

    /// Closes the connection to a server, if there is one, and makes a new one.
    ///
    /// # Errors
    /// When there is no such server, or it cannot be used.
    pub async fn restart(&self, name: &str) -> Result<Status, Error> {
        self.disconnect(name).await?;
        self.connect(name).await
    }

    /// Asks whether a server is there, connecting first if need be, and says how long it took to
    /// answer.
    ///
    /// # Errors
    /// When it did not answer.
    pub async fn check(&self, name: &str) -> Result<Duration, Error> {
        let member = self.0.named_member(name)?;
        let ready = self.0.admit(&member).await?;
        let answered = ready.server.ping().await;
        answered.map_err(|error| member.about(error))
    }

    /// Reads what a server offers again, connecting first if need be.
    ///
    /// # Errors
    /// When it cannot be used.
    pub async fn refresh(&self, name: &str) -> Result<Status, Error> {
        let member = self.0.named_member(name)?;
        let ready = self.0.admit(&member).await?;
        member.facts().reads.clear();
        if ready.server.live().is_some() {
            member.wanted.send_modify(|wanted| *wanted += 1);
        }
        self.0.open_outright(&member, Lists::All).await?;
        Ok(self.0.status(&member))
    }

    /// Adds a server. Nothing is started.
    ///
    /// # Errors
    /// When there is one of that name.
    pub fn add(&self, spec: ServerSpec) -> Result<(), Error> {
        let (name, origin) = (spec.name.clone(), spec.origin.clone());
        let member = Member::new(name.clone(), origin, Source::Spec(Box::new(spec)));
        self.0.add(name, Arc::new(member))
    }

    /// Closes the connection to a server, waits until it has ended, and forgets it. Calls in flight
    /// fail.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn remove(&self, name: &str) -> Result<(), Error> {
        let member = self.0.named_member(name)?;
        self.0.forget(&member);
        if let Some(ready) = member.ready() {
            ready.server.retire().await;
        }
        Ok(())
    }

    /// What the person would have to approve before a server is used; nothing where they need not.
    ///
    /// # Errors
    /// When there is no such server, or approvals cannot be looked up.
    pub fn question(&self, name: &str) -> Result<Option<Question>, Error> {
        let member = self.0.named_member(name)?;
        let Source::Entry(entry) = &member.source else {
            return Ok(None);
        };
        if !entry.origin().layer.needs_approval() {
            return Ok(None);
        }
        let claim = self.0.claim(entry);
        let standing = self.0.options.store.standing(&claim);
        match standing.map_err(|error| member.about(HostError::Store(error)))? {
            Standing::Approved => Ok(None),
            standing => Ok(Some(Question::about(claim, standing))),
        }
    }

    /// What a server offers otherwise than when it was approved; nothing where it was not yet.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn drifts(&self, name: &str) -> Result<Vec<Drift>, Error> {
        let member = self.0.named_member(name)?;
        let (pinned, part) = (self.0.pinned(&member), self.0.part(&member));
        Ok(match (pinned, part) {
            (Some(pinned), Some(part)) => pinned.compare(&part),
            _ => Vec::new(),
        })
    }

    /// Takes what a server offers otherwise for approved: exactly what was looked at.
    ///
    /// # Errors
    /// When there is no such server, or it cannot be kept.
    pub fn approve_drifts(&self, name: &str, drifts: &[Drift]) -> Result<(), Error> {
        let member = self.0.named_member(name)?;
        let approved = self.0.approve_drifts(&member, drifts);
        approved.map_err(|error| Error::configuration(error.to_string()))
    }

    /// Which server it really is: what approvals and pins belong to.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn identity(&self, name: &str) -> Result<Identity, Error> {
        let member = self.0.named_member(name)?;
        Ok(self.0.identity(&member))
    }

    /// What the policy says about a use, and which rule. Nobody is asked.
    pub fn why(&self, request: &Request<'_>) -> Decision {
        self.0.decide(request)
    }

    /// The secrets of all servers that were connected to, for whoever shows what they said.
    pub fn secrets(&self) -> Redactor {
        let mut all = Redactor::new();
        for member in self.0.all_members() {
            if let Some(ready) = member.ready() {
                all.merge(&ready.secrets);
            }
        }
        all
    }

    /// The secrets of one server, for a program that masks what this server said; none before it is
    /// connected to.
    pub fn secrets_of(&self, name: &str) -> Redactor {
        let member = self.0.named_member(name).ok();
        let ready = member.as_ref().and_then(|member| member.ready());
        ready
            .map(|ready| (*ready.secrets).clone())
            .unwrap_or_default()
    }

    /// Closes all connections and waits until every server has ended. Calls in flight fail.
    pub async fn shutdown(&self) {
        self.0.closing.cancel();
        let mut closing = JoinSet::new();
        for member in self.0.all_members() {
            closing.spawn(async move {
                if let Some(ready) = member.ready() {
                    ready.server.close().await;
                }
            });
        }
        closing.join_all().await;
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

/// Which lists somebody waits for.
#[derive(Clone, Copy)]
pub(super) enum Lists {
    Tools,
    All,
}

impl Inner {
    fn add(&self, name: ServerName, member: Arc<Member>) -> Result<(), Error> {
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        if members.contains_key(&name) {
            return Err(HostError::Twice(name).into());
        }
        members.insert(name, member);
        Ok(())
    }

    fn forget(&self, member: &Arc<Member>) {
        let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
        // Another of that name may have been added meanwhile.
        let known = members.get(&member.name);
        if !known.is_some_and(|known| Arc::ptr_eq(known, member)) {
            return;
        }
        member.gone.cancel();
        members.remove(&member.name);
        drop(members);
        let mut changes = Vec::new();
        self.catalog.send_if_modified(|catalog| {
            let newer = catalog.without(&member.name);
            changes = catalog.diff(&newer);
            *catalog = newer;
            !changes.is_empty()
        });
        self.tell(member, &changes);
    }

    /// Connects to a server for somebody who wants to use it, unless it rests, and waits until
    /// those of its lists are read.
    pub(super) async fn open(self: &Arc<Self>, member: &Member, lists: Lists) -> Result<(), Error> {
        let ready = self.admit(member).await?;
        let session = ready.server.session().await;
        self.opened(member, ready, session, lists).await
    }

    /// The same for somebody who asks for a connection, whatever failed before.
    async fn open_outright(self: &Arc<Self>, member: &Member, lists: Lists) -> Result<(), Error> {
        let ready = self.admit(member).await?;
        let session = ready.server.connect().await;
        self.opened(member, ready, session, lists).await
    }

    async fn opened(
        &self,
        member: &Member,
        ready: &Ready,
        session: Result<Session, ServerError>,
        lists: Lists,
    ) -> Result<(), Error> {
        // Kept until the lists are read: they are read on this connection.
        let _session = session.map_err(|error| member.about(error))?;
        let goal = *member.wanted.borrow();
        let mut listed = match lists {
            Lists::Tools => member.tools_listed.subscribe(),
            Lists::All => member.listed.subscribe(),
        };
        tokio::select! {
            listed = listed.wait_for(|listed| *listed >= goal) => drop(listed),
            // Nobody reads lists any more.
            () = member.gone.cancelled() => return Err(member.about(ServerErrorCause::Stopped)),
            () = self.stop.cancelled() => return Err(member.about(ServerErrorCause::Stopped)),
        }
        match self.broken(member) {
            None => {
                member.facts().refused = None;
                Box::pin(self.settle(member)).await;
                Ok(())
            }
            Some(error) => {
                ready.server.close().await;
                member.facts().refused = Some(error.clone());
                Err(error)
            }
        }
    }
}
