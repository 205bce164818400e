//! A stand-in checker for builds without the feature `validation`. It checks nothing.

use std::sync::Arc;

use serde_json::Value;
use switchboard_wire::Raw;

use crate::{Cost, Reason, SchemaLimits, Verdict};

/// A schema that values are not checked against, because the build has no validator.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StubChecker;

impl StubChecker {
    /// Accepts a schema without compiling it.
    pub fn compile(_: &Raw, _: &SchemaLimits) -> Self {
        Self
    }

    /// Returns [`Cost::Unchecked`].
    pub fn cost(&self) -> Cost {
        Cost::Unchecked(Reason::NotBuilt)
    }

    /// Returns [`Verdict::NotChecked`].
    pub fn check_now(&self, _: &Value) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }

    /// Returns [`Verdict::NotChecked`].
    pub fn check_text_now(&self, _: &Raw) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }

    /// Returns [`Verdict::NotChecked`].
    pub async fn check(&self, _: Arc<Value>) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }

    /// Returns [`Verdict::NotChecked`].
    pub async fn check_text(&self, _: &Raw) -> Verdict {
        Verdict::NotChecked(Reason::NotBuilt)
    }
}
