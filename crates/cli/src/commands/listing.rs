//! Connecting to one server or to all of them, for the commands that list, and the filtered view of the
//! result.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use switchboard::catalog::{
    ItemKind, Notice, PromptEntry, ResourceEntry, ServerCatalog, TemplateEntry, ToolEntry,
};
use switchboard::host::{State, Status, View};
use switchboard::spec::ServerName;
use switchboard::text::shell_word;
use switchboard::{Error, ErrorKind};
use tokio::task::JoinSet;

use crate::args::List;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector, unknown_server};
use crate::live::{Waiting, waiting};
use crate::login::{explained, with_login};
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// The servers that could be connected to, and those that failed.
pub(crate) struct Listing {
    pub(crate) parts: Vec<Arc<ServerCatalog>>,
    pub(crate) failed: Vec<Failed>,
    /// True if one server was asked for, by its name or by its description.
    pub(crate) is_one: bool,
    /// The items that the acting agent may see; `None` for the person, who sees everything.
    seen: Option<Seen>,
}

/// The items that an agent sees: kind, server, and the server's own name or URI.
struct Seen(HashSet<(ItemKind, ServerName, String)>);

impl Seen {
    fn by(view: &View) -> Self {
        let one = |kind, server: &ServerName, name: &str| (kind, server.clone(), name.to_owned());
        let (tools, prompts) = (view.tools(), view.prompts());
        let (resources, templates) = (view.resources(), view.templates());
        let tools = tools
            .iter()
            .map(|tool| one(ItemKind::Tool, tool.server(), tool.raw_name()));
        let prompts = prompts
            .iter()
            .map(|entry| one(ItemKind::Prompt, entry.server(), entry.name()));
        let resources = resources
            .iter()
            .map(|entry| one(ItemKind::Resource, entry.server(), entry.uri()));
        let templates = templates
            .iter()
            .map(|entry| one(ItemKind::Template, entry.server(), entry.uri_template()));
        let all = tools.chain(prompts).chain(resources).chain(templates);
        Self(all.collect())
    }
}

/// A server that could not be used.
#[derive(Serialize)]
pub(crate) struct Failed {
    server: String,
    exit: u8,
    message: String,
}

/// A command that lists the items of some kinds.
pub(crate) struct Lister {
    pub(crate) kinds: &'static [ItemKind],
    pub(crate) show: fn(&Listing, &Hosting<'_>) -> Result<(), Failure>,
}

impl Lister {
    /// Connects to one server or to all, and shows their items.
    pub(crate) async fn run_on(&self, args: &List, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
        let selector = Selector::from_name(args.server.as_deref());
        let listing = collect_listing(selector, self.kinds, hosting).await?;
        (self.show)(&listing, hosting)?;
        Ok(Exit::Ok)
    }
}

/// Maps own names to model-facing names. Names that contain a secret are left out: their model-facing form
/// would reveal it unmasked.
pub(crate) fn exposed_names<'p>(
    names: impl Iterator<Item = (&'p str, &'p str)>,
    screen: &Screen,
) -> BTreeMap<&'p str, &'p str> {
    names
        .filter(|(own, _)| screen.redact(own) == *own)
        .collect()
}

/// Connects to the selected servers and collects their catalogs.
///
/// # Errors
/// Fails if the named server cannot be used, or if none of all can.
pub(crate) async fn collect_listing(
    selector: Selector<'_>,
    kinds: &[ItemKind],
    hosting: &Hosting<'_>,
) -> Result<Listing, Failure> {
    let one = hosting.one(selector.name());
    let statuses = connect_with_login(one, hosting).await?;
    hosting.learn();
    let unlisted = |status: &Status| {
        let mut lists = status.unlisted.iter();
        let list = lists.find(|(kind, _)| kinds.contains(kind));
        list.map(|(_, error)| error.clone())
    };
    // A single server whose list failed is an error; among all it is a warning.
    if let (Some(_), Some(error)) = (one, statuses.iter().find_map(unlisted)) {
        return Err(error.into());
    }
    let catalog = hosting.host.catalog();
    let parts = statuses.iter().filter(|status| is_used(status));
    let parts = parts.filter_map(|status| {
        let part = catalog.server(status.name.as_str())?;
        // Skip a server if none of the wanted lists could be read: an empty list would be a lie.
        let is_unlisted = |kind: &ItemKind| status.unlisted.iter().any(|(list, _)| list == kind);
        let is_lost = count(part, kinds) == 0 && kinds.iter().all(is_unlisted);
        (kinds.is_empty() || !is_lost).then(|| Arc::clone(part))
    });
    let parts: Vec<_> = parts.collect();
    let errors = statuses.iter();
    let errors = errors.filter_map(|status| status.error().cloned().or_else(|| unlisted(status)));
    let errors: Vec<Error> = errors.collect();
    // Only if no server at all could be listed does the command fail.
    if parts.is_empty() && !errors.is_empty() {
        return Err(none_worked(&errors));
    }
    let failed = errors.iter().map(|error| Failed {
        server: error.server().map(ToString::to_string).unwrap_or_default(),
        exit: Exit::of(error).number(),
        message: explained(error).title,
    });
    let failed: Vec<Failed> = failed.collect();
    for (error, failed) in errors.iter().zip(&failed) {
        let Failed {
            server, message, ..
        } = failed;
        let more = if error.needs_login().is_some() {
            format!("`{}` logs in", hosting.words.login(server, ""))
        } else {
            format!("`switchboard servers {}` shows details", shell_word(server))
        };
        hosting
            .screen
            .warn(&format!("{server}: {message} ({more})"));
    }
    Ok(Listing {
        parts,
        failed,
        is_one: one.is_some(),
        seen: hosting.is_agent().then(|| Seen::by(&hosting.view())),
    })
}

