//! Config files that change while the host runs.
//!
//! [`Host::reconcile`] takes a [`Config`] that was read anew and makes the servers what they would be in
//! a host that was built from it. A server whose entry stays the same is left alone: its connection, its
//! calls and its lists go on. One whose entry has changed is replaced by another server of that name; the
//! calls that are in flight finish on the old connection, within [`HostLimits::drain`](super::HostLimits).
//!
//! [`FileState`] has what the host keeps of its files: their problems, and which settings are the
//! program's own, so that no file replaces them.

mod decisions;
#[cfg(test)]
#[cfg(unix)]
mod random_tests;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Mutex as Turn;

use super::member::{Described, Member, Source};
use super::{Host, agents};
use crate::config::{Config, Entry, Problem};
use crate::error::{Error, HostError};
use crate::policy::{AgentPolicy, CallerId, Policy};
use crate::spec::{Origin, ServerName};
use settings::Affected;
pub(super) use settings::{FileSections, FileSettings};

/// What [`Host::reconcile`] changed, each by name.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reconciled {
    /// Servers that are new. They are connected to when they are used.
    pub added: Vec<ServerName>,
    /// Servers that are gone. Calls in flight finish first.
    pub removed: Vec<ServerName>,
    /// Servers whose description has changed. Their next use starts them anew.
    pub changed: Vec<ServerName>,
    /// Servers whose approval was revoked. They have ended, with the calls in flight.
    pub revoked: Vec<ServerName>,
    /// Servers that were refused before and are approved now.
    pub approved: Vec<ServerName>,
    /// Servers that go on as they are.
    pub kept: Vec<ServerName>,
    /// Entries that cannot be taken: the program itself has added a server of that name.
    pub errors: Vec<Error>,
}

impl Reconciled {
    /// Returns true if all servers go on as they are, and no other came.
    pub fn is_unchanged(&self) -> bool {
        [
            &self.added,
            &self.removed,
            &self.changed,
            &self.revoked,
            &self.approved,
        ]
        .iter()
        .all(|names| names.is_empty())
    }
}

/// What the host keeps of its config files.
pub(super) struct FileState {
    settings: Mutex<FileSettings>,
    /// What agents may do of whom nothing else says so.
    default_agents: Vec<(CallerId, AgentPolicy)>,
    problems: Mutex<Arc<[Problem]>>,
    /// Held while changes are taken.
    turn: Turn<()>,
}

impl FileState {
    pub(super) fn new(
        settings: FileSettings,
        default_agents: Vec<(CallerId, AgentPolicy)>,
        problems: Vec<Problem>,
    ) -> Self {
        Self {
            settings: Mutex::new(settings),
            default_agents,
            problems: Mutex::new(problems.into()),
            turn: Turn::default(),
        }
    }

    pub(super) fn problems(&self) -> Arc<[Problem]> {
        Arc::clone(&self.lock())
    }

    fn settings(&self) -> MutexGuard<'_, FileSettings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Arc<[Problem]>> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The policy that files describe; `None` if the program has set one.
    fn policy(&self, config: &Config) -> Option<Policy> {
        if self.settings().own().policy {
            return None;
        }
        let mut policy = agents::policy(config).0;
        // An unclear section allows nothing.
        if !is_access_unclear(config) {
            for (id, agent) in self.default_agents.clone() {
                policy = policy.or_agent(id, agent);
            }
        }
        Some(policy)
    }
}

