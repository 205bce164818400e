//! What a command has begun with its server, and what is left of it at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::head::{Head, Kind};
use super::instance::Instance;

/// Requests that leave nothing behind in the server, even if they were not answered.
const READING: &[&str] = &[
    "completion/complete",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "subscriptions/listen",
    "tools/list",
];

/// What is open between a command and its server, as far as the lines tell.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Something passed that the daemon does not understand.
    pub(super) is_unclear: bool,
    /// The command has set the level of the server's log messages.
    has_level: bool,
    /// The command has subscribed to a resource.
    has_subscriptions: bool,
    /// Requests of the handshake that wait for their answers: method and parameters.
    handshakes: BTreeMap<String, (String, String)>,
    /// Requests of the command that wait for their answers, with their methods.
    open: BTreeMap<String, String>,
    /// Requests of the server that wait for their answers.
    questions: BTreeSet<String>,
}

impl Traffic {
    /// Returns true if the command waits for an answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes what a line of the command begins and ends.
    pub(super) fn note_line(&mut self, head: &Head<'_>, instance: &mut Instance) {
        let method = head.method.as_deref().unwrap_or_default();
        match head.kind() {
            Kind::Request => {
                let id = head.id().to_owned();
                let next = head.number().map(|number| number.saturating_add(1));
                instance.next_id = instance.next_id.max(next.unwrap_or_default());
                self.has_level |= method == "logging/setLevel";
                self.has_subscriptions |= method == "resources/subscribe";
                if matches!(method, "initialize" | "server/discover") {
                    let begun = (method.to_owned(), head.params().to_owned());
                    self.handshakes.insert(id, begun);
                } else {
                    self.open.insert(id, method.to_owned());
                }
            }
            Kind::Notification if method == "notifications/initialized" => {
                instance.past.is_ready = true;
            }
            Kind::Notification => {}
            Kind::Answer => drop(self.questions.remove(head.id())),
        }
    }

    /// Notes an answer of the server. Returns false if an earlier command has not waited for it.
    pub(super) fn note_answer(
        &mut self,
        head: &Head<'_>,
        line: &[u8],
        instance: &mut Instance,
    ) -> bool {
        let id = head.id();
        if let Some((method, params)) = self.handshakes.remove(id) {
            instance.past.record(&method, params, head, line);
            return true;
        }
        self.open.remove(id).is_some() || !instance.past.stale.remove(id)
    }

    /// Notes a request of the server.
    pub(super) fn note_question(&mut self, head: &Head<'_>) {
        self.questions.insert(head.id().to_owned());
    }

    /// Returns true if nothing of the command is left in the server.
    pub(super) fn is_clean(&self, instance: &Instance) -> bool {
        let is_reading = |method: &String| READING.contains(&method.as_str());
        // The next command of a description that sets a level sets its own.
        let has_foreign_level = self.has_level && !instance.start.sets_level;
        let is_begun = instance.past.has_begun() && self.handshakes.is_empty();
        !self.is_unclear
            && !has_foreign_level
            && !self.has_subscriptions
            && is_begun
            && self.questions.is_empty()
            && self.open.values().all(is_reading)
    }

    /// Takes the ids of the requests that still wait for their answers.
    pub(super) fn take_open(&mut self) -> Vec<String> {
        std::mem::take(&mut self.open).into_keys().collect()
    }
}
