//! Finds the tool that a command line names.

use switchboard::catalog::{ItemKind, Problem as Odd, ServerCatalog};
use switchboard::host::{Status, ToolHandle};
use switchboard::policy::Target;
use switchboard::spec::ServerName;
use switchboard::text::{closest, shell_word};
use switchboard::{Error, ErrorKind};

use super::listing::connect;
use crate::args::ItemName;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::live::{Waiting, waiting};
use crate::login::{explained, with_login};
use crate::report::{Failure, Report};
use crate::scope::server_name;
use crate::slips;

/// Maximum number of tool names in the hint for a tool that does not exist.
const MOST_NAMES: usize = 20;

/// Returns the server whose tool it is.
///
/// # Errors
/// Returns a usage error if the name needs a server and has none.
pub(super) fn selector(tool: &ItemName, is_described: bool) -> Result<Selector<'_>, Failure> {
    match tool {
        ItemName::Qualified { server, name } if !server.is_empty() && !name.is_empty() => {
            Ok(Selector::Server(server))
        }
        // A model-facing name contains its server, and is resolved by the host.
        ItemName::Bare(name) if !name.is_empty() && (is_described || name.starts_with("mcp_")) => {
            Ok(Selector::Any)
        }
        // The one server that has a tool of that name.
        ItemName::Bare(name) if !name.is_empty() => Ok(Selector::All),
        malformed => {
            let written = malformed.to_string();
            Err(Report::usage(format!("{written:?} is not SERVER/TOOL"))
                .hint("write it like demo/echo"))
        }
    }
}

/// Finds a tool by name, and connects to its server if needed.
///
/// # Errors
/// Fails if there is no such tool, or the caller may not use it.
pub(super) async fn find(wanted: &ItemName, hosting: &Hosting<'_>) -> Result<ToolHandle, Failure> {
    if hosting.described.is_none()
        && let ItemName::Bare(name) = wanted
        && !name.starts_with("mcp_")
    {
        return match dotted(name, hosting) {
            Some(wanted) => Box::pin(find(&wanted, hosting)).await,
            None => find_bare(name, hosting).await,
        };
    }
    let server = match (&hosting.described, wanted.server()) {
        (Some(server), _) => Some(server.clone()),
        (None, Some(server)) => Some(server_name(server)?),
        (None, None) => None,
    };
    // With --stdio or --url every name belongs to that server, with or without a prefix.
    let name = match &server {
        Some(server) => format!("{server}/{}", wanted.name()),
        None => wanted.name().to_owned(),
    };
    let view = hosting.view();
    // The lookup waits only for the list of this server: the name is nearly always right.
    let found = with_login(hosting, async || {
        let what = Waiting::to("looking for the tool");
        waiting(hosting, what, view.find(&name)).await
    });
    let found = found.await;
    hosting.learn();
    match server {
        Some(server) => {
            let sought = Sought {
                wanted,
                server: &server,
                hosting,
            };
            sought.settle(found)
        }
        None => Ok(found?),
    }
}

/// Reads `SERVER.TOOL` and `SERVER:TOOL`, if there is such a server.
fn dotted(name: &str, hosting: &Hosting<'_>) -> Option<ItemName> {
    let (server, tool) = name.split_once(['.', ':'])?;
    let server = ServerName::parse(server).ok()?;
    let is_known = hosting.knows(&server) && hosting.host.server(server.as_str()).is_ok();
    is_known.then(|| ItemName::Qualified {
        server: server.to_string(),
        name: tool.to_owned(),
    })
}

/// Finds the only tool of that name among those of all servers.
async fn find_bare(name: &str, hosting: &Hosting<'_>) -> Result<ToolHandle, Failure> {
    let statuses = connect(None, hosting).await?;
    hosting.learn();
    let tools = hosting.view().tools();
    let keys = |tools: &[&ToolHandle]| -> Vec<String> {
        let keys = tools.iter();
        keys.map(|tool| format!("{}/{}", tool.server(), tool.raw_name()))
            .collect()
    };
    let same = |tool: &&ToolHandle| tool.raw_name() == name;
    let found: Vec<&ToolHandle> = tools.iter().filter(same).collect();
    if let [tool] = found.as_slice() {
        return Ok((*tool).clone());
    }
    if !found.is_empty() {
        let report = Report::usage(format!("several servers have a tool named {name:?}"));
        let keys = keys(&found).into_iter();
        return Err(keys.fold(report, |report, key| report.hint(again(name, &key))));
    }
    // A server that could not be listed may have the tool.
    for error in statuses.iter().filter_map(Status::error) {
        let server = error.server().map(ToString::to_string).unwrap_or_default();
        hosting
            .screen
            .warn(&format!("{server}: {}", explained(error).title));
    }
    let report = Report::new(
        Exit::Tool,
        "unknown-tool",
        format!("no server has a tool named {name:?}"),
    );
    if statuses.iter().any(|status| status.name.as_str() == name) {
        let list = format!("`switchboard tools {}`", shell_word(name));
        return Err(report.hint(format!("{name} is a server; list its tools: {list}")));
    }
    let names = tools.iter().map(ToolHandle::raw_name);
    let near = closest(name, names);
    let near = near.and_then(|near| tools.iter().find(|tool| tool.raw_name() == near));
    let report = match near {
        Some(tool) => report.hint(again(name, &keys(&[tool]).concat())),
        None => report,
    };
    Err(report.hint("list all tools: `switchboard tools`"))
}

