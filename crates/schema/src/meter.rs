//! A JSON value that counts each access, so that a check can be stopped.
//!
//! The validator cannot be told to stop: a schema can make it visit one small value 2^60 times, or
//! recurse until the stack is exhausted. But every step accesses the value, so the value stops it: over
//! its allowance it unwinds to [`metered`], without a panic message. In a program that is built to abort
//! instead of unwinding nothing is metered, and only cheap schemas are checked at all ([`CAN_STOP`]).

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use serde_json::{Map, Number, Value};

/// True if a check can be stopped in this build.
pub(super) const CAN_STOP: bool = cfg!(panic = "unwind");

/// Steps between two reads of the clock.
const CHUNK: u64 = 1024;

/// The resources of one check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    /// Maximum number of steps.
    pub(super) steps: u64,
    /// The deadline.
    pub(super) until: Option<Instant>,
    /// Maximum stack, in bytes.
    pub(super) stack: usize,
    /// Maximum number of errors that are described.
    pub(super) errors: u64,
}

/// The exhausted resource of a check that was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Steps,
    Time,
    Stack,
    Errors,
}

/// The remaining resources of the check that runs on this thread.
struct Meter {
    /// Steps until the next read of the clock.
    chunk: Cell<u64>,
    /// Further steps after these.
    steps: Cell<u64>,
    until: Cell<Option<Instant>>,
    /// The lowest permitted address of the stack.
    floor: Cell<usize>,
    errors: Cell<u64>,
}

impl Meter {
    const fn unlimited() -> Self {
        Self {
            chunk: Cell::new(u64::MAX),
            steps: Cell::new(0),
            until: Cell::new(None),
            floor: Cell::new(0),
            errors: Cell::new(u64::MAX),
        }
    }

    fn set(&self, allowance: Allowance) {
        // The first chunk is taken off at once, so that few steps are counted exactly.
        let chunk = allowance.steps.min(CHUNK);
        self.chunk.set(chunk);
        self.steps.set(allowance.steps - chunk);
        self.until.set(allowance.until);
        self.floor.set(here().saturating_sub(allowance.stack));
        self.errors.set(allowance.errors);
    }

    fn clear(&self) {
        self.chunk.set(u64::MAX);
        self.steps.set(0);
        self.until.set(None);
        self.floor.set(0);
        self.errors.set(u64::MAX);
    }
}

thread_local! {
    static METER: Meter = const { Meter::unlimited() };
}

/// The approximate current end of the stack.
#[inline(always)]
fn here() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&mark)).addr()
}

/// Counts one step; every access to a value calls this.
#[inline]
fn step() {
    METER.with(|meter| {
        let left = meter.chunk.get();
        // The hot path: one counter and one address.
        if left == 0 || here() < meter.floor.get() {
            refill(meter);
        } else {
            meter.chunk.set(left - 1);
        }
    });
}

/// Stops the check if a resource is exhausted; otherwise starts the next chunk of steps.
#[cold]
fn refill(meter: &Meter) {
    if here() < meter.floor.get() {
        stop(Stop::Stack);
    }
    let left = meter.steps.get();
    if left == 0 {
        stop(Stop::Steps);
    }
    if meter
        .until
        .get()
        .is_some_and(|until| Instant::now() >= until)
    {
        stop(Stop::Time);
    }
    // Reading the clock is slow, so it is read once per chunk of steps.
    let chunk = left.min(CHUNK);
    meter.chunk.set(chunk);
    meter.steps.set(left - chunk);
}

fn stop(why: Stop) -> ! {
    // Not a panic: this runs no hook and prints nothing.
    resume_unwind(Box::new(why))
}

/// Runs a check within an allowance.
///
/// A panic of the validator itself must not take the caller down either: it counts as a check that ran
/// out of time.
pub(super) fn metered<T>(allowance: Allowance, run: impl FnOnce() -> T) -> Result<T, Stop> {
    // Only cheap checks get here then: see `Checker::in_pool`.
    if !CAN_STOP {
        return Ok(run());
    }
    METER.with(|meter| meter.set(allowance));
    // Unwind safe: a check does not modify the validator, and its own values are dropped.
    let done = catch_unwind(AssertUnwindSafe(run));
    // Whatever happened: the thread is used for other work next.
    METER.with(Meter::clear);
    done.map_err(|why| why.downcast_ref::<Stop>().copied().unwrap_or(Stop::Time))
}

/// The JSON representation for the validator whose nodes count accesses.
pub(super) struct Metered;

/// One node.
#[derive(Clone, Copy)]
pub(super) struct Probe<'a>(pub(super) &'a Value);

impl Json for Metered {
    type Node<'a> = Probe<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Probe<'_>) -> T) -> T {
        // Property names are checked as values, which need a place to live.
        *buffer = Value::String(string.to_owned());
        f(Probe(buffer))
    }
}

impl<'a> Node<'a, Metered> for Probe<'a> {
    type Object = ProbeObject<'a>;
    type Array = ProbeArray<'a>;
    type Number = &'a Number;

    #[inline]
    fn as_object(&self) -> Option<ProbeObject<'a>> {
        step();
        self.0.as_object().map(ProbeObject)
    }

    #[inline]
    fn as_array(&self) -> Option<ProbeArray<'a>> {
        step();
        self.0.as_array().map(|items| ProbeArray(items))
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        step();
        self.0.as_str().map(Cow::Borrowed)
    }

    #[inline]
    fn as_number(&self) -> Option<&'a Number> {
        step();
        match self.0 {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        step();
        self.0.as_bool()
    }

    #[inline]
    fn is_null(&self) -> bool {
        step();
        self.0.is_null()
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        step();
        match self.0 {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        step();
        cmp::equal(self.0, expected)
    }

    /// Called for errors only: all other methods that would call it are overridden here.
    fn to_value(&self) -> Cow<'a, Value> {
        step();
        METER.with(|meter| match meter.errors.get() {
            0 => stop(Stop::Errors),
            left => meter.errors.set(left - 1),
        });
        Cow::Borrowed(self.0)
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        step();
        Some(NodeIdentity::new(std::ptr::from_ref(self.0).addr()))
    }
}

/// The members of an object.
#[derive(Clone, Copy)]
pub(super) struct ProbeObject<'a>(&'a Map<String, Value>);

/// An iterator over the members of an object.
pub(super) struct Members<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Probe<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        step();
        self.0
            .next()
            .map(|(key, value)| (key.as_str(), Probe(value)))
    }
}

impl<'a> Object<'a, Metered> for ProbeObject<'a> {
    type Node = Probe<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn get(&self, key: &String) -> Option<Probe<'a>> {
        step();
        self.0.get(key.as_str()).map(Probe)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.iter())
    }
}

/// The items of an array.
#[derive(Clone, Copy)]
pub(super) struct ProbeArray<'a>(&'a [Value]);

/// An iterator over the items of an array.
pub(super) struct Items<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for Items<'a> {
    type Item = Probe<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        step();
        self.0.next().map(Probe)
    }
}

impl<'a> Array<'a, Metered> for ProbeArray<'a> {
    type Node = Probe<'a>;
    type ElementsIter = Items<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Items<'a> {
        Items(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        step();
        unique::is_unique(self.0)
    }
}
