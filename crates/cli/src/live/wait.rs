//! Runs a future, and draws progress lines if it takes long.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use switchboard::events::{Event, Events};
use switchboard::host::{Host, Log, Said};
use switchboard::session::ProgressWatch;
use switchboard::spec::ServerName;
use switchboard::transport::Watched;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior, interval};

use switchboard_console::board::Drawn;
use switchboard_terminal::progress::{HowFar, Look};

use super::starting::Starting;
use crate::hosting::Hosting;
use crate::screen::Screen;

/// Work that is done within this time draws no lines.
const PATIENCE: Duration = Duration::from_millis(300);

/// Time between two drawings.
const TICK: Duration = Duration::from_millis(100);

/// Maximum number of servers with a line of their own; the others share one line with their number.
const MOST_SERVERS: usize = 8;

/// Description of the work that is waited for.
pub(crate) struct Waiting<'w> {
    /// The work in words.
    pub(crate) words: &'w str,
    /// Source of its progress, if it reports any.
    pub(crate) progress: Option<ProgressWatch>,
}

impl<'w> Waiting<'w> {
    /// Describes work that reports no progress.
    pub(crate) fn to(words: &'w str) -> Self {
        Self {
            words,
            progress: None,
        }
    }
}

/// Runs the work. If it takes long and a person watches, progress lines are drawn.
///
/// Dropping the future drops the work and removes the lines.
pub(crate) async fn waiting<T>(
    hosting: &Hosting<'_>,
    what: Waiting<'_>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    if !hosting.screen.is_live() {
        return work.await;
    }
    let mut scene = Scene {
        what,
        began: Instant::now(),
        connecting: BTreeMap::new(),
        frame: 0,
    };
    let mut logs = hosting.host.logs();
    // Removes the lines when the future is dropped too.
    let drawn = Drawn;
    let mut events = Some(hosting.host.events());
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            event = next(&mut events) => scene.note(event, &hosting.host),
            _ = ticks.tick() => {
                // Fast work draws nothing, so the terminal does not flicker.
                if scene.began.elapsed() >= PATIENCE {
                    drawn.draw(scene.lines(hosting.screen));
                }
            }
            // Last, so that a server that floods stderr does not keep the lines from being drawn.
            Some(Watched::Item(log)) = logs.next() => scene.hear(&log),
        }
    }
}

/// Returns the next event; pends forever once the host has shut down.
async fn next(events: &mut Option<Events>) -> Result<Event, RecvError> {
    if let Some(reader) = events {
        match reader.recv().await {
            Err(RecvError::Closed) => *events = None,
            event => return event,
        }
    }
    std::future::pending().await
}

/// Everything that can be drawn.
struct Scene<'w> {
    what: Waiting<'w>,
    began: Instant,
    /// Servers that are being connected.
    connecting: BTreeMap<ServerName, Starting>,
    frame: usize,
}

impl Scene<'_> {
    fn note(&mut self, event: Result<Event, RecvError>, host: &Host) {
        match event {
            Ok(Event::ConnectStarted { server, .. }) => {
                let starting = Starting::new(host, &server);
                self.connecting.insert(server, starting);
            }
            Ok(Event::Connected { server, .. } | Event::ConnectFailed { server, .. }) => {
                self.connecting.remove(&server);
            }
            Ok(_) => {}
            // Events were missed: it is unknown which servers are still connecting.
            Err(_) => self.connecting.clear(),
        }
    }

    fn hear(&mut self, log: &Log) {
        if let (Said::Stderr(line), Some(starting)) =
            (&log.said, self.connecting.get_mut(&log.server))
        {
            starting.hear(line);
        }
    }

    fn lines(&mut self, screen: &Screen) -> Vec<String> {
        self.frame = self.frame.wrapping_add(1);
        let size = terminal_size::terminal_size_of(std::io::stderr());
        let columns = size.map_or(80, |(width, _)| usize::from(width.0));
        // Some terminals wrap already in the last column.
        let look = Look {
            columns: columns.saturating_sub(1),
            frame: self.frame,
        };
        let mut lines = Vec::new();
        for (server, starting) in self.connecting.iter().take(MOST_SERVERS) {
            let elapsed = starting.since.elapsed();
            lines.push(match starting.fetching(elapsed) {
                Some(words) => look.fetching(&screen.redact(&words), elapsed),
                None => {
                    let words = format!("connecting to {server}");
                    look.spinner(&screen.redact(&words), elapsed)
                }
            });
        }
        let more = self.connecting.len().saturating_sub(MOST_SERVERS);
        if more > 0 {
            let words = format!("and {more} more");
            lines.push(look.spinner(&words, self.began.elapsed()));
        }
        // While servers are connecting, their lines replace that of the work.
        if !lines.is_empty() {
            return lines;
        }
        let latest = self.what.progress.as_ref();
        let latest = latest.and_then(|progress| progress.borrow().clone());
        let words = screen.redact(self.what.words);
        let elapsed = self.began.elapsed();
        vec![match latest {
            Some(progress) => {
                let message = progress.message.unwrap_or_default();
                let how_far = HowFar {
                    done: progress.progress,
                    total: progress.total,
                    message: &screen.redact(&message),
                };
                look.bar(&words, how_far, elapsed)
            }
            None => look.spinner(&words, elapsed),
        }]
    }
}
