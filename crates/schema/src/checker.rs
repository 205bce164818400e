//! A schema, compiled once, and the checks against it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use jsonschema::Validator;
use serde_json::Value;
use switchboard_wire::Raw;

use super::compile::compile;
use super::meter::{Allowance, CAN_STOP, Metered, Probe, Stop, metered};
use super::{Bounds, Cost, Reason, Verdict, Violation, pool, words};

/// Stack that a check in place may use: it runs on top of whatever called it.
const STACK_IN_PLACE: usize = 256 * 1024;

/// Stack that a check in a thread of its own may use, of the 2 MiB that tokio gives one.
const STACK_IN_POOL: usize = 1024 * 1024;

/// Errors that are looked at to describe violations, for each violation that is reported: what
/// is below an `anyOf` counts too.
const ERRORS_EACH: u64 = 50;

/// A compiled schema.
///
/// Cloning is cheap. Compiling never fails: a schema that cannot be compiled, or is over a bound,
/// makes a checker that checks nothing and says why.
#[derive(Clone)]
pub struct Checker(Arc<Inner>);

struct Inner {
    compiled: Result<Compiled, Reason>,
    bounds: Bounds,
}

pub(super) struct Compiled {
    pub(super) validator: Validator<Metered>,
    pub(super) schema: Value,
    pub(super) is_cheap: bool,
}

impl Checker {
    /// Compiles a schema.
    ///
    /// It may take some milliseconds for schemas at the bounds; see [`Bounds`].
    pub fn compile(schema: &Raw, bounds: &Bounds) -> Self {
        Self(Arc::new(Inner {
            compiled: compile(schema, bounds),
            bounds: bounds.clone(),
        }))
    }

    /// Says how dear checks are.
    pub fn cost(&self) -> Cost {
        match &self.0.compiled {
            Ok(compiled) if compiled.is_cheap => Cost::Cheap,
            Ok(_) => Cost::Dear,
            Err(reason) => Cost::Unchecked(reason.clone()),
        }
    }

    /// Checks a value in place, which only a cheap schema allows.
    ///
    /// A dear one, and a value that makes a cheap one dear, is [`Reason::TooExpensive`].
    pub fn check_now(&self, value: &Value) -> Verdict {
        self.in_place(value)
            .unwrap_or(Verdict::NotChecked(Reason::TooExpensive))
    }

    /// Checks a value that was not parsed yet, in place, as [`Checker::check_now`] does.
    pub fn check_text_now(&self, value: &Raw) -> Verdict {
        self.text_in_place(value)
            .unwrap_or(Verdict::NotChecked(Reason::TooExpensive))
    }

    /// Checks a value: in place where that is cheap, else in a thread of tokio's and with a time
    /// limit. Dropping the future gives the check up.
    pub async fn check(&self, value: Arc<Value>) -> Verdict {
        match self.in_place(&value) {
            Some(verdict) => verdict,
            None => {
                self.in_pool(move |inner, until| inner.check_until(&value, until))
                    .await
            }
        }
    }

    /// Checks a value that was not parsed yet, as [`Checker::check`] does.
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
        if !CAN_STOP {
            return Verdict::NotChecked(Reason::TooExpensive);
        }
        let inner = Arc::clone(&self.0);
        // Boxed: nearly no call comes here, and every call would carry its size.
        Box::pin(pool::run(&self.0.bounds, move |until| check(&inner, until))).await
    }

    /// The verdict, where it takes no thread; nothing where it would.
    fn in_place(&self, value: &Value) -> Option<Verdict> {
        match &self.0.compiled {
            Err(reason) => Some(Verdict::NotChecked(reason.clone())),
            Ok(compiled) if compiled.is_cheap => {
                compiled.check(value, &self.0.bounds, self.0.bounds.in_place())
            }
            Ok(_) => None,
        }
    }

    fn text_in_place(&self, value: &Raw) -> Option<Verdict> {
        let compiled = match &self.0.compiled {
            Err(reason) => return Some(Verdict::NotChecked(reason.clone())),
            Ok(compiled) => compiled,
        };
        if !compiled.is_cheap || value.len_bytes() > self.0.bounds.value_bytes {
            return None;
        }
        match serde_json::from_str(value.as_str()) {
            Ok(value) => compiled.check(&value, &self.0.bounds, self.0.bounds.in_place()),
            Err(_) => Some(Verdict::NotChecked(Reason::Unreadable)),
        }
    }
}

impl Bounds {
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
        let allowance = Allowance {
            steps: u64::MAX,
            until: Some(until),
            stack: STACK_IN_POOL,
            errors: self.bounds.errors(),
        };
        match &self.compiled {
            Err(reason) => Verdict::NotChecked(reason.clone()),
            Ok(compiled) => compiled
                .check(value, &self.bounds, allowance)
                .unwrap_or(Verdict::NotChecked(Reason::TooExpensive)),
        }
    }
}

impl Compiled {
    /// Checks within an allowance; nothing where that was not enough.
    fn check(&self, value: &Value, bounds: &Bounds, allowance: Allowance) -> Option<Verdict> {
        match metered(allowance, || self.validator.is_valid(Probe(value))) {
            Ok(true) => Some(Verdict::Fits),
            Ok(false) => Some(Verdict::Misfits(self.violations(value, bounds, allowance))),
            Err(_) => None,
        }
    }

    /// Describes what is wrong, as far as the allowance goes: that something is wrong is known.
    #[cold]
    fn violations(&self, value: &Value, bounds: &Bounds, allowance: Allowance) -> Vec<Violation> {
        let all = metered(allowance, || {
            let errors = self.validator.iter_errors(Probe(value));
            let describe = errors.take(bounds.violations.max(1));
            describe
                .map(|error| words::violation(&error, &self.schema))
                .collect::<Vec<_>>()
        });
        let found = match all {
            Ok(violations) => violations,
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
