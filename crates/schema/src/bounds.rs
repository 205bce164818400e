//! The bounds of schemas and of checks.

use std::time::Duration;

/// What a schema and a check against it may cost.
///
/// A schema over one of these is not compiled, and a check over one is stopped; either way the
/// verdict is that nothing was checked, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Longest schema.
    pub schema_bytes: usize,
    /// Deepest nesting of objects and arrays in a schema.
    pub depth: usize,
    /// Subschemas in a schema.
    pub subschemas: usize,
    /// Patterns in a schema, the same one twice counted twice.
    pub patterns: usize,
    /// What one pattern may take in memory, compiled.
    pub pattern_bytes: usize,
    /// Longest value that is checked in place, in bytes of its text.
    pub value_bytes: usize,
    /// How long one check may take, with the wait for its turn.
    pub time: Duration,
    /// Dear checks that run at once, in the whole process.
    pub pool: usize,
    /// The cost up to which a schema is cheap; a subschema with a type counts one.
    pub cheap: u64,
    /// Steps that a check in place may take before it is dear after all.
    pub steps: u64,
    /// Violations that are reported.
    pub violations: usize,
}

impl Default for Bounds {
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
