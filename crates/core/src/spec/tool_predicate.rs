//! A predicate of the program over tools.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// A predicate of the program that decides which tools exist for a caller.
///
/// It gets the whole definition of a tool as JSON, as its server sent it, and the context of the use:
///
/// ```json
/// {
///   "server": "github",
///   "agent": { "id": "planner", "attributes": { "role": "writer" } },
///   "run": { "task": "docs", "issue": { "number": 7 } }
/// }
/// ```
///
/// The id of the owner of a host is `owner`. A tool that the predicate does not admit is neither listed
/// nor called; to the caller it does not exist. A predicate can only restrict, and should give the same
/// answer to the same question: it is asked for lists and before every call. It must not block.
#[derive(Clone)]
pub struct ToolPredicate(Arc<Admits>);

type Admits = dyn Fn(&Value, &Value) -> bool + Send + Sync;

impl ToolPredicate {
    /// Makes a predicate of a function over a definition and a context.
    pub fn new(admits: impl Fn(&Value, &Value) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(admits))
    }

    /// Returns true if the tool exists in that context.
    pub fn admits(&self, tool: &Value, context: &Value) -> bool {
        (self.0)(tool, context)
    }
}

/// Two are the same if one is a clone of the other.
impl PartialEq for ToolPredicate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ToolPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolPredicate")
    }
}
