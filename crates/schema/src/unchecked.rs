//! The checker of a build without the feature `validation`: it checks nothing, and says so.

use std::sync::Arc;

use serde_json::Value;
use switchboard_wire::Raw;

use crate::{Bounds, Cost, Reason, Verdict};

/// A schema that values are not checked against: the build has no validator.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checker;

impl Checker {
    /// Takes a schema, and compiles nothing.
    pub fn compile(_: &Raw, _: &Bounds) -> Self {
        Self
    }

    /// Says that checks are not made.
    pub fn cost(&self) -> Cost {
        Cost::Unchecked(Reason::NotBuilt)
    }

    /// Says that the value was not checked.
    pub fn check_now(&self, _: &Value) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }

    /// Says that the value was not checked.
    pub fn check_text_now(&self, _: &Raw) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }

    /// Says that the value was not checked.
    pub async fn check(&self, _: Arc<Value>) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }

    /// Says that the value was not checked.
    pub async fn check_text(&self, _: &Raw) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }
}
