//! Reads what a server offers, and puts it into the catalog.

use std::sync::{Arc, Weak};

use switchboard_wire::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Inner;
use super::member::{Member, Read, Source};
use crate::catalog::{self, Change, Delta, Freshness, ItemKind, Notice, ServerCatalog};
use crate::error::{Error, HostError};
use crate::events::Event;
use crate::session::{CallError, Changes, Listing, Session};

/// Which lists are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl Kinds {
    pub(super) const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
    };

    /// Those that were said to have changed.
    pub(super) fn changed(before: Changes, now: Changes) -> Self {
        Self {
            tools: before.tools != now.tools,
            prompts: before.prompts != now.prompts,
            resources: before.resources != now.resources,
        }
    }

    /// Has these read again, whatever was said about how long they may be kept.
    pub(super) fn forget(self, member: &Member) {
        let is_kept = |kind: &ItemKind| match kind {
            ItemKind::Tool => !self.tools,
            ItemKind::Prompt => !self.prompts,
            ItemKind::Resource | ItemKind::Template => !self.resources,
        };
        member.facts().reads.retain(|kind, _| is_kept(kind));
    }
}

/// What was read of the lists; nothing of those that were not.
#[derive(Default)]
struct Lists {
    tools: Option<Result<Listing<Tool>, CallError>>,
    prompts: Option<Result<Listing<Prompt>, CallError>>,
    resources: Option<Result<Listing<Resource>, CallError>>,
    templates: Option<Result<Listing<ResourceTemplate>, CallError>>,
}

impl Inner {
    /// The lists that are read on a new connection: not those of the last that may be kept.
    pub(super) fn first_kinds(&self, member: &Member) -> Kinds {
        Kinds {
            tools: !self.is_fresh(member, ItemKind::Tool),
            prompts: !self.is_fresh(member, ItemKind::Prompt),
            resources: !self.is_fresh(member, ItemKind::Resource)
                || !self.is_fresh(member, ItemKind::Template),
        }
    }

    /// Whether what is known of a list may be used without asking again.
    fn is_fresh(&self, member: &Member, kind: ItemKind) -> bool {
        let Some(Read { at, ttl }) = member.facts().reads.get(&kind).copied() else {
            return false;
        };
        let keeps = member
            .ready()
            .is_some_and(|ready| ready.settings.cache_tools_list);
        let age = match (ttl, keeps) {
            (Some(ttl), _) => ttl.min(self.options.limits.ttl),
            (None, true) => self.options.host_limits.list_age,
            (None, false) => return false,
        };
        at.elapsed() < age
    }

    /// Makes a server's part of the catalog of what was read and of what was known.
    fn put_together(&self, member: &Member, session: &Session, lists: Lists, at: Instant) {
        let previous = self.part(member);
        let previous = previous.as_deref();
        let mut notices = Vec::new();
        let bounds = catalog::Bounds {
            items: self.options.limits.items,
            ..catalog::Bounds::default()
        };
        let mut builder = ServerCatalog::builder(member.name.clone()).bounds(bounds);
        macro_rules! list {
            ($kind:ident, $list:ident, $entry:ident) => {
                let read = lists.$list.map(|read| (read, at));
                let read = self.taken(member, ItemKind::$kind, read, previous, &mut notices);
                builder = builder.$list(read.unwrap_or_else(|| {
                    let known = previous.map(ServerCatalog::$list).unwrap_or_default();
                    known.iter().map(|entry| entry.$entry().clone()).collect()
                }));
            };
        }
        list!(Tool, tools, tool);
        list!(Prompt, prompts, prompt);
        list!(Resource, resources, resource);
        list!(Template, templates, template);
        if let Some(ready) = member.ready() {
            let style = ready.settings.name_style;
            builder = builder
                .style(style.unwrap_or(self.options.name_style))
                .filter(&ready.settings.tools);
        }
        let part = builder
            .instructions(session.negotiated().instructions.clone())
            .freshness(Freshness::Live)
            .notices(notices)
            .build(previous);
        self.publish(member, |_| part.clone());
    }

