//! What a server remembers of the commands that have used it, and whether another command can take it over.
//!
//! A server of the legacy era shakes hands once for its process. The daemon keeps the answers: a command that says
//! the same gets the same answer, and one that says something else gets another process. A server of the modern
//! era keeps nothing between requests, and everything passes.

use std::collections::BTreeSet;

use super::head::{Head, Kind};

/// A request of the handshake, and the line of its answer.
#[derive(Debug, Clone)]
struct Recorded {
    params: String,
    answer: Vec<u8>,
}

impl Recorded {
    fn answer_to(&self, head: &Head<'_>) -> Option<Vec<u8>> {
        if self.params != head.params() {
            return None;
        }
        Head::read(&self.answer)?.with_id(&self.answer, head.id())
    }
}

/// What a server remembers.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    /// A command has used it before.
    pub(super) is_used: bool,
    /// It has answered `server/discover`: it is of the modern era.
    is_modern: bool,
    initialized: Option<Recorded>,
    /// It has refused `server/discover`, as servers of the legacy era do.
    refused: Option<Recorded>,
    /// It was told that its client is ready.
    pub(super) is_ready: bool,
    /// Requests of earlier commands that it may still answer.
    pub(super) stale: BTreeSet<String>,
}

/// What becomes of a message to a server that was used before, until the handshake is over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It goes to the server, and so does everything after it.
    Forward,
    /// The server has answered it before.
    Replay(Vec<u8>),
    /// The server knows it already: the handshake is over.
    Known,
    /// The server cannot take it any more.
    Misfit,
}

impl Past {
    /// Returns true if the handshake is over.
    pub(super) fn has_begun(&self) -> bool {
        self.is_modern || (self.initialized.is_some() && self.is_ready)
    }

    /// Decides about a message of a command that has not got through its handshake yet. `is_replayed` if the
    /// answer to its `initialize` was.
    pub(super) fn fit(&self, head: &Head<'_>, is_replayed: bool) -> Fit {
        if !self.is_used {
            return Fit::Forward;
        }
        let replay = |recorded: &Option<Recorded>| {
            let answer = recorded.as_ref().and_then(|it| it.answer_to(head));
            answer.map_or(Fit::Misfit, Fit::Replay)
        };
        match (head.kind(), head.method.as_deref().unwrap_or_default()) {
            (Kind::Request, "initialize") => replay(&self.initialized),
            (Kind::Request, "server/discover") if !self.is_modern => replay(&self.refused),
            (Kind::Notification, "notifications/initialized") if is_replayed => Fit::Known,
            _ if self.is_modern || is_replayed => Fit::Forward,
            _ => Fit::Misfit,
        }
    }

    /// Keeps the answer to a request of the handshake.
    pub(super) fn record(&mut self, method: &str, params: String, answer: &Head<'_>, line: &[u8]) {
        let recorded = || {
            let answer = line.to_vec();
            Some(Recorded { params, answer })
        };
        match (method, answer.is_error()) {
            ("initialize", false) => self.initialized = recorded(),
            ("server/discover", true) => self.refused = recorded(),
            ("server/discover", false) => self.is_modern = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(past: &Past, line: &str, is_replayed: bool) -> Fit {
        past.fit(&Head::read(line.as_bytes()).unwrap(), is_replayed)
    }

    fn record(past: &mut Past, method: &str, params: &str, answer: &str) {
        let head = Head::read(answer.as_bytes()).unwrap();
        past.record(method, params.to_owned(), &head, answer.as_bytes());
    }

    const DISCOVER: &str = r#"{"id":"discover-1","method":"server/discover","params":{}}"#;
    const INITIALIZE: &str = r#"{"id":9,"method":"initialize","params":{"a":1}}"#;
    const OTHER: &str = r#"{"id":9,"method":"initialize","params":{"a":2}}"#;
    const READY: &str = r#"{"method":"notifications/initialized"}"#;
    const CALL: &str = r#"{"id":10,"method":"tools/call"}"#;

    #[test]
    fn a_new_server_gets_everything() {
        let past = Past::default();
        for line in [DISCOVER, INITIALIZE, READY, CALL] {
            assert_eq!(fit(&past, line, false), Fit::Forward);
        }
    }

    #[test]
    fn a_server_of_the_legacy_era_answers_the_same_handshake_alone() {
        let mut past = Past::default();
        record(
            &mut past,
            "server/discover",
            "{}",
            r#"{"id":"discover-7","error":{}}"#,
        );
        record(
            &mut past,
            "initialize",
            r#"{"a":1}"#,
            r#"{"id":2,"result":{}}"#,
        );
        assert!(!past.has_begun());
        past.is_ready = true;
        past.is_used = true;
        assert!(past.has_begun());
        let again = br#"{"id":"discover-1","error":{}}"#.to_vec();
        assert_eq!(fit(&past, DISCOVER, false), Fit::Replay(again));
        let again = br#"{"id":9,"result":{}}"#.to_vec();
        assert_eq!(fit(&past, INITIALIZE, false), Fit::Replay(again));
        assert_eq!(fit(&past, OTHER, false), Fit::Misfit);
        assert_eq!(fit(&past, READY, true), Fit::Known);
        assert_eq!(fit(&past, CALL, true), Fit::Forward);
        // Without a handshake the command takes the server for a modern one.
        assert_eq!(fit(&past, CALL, false), Fit::Misfit);
    }

    #[test]
    fn a_refused_handshake_is_none() {
        let mut past = Past::default();
        record(
            &mut past,
            "initialize",
            r#"{"a":1}"#,
            r#"{"id":2,"error":{}}"#,
        );
        assert!(!past.has_begun());
        past.is_used = true;
        assert_eq!(fit(&past, INITIALIZE, false), Fit::Misfit);
    }

    #[test]
    fn a_server_of_the_modern_era_takes_all_but_a_handshake() {
        let mut past = Past::default();
        record(
            &mut past,
            "server/discover",
            "{}",
            r#"{"id":1,"result":{}}"#,
        );
        past.is_used = true;
        assert!(past.has_begun());
        for line in [DISCOVER, CALL] {
            assert_eq!(fit(&past, line, false), Fit::Forward);
        }
        assert_eq!(fit(&past, INITIALIZE, false), Fit::Misfit);
    }
}