/// Returns true if a server's lists may be shown: it is connected, or has ended after it was listed.
fn is_used(status: &Status) -> bool {
    let has_ended = || {
        let error = status.error();
        error.is_some_and(|error| error.kind() == ErrorKind::Closed)
    };
    matches!(status.state, State::Connected | State::Offline) || has_ended()
}

/// Counts the items of these kinds.
fn count(part: &ServerCatalog, kinds: &[ItemKind]) -> usize {
    let counts = kinds.iter().map(|kind| match kind {
        ItemKind::Tool => part.tools().len(),
        ItemKind::Prompt => part.prompts().len(),
        ItemKind::Resource => part.resources().len(),
        ItemKind::Template => part.templates().len(),
    });
    counts.sum()
}

/// Connects to one server, or to all that the caller may know of, while the progress line shows it.
///
/// # Errors
/// Fails if the named server cannot be used, or is hidden from the acting agent.
pub(crate) async fn connect(
    one: Option<&str>,
    hosting: &Hosting<'_>,
) -> Result<Vec<Status>, Failure> {
    let what = Waiting::to("reading lists");
    waiting(hosting, what, connect_visible(one, hosting)).await
}

/// Connects like [`connect`], and offers the login that one named server needs. Of several servers, none is offered:
/// the command shows the problem of each.
///
/// # Errors
/// Fails like [`connect`].
pub(crate) async fn connect_with_login(
    one: Option<&str>,
    hosting: &Hosting<'_>,
) -> Result<Vec<Status>, Failure> {
    let Some(name) = one.filter(|_| !hosting.is_agent()) else {
        return connect(one, hosting).await;
    };
    let connected = with_login(hosting, async || {
        let what = Waiting::to("reading lists");
        waiting(hosting, what, hosting.host.connect(name)).await
    });
    Ok(vec![connected.await?])
}

async fn connect_visible(one: Option<&str>, hosting: &Hosting<'_>) -> Result<Vec<Status>, Failure> {
    let host = &hosting.host;
    if !hosting.is_agent() {
        return Ok(match one {
            Some(name) => vec![host.connect(name).await?],
            None => host.connect_all().await,
        });
    }
    let statuses = host.servers().into_iter();
    let known: Vec<Status> = statuses
        // A server that is hidden from the agent must look like one that does not exist.
        .filter(|status| !status.is_disabled() && hosting.knows(&status.name))
        .collect();
    if let Some(name) = one {
        if known.iter().any(|status| status.name.as_str() == name) {
            return Ok(vec![host.connect(name).await?]);
        }
        let names: Vec<&str> = known.iter().map(|status| status.name.as_str()).collect();
        return Err(unknown_server(name, &names));
    }
    let mut opening = JoinSet::new();
    for status in &known {
        let (host, name) = (host.clone(), status.name.clone());
        // The outcome is read from the status below.
        opening.spawn(async move { drop(host.connect(name.as_str()).await) });
    }
    opening.join_all().await;
    let statuses = known.iter().map(|status| host.server(status.name.as_str()));
    Ok(statuses.collect::<Result<_, _>>()?)
}

/// Builds the report if no server worked: the first error in full, a line for each of the others.
fn none_worked(errors: &[Error]) -> Failure {
    let denied = |error: &&Error| error.kind() == ErrorKind::Untrusted;
    // A missing approval comes first: the person can do something about it at once.
    let first = errors.iter().find(denied).or(errors.first());
    let Some(first) = first else {
        return Report::new(Exit::Internal, "internal", "there are no servers");
    };
    let mut report = Failure::from(first.clone());
    // The exit code covers all errors; the facts say which server failed how.
    report.exit = Exit::of_all(errors);
    for error in errors
        .iter()
        .filter(|error| error.server() != first.server())
    {
        let server = error.server().map(ToString::to_string).unwrap_or_default();
        report = report.fact(server, explained(error).title);
    }
    report
}