impl Host {
    /// Takes config files that were read anew: adds, removes and replaces servers so that they are those
    /// of a host that is built from `config`, without touching a server whose entry is the same.
    ///
    /// Calls in flight finish on the connection that they began on; a server that has changed is started
    /// anew by its next use, and a new one by its first. What the files say of agents counts at once. As
    /// for [`HostBuilder::config`](super::HostBuilder::config), settings that the program makes itself
    /// stay, and so do servers that it has added. Approvals that other processes have given or revoked
    /// meanwhile count too: a server whose approval is gone ends at once.
    ///
    /// A file that cannot be read has no entries in `config`: look at [`Config::file_errors`] first, and
    /// keep what there is until the file is right again.
    ///
    /// ```no_run
    /// use switchboard::Host;
    /// use switchboard::config::{Config, Places};
    ///
    /// # async fn example(host: Host) {
    /// let config = Config::load(&Places::only("mcp.json"));
    /// match config.file_errors().first() {
    ///     Some(problem) => eprintln!("the servers stay as they are: {problem}"),
    ///     None => {
    ///         let done = host.reconcile(&config).await;
    ///         println!("added {:?}, restarts {:?}", done.added, done.changed);
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn reconcile(&self, config: &Config) -> Reconciled {
        let host = &self.0;
        // Two changes that are mixed would leave the servers of neither.
        let _turn = host.files.turn.lock().await;
        // 1. The policy before the servers: no server is ever there without it.
        if let Some(policy) = host.files.policy(config) {
            host.access.set_policy(policy);
        }
        // 2. Approvals: a server whose approval is gone has no time to finish anything.
        let mut done = Reconciled::default();
        self.end_revoked(&mut done).await;
        // 3. What the files say of all servers, and the servers, one after the other.
        let affected = self.take_settings(config);
        let described = describe_servers(config).into_iter();
        let mut described: BTreeMap<ServerName, Described> =
            described.map(|it| (it.0.clone(), it)).collect();
        for member in host.registry.members() {
            let new = described.remove(&member.name);
            if !member.source.is_of_file() {
                // A server that the program has added stays; the entry of that name is reported.
                if let Some((name, _, Source::Entry(_))) = new {
                    done.errors.push(HostError::Twice(name).into());
                }
                continue;
            }
            self.settle(&member, new, affected, &mut done);
        }
        for (name, origin, source) in described.into_values() {
            let member = self.member_at(name, origin, source);
            // Unless the program has added one of that name just now.
            match host.registry.add(member, |_| ()) {
                Ok(member) => {
                    host.publish_kept(&member);
                    done.added.push(member.name.clone());
                }
                Err(error) => done.errors.push(error),
            }
        }
        // 4. Decisions about those that stay: approvals that came, and definitions.
        self.take_decisions(&mut done).await;
        // 5. The problems last: those who look at them find the servers that they are about.
        *host.files.lock() = problems(config).into();
        done
    }

    /// Takes only the decisions that other processes have stored: approvals that were given or revoked, of
    /// servers and of definitions. The servers stay as their files described them.
    ///
    /// It is for a config that cannot be read now, which must not keep an approval alive that was revoked.
    pub async fn reconcile_decisions(&self) -> Reconciled {
        let _turn = self.0.files.turn.lock().await;
        let mut done = Reconciled::default();
        self.end_revoked(&mut done).await;
        self.take_decisions(&mut done).await;
        let members = self.0.registry.members().into_iter();
        let names = members.map(|member| member.name.clone());
        done.kept = names.filter(|name| !done.revoked.contains(name)).collect();
        done
    }

    /// Makes a server of a file what its entry says now, if there is one.
    fn settle(
        &self,
        member: &Arc<Member>,
        new: Option<Described>,
        affected: Affected,
        done: &mut Reconciled,
    ) {
        let name = member.name.clone();
        let Some((_, origin, source)) = new else {
            if self.succeed(member, None) {
                done.removed.push(name);
            }
            return;
        };
        if member.source.is_same(&source) && !affected.restarts(member) {
            // The same server goes on. Only the place has changed that its errors name.
            let moved = member.origin() != origin || member.source.has_other_text(&source);
            if moved && member.ready().is_none() {
                // Not in use, so nothing is lost: its errors name the new lines.
                self.succeed(member, Some((name.clone(), origin, source)));
            } else if moved {
                member.set_origin(&origin);
            }
            if !done.revoked.contains(&name) {
                done.kept.push(name);
            }
        } else if self.succeed(member, Some((name.clone(), origin, source))) {
            done.changed.push(name);
        }
    }

