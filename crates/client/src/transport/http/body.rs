//! Reads bodies, within limits.

use switchboard_core::limits::{Budget, Hold};

use super::fetch::{Body, Failed};
use crate::transport::{FaultKind, Sent};

/// A body smaller than this is not counted against the budget: in-flight calls bound their number.
const SMALL: usize = 256 * 1024;

/// The limits of a body.
pub(crate) struct Bounds<'a> {
    pub(crate) limit_bytes: usize,
    pub(crate) budget: &'a Budget,
}

/// Reads a body to its end.
///
/// # Errors
/// Fails when it is longer than the limit, there is no room for it, or the connection was lost.
pub(crate) async fn whole(body: &mut dyn Body, bounds: &Bounds<'_>) -> Result<Vec<u8>, Failed> {
    let mut read: Vec<u8> = Vec::new();
    let mut room = Room::of(bounds.budget);
    while let Some(chunk) = body.chunk().await? {
        let bytes = read.len().saturating_add(chunk.len());
        if bytes > bounds.limit_bytes {
            return Err(too_large(bounds.limit_bytes));
        }
        // Budget before the copy: an oversized body must not be held even briefly.
        room.make(bytes)?;
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

/// The budget that a body takes while it is read.
pub(crate) struct Room<'a> {
    budget: &'a Budget,
    held: Option<Hold>,
}

impl<'a> Room<'a> {
    pub(crate) fn of(budget: &'a Budget) -> Self {
        Self { budget, held: None }
    }

    /// Resizes the budget to this many bytes.
    ///
    /// # Errors
    /// Fails when they do not fit.
    pub(crate) fn make(&mut self, bytes: usize) -> Result<(), Failed> {
        if bytes <= SMALL {
            self.held = None;
            return Ok(());
        }
        match &mut self.held {
            Some(held) => held.resize(bytes),
            None => self.budget.hold(bytes).map(|taken| self.held = Some(taken)),
        }
        .map_err(|no_room| too_large(no_room.limit_bytes))
    }
}

fn too_large(limit_bytes: usize) -> Failed {
    Failed {
        kind: FaultKind::TooLarge { limit_bytes },
        sent: Sent::Maybe,
    }
}

/// Reads the start of a body, at most `most` bytes and one more, and ignores errors after it.
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

/// The start of a body, for people.
pub(crate) fn excerpt(body: &[u8]) -> String {
    const SHOWN: usize = 300;
    let text = String::from_utf8_lossy(body.get(..SHOWN).unwrap_or(body)).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