/// A notice about one list of a server, for the document of `--json`.
#[derive(Serialize)]
pub(crate) struct NoticeItem<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) message: String,
}

impl Listing {
    /// Returns the tools of a server that may be shown.
    pub(crate) fn tools<'p>(&self, part: &'p ServerCatalog) -> Vec<&'p Arc<ToolEntry>> {
        let is_seen = |entry: &&Arc<ToolEntry>| self.shows(ItemKind::Tool, part, entry.name());
        part.tools().iter().filter(is_seen).collect()
    }

    /// Returns the prompts of a server that may be shown.
    pub(crate) fn prompts<'p>(&self, part: &'p ServerCatalog) -> Vec<&'p Arc<PromptEntry>> {
        let is_seen = |entry: &&Arc<PromptEntry>| self.shows(ItemKind::Prompt, part, entry.name());
        part.prompts().iter().filter(is_seen).collect()
    }

    /// Returns the resources of a server that may be shown.
    pub(crate) fn resources<'p>(&self, part: &'p ServerCatalog) -> Vec<&'p Arc<ResourceEntry>> {
        let is_seen =
            |entry: &&Arc<ResourceEntry>| self.shows(ItemKind::Resource, part, entry.uri());
        part.resources().iter().filter(is_seen).collect()
    }

    /// Returns the resource templates of a server that may be shown.
    pub(crate) fn templates<'p>(&self, part: &'p ServerCatalog) -> Vec<&'p Arc<TemplateEntry>> {
        let is_seen = |entry: &&Arc<TemplateEntry>| {
            self.shows(ItemKind::Template, part, entry.uri_template())
        };
        part.templates().iter().filter(is_seen).collect()
    }

    fn shows(&self, kind: ItemKind, part: &ServerCatalog, name: &str) -> bool {
        let key = || (kind, part.name().clone(), name.to_owned());
        self.seen
            .as_ref()
            .is_none_or(|seen| seen.0.contains(&key()))
    }

    /// Returns the notices about lists of a server. They name hidden items, so agents get none.
    pub(crate) fn notice_items<'p>(
        &self,
        part: &'p ServerCatalog,
        kinds: &'p [ItemKind],
    ) -> Vec<NoticeItem<'p>> {
        match self.seen {
            Some(_) => Vec::new(),
            None => all_notice_items(part, kinds),
        }
    }

    /// Warns of items that are missing from the lists, with the reason.
    pub(crate) fn warn(&self, kinds: &[ItemKind], hosting: &Hosting<'_>) {
        if self.seen.is_some() {
            return;
        }
        for part in &self.parts {
            for notice in notices(part, kinds) {
                hosting.screen.warn(&format!("{}: {notice}", part.name()));
            }
        }
    }

    /// Prints one document for one server, or a list of documents for all.
    ///
    /// # Errors
    /// Fails if the output cannot be written.
    pub(crate) fn print<'p, D: Serialize>(
        &'p self,
        hosting: &Hosting<'_>,
        document: impl Fn(&'p ServerCatalog) -> D,
    ) -> Result<(), Failure> {
        #[derive(Serialize)]
        struct ListingReport<'a, D> {
            servers: Vec<D>,
            failed: &'a [Failed],
        }
        let mut documents: Vec<D> = self.parts.iter().map(|part| document(part)).collect();
        let screen = hosting.screen;
        // One named server gives one document, all servers a list.
        let line = match (self.is_one, documents.len()) {
            (true, 1) => screen.json_line(&documents.remove(0)),
            _ => screen.json_line(&ListingReport {
                servers: documents,
                failed: &self.failed,
            }),
        };
        screen.result(&line?)
    }
}

fn notices<'p>(part: &'p ServerCatalog, kinds: &'p [ItemKind]) -> impl Iterator<Item = &'p Notice> {
    let concerns = |notice: &&Notice| notice.kind.is_some_and(|kind| kinds.contains(&kind));
    part.notices().iter().filter(concerns)
}

/// Returns the notices about lists of a server.
fn all_notice_items<'p>(part: &'p ServerCatalog, kinds: &'p [ItemKind]) -> Vec<NoticeItem<'p>> {
    let items = notices(part, kinds).map(|notice| NoticeItem {
        name: notice.name.as_deref(),
        message: notice.problem.to_string(),
    });
    items.collect()
}