    /// Puts another server in the place of one, or takes it out. Returns false if it has left already.
    fn succeed(&self, member: &Arc<Member>, with: Option<Described>) -> bool {
        let host = &self.0;
        let new = with.map(|(name, origin, source)| self.member_at(name, origin, source));
        let new = new.map(Arc::new);
        // What it offered goes before another takes its name: nothing of it is called there.
        let forget = |member: &Member| host.keeper.forget(member);
        if !host.registry.replace(member, new.as_ref(), forget) {
            return false;
        }
        if let Some(new) = &new {
            host.publish_kept(new);
        }
        host.registry.drain_in_background(member);
        true
    }

    fn member_at(&self, name: ServerName, origin: Origin, source: Source) -> Member {
        let environment = &self.0.registry.options().environment;
        Member::new(name, origin, source, environment)
    }
}

impl Source {
    /// Returns true if it comes from a config file.
    fn is_of_file(&self) -> bool {
        matches!(self, Self::Entry(_) | Self::Broken(_))
    }

    /// Returns true if it describes the same server, wherever in its file.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Entry(one), Self::Entry(other)) => is_same_entry(one, other),
            (Self::Broken(_), Self::Broken(_)) => true,
            _ => false,
        }
    }

    /// Returns true if something about it differs that only its errors and questions name: the lines of
    /// entries that it hides, or what is wrong with it.
    fn has_other_text(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Broken(one), Self::Broken(other)) => one != other,
            (Self::Entry(one), Self::Entry(other)) => one.shadows() != other.shadows(),
            _ => false,
        }
    }
}

/// Returns true if two entries describe the same server: as they are written, with the defaults of their
/// file, and in the same file.
fn is_same_entry(one: &Entry, other: &Entry) -> bool {
    let files = |entry: &Entry| -> Vec<_> {
        let shadows = entry.shadows().iter();
        shadows.map(|origin| origin.file.clone()).collect()
    };
    // Without the line: an entry that is moved within its file describes the same server.
    let (here, there) = (one.origin(), other.origin());
    one.value() == other.value()
        && (&here.layer, &here.file, &here.pointer) == (&there.layer, &there.file, &there.pointer)
        && (one.folder(), one.project()) == (other.folder(), other.project())
        && one.references() == other.references()
        && one.inputs() == other.inputs()
        && files(one) == files(other)
}

/// The servers that config files describe. A broken entry is one too, so that its name is known and its
/// problem is shown.
pub(super) fn describe_servers(config: &Config) -> Vec<Described> {
    let entries = config.entries().iter().map(|entry| {
        let source = Source::Entry(Box::new(entry.clone()));
        (entry.name().clone(), entry.origin().clone(), source)
    });
    let mut all: Vec<Described> = entries.collect();
    for named in config.problems() {
        if let Some(name) = named.server()
            && config.get(name).is_none()
            && let Some(problem) = config.bad(name)
            && let Ok(name) = ServerName::parse(name)
            && !all.iter().any(|(known, _, _)| *known == name)
        {
            let pointer = format!("/{name}");
            let mut origin = Origin::of_file(problem.layer().clone(), problem.file(), pointer);
            (origin.line, origin.column) = (problem.line(), problem.column());
            let source = Source::Broken(Box::new(problem.clone()));
            all.push((name, origin, source));
        }
    }
    all
}

/// The problems of config files, those with agents included.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = config.problems().to_vec();
    problems.extend(agents::problems(config));
    problems
}

/// Returns true if files say something of agents that cannot be understood: a file of the person's that
/// cannot be read may have said something too.
pub(super) fn is_access_unclear(config: &Config) -> bool {
    let mut unread = config.file_errors().into_iter();
    config.is_access_unclear() || unread.any(|problem| !problem.layer().needs_approval())
}
