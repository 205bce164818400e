//! Measures a schema before it is compiled: its size, and the maximum cost of a check.
//!
//! The walk keeps its own stack instead of recursing, because references can chain thousands of
//! subschemas even in a flat text.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The measurements of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measurements {
    /// The number of subschemas, each counted once.
    pub(super) subschemas: usize,
    /// The number of patterns for values and for names.
    pub(super) patterns: usize,
    /// The maximum number of steps of one check, with every reference written out; [`BOUNDLESS`] if the
    /// recursion depends on the value.
    pub(super) cost: u64,
}

/// The cost of a schema that refers to itself, or to an unknown schema.
pub(super) const BOUNDLESS: u64 = u64::MAX;

/// The kind of value that a keyword has.
enum Holds {
    Schema,
    Schemas,
    NamedSchemas,
    /// Schemas that apply only if something refers to them.
    Definitions,
    Nothing,
}

fn holds(keyword: &str) -> Holds {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" | "items" => Holds::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
            Holds::NamedSchemas
        }
        "$defs" | "definitions" => Holds::Definitions,
        _ => Holds::Nothing,
    }
}

/// The cost factor of a subschema below a keyword. Alternatives that are tried, and subschemas that are
/// evaluated again for the rest of a value, cost twice.
fn factor(keyword: &str) -> u64 {
    match keyword {
        "anyOf" | "oneOf" | "contains" | "unevaluatedItems" | "unevaluatedProperties" => 2,
        _ => 1,
    }
}

/// Measures a schema; stops at more than `most` subschemas.
pub(super) fn measure(root: &Value, most: usize) -> Measurements {
    let mut walk = Walk {
        root,
        found: Vec::new(),
        by_place: HashMap::new(),
        anchors: None,
        patterns: 0,
    };
    walk.visit(root);
    // Breadth first: opening a subschema appends those below it to `found`.
    let mut next = 0;
    while let Some(place) = walk.found.get(next).map(|node| node.place) {
        // Over the bound it does not matter how many more there are.
        if walk.found.len() > most {
            break;
        }
        walk.open(next, place);
        next += 1;
    }
    let cost = if walk.found.len() > most {
        BOUNDLESS
    } else {
        total(&walk.found)
    };
    Measurements {
        subschemas: walk.found.len(),
        patterns: walk.patterns,
        cost,
    }
}

struct Found<'a> {
    place: &'a Value,
    weight: u64,
    /// Indices of subschemas that are visited from here, with their cost factor.
    below: Vec<(usize, u64)>,
}

struct Walk<'a> {
    root: &'a Value,
    found: Vec<Found<'a>>,
    by_place: HashMap<usize, usize>,
    /// The anchors; collected when the first one is needed.
    anchors: Option<HashMap<&'a str, &'a Value>>,
    patterns: usize,
}

impl<'a> Walk<'a> {
    /// Returns the index of a subschema, adding it if it is new.
    fn visit(&mut self, place: &'a Value) -> usize {
        let next = self.found.len();
        let at = std::ptr::from_ref(place).addr();
        // Subschemas are identified by their address, so that each counts once.
        let known = *self.by_place.entry(at).or_insert(next);
        if known == next {
            self.found.push(Found {
                place,
                weight: 1,
                below: Vec::new(),
            });
        }
        known
    }

    /// Records the cost of a subschema, and visits those below it.
    fn open(&mut self, number: usize, place: &'a Value) {
        let Value::Object(members) = place else {
            return;
        };
        let mut below = Vec::new();
        let mut weight = 1;
        for (keyword, value) in members {
            weight = add(weight, self.weigh(keyword, value));
            let factor = factor(keyword);
            match (holds(keyword), value) {
                (Holds::Schemas, Value::Array(items)) => {
                    below.extend(items.iter().map(|item| (self.visit(item), factor)));
                }
                (Holds::Schema | Holds::Schemas, Value::Object(_) | Value::Bool(_)) => {
                    below.push((self.visit(value), factor));
                }
                (Holds::NamedSchemas, Value::Object(named)) => {
                    // In older drafts `dependencies` may be lists of names.
                    let schemas = named.values().filter(|value| !value.is_array());
                    below.extend(schemas.map(|value| (self.visit(value), factor)));
                }
                // Definitions count as subschemas, but cost nothing until something refers to them.
                (Holds::Definitions, Value::Object(named)) => {
                    for value in named.values() {
                        self.visit(value);
                    }
                }
                _ => {}
            }
            // A reference costs what its target costs; an unknown target could cost anything.
            if matches!(keyword.as_str(), "$ref") {
                let target = value.as_str().and_then(|to| self.target(to));
                match target {
                    Some(target) => below.push((self.visit(target), 1)),
                    None => weight = BOUNDLESS,
                }
            }
        }
        if let Some(node) = self.found.get_mut(number) {
            node.weight = weight;
            node.below = below;
        }
    }

