//! Servers that a caller may know of and is not offered.

use serde::{Serialize, Serializer};
use switchboard::host::{State, Status};
use switchboard::{Host, ServerName};

use crate::setup::quote_for_shell;

/// A server that is not offered, and what the operator can do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The server.
    #[serde(serialize_with = "as_text")]
    pub server: ServerName,
    /// The reason.
    pub reason: LeftOutReason,
    /// The command that helps, for the operator to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The reason that a server is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOutReason {
    /// It has to be approved first.
    NeedsApproval,
    /// A person has to log in to it.
    NeedsLogin,
    /// Its definitions have changed since they were approved: those that did are withheld.
    Changed,
    /// Nothing is known of it yet: it is connected to for the first time.
    Connecting,
    /// It cannot be used.
    Failed,
}

impl LeftOut {
    /// Returns the reason that a server is left out, if it is. Servers that are switched off are not
    /// named: the person wants it so.
    pub(crate) fn of(host: &Host, status: &Status) -> Option<Self> {
        let server = &status.name;
        let is_listed = host.catalog().server(server.as_str()).is_some();
        let reason = match &status.state {
            State::NeedsApproval(_) => LeftOutReason::NeedsApproval,
            State::NeedsLogin(_) => LeftOutReason::NeedsLogin,
            // What was listed before is still offered.
            State::Failed(_) if !is_listed => LeftOutReason::Failed,
            State::Idle | State::Connecting if !is_listed => LeftOutReason::Connecting,
            State::Disabled => return None,
            _ if has_changed(host, server) => LeftOutReason::Changed,
            _ => return None,
        };
        Some(Self {
            server: server.clone(),
            reason,
            command: reason.command(server),
        })
    }
}

/// Returns true if agents are not given all of a server because it has changed since it was approved.
fn has_changed(host: &Host, server: &ServerName) -> bool {
    let drifts = host.drifts(server.as_str());
    drifts.is_ok_and(|drifts| !drifts.is_empty())
}

impl LeftOutReason {
    /// The command that helps, for the operator to run.
    pub(crate) fn command(self, server: &ServerName) -> Option<String> {
        let verb = match self {
            Self::NeedsApproval => "trust approve",
            Self::NeedsLogin => "login",
            Self::Changed => "pins approve",
            Self::Failed => "doctor",
            Self::Connecting => return None,
        };
        Some(format!(
            "switchboard {verb} {}",
            quote_for_shell(server.as_str())
        ))
    }
}

fn as_text<S: Serializer>(server: &ServerName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(server.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_helps_can_be_pasted() {
        let command = |reason: LeftOutReason, name: &str| {
            let server = ServerName::parse(name).unwrap();
            reason.command(&server)
        };
        for (reason, name, expected) in [
            (
                LeftOutReason::NeedsApproval,
                "git",
                "switchboard trust approve git",
            ),
            (
                LeftOutReason::NeedsLogin,
                "it's",
                r"switchboard login 'it'\''s'",
            ),
            (
                LeftOutReason::Changed,
                "a$b",
                "switchboard pins approve 'a$b'",
            ),
            (LeftOutReason::Failed, "a", "switchboard doctor a"),
        ] {
            assert_eq!(command(reason, name).as_deref(), Some(expected));
        }
        assert_eq!(command(LeftOutReason::Connecting, "a"), None);
    }
}
