//! `switchboard call`.

use std::sync::Arc;

use switchboard::ErrorKind;
use switchboard::catalog::{ItemKind, Problem as Odd, ServerCatalog, ToolEntry};
use switchboard::host::ToolHandle;
use switchboard::policy::Target;
use switchboard::protocol::Raw;
use switchboard::schema::Verdict;
use switchboard::spec::ServerName;
use switchboard::text::closest;

use crate::args::Call;
use crate::delivery::{Delivery, Parcel, masked_in_results};
use crate::exit::Exit;
use crate::hosting::{About, Hosting, with_host};
use crate::live::{Waiting, waiting};
use crate::render::answer;
use crate::report::{Failure, Report};
use crate::saving::stem;
use crate::schema::{Parameters, Problem};
use crate::screen::Screen;
use crate::values::{self, Argument};

/// This many names are shown to somebody who asked for a tool that is not there.
const MOST_NAMES: usize = 20;

/// Calls a tool.
pub(crate) fn run(args: &Call) -> Exit {
    with_host(about(args), &args.connection, async |hosting| {
        on(args, hosting).await
    })
}

/// Says whose tool it is.
pub(crate) fn about(args: &Call) -> Result<About<'_>, Failure> {
    about_tool(&args.tool, args.connection.describes_server())
}

/// Says whose tool something is that is written like one.
pub(super) fn about_tool(written: &str, is_described: bool) -> Result<About<'_>, Failure> {
    let wanted = Wanted::read(written, is_described)?;
    Ok(wanted.server.map_or(About::Any, About::Server))
}

/// Calls a tool of servers that are there.
pub(crate) async fn on(args: &Call, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let screen = hosting.screen;
    let delivery = Delivery::prepare(&args.output)?;
    let arguments = values::read_aside(args.object.as_deref(), &args.values).await?;
    let tool = found(&args.tool, hosting).await?;
    let target = Target::from(tool.entry());
    hosting.warn_of_drift(target);
    let arguments = fitting(tool.server(), tool.entry(), arguments)?;
    let (mut options, mut seen) = (hosting.options(), None);
    if screen.is_live() {
        let (progress, watch) = switchboard::session::progress();
        options = options.progress(progress);
        seen = Some(watch);
    }
    let what = Waiting {
        words: &format!("calling {}", tool.key()),
        progress: seen,
    };
    let result = waiting(hosting, what, tool.call_with(arguments, options)).await;
    let result = result.map_err(|error| hosting.refused(error, target))?;
    let parcel = Parcel {
        whole: result.whole().raw(),
        pieces: answer(result.whole(), delivery.is_wide()),
        stem: stem(tool.server().as_str(), tool.raw_name()),
        is_error: result.is_error(),
        masked: masked_in_results(hosting, tool.server().as_str(), args.output.mask),
    };
    delivery.deliver(&parcel, screen)?;
    match result.fits() {
        Some(Verdict::Misfits(violations)) => {
            for violation in violations {
                screen.warn(&format!(
                    "the result breaks the tool's own schema: {violation}"
                ));
            }
        }
        Some(Verdict::NotChecked(reason)) => screen.warn(&format!("the result was {reason}")),
        _ => {}
    }
    if !result.is_error() {
        return Ok(Exit::Ok);
    }
    let report = Report::new(Exit::Tool, "tool", "the tool reported an error");
    Err(report
        .server(tool.server().to_string())
        .fact("tool", tool.raw_name()))
}

/// Finds the tool that is named so, connecting to its server if need be.
///
/// # Errors
/// When there is none, or none that whoever acts may use.
pub(super) async fn found(written: &str, hosting: &Hosting<'_>) -> Result<ToolHandle, Failure> {
    let wanted = Wanted::read(written, hosting.described.is_some())?;
    let server = match (&hosting.described, wanted.server) {
        (Some(server), _) => Some(server.clone()),
        (None, Some(server)) => {
            let server = ServerName::parse(server);
            Some(server.map_err(|error| Report::usage(error.to_string()))?)
        }
        (None, None) => None,
    };
    let what = Waiting::to("looking for the tool");
    let tool = match server {
        Some(server) => waiting(hosting, what, wanted.find(hosting, &server)).await?,
        None => waiting(hosting, what, hosting.view().find(wanted.tool)).await?,
    };
    hosting.learn();
    Ok(tool)
}

/// Types the arguments and checks them, so that nothing is sent that plainly does not fit.
fn fitting(
    server: &ServerName,
    entry: &ToolEntry,
    arguments: Vec<Argument>,
) -> Result<Raw, Failure> {
    let parameters = Parameters::read(entry.tool().input_schema().raw());
    let arguments = values::typed(arguments, &parameters);
    let problems = parameters.check(&arguments);
    if problems.is_empty() {
        return Raw::parse(&values::object(&arguments))
            .map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()));
    }
    let title = match problems.as_slice() {
        [Problem { argument, what }] => format!("argument {argument:?}: {what}"),
        problems => format!("{} arguments do not fit", problems.len()),
    };
    let mut report = Report::new(Exit::Usage, "arguments", title)
        .server(server.to_string())
        .fact("signature", parameters.signature(entry.name()));
    if problems.len() > 1 {
        for Problem { argument, what } in problems {
            report = report.fact(argument, what);
        }
    }
    Err(report.fact("sent", "no: nothing was called"))
}

