//! What an answer to the first questions says about a server.

use switchboard_wire::{Era, Misfit, Raw, RpcError, Version};

use super::close::CloseReason;
use super::error::{CallError, Delivery, OpenError};
use crate::transport::{Exit, Fault, FaultKind, last_words};

/// Whether a server that was asked the modern way does not know what that is.
///
/// A refusal for want of a token, a busy or a broken server say nothing about the era.
pub(super) fn is_no_idea(fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::Status { status, .. } => {
            (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 421 | 429)
        }
        _ => false,
    }
}

/// Whether a server that was asked for a handshake may want it by the older transport.
pub(super) fn wants_otherwise(error: &OpenError) -> bool {
    let OpenError::Handshake { error, .. } = error else {
        return false;
    };
    let status = error.fault().and_then(|fault| fault.kind.status());
    matches!(status, Some(400 | 404 | 405))
}

/// Whether somebody killed the server, so that its end says nothing about what it was asked.
pub(super) fn was_killed(error: &CallError) -> bool {
    const KILL: i32 = 9;
    let exit = error.close_reason().and_then(|reason| reason.exit);
    exit == Some(Exit::Signal(KILL))
}

/// Whether the server ended after it had been asked something, and does not say why: an older server may
/// end on a question that it does not know.
pub(super) fn is_unexplained_end(error: &CallError) -> bool {
    match error {
        CallError::Closed { reason, delivery } => {
            *delivery != Delivery::NeverSent && !is_explained(reason)
        }
        _ => false,
    }
}

/// Whether a server has said why it ended: in words that are known, or by the exit status of a shell
/// that did not find a program.
fn is_explained(reason: &CloseReason) -> bool {
    matches!(reason.exit, Some(Exit::Code(126 | 127)))
        || last_words::names_cause(&reason.stderr)
        || last_words::names_cause(&reason.noise)
}

/// Whether the server answered, and the answer was no.
pub(super) fn is_answer(error: &OpenError) -> bool {
    match error {
        OpenError::NoCommonVersion { .. } => true,
        OpenError::Handshake { error, .. } => error.rpc().is_some(),
        OpenError::Connect(_) => false,
    }
}

pub(super) fn unfit(method: &str, what: &str) -> CallError {
    CallError::Unfit {
        method: method.to_owned(),
        misfit: Misfit::new(what),
    }
}

/// The versions that an error says the server supports.
pub(super) fn supported(rpc: &RpcError) -> Vec<String> {
    let list = rpc.data().and_then(|data| data.member("supported"));
    let items = list.map(|list| list.items()).unwrap_or_default();
    items.iter().filter_map(Raw::as_text).collect()
}

pub(super) fn names(era: Era) -> Vec<String> {
    let versions = Version::ALL.into_iter().rev();
    versions
        .filter(|version| version.era() == era)
        .map(|version| version.to_string())
        .collect()
}
