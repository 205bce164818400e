//! `--events`: a log of events, one line of JSON each. The trace of `--trace` is started and ended with it.

use std::path::Path;

use switchboard::events::{Event, Events, write_line};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::blocking::Sink;
use crate::hosting::Hosting;
use crate::log_stream::EventLogs;
use crate::report::{Failure, Report};
use crate::trace::{self, Trace};

/// The files of `--events` and `--trace`, before they are written.
pub(crate) struct Journal {
    events: Option<(Sink, Events, Option<EventLogs>)>,
    trace: Option<Trace>,
}

/// A journal that is being written by background tasks.
#[derive(Default)]
pub(crate) struct JournalWriter {
    events: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    trace: Option<trace::TraceWriter>,
}

impl Journal {
    /// Opens the file of `--events`; creates it readable by its owner alone.
    ///
    /// # Errors
    /// Returns a usage error if it cannot be written to.
    pub(crate) fn open(
        file: Option<&Path>,
        trace: Option<Trace>,
        hosting: &Hosting<'_>,
    ) -> Result<Self, Failure> {
        let Some(path) = file else {
            let events = None;
            return Ok(Self { events, trace });
        };
        match Sink::open(path) {
            Ok(file) => {
                let recorded = EventLogs::subscribe(hosting);
                let events = Some((file, hosting.host.events(), recorded));
                Ok(Self { events, trace })
            }
            Err(error) => Err(Report::usage("--events: the file cannot be written")
                .fact("file", path.display().to_string())
                .fact("the system says", error.to_string())),
        }
    }

    /// Starts the tasks that write.
    pub(crate) fn begin(self) -> JournalWriter {
        let trace = self.trace.map(Trace::begin);
        let Some((mut file, mut events, mut logs)) = self.events else {
            let events = None;
            return JournalWriter { events, trace };
        };
        let (stop, mut stopped) = oneshot::channel();
        let writing = tokio::spawn(async move {
            loop {
                tokio::select! {
                    event = events.recv() => match event {
                        Ok(event) => file.add(line(&event)).await,
                        Err(RecvError::Lagged(missed)) => file.add(lagged(missed)).await,
                        Err(RecvError::Closed) => return,
                    },
                    Some(line) = EventLogs::next(logs.as_mut()) => file.add(line).await,
                    _ = &mut stopped => break,
                }
            }
            // Drain both streams: the last messages often say why a server ended.
            while let Some(line) = logs.as_mut().and_then(EventLogs::next_now) {
                file.add(line).await;
            }
            // Write the events that happened before the stop.
            loop {
                match events.try_recv() {
                    Ok(event) => file.add(line(&event)).await,
                    Err(TryRecvError::Lagged(missed)) => file.add(lagged(missed)).await,
                    Err(_) => return,
                }
            }
        });
        let events = Some((stop, writing));
        JournalWriter { events, trace }
    }
}

impl JournalWriter {
    /// Writes the rest, and waits for the tasks.
    pub(crate) async fn end(self) {
        if let Some((stop, writing)) = self.events {
            stop.send(()).ok();
            writing.await.ok();
        }
        if let Some(trace) = self.trace {
            trace.end().await;
        }
    }
}

fn line(event: &Event) -> String {
    let mut line = String::new();
    write_line(event, &mut line);
    line
}

/// Formats the line that stands for lines that were missed.
pub(crate) fn lagged(missed: u64) -> String {
    format!("{{\"event\":\"lagged\",\"missed\":{missed}}}")
}
