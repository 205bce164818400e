//! Limits for schemas and for checks against them.

use std::time::Duration;

/// The limits for a schema and for a check against it.
///
/// A schema over one of these is not compiled, and a check over one is stopped. In both cases the
/// verdict is [`Verdict::NotChecked`](crate::Verdict::NotChecked) with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// Longest schema, in bytes.
    pub schema_bytes: usize,
    /// Deepest nesting of objects and arrays in a schema.
    pub depth: usize,
    /// Maximum number of subschemas.
    pub subschemas: usize,
    /// Maximum number of patterns, counting repeated ones.
    pub patterns: usize,
    /// Maximum memory of one compiled pattern.
    pub pattern_bytes: usize,
    /// Longest value that is checked in place, in bytes of its text.
    pub value_bytes: usize,
    /// Longest time of one check, including the wait for a thread.
    pub time: Duration,
    /// Expensive checks that run concurrently in the whole process.
    pub pool: usize,
    /// Maximum cost of a schema that counts as cheap; a subschema with a type costs one.
    pub cheap: u64,
    /// Steps of a check in place; a check that needs more is expensive after all.
    pub steps: u64,
    /// Maximum number of violations in a report.
    pub violations: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            schema_bytes: 256 * 1024,
            depth: 64,
            subschemas: 10_000,
            patterns: 200,
            pattern_bytes: 64 * 1024,
            value_bytes: 64 * 1024,
            time: Duration::from_millis(250),
            pool: 2,
            cheap: 2_000,
            steps: 50_000,
            violations: 20,
        }
    }
}
