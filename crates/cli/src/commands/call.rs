//! `switchboard call`.

use switchboard::protocol::{Raw, Tool};
use switchboard::session::CancelReason;
use switchboard::text::closest;
use switchboard::transport::Environment;
use switchboard::{CallOptions, Listing, Server};

use super::tools::warn;
use crate::args::Call;
use crate::attend::attend;
use crate::exit::Exit;
use crate::render::answer;
use crate::report::{Failure, Report};
use crate::schema::{Parameters, Problem};
use crate::screen::Screen;
use crate::servers;
use crate::values::{self, Argument};

/// This many names are shown to somebody who asked for a tool that is not there.
const MOST_NAMES: usize = 20;

/// Calls a tool.
pub(crate) fn run(args: &Call) -> Exit {
    let host = Environment::of_process();
    let screen = Screen::new(&args.connection, &host);
    let (server, wanted, arguments) = match prepare(args, &host) {
        Ok(prepared) => prepared,
        Err(report) => return screen.fail(&report),
    };
    let reason = CancelReason::new("the user's client gave up");
    let options = CallOptions::default().reason(&reason);
    let work = call(&server, &screen, wanted, arguments, options);
    attend(&server, &screen, &reason, work)
}

/// Reads the command line, and everything that it points to.
fn prepare(args: &Call, host: &Environment) -> Result<(Server, Wanted, Vec<Argument>), Failure> {
    let wanted = Wanted::read(&args.tool, args.connection.describes_server())?;
    let server = servers::find(wanted.server.as_deref(), &args.connection, host)?;
    let arguments = values::read(args.object.as_deref(), &args.values)
        .map_err(|error| Report::usage(error.to_string()))?;
    Ok((server, wanted, arguments))
}

async fn call(
    server: &Server,
    screen: &Screen,
    wanted: Wanted,
    arguments: Vec<Argument>,
    options: CallOptions,
) -> Result<Exit, Failure> {
    let listing = server.list_tools().await?;
    let tool = wanted.find(server, &listing, screen)?;
    let arguments = fitting(server, tool, arguments)?;
    let result = server
        .call_tool(tool.name(), Some(arguments), options)
        .await?;
    if screen.is_json() {
        screen.result(&format!("{}\n", screen.safe_json(result.raw())))?;
    } else {
        screen.result(&answer(&result, screen))?;
    }
    if !result.is_error() {
        return Ok(Exit::Ok);
    }
    let report = Report::new(Exit::Tool, "tool", "the tool reported an error");
    Err(report
        .server(server.name().to_string())
        .fact("tool", tool.name()))
}

/// Types the arguments and checks them, so that nothing is sent that plainly does not fit.
fn fitting(server: &Server, tool: &Tool, arguments: Vec<Argument>) -> Result<Raw, Failure> {
    let parameters = Parameters::read(tool.input_schema().raw());
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
        .server(server.name().to_string())
        .fact("signature", parameters.signature(tool.name()));
    if problems.len() > 1 {
        for Problem { argument, what } in problems {
            report = report.fact(argument, what);
        }
    }
    Err(report.fact("sent", "no: nothing was called"))
}

/// The tool that was asked for.
struct Wanted {
    server: Option<String>,
    /// The name, without its server.
    tool: String,
    /// The name as it was written, where all of it may be the tool's.
    whole: Option<String>,
}

impl Wanted {
    fn read(written: &str, is_described: bool) -> Result<Self, Failure> {
        match written.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self {
                server: Some(server.to_owned()),
                tool: tool.to_owned(),
                whole: is_described.then(|| written.to_owned()),
            }),
            None if is_described && !written.is_empty() => Ok(Self {
                server: None,
                tool: written.to_owned(),
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
    fn find<'l>(
        &self,
        server: &Server,
        listing: &'l Listing<Tool>,
        screen: &Screen,
    ) -> Result<&'l Tool, Failure> {
        let named = |name: &str| listing.items.iter().find(|tool| tool.name() == name);
        let whole = self.whole.as_deref().and_then(named);
        match (whole, named(&self.tool)) {
            (Some(whole), Some(_)) => Err(Report::usage(format!(
                "{:?} is a tool, and {:?} is one of a server named so",
                whole.name(),
                self.tool
            ))
            .hint(format!("write NAME/{} for the first", whole.name()))
            .hint(format!("or just {} for the second", self.tool))),
            (Some(tool), None) | (None, Some(tool)) => Ok(tool),
            (None, None) => {
                let report = self.missing(server, listing);
                if report.exit == Exit::Tool {
                    warn(server, listing, screen);
                }
                Err(report)
            }
        }
    }

    fn missing(&self, server: &Server, listing: &Listing<Tool>) -> Failure {
        let is_wanted = |name: &str| name == self.tool || Some(name) == self.whole.as_deref();
        let broken = listing
            .set_aside
            .iter()
            .find(|item| item.name.as_deref().is_some_and(is_wanted));
        if let Some(broken) = broken {
            let title = format!("the server's definition of {:?} cannot be used", self.tool);
            return Report::new(Exit::Protocol, "protocol", title)
                .server(server.name().to_string())
                .fact("what is wrong", broken.reason.clone());
        }
        let title = format!("there is no tool named {:?}", self.tool);
        let mut report =
            Report::new(Exit::Tool, "unknown-tool", title).server(server.name().to_string());
        let names = || listing.items.iter().map(Tool::name);
        if let Some(meant) = closest(&self.tool, names()) {
            report = report.hint(format!("did you mean {meant:?}?"));
        }
        let shown: Vec<&str> = names().take(MOST_NAMES).collect();
        let all = match (shown.len(), listing.items.len()) {
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
