//! Which brackets are open while a text is checked.

use crate::ends::{Ends, LEVELS};

/// What encloses a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    Object,
    Array,
}

/// Which brackets are open: a bit each, and a word more for each 64 levels.
#[derive(Default)]
pub(crate) struct Nest {
    depth: usize,
    deepest: usize,
    /// The innermost levels, the lowest bit innermost.
    bits: u64,
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

    /// How deep the nesting has been.
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
