//! What is compiled once for each version of a tool.

use std::sync::OnceLock;

use switchboard_wire::Tool;

use crate::schema::{Bounds, Checker};

/// The checks of a tool's arguments and results, compiled when they are first wanted.
#[derive(Debug, Default)]
pub(super) struct Checks {
    input: OnceLock<Checker>,
    output: OnceLock<Option<Checker>>,
}

impl Checks {
    pub(super) fn input(&self, tool: &Tool, bounds: &Bounds) -> &Checker {
        self.input
            .get_or_init(|| Checker::compile(tool.input_schema().raw(), bounds))
    }

    pub(super) fn output(&self, tool: &Tool, bounds: &Bounds) -> Option<&Checker> {
        let compiled = self.output.get_or_init(|| {
            let schema = tool.output_schema()?;
            Some(Checker::compile(schema.raw(), bounds))
        });
        compiled.as_ref()
    }
}
