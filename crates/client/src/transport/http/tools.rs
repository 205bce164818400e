//! What is known of a server's tools, for the headers that their calls carry.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use switchboard_wire::{CallTool, Method as _, Raw, Tool};

use super::mirror::{self, Mirror};

/// The arguments that are repeated in headers, by tool; most tools have none and are not here.
#[derive(Default)]
pub(crate) struct Tools {
    mirrors: Mutex<FxHashMap<String, Vec<Mirror>>>,
    /// Whether the whole list was seen: then a tool that is not known has nothing to repeat.
    seen_all: AtomicBool,
}

impl Tools {
    fn mirrors(&self) -> MutexGuard<'_, FxHashMap<String, Vec<Mirror>>> {
        self.mirrors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn learn(&self, tool: &Tool) -> Result<(), String> {
        let mirrors = mirror::mirrored(tool.input_schema().raw());
        let mirrors = mirrors.map_err(|bad| bad.to_string())?;
        match mirrors.is_empty() {
            true => self.mirrors().remove(tool.name()),
            false => self.mirrors().insert(tool.name().to_owned(), mirrors),
        };
        Ok(())
    }

    pub(crate) fn learned(&self) {
        self.seen_all.store(true, Ordering::Relaxed);
    }

    pub(crate) fn are_wanted(&self) -> bool {
        !self.seen_all.load(Ordering::Relaxed)
    }

    /// The headers of a request: only those of calls have any.
    pub(crate) fn headers(&self, method: &str, name: &str, params: &Raw) -> Vec<(String, String)> {
        if method != CallTool::NAME {
            return Vec::new();
        }
        let mirrors = self.mirrors();
        // Most tools have none: their arguments are not looked for.
        let Some(mirrors) = mirrors.get(name) else {
            return Vec::new();
        };
        match params.member("arguments") {
            Some(arguments) => mirror::values(mirrors, &arguments),
            None => Vec::new(),
        }
    }
}
