//! What happens while somebody types.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use switchboard::events::Event;
use switchboard::host::{Caller, Host};
use switchboard::policy::{Request, Target};
use switchboard::protocol::LogLevel;
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;
use switchboard::transport::Watched;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use super::printer::Printer;
use crate::commands::logs;
use crate::hosting::Hosting;
use crate::telling::Loud;

/// This long a server tells what it has for the first time, which is no news.
const BEGINNING: Duration = Duration::from_millis(500);

/// Who is told of what happens: the person, or the agent that they act as.
#[derive(Clone)]
pub(super) struct Told(Arc<Mutex<Caller>>);

impl Told {
    pub(super) fn of(caller: Caller) -> Self {
        Self(Arc::new(Mutex::new(caller)))
    }

    /// Tells somebody else from now on.
    pub(super) fn set(&self, caller: Caller) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = caller;
    }

    /// Whether they may know of a server.
    fn knows(&self, host: &Host, server: &ServerName) -> bool {
        let caller = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let request = Request::list(&caller, Target::Server(server));
        !host.why(&request).is_denied()
    }
}

/// Tells what happens to servers, until it is dropped.
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
    /// Begins to tell, of servers that who is told may know. While `is_busy`, a command says itself what it
    /// could not do.
    pub(super) fn tell(
        hosting: &Hosting<'_>,
        printer: &Printer,
        (is_busy, told): (&Arc<AtomicBool>, &Told),
    ) -> Self {
        let shows_logs = Arc::new(AtomicBool::new(true));
        let (host, least) = (&hosting.host, hosting.log_level.unwrap_or(LogLevel::Info));
        let logs = Loud::of(host, least);
        let logs = tell(
            (host.clone(), told.clone(), logs),
            printer.clone(),
            Arc::clone(&shows_logs),
        );
        let (mut events, printer, is_busy) = (host.events(), printer.clone(), Arc::clone(is_busy));
        let (host, told) = (host.clone(), told.clone());
        let task = tokio::spawn(async move {
            let mut begun = HashMap::new();
            loop {
                let line = match events.recv().await {
                    Ok(event) if !told.knows(&host, event.server()) => None,
                    Ok(event) => {
                        if let Event::Connected { server, .. } = &event {
                            begun.insert(server.clone(), Instant::now());
                        }
                        let is_beginning = |server: &ServerName| {
                            begun.get(server).is_some_and(|at| at.elapsed() < BEGINNING)
                        };
                        let is_busy = is_busy.load(Ordering::Acquire);
                        line(&event, is_busy, is_beginning)
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

    /// Leaves what servers log to a command that shows it, until what this gives is dropped.
    pub(super) fn hush_logs(&self) -> Hushed {
        self.shows_logs.store(false, Ordering::Release);
        Hushed(Arc::clone(&self.shows_logs))
    }
}

/// Logs that a command shows.
pub(super) struct Hushed(Arc<AtomicBool>);

impl Drop for Hushed {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Tells what servers log; not what they write to stderr, which is theirs alone unless they fail.
async fn tell(
    (host, told, mut logs): (Host, Told, Loud),
    printer: Printer,
    is_on: Arc<AtomicBool>,
) {
    while let Some(log) = logs.next().await {
        let line = match log {
            _ if !is_on.load(Ordering::Acquire) => continue,
            Watched::Missed(missed) => format!("({missed} log lines came too fast)"),
            Watched::Item(log) if !told.knows(&host, &log.server) => continue,
            Watched::Item(log) => logs::line(&log, true),
        };
        let line = host.secrets().redact(&line).into_owned();
        printer.print(format!("* {}", sanitise_line(&line)));
    }
}

/// What a person wants to know of an event.
fn line(
    event: &Event,
    is_busy: bool,
    is_beginning: impl Fn(&ServerName) -> bool,
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
            // It names the server itself where it can.
            let error = error.strip_prefix(&format!("{server}: ")).unwrap_or(error);
            format!("{server}: {error} (`servers {server}` says more)")
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
            format!("{server}: its {list} could not be listed: {error}")
        }
        Event::Notice { server, text } => format!("{server}: {text}"),
        Event::Shed { server, messages } => {
            format!("{server}: {messages} of its messages were passed over")
        }
        _ => return None,
    })
}