/// The tool that was asked for.
struct Wanted<'a> {
    server: Option<&'a str>,
    /// The name, without its server.
    tool: &'a str,
    /// The name as it was written, where all of it may be the tool's.
    whole: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn read(written: &'a str, is_described: bool) -> Result<Self, Failure> {
        match written.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self {
                server: Some(server),
                tool,
                whole: is_described.then_some(written),
            }),
            None if is_described && !written.is_empty() => Ok(Self {
                server: None,
                tool: written,
                whole: None,
            }),
            // A name for models, which says its server in a way that nobody takes apart.
            None if written.starts_with("mcp_") => Ok(Self {
                server: None,
                tool: written,
                whole: None,
            }),
            None if !written.is_empty() => {
                let report = Report::usage(format!(
                    "{written:?} does not say which server's tool it is"
                ));
                Err(report
                    .hint("write SERVER/TOOL, such as demo/echo")
                    .hint("or start a server with --stdio \"CMD ARGS\"")
                    .hint("or reach one with --url URL"))
            }
            _ => Err(Report::usage(format!("{written:?} is not SERVER/TOOL"))
                .hint("write it like demo/echo")),
        }
    }

    /// Finds the tool in the server's list. A name that is nearly right is never enough.
    async fn find(
        &self,
        hosting: &Hosting<'_>,
        server: &ServerName,
    ) -> Result<ToolHandle, Failure> {
        let view = hosting.view();
        // Nearly always it is there, and then no other list need be waited for.
        let found = view.find(&format!("{server}/{}", self.tool)).await;
        hosting.learn();
        if hosting.is_agent() {
            let name = self.tool;
            return found.map_err(|error| hosting.refused(error, Target::Tool { server, name }));
        }
        let catalog = hosting.host.catalog();
        let Some(part) = catalog.server(server.as_str()) else {
            return Ok(found?);
        };
        let whole = self.whole.and_then(|whole| part.tool(whole));
        match (whole, found) {
            (Some(whole), Ok(_)) => Err(Report::usage(format!(
                "{:?} is a tool, and {:?} is one of a server named so",
                whole.name(),
                self.tool
            ))
            .hint(format!("write NAME/{} for the first", whole.name()))
            .hint(format!("or just {} for the second", self.tool))),
            (Some(whole), Err(_)) => Ok(view.tool(whole.exposed())?),
            (None, Ok(tool)) => Ok(tool),
            (None, Err(error)) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            (None, Err(_)) => {
                let report = self.missing(server, part);
                if report.exit == Exit::Tool {
                    warn(part, hosting.screen);
                }
                Err(report)
            }
        }
    }

    fn missing(&self, server: &ServerName, part: &Arc<ServerCatalog>) -> Failure {
        let is_wanted = |name: &str| name == self.tool || Some(name) == self.whole;
        let broken = part.notices().iter().find(|notice| {
            notice.kind == Some(ItemKind::Tool) && notice.name.as_deref().is_some_and(is_wanted)
        });
        if let Some(broken) = broken {
            let title = format!("the server's definition of {:?} cannot be used", self.tool);
            let what = match &broken.problem {
                Odd::SetAside(reason) => reason.clone(),
                problem => problem.to_string(),
            };
            return Report::new(Exit::Protocol, "protocol", title)
                .server(server.to_string())
                .fact("what is wrong", what);
        }
        let title = format!("there is no tool named {:?}", self.tool);
        let mut report = Report::new(Exit::Tool, "unknown-tool", title).server(server.to_string());
        let names = || part.tools().iter().map(|entry| entry.name());
        if let Some(meant) = closest(self.tool, names()) {
            report = report.hint(format!("did you mean {meant:?}?"));
        }
        let shown: Vec<&str> = names().take(MOST_NAMES).collect();
        let all = match (shown.len(), part.tools().len()) {
            (_, 0) => "the server offers no tools".to_owned(),
            (shown_here, all) if shown_here < all => {
                format!(
                    "its tools: {} and {} more",
                    shown.join(", "),
                    all - shown_here
                )
            }
            _ => format!("its tools: {}", shown.join(", ")),
        };
        report.hint(all)
    }
}

/// Says which tools are not in the list, and why.
fn warn(part: &ServerCatalog, screen: &Screen) {
    for notice in part.notices() {
        screen.warn(&format!("{}: {notice}", part.name()));
    }
}
