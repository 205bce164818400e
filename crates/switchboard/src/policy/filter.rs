//! A tool filter, read once.

use std::sync::Arc;

use super::decision::{List, Reason};
use crate::spec::{Glob, ToolFilter};

/// A [`ToolFilter`] whose patterns were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filter {
    allow: Option<Vec<Glob>>,
    block: Vec<Glob>,
}

impl Filter {
    pub(super) fn of(filter: &ToolFilter) -> Self {
        let read =
            |patterns: &Vec<String>| patterns.iter().map(|text| Glob::new(&**text)).collect();
        Self {
            allow: filter.allow.as_ref().map(read),
            block: read(&filter.block),
        }
    }

    /// Returns the reason if a pattern of the block list matches the tool.
    pub(super) fn blocks(&self, tool: &str, list: impl FnOnce() -> List) -> Option<Reason> {
        let pattern = self.block.iter().find(|pattern| pattern.matches(tool))?;
        Some(Reason::Block {
            list: list(),
            pattern: Arc::clone(pattern.shared()),
        })
    }

    /// Returns `true` if there is an allow list and no pattern in it matches the tool.
    pub(super) fn leaves_out(&self, tool: &str) -> bool {
        let allow = self.allow.as_deref();
        allow.is_some_and(|allow| !allow.iter().any(|pattern| pattern.matches(tool)))
    }
}