    /// What a list has, or nothing where it was not read or could not be.
    fn taken<T>(
        &self,
        member: &Member,
        kind: ItemKind,
        read: Option<(Result<Listing<T>, CallError>, Instant)>,
        previous: Option<&ServerCatalog>,
        notices: &mut Vec<Notice>,
    ) -> Option<Vec<T>> {
        let keep = |notices: &mut Vec<Notice>| {
            let known = previous.map(ServerCatalog::notices).unwrap_or_default();
            // What was left out is not among the known items, so that nothing else would say it again.
            let of_list = known
                .iter()
                .filter(|notice| notice.kind == Some(kind) && notice.problem.is_left_out());
            notices.extend(of_list.cloned());
        };
        match read {
            None => {
                keep(notices);
                None
            }
            Some((Err(error), _)) => {
                let error = member.about(error);
                let mut facts = member.facts();
                facts.unlisted.retain(|(known, _)| *known != kind);
                facts.unlisted.push((kind, error.clone()));
                facts.reads.remove(&kind);
                drop(facts);
                self.events.emit(|| Event::ListFailed {
                    server: member.name.clone(),
                    list: word(kind),
                    error: error.to_string(),
                });
                keep(notices);
                None
            }
            Some((Ok(listing), at)) => {
                let ttl = listing.ttl;
                let mut facts = member.facts();
                facts.unlisted.retain(|(known, _)| *known != kind);
                facts.reads.insert(kind, Read { at, ttl });
                drop(facts);
                let set_aside = listing.set_aside.iter().map(|item| {
                    let name = item.name.as_deref();
                    Notice::set_aside(kind, name, item.reason.clone())
                });
                notices.extend(set_aside);
                let cut = listing.cut.map(|cut| cut.to_string());
                let more = listing.set_aside_more;
                let more = (more > 0).then(|| format!("{more} more items could not be used"));
                let reasons = cut.into_iter().chain(more);
                notices.extend(reasons.map(|reason| Notice::list_cut(kind, reason)));
                Some(listing.items)
            }
        }
    }

    /// Puts tools that have no server into the catalog.
    pub(super) fn publish_offline(&self, member: &Member) {
        if let Source::Offline(tools) = &member.source {
            let part = ServerCatalog::builder(member.name.clone())
                .style(self.options.name_style)
                .tools(tools.clone())
                .freshness(Freshness::Offline)
                .build(None);
            self.publish(member, |_| part.clone());
        }
    }

    /// What the catalog has of a server.
    pub(super) fn part(&self, member: &Member) -> Option<Arc<ServerCatalog>> {
        let catalog = self.catalog.borrow();
        catalog.server(member.name.as_str()).cloned()
    }

    /// Marks what a server offered as stale.
    pub(super) fn mark_stale(&self, member: &Member) {
        if self.part(member).is_some() {
            self.publish(member, |part| part.with_freshness(Freshness::Stale));
        }
    }

    /// Makes a new snapshot of the catalog with another part in it, and tells what changed.
    fn publish(&self, member: &Member, part: impl Fn(&ServerCatalog) -> ServerCatalog) {
        let mut changes = Vec::new();
        self.catalog.send_if_modified(|catalog| {
            // Asked here, so that nothing comes after it was forgotten.
            if member.gone.is_cancelled() {
                return false;
            }
            let empty;
            let known = match catalog.server(member.name.as_str()) {
                Some(part) => part,
                None => {
                    empty = Arc::new(ServerCatalog::builder(member.name.clone()).build(None));
                    &empty
                }
            };
            let newer = catalog.with(Arc::new(part(known)));
            changes = catalog.diff(&newer);
            *catalog = newer;
            !changes.is_empty()
        });
        self.tell(member, &changes);
    }

    pub(super) fn tell(&self, member: &Member, changes: &[Change]) {
        if changes.is_empty() {
            return;
        }
        let most = self.options.host_limits.changes;
        self.events.emit(|| {
            let lines = changes.iter().take(most).map(line);
            let mut lines: Vec<String> = lines.map(|line| member.redact(&line)).collect();
            if changes.len() > most {
                lines.push(format!("and {} more", changes.len() - most));
            }
            Event::CatalogChanged {
                server: member.name.clone(),
                changes: lines,
            }
        });
    }

