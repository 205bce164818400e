//! The test for schemas that OpenAI's strict mode accepts.

use serde_json::{Map, Value};

/// Nesting up to which every version of strict mode goes.
const DEPTH: usize = 5;

/// Properties in all, up to which every version goes.
const PROPERTIES: usize = 100;

/// Returns true if a schema qualifies: every object closed, every property required, and nothing but
/// keywords that strict mode has always known. Being wrong here makes the API refuse the tool, so
/// what is in doubt does not qualify.
pub(super) fn qualifies(schema: &Value) -> bool {
    let mut properties = 0;
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    is_object && fits(schema, DEPTH, &mut properties) && properties <= PROPERTIES
}

fn fits(schema: &Value, depth: usize, properties: &mut usize) -> bool {
    let (Value::Object(members), Some(below)) = (schema, depth.checked_sub(1)) else {
        return false;
    };
    members
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type"
            | "description"
            | "title"
            | "enum"
            | "const"
            | "required"
            | "additionalProperties" => true,
            "$ref" => value.as_str().is_some_and(|to| to.starts_with('#')),
            "items" => fits(value, below, properties),
            "anyOf" => {
                let branches = value.as_array();
                branches.is_some_and(|all| all.iter().all(|one| fits(one, below, properties)))
            }
            "properties" | "$defs" => value.as_object().is_some_and(|named| {
                *properties += named.len();
                named.values().all(|one| fits(one, below, properties))
            }),
            _ => false,
        })
        && is_closed(members)
}

/// An object that has all of its properties and no others; whatever is no object.
fn is_closed(members: &Map<String, Value>) -> bool {
    let says_object = match members.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    };
    if !says_object && !members.contains_key("properties") {
        return true;
    }
    let required = members.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|one| one == name));
    let named = members.get("properties").and_then(Value::as_object);
    members.get("additionalProperties") == Some(&Value::Bool(false))
        && named.is_some_and(|named| named.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn closed_objects_with_everything_required_qualify() {
        assert!(qualifies(
            &json!({"type":"object","properties":{},"additionalProperties":false})
        ));
        assert!(qualifies(
            &json!({"type":"object","required":["a","b"],"additionalProperties":false,
            "properties":{"a":{"type":["string","null"]},"b":{"type":"array","items":{"enum":[1]}}}})
        ));
    }

    #[test]
    fn anything_else_does_not() {
        let closed = json!({"type":"object","properties":{"a":{"type":"string"}},
            "required":["a"],"additionalProperties":false});
        assert!(qualifies(&closed));
        for (pointer, value) in [
            ("/required", json!([])),
            ("/additionalProperties", json!(true)),
            ("/additionalProperties", json!({})),
            ("/properties/a", json!({"type":"object"})),
            ("/properties/a", json!({"type":"string","default":"x"})),
            ("/properties/a", json!({"oneOf":[]})),
            ("/properties/a", json!({"$ref":"https://example.com"})),
            ("/properties/a", json!(true)),
            ("/type", json!("array")),
        ] {
            let mut open = closed.clone();
            *open.pointer_mut(pointer).unwrap() = value;
            assert!(!qualifies(&open), "{open}");
        }
    }

    #[test]
    fn it_may_be_so_deep_and_so_wide() {
        let nested = |levels: usize| {
            let mut inner = json!({"type":"string"});
            for _ in 1..levels {
                inner = json!({"type":"object","properties":{"a":inner},"required":["a"],
                    "additionalProperties":false});
            }
            inner
        };
        assert!(qualifies(&nested(5)));
        assert!(!qualifies(&nested(6)));
        let wide = |count: usize| {
            let named: Map<String, Value> = (0..count)
                .map(|at| (format!("p{at}"), json!({"type":"null"})))
                .collect();
            let names: Vec<&String> = named.keys().collect();
            json!({"type":"object","required":names,"properties":named,"additionalProperties":false})
        };
        assert!(qualifies(&wide(100)));
        assert!(!qualifies(&wide(101)));
    }
}
