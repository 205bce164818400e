//! Log messages of servers, for the clients that may know of them.

use std::sync::{Arc, Weak};

use switchboard::ServerName;
use switchboard::host::{Log, Logs, Said};
use switchboard::transport::Watched;
use switchboard_wire::{LogLevel, LoggingMessage, Notice as _};

use super::result::Members;
use super::{Asked, Client};
use crate::message::notification;
use crate::outlet::{Outlet, Priority};
use crate::scope::Scope;

/// Sends log messages to a client of the legacy era, as long as it is there.
pub(super) fn follow(client: &Client) -> impl Future<Output = ()> + Send + use<> {
    let this = Weak::clone(&client.this);
    // Subscribed here and not in the task: messages in between are not lost.
    let mut logs = client.gateway.0.host.logs();
    async move {
        while let Some(heard) = logs.next().await {
            // Upgraded for each message: the task must not keep the client alive.
            let Some(client) = this.upgrade() else {
                return;
            };
            let level = client.session().level;
            if let Watched::Item(log) = heard
                && client.may_hear(&log.server)
            {
                client.send_log(&client.outlet, level, &log);
            }
        }
    }
}

impl Client {
    /// Does the work of a modern request, and sends the log messages that its server writes meanwhile if
    /// the request wants them.
    pub(super) async fn with_logs<F: Future + Send>(
        &self,
        asked: &Asked<'_>,
        server: &ServerName,
        work: F,
    ) -> F::Output {
        // A level that cannot be read was refused before.
        match asked.params.meta.log_level() {
            Ok(Some(level)) if self.hears_shared_logs() => {
                // Subscribed before the work is polled: its first messages count too.
                let logs = self.gateway.0.host.logs();
                Box::pin(self.reading_logs(asked, level, server, logs, work)).await
            }
            _ => work.await,
        }
    }

    /// Returns true if the client is sent what servers log over connections that clients share. It says
    /// nothing of whose request it is about, so it is for clients of this machine alone: they are all the
    /// person's own. Others get what comes on the streams of their requests and over their own connections.
    pub(super) fn hears_shared_logs(&self) -> bool {
        !self.identity.is_remote()
    }

    async fn reading_logs<F: Future + Send>(
        &self,
        asked: &Asked<'_>,
        level: LogLevel,
        server: &ServerName,
        mut logs: Logs,
        work: F,
    ) -> F::Output {
        let mut work = std::pin::pin!(work);
        let send = |heard: Watched<Log>| {
            if let Watched::Item(log) = heard
                && log.server == *server
            {
                self.send_log(asked.outlet, level, &log);
            }
        };
        let outcome = loop {
            tokio::select! {
                // The answer first: a server that logs without end must not keep it back.
                biased;
                outcome = &mut work => break outcome,
                Some(heard) = logs.next() => send(heard),
            }
        };
        // What was written before the answer goes out before it.
        while let Some(heard) = logs.next_now() {
            send(heard);
        }
        outcome
    }

    /// Returns true if the client may know of a server.
    fn may_hear(&self, server: &ServerName) -> bool {
        self.offer()
            .is_ok_and(|offer| offer.servers().any(|it| it == server))
    }

    /// Sends a log message, if it is one from that level on.
    fn send_log(&self, outlet: &Arc<dyn Outlet>, from: LogLevel, log: &Log) {
        let Said::Message {
            level: Some(level),
            logger,
            data,
        } = &log.said
        else {
            return;
        };
        // A message that belongs to one client has gone to it.
        if *level < from || log.is_relayed {
            return;
        }
        let mut params = Members::new();
        params.text("level", level.as_str());
        if let Some(logger) = self.logger(&log.server, logger.as_deref()) {
            params.text("logger", &logger);
        }
        params.raw("data", data.as_str());
        let message = notification(LoggingMessage::NAME, Some(&params.end()));
        outlet.send(message, Priority::CanDrop);
    }

    /// The name of a logger: that of the server and its own. Where there is one server alone, its own.
    pub(super) fn logger(&self, server: &ServerName, own: Option<&str>) -> Option<String> {
        match (&self.scope, own) {
            (Scope::Server(_), own) => own.map(str::to_owned),
            (_, Some(own)) => Some(format!("{server}/{own}")),
            (_, None) => Some(server.to_string()),
        }
    }
}
