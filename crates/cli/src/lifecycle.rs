//! Runs a command's work against the host until it is done or a signal arrives, then closes every server.

use std::pin::pin;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use crate::cache;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::journal::Journal;
use crate::log_stream::StderrLogs;
use crate::output;
use crate::report::{Failure, Report};
use crate::screen::unless_gone;
use crate::signals::{Signal, Signals, hangup_reloads, is_reload, mark_handled};

/// Time that the journal has for its last lines after a signal.
const LAST_LINES: Duration = Duration::from_millis(500);

/// What signals ask of the work.
#[derive(Clone, Copy)]
pub(crate) struct Notifies<'a> {
    /// To end in good order.
    pub(crate) stop: &'a Notify,
    /// To read the config files again.
    pub(crate) reload: &'a Notify,
}

/// Runs `work` on a runtime of its own, then closes all servers and waits for their end.
///
/// The first signal drops the work, which cancels a call on the wire with the reason of `hosting`, and drops
/// output that has not been read. The second signal ends the wait for the servers, which are then killed.
pub(crate) fn run_until_signal(
    hosting: &Hosting<'_>,
    journal: Journal,
    work: impl Future<Output = Result<Exit, Failure>>,
) -> Exit {
    run(hosting, journal, work, runtime(), None)
}

/// Runs `work` on the threads of a runtime. The first signal is passed to the work as a notification, so
/// that it ends in good order with its own exit code; the second signal drops it. A SIGHUP is passed on as
/// a request to read config files again.
pub(crate) fn run_until_drained(
    hosting: &Hosting<'_>,
    journal: Journal,
    work: impl Future<Output = Result<Exit, Failure>>,
    notifies: Notifies<'_>,
) -> Exit {
    hangup_reloads();
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| runtime_failure(&error));
    run(hosting, journal, work, runtime, Some(notifies))
}

fn run(
    hosting: &Hosting<'_>,
    journal: Journal,
    work: impl Future<Output = Result<Exit, Failure>>,
    runtime: Result<Runtime, Failure>,
    notifies: Option<Notifies<'_>>,
) -> Exit {
    let screen = hosting.screen;
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(report) => return screen.fail(&report),
    };
    let exit = runtime.block_on(async {
        let _queueing = output::begin_queueing();
        // Listen for signals before anything starts: a server must never outlive an early Ctrl-C.
        let mut signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => return screen.fail(&runtime_failure(&error)),
        };
        let writing = journal.begin();
        let logs = StderrLogs::begin(hosting);
        let mut is_stopped = false;
        let exit = {
            let mut work = pin!(logs.during(work));
            let signal = async {
                let mut signal = next_stop(&mut signals, notifies).await;
                if let Some(notifies) = notifies {
                    notifies.stop.notify_one();
                    mark_handled();
                    signal = next_stop(&mut signals, Some(notifies)).await;
                }
                signal
            };
            tokio::select! {
                // A result that is ready is shown even if a signal arrived in the same moment.
                biased;
                done = &mut work => match done {
                    Ok(exit) => hosting.finish(exit),
                    Err(report) => hosting.fail(report),
                },
                signal = signal => {
                    is_stopped = true;
                    output::stop();
                    hosting.reason.set(format!("the user's client was stopped by {}", signal.name));
                    let report = Report::new(
                        Exit::Signal(signal.number),
                        "interrupted",
                        format!("stopped by {}", signal.name),
                    );
                    screen.fail(&report)
                }
            }
        };
        // Before the shutdown: only lists of servers that are connected are cached.
        cache::remember(hosting);
        // Only saves time in the next run, so errors are ignored.
        hosting.host.save_eras().ok();
        let ending = async {
            hosting.host.shutdown().await;
            let exit = report_cleanups(hosting, exit);
            if is_stopped {
                // After a signal a reader that does not read is not waited for.
                drop(tokio::time::timeout(LAST_LINES, writing.end()).await);
            } else {
                writing.end().await;
            }
            match unless_gone(output::flush().await) {
                Ok(()) => exit,
                Err(report) => screen.fail(&report),
            }
        };
        tokio::select! {
            exit = ending => exit,
            signal = signals.next() => {
                output::stop();
                report_cleanups(hosting, Exit::Signal(signal.number))
            }
        }
    });
    // Drops what is left of the tasks; a process whose handle is dropped is killed.
    runtime.shutdown_timeout(Duration::ZERO);
    exit
}

/// Waits for the next signal that is to end the program, and passes on those that are not.
async fn next_stop(signals: &mut Signals, notifies: Option<Notifies<'_>>) -> Signal {
    loop {
        match (signals.stopping().await, notifies) {
            (signal, Some(notifies)) if is_reload(signal) => notifies.reload.notify_one(),
            (signal, _) => return signal,
        }
    }
}

/// Warns of servers whose keeper process died. If processes of one still run, that is an error.
fn report_cleanups(hosting: &Hosting<'_>, exit: Exit) -> Exit {
    let mut left = None;
    for (server, cleanup) in hosting.host.take_cleanups() {
        let is_left = !cleanup.left.is_empty();
        if exit == Exit::Ok && is_left {
            let report = left.take().unwrap_or_else(|| {
                let title = "processes of a server still run";
                Report::new(Exit::Internal, "internal", title)
            });
            left = Some(report.fact(server.to_string(), cleanup.to_string()));
        } else if exit == Exit::Ok || is_left {
            // A command that failed has said so already.
            hosting.screen.warn(&format!("{server}: {cleanup}"));
        }
    }
    left.map_or(exit, |report| hosting.screen.fail(&report))
}

/// Builds the single-threaded runtime that everything with servers runs on.
///
/// # Errors
/// Returns an internal error if the system lacks the resources.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| runtime_failure(&error))
}

/// Reports a runtime that cannot be started.
pub(crate) fn runtime_failure(error: &std::io::Error) -> Failure {
    Report::new(
        Exit::Internal,
        "internal",
        "the runtime could not be started",
    )
    .fact("the system says", error.to_string())
}
