//! The daemon that keeps servers running: where it is, and how commands use it.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard::text::sanitise_line;
use switchboard::transport::{Environment, Launch};
use switchboard_daemon::{DaemonError, DaemonLauncher, Place, Unused, VERSION};

use crate::args::Connection;
use crate::ask;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::{Screen, talk};
use crate::state;
use crate::style::Style;

/// The variable that makes commands start their servers themselves.
const NO_DAEMON: &str = "SWITCHBOARD_NO_DAEMON";

/// The variable that names the folder of the daemon.
const FOLDER: &str = "SWITCHBOARD_DAEMON";

/// Who starts the servers of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starter {
    /// The daemon, if one runs.
    Daemon,
    /// The command itself: it is about the start, or it outlives any daemon.
    Command,
}

/// Returns the place of the daemon, or `None` if no home is known.
fn place(environment: &Environment) -> Option<Place> {
    let named = environment.get(FOLDER);
    let named = named.map(|value| PathBuf::from(value.expose()));
    // A relative path would be a different folder in each working directory.
    let named = named.filter(|folder| folder.is_absolute());
    let own = || state::state(environment).map(|folder| folder.join("daemon"));
    named.or_else(own).map(Place::at)
}

/// Returns the place of the daemon.
///
/// # Errors
/// Fails if no home is known.
pub(crate) fn known_place(environment: &Environment) -> Result<Place, Failure> {
    place(environment).ok_or_else(|| {
        let title = "cannot determine the state folder";
        let report = Report::new(Exit::Configuration, "configuration", title);
        report.hint("set HOME, or XDG_STATE_HOME to an absolute path")
    })
}

/// Returns what starts the servers of a command in the daemon, unless the person does not want that.
pub(crate) fn launcher(
    starter: Starter,
    connection: &Connection,
    environment: &Environment,
    screen: &Screen,
) -> Option<Arc<dyn Launch>> {
    let unwanted = environment.get(NO_DAEMON);
    let is_unwanted = unwanted.is_some_and(|value| !value.expose().is_empty());
    if starter == Starter::Command || connection.no_daemon || is_unwanted {
        return None;
    }
    let place = place(environment)?;
    // Servers keep what they were told of the roots, so that other roots are other servers.
    let roots = connection.root.iter().map(|root| {
        let root: PathBuf = std::path::absolute(root).unwrap_or_else(|_| root.clone());
        root.display().to_string()
    });
    let context = roots.collect::<Vec<_>>().join("\n");
    // Scripts read stderr too: the notice is for people.
    let is_silent = screen.is_json() || screen.is_quiet();
    let notice = move |why: &Unused| {
        if !is_silent {
            let label = Style::of_stderr().warning("warning:");
            talk(&format!("{label} {}\n", sanitise_line(&word(why))));
        }
    };
    // As the host does it: the prompt shows log messages as news.
    let sets_level = connection.log_level.is_some() || ask::has_prompt();
    let launcher = DaemonLauncher::new(place, context, Box::new(notice)).sets_level(sets_level);
    Some(Arc::new(launcher))
}

/// Words the reason that a daemon which runs is not used.
fn word(why: &Unused) -> String {
    match why {
        Unused::Version(theirs) => format!(
            "the daemon has version {theirs} and this is {VERSION}, so it is not used; `switchboard up` replaces it"
        ),
        Unused::Failed(error) => {
            format!("the daemon is not used: {error}; --no-daemon leaves it alone")
        }
        _ => "the daemon is not used".to_owned(),
    }
}

/// Makes the report of a daemon that cannot run or be talked to.
pub(crate) fn failure(error: &DaemonError) -> Failure {
    let text = error.to_string();
    let hint = match error {
        DaemonError::Unsupported => {
            "commands start their servers themselves, as they do without a daemon"
        }
        DaemonError::Unsafe { .. } | DaemonError::Folder(_) => {
            "make the folder yours alone (`chmod 700`), or remove it"
        }
        DaemonError::TooLong { .. } => {
            "set SWITCHBOARD_DAEMON to a folder of yours with a shorter path"
        }
        DaemonError::Running => "`switchboard status` shows it, and `switchboard down` stops it",
        _ => "`switchboard status` shows whether it runs",
    };
    let (exit, kind) = match error {
        DaemonError::Unsupported => (Exit::Usage, "usage"),
        DaemonError::Unsafe { .. } | DaemonError::Folder(_) | DaemonError::TooLong { .. } => {
            (Exit::Configuration, "configuration")
        }
        DaemonError::Running | DaemonError::Silent | DaemonError::Lost(_) => {
            (Exit::Connect, "connect")
        }
        _ => (Exit::Internal, "internal"),
    };
    Report::new(exit, kind, text).hint(hint)
}
