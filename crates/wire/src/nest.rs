//! The stack of open brackets while a text is checked.

use crate::ends::{Ends, LEVELS};

/// The kind of value that encloses another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    Object,
    Array,
}

/// The open brackets, one bit each, so that a hostile text of any depth costs little memory.
#[derive(Default)]
pub(crate) struct Nest {
    depth: usize,
    deepest: usize,
    /// The innermost 64 levels, the innermost in the lowest bit.
    bits: u64,
    /// The levels further out, 64 to a word.
    outer: Vec<u64>,
    ends: Option<Box<Ends>>,
}

impl Nest {
    pub(crate) fn new(ends: Option<Box<Ends>>) -> Self {
        Self {
            ends,
            ..Self::default()
        }
    }

    /// The greatest depth so far.
    pub(crate) fn deepest(&self) -> usize {
        self.deepest
    }

    pub(crate) fn into_ends(self) -> Option<Box<Ends>> {
        self.ends
    }

    #[inline(always)]
    pub(crate) fn enter(&mut self, bracket: Bracket, start: usize) {
        if self.depth < LEVELS
            && let Some(ends) = &mut self.ends
        {
            ends.enter(self.depth, start);
        }
        // The word is full: keep it and start the next one.
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(bracket == Bracket::Object);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    #[inline]
    pub(crate) fn leave(&mut self, end: usize) {
        self.depth -= 1;
        if self.depth < LEVELS
            && let Some(ends) = &mut self.ends
        {
            ends.leave(self.depth, end);
        }
        self.bits >>= 1;
        // Back to the word that was full.
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.outer.pop().unwrap_or_default();
        }
    }

    pub(crate) fn note_empty(&mut self) {
        self.deepest = self.deepest.max(self.depth + 1);
    }

    pub(crate) fn current(&self) -> Option<Bracket> {
        match (self.depth, self.bits & 1) {
            (0, _) => None,
            (_, 1) => Some(Bracket::Object),
            _ => Some(Bracket::Array),
        }
    }
}
