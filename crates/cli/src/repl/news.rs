//! Events and log messages of servers, shown above the line that is being typed.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use switchboard::events::Event;
use switchboard::host::{Caller, Host};
use switchboard::policy::{Request, Target};
use switchboard::protocol::LogLevel;
use switchboard::spec::ServerName;
use switchboard::text::{sanitise_line, shell_word};
use switchboard::transport::Watched;
use switchboard_console::editor::Printer;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use crate::commands::logs;
use crate::hosting::Hosting;
use crate::log_stream::LogStream;
use crate::login::{explained, needed_words};

/// Time after connecting in which changes of a catalog are not shown: the server is still listing.
const BEGINNING: Duration = Duration::from_millis(500);

/// The caller that events are shown to: the person, or the agent that they act as. Clones share it.
#[derive(Clone)]
pub(super) struct NewsReader(Arc<Mutex<Caller>>);

impl NewsReader {
    pub(super) fn of(caller: Caller) -> Self {
        Self(Arc::new(Mutex::new(caller)))
    }

    /// Switches to another caller.
    pub(super) fn set(&self, caller: Caller) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = caller;
    }

    /// Returns true if the caller may know of a server.
    fn knows(&self, host: &Host, server: &ServerName) -> bool {
        let caller = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let request = Request::list(&caller, Target::Server(server));
        !host.why(&request).is_denied()
    }
}

/// The tasks that show events and logs, until it is dropped.
pub(super) struct News {
    tasks: [JoinHandle<()>; 2],
    shows_logs: Arc<AtomicBool>,
}

impl Drop for News {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl News {
    /// Starts the tasks. They show only servers that the caller may know of. While `is_busy`, events of a
    /// kind that the running command reports itself are left out.
    pub(super) fn start(
        hosting: &Hosting<'_>,
        printer: &Printer,
        is_busy: &Arc<AtomicBool>,
        reader: &NewsReader,
    ) -> Self {
        let shows_logs = Arc::new(AtomicBool::new(true));
        let (host, least) = (&hosting.host, hosting.log_level.unwrap_or(LogLevel::Info));
        // Two tasks: one for log messages, one for events.
        let logs = LogStream::subscribe(host, least);
        let logs = show_logs(
            logs,
            host.clone(),
            reader.clone(),
            printer.clone(),
            Arc::clone(&shows_logs),
        );
        let (mut events, printer, is_busy) = (host.events(), printer.clone(), Arc::clone(is_busy));
        let (host, reader) = (host.clone(), reader.clone());
        let task = tokio::spawn(async move {
            let mut begun = HashMap::new();
            // The servers that a line says need a login.
            let mut need_login = HashSet::new();
            loop {
                let line = match events.recv().await {
                    // Checked for each event: the caller may change while the task runs.
                    Ok(event) if !reader.knows(&host, event.server()) => None,
                    Ok(event) => {
                        let is_busy = is_busy.load(Ordering::Acquire);
                        match &event {
                            Event::Connected { server, .. } => {
                                begun.insert(server.clone(), Instant::now());
                                need_login.remove(server);
                            }
                            Event::LoginNeeded { server, .. } if !is_busy => {
                                need_login.insert(server.clone());
                            }
                            _ => {}
                        }
                        let is_beginning = |server: &ServerName| {
                            begun.get(server).is_some_and(|at| at.elapsed() < BEGINNING)
                        };
                        // The attempt failed because of the login: one line is enough.
                        let is_shown = matches!(event, Event::ConnectFailed { .. })
                            && need_login.contains(event.server());
                        // The title of the diagnosis says more than the error.
                        let reason = |server: &ServerName| {
                            let status = host.server(server.as_str()).ok()?;
                            status.problem().map(|error| explained(error).title)
                        };
                        line(&event, is_busy, is_beginning, reason).filter(|_| !is_shown)
                    }
                    Err(RecvError::Lagged(missed)) => {
                        Some(format!("({missed} events were missed)"))
                    }
                    Err(RecvError::Closed) => return,
                };
                if let Some(line) = line {
                    let line = host.secrets().redact(&line).into_owned();
                    printer.print(format!("* {}", sanitise_line(&line)));
                }
            }
        });
        Self {
            tasks: [task, tokio::spawn(logs)],
            shows_logs,
        }
    }

    /// Stops showing log messages until the returned guard is dropped, for a command that shows them itself.
    pub(super) fn hush_logs(&self) -> Hushed {
        self.shows_logs.store(false, Ordering::Release);
        Hushed(Arc::clone(&self.shows_logs))
    }
}

/// Keeps log messages from being shown while it exists.
pub(super) struct Hushed(Arc<AtomicBool>);

impl Drop for Hushed {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Shows log messages. Lines on stderr are left out, unless a server fails.
async fn show_logs(
    mut logs: LogStream,
    host: Host,
    reader: NewsReader,
    printer: Printer,
    is_on: Arc<AtomicBool>,
) {
    while let Some(log) = logs.next().await {
        let line = match log {
            _ if !is_on.load(Ordering::Acquire) => continue,
            Watched::Missed(missed) => {
                format!("({missed} log lines were dropped: they came too fast)")
            }
            Watched::Item(log) if !reader.knows(&host, &log.server) => continue,
            Watched::Item(log) => logs::line(&log, true),
        };
        let line = host.secrets().redact(&line).into_owned();
        printer.print(format!("* {}", sanitise_line(&line)));
    }
}

/// Formats an event; `None` if a person need not see it.
fn line(
    event: &Event,
    is_busy: bool,
    is_beginning: impl Fn(&ServerName) -> bool,
    reason: impl Fn(&ServerName) -> Option<String>,
) -> Option<String> {
    Some(match event {
        Event::Connected {
            server,
            is_reconnect: true,
            ..
        } => format!("{server}: connected again"),
        Event::Connected {
            server,
            version,
            took,
            ..
        } if !is_busy => format!("{server}: connected ({version}, {} ms)", took.as_millis()),
        Event::ConnectFailed { server, error, .. } if !is_busy => {
            let title = reason(server).unwrap_or_else(|| error.clone());
            // The error may begin with the server's name already.
            let title = title.strip_prefix(&format!("{server}: ")).unwrap_or(&title);
            format!("{server}: {title} (`servers {server}` shows details)")
        }
        Event::LoginNeeded {
            server,
            scopes,
            reason,
            ..
        } if !is_busy => {
            let (why, options) = needed_words(reason, scopes);
            let command = format!("login {} {options}", shell_word(server.as_str()));
            format!("{server}: {why} (`{}` logs in)", command.trim_end())
        }
        Event::Disconnected { server, reason } if !is_busy => {
            format!("{server}: disconnected: {reason}")
        }
        Event::CatalogChanged { server, changes } if !is_beginning(server) => {
            let is_news = |change: &&String| change.contains(' ');
            let changes: Vec<&str> = changes.iter().filter(is_news).map(String::as_str).collect();
            if changes.is_empty() {
                return None;
            }
            format!("{server}: {}", changes.join(", "))
        }
        Event::ListFailed {
            server,
            list,
            error,
        } if !is_busy => {
            let name = format!("{server}: ");
            let error = error.strip_prefix(&name).unwrap_or(error);
            format!("{server}: its {list} could not be listed: {error}")
        }
        Event::Notice { server, text } => format!("{server}: {text}"),
        Event::Shed { server, messages } => {
            format!("{server}: {messages} of its messages were ignored")
        }
        _ => return None,
    })
}
