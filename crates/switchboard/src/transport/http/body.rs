//! Reads bodies, within bounds.

use super::fetch::{Body, Failed};
use crate::limits::{Budget, Hold};
use crate::transport::{FaultKind, Sent};

/// A body that is smaller than this counts for nothing: many calls at once are few of them.
const SMALL: usize = 256 * 1024;

/// What a whole body may be.
pub(crate) struct Bounds<'a> {
    pub(crate) limit_bytes: usize,
    pub(crate) budget: &'a Budget,
}

impl Bounds<'_> {
    /// Has the budget cover what is held of a body.
    pub(crate) fn hold(&self, bytes: usize, held: &mut Option<Hold>) -> Result<(), Failed> {
        let taken = match held {
            _ if bytes <= SMALL => {
                *held = None;
                Ok(())
            }
            Some(held) => held.resize(bytes),
            None => self.budget.hold(bytes).map(|taken| *held = Some(taken)),
        };
        taken.map_err(|no_room| too_large(no_room.limit_bytes))
    }
}

/// Reads a body to its end.
///
/// # Errors
/// When it is longer than the limit, there is no room for it, or the connection was lost.
pub(crate) async fn whole(body: &mut dyn Body, bounds: &Bounds<'_>) -> Result<Vec<u8>, Failed> {
    let mut read: Vec<u8> = Vec::new();
    let mut held: Option<Hold> = None;
    while let Some(chunk) = body.chunk().await? {
        let bytes = read.len().saturating_add(chunk.len());
        if bytes > bounds.limit_bytes {
            return Err(too_large(bounds.limit_bytes));
        }
        bounds.hold(bytes, &mut held)?;
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

fn too_large(limit_bytes: usize) -> Failed {
    Failed {
        kind: FaultKind::TooLarge { limit_bytes },
        sent: Sent::Maybe,
    }
}

/// Reads how a body begins, at most that much of it, whatever becomes of the rest.
pub(crate) async fn beginning(body: &mut dyn Body, most: usize) -> Vec<u8> {
    let mut read: Vec<u8> = Vec::new();
    while read.len() <= most
        && let Ok(Some(chunk)) = body.chunk().await
    {
        read.extend_from_slice(&chunk);
    }
    read.truncate(most.saturating_add(1));
    read
}

/// The first words of a body, for people.
pub(crate) fn excerpt(body: &[u8]) -> String {
    const SHOWN: usize = 300;
    let text = String::from_utf8_lossy(body.get(..SHOWN).unwrap_or(body)).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