    /// Says what to do about a server that came without tools.
    fn notice_emptiness(&self, member: &Member) {
        let is_empty = self
            .part(member)
            .is_some_and(|part| part.tools().is_empty());
        let is_strict = member
            .ready()
            .is_some_and(|ready| ready.settings.fail_if_no_tools);
        if !is_empty {
            if is_strict {
                // Nothing else is held against a server that answers.
                member.facts().refused = None;
            }
            return;
        }
        let name = &member.name;
        if is_strict {
            member.facts().refused = Some(member.about(HostError::NoTools));
        }
        self.events.emit(|| Event::Notice {
            server: name.clone(),
            text: format!("no tools; `/mcp retry {name}` lists them again"),
        });
    }

    /// Why a server that is connected counts as broken nevertheless.
    pub(super) fn broken(&self, member: &Member) -> Option<Error> {
        let fails = member.ready()?.settings.fail_if_no_tools;
        let is_empty = self.part(member)?.tools().is_empty();
        (fails && is_empty).then(|| member.about(HostError::NoTools))
    }
}

/// Reads lists and publishes what is in them, tools as soon as they are there. A list that cannot be
/// read leaves what was known.
///
/// The host is not held meanwhile: one that is dropped does not wait for a server to answer.
pub(super) async fn read_lists(
    host: &Weak<Inner>,
    member: &Member,
    session: &Session,
    kinds: Kinds,
    goal: u64,
) {
    let began = Instant::now();
    let put = |lists: Lists| {
        let host = host.upgrade();
        if let Some(host) = &host {
            host.put_together(member, session, lists, began);
        }
        host
    };
    let tools = async {
        if kinds.tools {
            let lists = Lists {
                tools: Some(session.list_tools().await),
                ..Lists::default()
            };
            if let Some(host) = put(lists) {
                host.notice_emptiness(member);
            }
        } else {
            put(Lists::default());
        }
        reach(&member.tools_listed, goal);
    };
    let ((), prompts, resources, templates) = tokio::join!(
        tools,
        only(kinds.prompts, session.list_prompts()),
        only(kinds.resources, session.list_resources()),
        only(kinds.resources, session.list_resource_templates()),
    );
    if kinds.prompts || kinds.resources {
        put(Lists {
            tools: None,
            prompts,
            resources,
            templates,
        });
    }
}

/// Reads a list, if it is wanted.
async fn only<T>(
    is_wanted: bool,
    list: impl Future<Output = Result<Listing<T>, CallError>>,
) -> Option<Result<Listing<T>, CallError>> {
    match is_wanted {
        true => Some(list.await),
        false => None,
    }
}

/// Says up to which wish lists are fresh.
pub(super) fn reach(listed: &watch::Sender<u64>, goal: u64) {
    listed.send_if_modified(|listed| {
        let is_news = goal > *listed;
        *listed = goal.max(*listed);
        is_news
    });
}

fn word(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Tool => "tools",
        ItemKind::Prompt => "prompts",
        ItemKind::Resource => "resources",
        ItemKind::Template => "resource templates",
    }
}

/// A change in words.
fn line(change: &Change) -> String {
    match change {
        Change::ServerAdded(_) => "listed".to_owned(),
        Change::ServerRemoved(_) => "removed".to_owned(),
        Change::Freshness { to, .. } => match to {
            Freshness::Live => "live".to_owned(),
            Freshness::Stale => "stale".to_owned(),
            Freshness::Offline => "offline".to_owned(),
        },
        Change::Instructions(_) => "instructions changed".to_owned(),
        Change::Item {
            kind, name, delta, ..
        } => {
            let what = match delta {
                Delta::Added => "added",
                Delta::Removed => "removed",
                Delta::Changed => "changed",
            };
            format!("{kind} {name} {what}")
        }
    }
}
