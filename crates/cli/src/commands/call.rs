//! `switchboard call`: types the arguments by the tool's schema, calls the tool and delivers its result.

use switchboard::Error;
use switchboard::catalog::ToolEntry;
use switchboard::host::ToolHandle;
use switchboard::policy::Target;
use switchboard::protocol::Raw;
use switchboard::schema::Verdict;
use switchboard::schema::parameters::{Misfit, Parameters, to_object};

use super::find_tool::{self, find};
use crate::args::Call;
use crate::delivery::{Delivery, Parcel, masked_in_results};
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector};
use crate::live::{Waiting, waiting};
use crate::login::with_login;
use crate::render::answer;
use crate::report::{Failure, Report};
use crate::saving::stem;
use crate::values;

/// Returns the server whose tool the command names.
pub(crate) fn selector(args: &Call) -> Result<Selector<'_>, Failure> {
    find_tool::selector(&args.tool, args.connection.describes_server())
}

/// Calls the tool and delivers its result.
pub(crate) async fn run_on(args: &Call, hosting: &Hosting<'_>) -> Result<Exit, Failure> {
    let screen = hosting.screen;
    // Output files are opened and argument files are read before any server is started.
    let delivery = Delivery::prepare(&args.output)?;
    let arguments = values::read_off_thread(args.object.as_deref(), &args.values).await?;
    let tool = find(&args.tool, hosting).await?;
    let target = Target::from(tool.entry());
    hosting.warn_of_drift(target);
    // Before anything is sent: the server would refuse it with an error of its own.
    if needs_task(tool.entry()) {
        let title = format!(
            "{:?} runs only as a task, and tasks are not supported yet",
            tool.raw_name()
        );
        let report = Report::new(Exit::Tool, "tasks", title).server(tool.server().to_string());
        return Err(report
            .fact("sent", "no, nothing was called")
            .look_at(target));
    }
    // The schema is known only now, and types the `key=value` words.
    let parameters = Parameters::read(tool.tool().input_schema().raw());
    let arguments = values::apply_types(arguments, &parameters);
    let object = Raw::parse(&to_object(&arguments))
        .map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))?;
    let words = format!("calling {}", tool.key());
    let result = with_login(hosting, async || {
        let (mut options, mut seen) = (hosting.options(), None);
        // Progress is requested only if it is shown: it costs the server messages.
        if screen.is_live() {
            let (progress, watch) = switchboard::session::progress();
            options = options.progress(progress);
            seen = Some(watch);
        }
        let what = Waiting {
            words: &words,
            progress: seen,
        };
        let called = tool.call_raw(object.clone()).options(options);
        waiting(hosting, what, called.into_future()).await
    });
    let result = result.await;
    let result = result.map_err(|error| {
        let misfits = parameters.misfits(error.violations(), &arguments);
        call_failure(error, misfits, &tool, hosting, &parameters)
    })?;
    let parcel = Parcel {
        whole: result.whole().raw(),
        pieces: answer(result.whole(), delivery.is_wide()),
        stem: stem(tool.server().as_str(), tool.raw_name()),
        is_error: result.is_error(),
        masked: masked_in_results(hosting, tool.server().as_str(), args.output.mask),
    };
    // Deliver first: a result that violates the output schema is still the result.
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
    let report = Report::new(Exit::Tool, "tool", "the tool reported an error").look_at(target);
    Err(report
        .server(tool.server().to_string())
        .fact("tool", tool.raw_name()))
}

/// Returns true if the server runs the tool only as a task (2025-11-25, `execution.taskSupport`).
pub(super) fn needs_task(entry: &ToolEntry) -> bool {
    let support = entry
        .tool()
        .execution()
        .and_then(|execution| execution.member("taskSupport"));
    support.and_then(|support| support.as_text()).as_deref() == Some("required")
}

/// Builds the report of a failed call. Arguments that do not match the schema are shown beside the tool's
/// signature.
fn call_failure(
    error: Error,
    misfits: Vec<Misfit>,
    tool: &ToolHandle,
    hosting: &Hosting<'_>,
    parameters: &Parameters,
) -> Failure {
    // One misfit is the title; several are listed as facts.
    let title = match misfits.as_slice() {
        [] => return hosting.use_failure(error, Target::from(tool.entry())),
        [Misfit { argument, problem }] => format!("argument {argument:?}: {problem}"),
        misfits => format!("{} arguments do not fit", misfits.len()),
    };
    let mut report = Report::new(Exit::of(&error), "arguments", title)
        .server(tool.server().to_string())
        .fact("signature", parameters.signature(tool.raw_name()));
    if misfits.len() > 1 {
        for Misfit { argument, problem } in misfits {
            report = report.fact(argument, problem);
        }
    }
    let report = report.fact("sent", "no, nothing was called");
    report.look_at(Target::from(tool.entry()))
}
