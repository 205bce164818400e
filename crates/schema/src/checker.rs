//! A schema that is compiled once, and the checks against it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use jsonschema::Validator;
use serde_json::Value;
use switchboard_wire::Raw;

use super::compile::compile;
use super::meter::{Allowance, CAN_STOP, Metered, Probe, Stop, metered};
use super::{Cost, Reason, SchemaLimits, Verdict, Violation, pool, words};

/// Stack for a check in place, which runs on top of its caller.
const STACK_IN_PLACE: usize = 256 * 1024;

/// Stack for a check on a thread of the pool, of the 2 MiB that tokio gives a thread.
const STACK_IN_POOL: usize = 1024 * 1024;

/// Errors examined per violation in a report, including those below an `anyOf`.
const ERRORS_EACH: u64 = 50;

/// A compiled schema.
///
/// Cloning is cheap. Compiling never fails: a schema that is not valid, or is over a limit, makes a
/// checker that returns the reason instead of checking.
#[derive(Clone)]
pub struct Checker(Arc<Inner>);

struct Inner {
    compiled: Result<Compiled, Reason>,
    limits: SchemaLimits,
}

pub(super) struct Compiled {
    pub(super) validator: Validator<Metered>,
    pub(super) schema: Value,
    pub(super) is_cheap: bool,
}

impl Checker {
    /// Compiles a schema.
    ///
    /// This may take some milliseconds for a schema at the limits; see [`SchemaLimits`].
    pub fn compile(schema: &Raw, limits: &SchemaLimits) -> Self {
        Self(Arc::new(Inner {
            compiled: compile(schema, limits),
            limits: limits.clone(),
        }))
    }

    /// The cost of a check.
    pub fn cost(&self) -> Cost {
        match &self.0.compiled {
            Ok(compiled) if compiled.is_cheap => Cost::Cheap,
            Ok(_) => Cost::Dear,
            Err(reason) => Cost::Unchecked(reason.clone()),
        }
    }

    /// Checks a value in place, which only a cheap schema permits.
    ///
    /// An expensive schema, or a value that makes a cheap one expensive, returns [`Reason::TooExpensive`].
    pub fn check_now(&self, value: &Value) -> Verdict {
        self.in_place(value)
            .unwrap_or(Verdict::NotChecked(Reason::TooExpensive))
    }

    /// Checks an unparsed value in place, like [`Checker::check_now`].
    pub fn check_text_now(&self, value: &Raw) -> Verdict {
        self.text_in_place(value)
            .unwrap_or(Verdict::NotChecked(Reason::TooExpensive))
    }

    /// Checks a value: in place if that is cheap, and otherwise on a thread of tokio's with a time limit.
    ///
    /// # Cancel safety
    /// Dropping the future gives the check up.
    pub async fn check(&self, value: Arc<Value>) -> Verdict {
        match self.in_place(&value) {
            Some(verdict) => verdict,
            None => {
                self.in_pool(move |inner, until| inner.check_until(&value, until))
                    .await
            }
        }
    }

    /// Checks an unparsed value, like [`Checker::check`].
    pub async fn check_text(&self, value: &Raw) -> Verdict {
        match self.text_in_place(value) {
            Some(verdict) => verdict,
            None => {
                let value = value.clone();
                self.in_pool(move |inner, until| match value.decode() {
                    Ok(value) => inner.check_until(&value, until),
                    Err(_) => Verdict::NotChecked(Reason::Unreadable),
                })
                .await
            }
        }
    }

    async fn in_pool(
        &self,
        check: impl FnOnce(&Inner, Instant) -> Verdict + Send + 'static,
    ) -> Verdict {
        // Without unwinding a check cannot be stopped, so an expensive one must not start.
        if !CAN_STOP {
            return Verdict::NotChecked(Reason::TooExpensive);
        }
        let inner = Arc::clone(&self.0);
        // Boxed: nearly no call gets here, but every call would carry the size of the future.
        Box::pin(pool::run(&self.0.limits, move |until| check(&inner, until))).await
    }

    /// The verdict if no thread is needed; `None` otherwise.
    fn in_place(&self, value: &Value) -> Option<Verdict> {
        match &self.0.compiled {
            Err(reason) => Some(Verdict::NotChecked(reason.clone())),
            Ok(compiled) if compiled.is_cheap => {
                compiled.check(value, &self.0.limits, self.0.limits.in_place())
            }
            Ok(_) => None,
        }
    }

    fn text_in_place(&self, value: &Raw) -> Option<Verdict> {
        let compiled = match &self.0.compiled {
            Err(reason) => return Some(Verdict::NotChecked(reason.clone())),
            Ok(compiled) => compiled,
        };
        // Parsing a long value takes time too, so that goes to the pool as well.
        if !compiled.is_cheap || value.len_bytes() > self.0.limits.value_bytes {
            return None;
        }
        match serde_json::from_str(value.as_str()) {
            Ok(value) => compiled.check(&value, &self.0.limits, self.0.limits.in_place()),
            Err(_) => Some(Verdict::NotChecked(Reason::Unreadable)),
        }
    }
}

impl SchemaLimits {
    fn in_place(&self) -> Allowance {
        Allowance {
            steps: self.steps,
            until: None,
            stack: STACK_IN_PLACE,
            errors: self.errors(),
        }
    }

    fn errors(&self) -> u64 {
        u64::try_from(self.violations)
            .unwrap_or(u64::MAX)
            .saturating_mul(ERRORS_EACH)
    }
}

impl Inner {
    fn check_until(&self, value: &Value, until: Instant) -> Verdict {
        // In the pool the clock decides, not the number of steps.
        let allowance = Allowance {
            steps: u64::MAX,
            until: Some(until),
            stack: STACK_IN_POOL,
            errors: self.limits.errors(),
        };
        match &self.compiled {
            Err(reason) => Verdict::NotChecked(reason.clone()),
            Ok(compiled) => compiled
                .check(value, &self.limits, allowance)
                .unwrap_or(Verdict::NotChecked(Reason::TooExpensive)),
        }
    }
}

impl Compiled {
    /// Checks within an allowance; `None` if it was exceeded.
    fn check(&self, value: &Value, limits: &SchemaLimits, allowance: Allowance) -> Option<Verdict> {
        // A plain yes or no first, which is much cheaper than collecting errors.
        match metered(allowance, || self.validator.is_valid(Probe(value))) {
            Ok(true) => Some(Verdict::Fits),
            Ok(false) => Some(Verdict::Misfits(self.violations(value, limits, allowance))),
            Err(_) => None,
        }
    }

    /// Describes the violations, as far as the allowance permits: that there are some is known already.
    #[cold]
    fn violations(
        &self,
        value: &Value,
        limits: &SchemaLimits,
        allowance: Allowance,
    ) -> Vec<Violation> {
        let all = metered(allowance, || {
            let errors = self.validator.iter_errors(Probe(value));
            // Lazily: errors over the bound are not even made.
            let describe = errors.take(limits.violations.max(1));
            describe
                .map(|error| words::violation(&error, &self.schema))
                .collect::<Vec<_>>()
        });
        let found = match all {
            Ok(violations) => violations,
            // Too many errors: describe the first one only.
            Err(Stop::Errors) => {
                let first = metered(allowance, || {
                    let error = self.validator.validate(Probe(value)).err()?;
                    Some(words::violation(&error, &self.schema))
                });
                first.ok().flatten().into_iter().collect()
            }
            Err(_) => Vec::new(),
        };
        if found.is_empty() {
            return vec![words::unexplained()];
        }
        found
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Checker").field(&self.cost()).finish()
    }
}