/// Proposes the typed command with another name.
fn again(wrong: &str, right: &str) -> String {
    match slips::with_name(wrong, right) {
        Some(command) => format!("did you mean `{command}`?"),
        None => format!("did you mean {right:?}?"),
    }
}

/// A lookup of one server's tool, for the report if it fails.
struct Sought<'a> {
    wanted: &'a ItemName,
    server: &'a ServerName,
    hosting: &'a Hosting<'a>,
}

impl Sought<'_> {
    /// Checks a lookup against the server's list. Only an exact name counts as found.
    fn settle(&self, found: Result<ToolHandle, Error>) -> Result<ToolHandle, Failure> {
        let (hosting, server, name) = (self.hosting, self.server, self.wanted.name());
        // An agent gets the library's answer: the catalog below would reveal hidden tools.
        if hosting.is_agent() {
            return found
                .map_err(|error| hosting.use_failure(error, Target::Tool { server, name }));
        }
        let catalog = hosting.host.catalog();
        let Some(part) = catalog.server(server.as_str()) else {
            return Ok(found?);
        };
        // With --stdio, `a/b` is either the tool `a/b` or the tool `b` of a server called `a`.
        let whole = self.whole().and_then(|whole| part.tool(&whole));
        match (whole, found) {
            (Some(whole), Ok(_)) => Err(Report::usage(format!(
                "{:?} is a tool, and {name:?} is one of a server named so",
                whole.name(),
            ))
            .hint(format!("write NAME/{} for the first", whole.name()))
            .hint(format!("or just {name} for the second"))),
            (Some(whole), Err(_)) => Ok(hosting.view().tool(whole.exposed())?),
            (None, Ok(tool)) => Ok(tool),
            (None, Err(error)) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            (None, Err(_)) => Err(self.missing(part)),
        }
    }

    /// Returns the name including the part before the slash, if both together may be the tool's own name.
    fn whole(&self) -> Option<String> {
        let is_slashed = self.wanted.server().is_some() && self.hosting.described.is_some();
        is_slashed.then(|| self.wanted.to_string())
    }

    fn missing(&self, part: &ServerCatalog) -> Failure {
        let (server, tool) = (self.server.to_string(), self.wanted.name());
        let whole = self.whole();
        let is_wanted = |name: &str| name == tool || Some(name) == whole.as_deref();
        // The tool may exist with an unusable definition, which is a better answer than "unknown".
        let broken = part.notices().iter().find(|notice| {
            notice.kind == Some(ItemKind::Tool) && notice.name.as_deref().is_some_and(is_wanted)
        });
        if let Some(broken) = broken {
            let title = format!("the server's definition of {tool:?} cannot be used");
            let what = match &broken.problem {
                Odd::SetAside(reason) => reason.clone(),
                problem => problem.to_string(),
            };
            return Report::new(Exit::Protocol, "protocol", title)
                .server(server)
                .fact("what is wrong", what);
        }
        // A tool that is missing from the list may be among those that were set aside.
        for notice in part.notices() {
            self.hosting
                .screen
                .warn(&format!("{}: {notice}", part.name()));
        }
        let title = format!("there is no tool named {tool:?}");
        let mut report = Report::new(Exit::Tool, "unknown-tool", title).server(server);
        let names = || part.tools().iter().map(|entry| entry.name());
        if let Some(meant) = closest(tool, names()) {
            let (wrong, right) = match self.wanted {
                ItemName::Qualified { server, .. } => {
                    (self.wanted.to_string(), format!("{server}/{meant}"))
                }
                ItemName::Bare(name) => (name.clone(), meant.to_owned()),
            };
            report = report.hint(again(&wrong, &right));
        }
        let shown: Vec<&str> = names().take(MOST_NAMES).collect();
        let (all, more) = (shown.join(", "), part.tools().len() - shown.len());
        report.hint(match (shown.is_empty(), more) {
            (true, _) => "the server offers no tools".to_owned(),
            (false, 0) => format!("its tools: {all}"),
            (false, more) => format!("its tools: {all} and {more} more"),
        })
    }
}
