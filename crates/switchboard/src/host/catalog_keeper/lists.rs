//! Reads the lists of one connection, and puts a server's part of the catalog together.

use std::sync::Weak;

use switchboard_wire::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::time::Instant;

use super::{CatalogKeeper, Member, Read};
use crate::catalog::{Freshness, ItemKind, Notice, ServerCatalog};
use crate::error::HostError;
use crate::events::Event;
use crate::session::{CallError, Changes, Listing, Session};

/// The lists that are to be read.
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

    /// Returns the lists that were announced as changed.
    pub(super) fn difference(before: Changes, now: Changes) -> Self {
        Self {
            tools: before.tools != now.tools,
            prompts: before.prompts != now.prompts,
            resources: before.resources != now.resources,
        }
    }

    /// Returns these lists and those.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }

    /// Returns true if a list is among them.
    pub(super) fn has(self, kind: ItemKind) -> bool {
        match kind {
            ItemKind::Tool => self.tools,
            ItemKind::Prompt => self.prompts,
            ItemKind::Resource | ItemKind::Template => self.resources,
        }
    }
}

/// The lists that were read; nothing of those that were not.
#[derive(Default)]
struct ReadLists {
    tools: Option<Result<Listing<Tool>, CallError>>,
    prompts: Option<Result<Listing<Prompt>, CallError>>,
    resources: Option<Result<Listing<Resource>, CallError>>,
    templates: Option<Result<Listing<ResourceTemplate>, CallError>>,
}

impl CatalogKeeper {
    /// The lists that are read on a new connection: not those of the last that may be kept.
    pub(super) fn first_kinds(&self, member: &Member) -> Kinds {
        Kinds {
            tools: !self.is_fresh(member, ItemKind::Tool),
            prompts: !self.is_fresh(member, ItemKind::Prompt),
            resources: !self.is_fresh(member, ItemKind::Resource)
                || !self.is_fresh(member, ItemKind::Template),
        }
    }

    /// Returns true if a list is young enough to be used without reading it again.
    fn is_fresh(&self, member: &Member, kind: ItemKind) -> bool {
        let Some(Read { at, ttl }) = member.listing.log().reads.get(&kind).copied() else {
            return false;
        };
        let keeps = member
            .ready()
            .is_some_and(|ready| ready.settings.cache_tools_list);
        // The server's own word goes first, within our limit; a server without one is only kept if
        // the entry says so.
        let age = match (ttl, keeps) {
            (Some(ttl), _) => ttl.min(self.options().limits.ttl),
            (None, true) => self.options().host_limits.list_age,
            (None, false) => return false,
        };
        at.elapsed() < age
    }

    /// Makes a server's part of the catalog from the lists that were read and those known before.
    fn put_together(&self, member: &Member, session: &Session, lists: ReadLists, at: Instant) {
        let previous = self.part(member);
        let previous = previous.as_deref();
        let mut notices = Vec::new();
        let mut builder = self.builder(member, member.ready().map(|ready| &ready.settings));
        macro_rules! list {
            ($kind:ident, $list:ident, $entry:ident) => {
                let read = lists.$list.map(|read| (read, at));
                let read = self.take_items(member, ItemKind::$kind, read, previous, &mut notices);
                builder = builder.$list(read.unwrap_or_else(|| {
                    let known = previous.map(ServerCatalog::$list).unwrap_or_default();
                    known.iter().map(|entry| entry.$entry().clone()).collect()
                }));
            };
        }
        // A list that was not read now keeps its known items, so that one slow list does not empty
        // another.
        list!(Tool, tools, tool);
        list!(Prompt, prompts, prompt);
        list!(Resource, resources, resource);
        list!(Template, templates, template);
        // Built with the previous part: entries that did not change are shared, and their compiled
        // schemas with them.
        let part = builder
            .instructions(session.negotiated().instructions.clone())
            .freshness(Freshness::Live)
            .notices(notices)
            .build(previous);
        self.publish(member, |_| part.clone());
    }

