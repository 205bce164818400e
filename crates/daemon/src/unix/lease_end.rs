//! The end of the use of a server: it waits for the next command, or ends.

use std::time::Duration;

use switchboard_process::Exit;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::lease::{Ending, Lease};
use crate::message::Event;

/// Time for what is left of the output of a server that has ended: another process may hold it open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// Time for a server to take the last lines of a command.
const LAST_INPUT: Duration = Duration::from_secs(1);

impl Lease<'_> {
    /// Returns true if the next command can have the server.
    fn is_clean(&self) -> bool {
        self.client_lines.is_between()
            && self.instance.output.is_between()
            && self.instance.input.is_some()
            && self.traffic.is_clean(&self.instance)
    }

    /// The command is done with the server.
    pub(super) async fn release(mut self) {
        self.is_released = true;
        // What it has sent still goes out, such as the cancellation of its last request.
        let until = Instant::now() + LAST_INPUT;
        if !self.client_lines.is_between() {
            self.traffic.is_unclear = true;
            let rest = self.client_lines.take_rest();
            self.pass(rest.bytes());
        }
        while !self.to_server.is_empty() && self.instance.input.is_some() {
            let step = tokio::select! {
                step = self.step() => step,
                () = sleep_until(until) => break,
            };
            if let Some(Ending::Ended(exit)) = self.take_step(step).await {
                return self.report_end(exit).await;
            }
        }
        if self.to_server.is_empty() && self.is_clean() && self.cancel_rest().await {
            self.tell(&Event::Released);
            // The server first: the next command may come as soon as this one knows.
            let Self {
                pool,
                instance,
                mut socket,
                to_client,
                ..
            } = self;
            pool.park(instance);
            drop(timeout_at(until, socket.write_all(&to_client)).await);
            return;
        }
        self.end_server().await;
    }

    /// Cancels what the server still works on for this command.
    async fn cancel_rest(&mut self) -> bool {
        for id in self.traffic.take_open() {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            );
            if !self.instance.send(&line).await {
                return false;
            }
            self.instance.past.stale.insert(id);
        }
        true
    }

    /// Ends the server as the command would: its stdin is closed first.
    async fn end_server(mut self) {
        self.instance.input = None;
        self.to_server.clear();
        self.is_ending = true;
        if self.instance.past.has_begun() && !self.is_client_gone {
            self.instance.process.end();
        } else {
            self.instance.process.give_up();
        }
        loop {
            let step = self.step().await;
            if let Some(Ending::Ended(exit)) = self.take_step(step).await {
                return self.report_end(exit).await;
            }
        }
    }

    /// Tells the command that its server has ended, after what it has written last.
    pub(super) async fn report_end(mut self, exit: Exit) {
        let until = Instant::now() + LAST_OUTPUT;
        while !self.is_output_over {
            match timeout_at(until, self.instance.output.next()).await {
                Ok(Ok(Some(piece))) => self.take_output(&piece),
                _ => break,
            }
        }
        self.tell_stderr();
        let cleanup = self.instance.process.cleanup();
        self.tell(&Event::Ended {
            exit: exit.into(),
            cleanup: cleanup.map(Into::into),
        });
        let until = Instant::now() + self.pool.options.drain;
        let written = self.socket.write_all(&self.to_client);
        drop(timeout_at(until, written).await);
    }
}