    /// The cost of a keyword without its subschemas.
    fn weigh(&mut self, keyword: &str, value: &Value) -> u64 {
        let many = |count: usize| u64::try_from(count).unwrap_or(BOUNDLESS);
        match (keyword, value) {
            ("pattern", Value::String(_)) => {
                self.patterns += 1;
                20
            }
            ("patternProperties", Value::Object(named)) => {
                self.patterns += named.len();
                many(named.len()).saturating_mul(20)
            }
            ("enum", Value::Array(options)) => many(options.len()) / 4,
            ("uniqueItems", Value::Bool(true)) => 10,
            // The target depends on the path by which a check gets here.
            ("$dynamicRef" | "$recursiveRef", _) => BOUNDLESS,
            _ => 0,
        }
    }

    /// The target of a reference, if it is in the schema itself.
    fn target(&mut self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() {
            return Some(self.root);
        }
        if fragment.starts_with('/') {
            // An escaped pointer is not decoded: its cost counts as unknown.
            let plain = !fragment.contains('%');
            return self.root.pointer(fragment).filter(|_| plain);
        }
        let root = self.root;
        let anchors = self.anchors.get_or_insert_with(|| anchors(root));
        anchors.get(fragment).copied()
    }
}

/// Collects all places with a name of their own.
fn anchors(root: &Value) -> HashMap<&str, &Value> {
    fn name(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
        ["$anchor", "$dynamicAnchor", "$id", "id"]
            .into_iter()
            .filter_map(|keyword| members.get(keyword)?.as_str())
            .map(|name| name.trim_start_matches('#'))
    }
    let mut named = HashMap::new();
    let mut open = vec![root];
    while let Some(place) = open.pop() {
        match place {
            Value::Object(members) => {
                named.extend(name(members).map(|name| (name, place)));
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    named
}

fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}

#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    Done(u64),
}

/// Adds up the cost from the first subschema on; a cycle is boundless.
fn total(found: &[Found<'_>]) -> u64 {
    // Shared subschemas are summed once, and a cycle has no bound.
    let mut states = vec![State::New; found.len()];
    let mut open = vec![0];
    // Depth first without recursion: a node is expanded on the first visit and summed on the second.
    while let Some(&number) = open.last() {
        let (Some(node), Some(state)) = (found.get(number), states.get_mut(number)) else {
            return BOUNDLESS;
        };
        match *state {
            State::Done(_) => {
                open.pop();
            }
            State::New => {
                *state = State::Open;
                for (below, _) in &node.below {
                    match states.get(*below) {
                        Some(State::New) => open.push(*below),
                        Some(State::Done(_)) => {}
                        // An open node above is its own descendant: a cycle.
                        Some(State::Open) | None => return BOUNDLESS,
                    }
                }
            }
            State::Open => {
                let cost =
                    node.below.iter().fold(node.weight, |sum, (below, factor)| {
                        match states.get(*below) {
                            Some(State::Done(cost)) => add(sum, cost.saturating_mul(*factor)),
                            _ => BOUNDLESS,
                        }
                    });
                if let Some(state) = states.get_mut(number) {
                    *state = State::Done(cost);
                }
                open.pop();
            }
        }
    }
    match states.first() {
        Some(State::Done(cost)) => *cost,
        _ => BOUNDLESS,
    }
}