    /// Takes the items of a list, or `None` if it was not read or could not be.
    fn take_items<T>(
        &self,
        member: &Member,
        kind: ItemKind,
        read: Option<(Result<Listing<T>, CallError>, Instant)>,
        previous: Option<&ServerCatalog>,
        notices: &mut Vec<Notice>,
    ) -> Option<Vec<T>> {
        let keep = |notices: &mut Vec<Notice>| {
            let known = previous.map(ServerCatalog::notices).unwrap_or_default();
            // Items that were left out are not in the previous part: only these notices tell of
            // them.
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
                let error = member.with_context(error).while_listing(word(kind));
                let mut log = member.listing.log();
                // It may come after the starts were counted.
                let known = log.unlisted.iter().find(|(known, _)| *known == kind);
                let error =
                    error.after_starts(known.map_or(0, |(_, known)| known.context().starts));
                // One failure for each list: the latest explains it.
                log.unlisted.retain(|(known, _)| *known != kind);
                log.unlisted.push((kind, error.clone()));
                // It is not fresh any more, so the next connection reads it whatever its age.
                log.reads.remove(&kind);
                // Not held while the event is emitted.
                drop(log);
                self.events.emit(|| Event::ListFailed {
                    server: member.name.clone(),
                    list: word(kind),
                    error: error.to_string(),
                });
                keep(notices);
                None
            }
            Some((Ok(listing), at)) => {
                // The age counts from before the request, as the server made the list after that.
                let ttl = listing.ttl;
                let mut log = member.listing.log();
                log.unlisted.retain(|(known, _)| *known != kind);
                log.reads.insert(kind, Read { at, ttl });
                drop(log);
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

    /// Emits a notice about a server that came without tools.
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
            member.facts().refused = Some(member.with_context(HostError::NoTools));
        }
        // Not known of a list that could not be read, of which there is an event already.
        if member.listing.why_unlisted(ItemKind::Tool).is_some() {
            return;
        }
        self.events.emit(|| Event::Notice {
            server: name.clone(),
            text: "it offers no tools".to_owned(),
        });
    }
}

/// Reads lists and publishes their items, tools as soon as they are there. A list that cannot be
/// read keeps its previous items.
///
/// The keeper is not held while waiting: dropping the host does not wait for a server to answer.
pub(super) async fn read_lists(
    keeper: &Weak<CatalogKeeper>,
    member: &Member,
    session: &Session,
    kinds: Kinds,
    on_tools: impl FnOnce(),
) {
    let began = Instant::now();
    // Upgraded only to publish: a strong reference held while waiting would keep a dropped host
    // alive.
    let put = |lists: ReadLists| {
        let keeper = keeper.upgrade();
        if let Some(keeper) = &keeper {
            keeper.put_together(member, session, lists, began);
        }
        keeper
    };
    let tools = async {
        if kinds.tools {
            let lists = ReadLists {
                tools: Some(session.list_tools().await),
                ..ReadLists::default()
            };
            if let Some(keeper) = put(lists) {
                keeper.notice_emptiness(member);
            }
        } else {
            // Nothing is read, but the known items are of this connection now, and not stale.
            put(ReadLists::default());
        }
        // An opener that wants tools goes on while the other lists are on their way.
        on_tools();
    };
    let ((), prompts, resources, templates) = tokio::join!(
        tools,
        only(kinds.prompts, session.list_prompts()),
        only(kinds.resources, session.list_resources()),
        only(kinds.resources, session.list_resource_templates()),
    );
    // Published together: each publication builds the part anew and wakes its readers.
    if kinds.prompts || kinds.resources {
        put(ReadLists {
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
    if is_wanted { Some(list.await) } else { None }
}

fn word(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Tool => "tools",
        ItemKind::Prompt => "prompts",
        ItemKind::Resource => "resources",
        ItemKind::Template => "resource templates",
    }
}
