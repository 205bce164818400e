//! What counts in a definition, and what does not.

use proptest::prelude::*;
use serde_json::Value;
use switchboard_wire::Raw;

use super::{full, read, tool};
use crate::pins::canon::{canonical, quote};
use crate::pins::{of_instructions, of_tool};

fn of(json: &str) -> String {
    canonical(&Raw::parse(json).unwrap())
}

#[test]
fn order_white_space_and_spelling_do_not_count() {
    assert_eq!(
        of(" { \"b\" : [ 1 , { \"z\":null,\r\n \"a\":true } ], \"a\":\"\\u0041\\/\\n\\u0007\" } "),
        r#"{"a":"A/\n\u0007","b":[1,{"a":true,"z":null}]}"#
    );
    assert_eq!(of(r#""\ud83d\ude42\u002F\b""#), of("\"🙂/\\u0008\""));
    assert_eq!(of("{ }"), "{}");
    assert_eq!(of("[ ]"), "[]");
}

#[test]
fn numbers_are_equal_by_value_and_by_nothing_less() {
    for (same, text) in [
        (vec!["1", "1.0", "10e-1", "0.1E+1", "1e0"], "1"),
        (vec!["0", "-0", "0.0", "0e5", "-0.00e-7"], "0"),
        (vec!["0.5", "5e-1", "50E-2"], "0.5"),
        (vec!["-12.5", "-125e-1"], "-12.5"),
        (vec!["1500", "1.5e3", "15E2"], "1500"),
        (vec!["0.001", "1e-3"], "0.001"),
        (vec!["1e400", "10e399"], "1e400"),
        (vec!["1.5e-30"], "15e-31"),
    ] {
        for one in same {
            assert_eq!(of(one), text, "{one}");
        }
    }
    // More than a float can tell apart, and more than any number has.
    assert_ne!(of("0.1"), of("0.10000000000000000000001"));
    assert_ne!(of("18446744073709551616"), of("18446744073709551617"));
    assert_eq!(of("1e99999999999999999999"), "1e99999999999999999999");
    assert_ne!(of("1"), of("\"1\""));
    assert_ne!(of("1"), of("-1"));
}

#[test]
fn what_no_value_can_hold_counts_too() {
    assert_eq!(of(r#""\uD83d x""#), r#""\ud83d x""#);
    assert_ne!(of(r#""\ud83d""#), of(r#""\ud83e""#));
    assert_ne!(of(r#""\ud83d""#), of(r#""\\ud83d""#));
    assert_eq!(of(r#""\ude42\ud83d""#), r#""\ude42\ud83d""#);
    // Of a key that is there twice, whoever reads may take either.
    assert_ne!(of(r#"{"a":1,"a":2}"#), of(r#"{"a":3,"a":2}"#));
    assert_ne!(of(r#"{"a":1,"a":2}"#), of(r#"{"a":2}"#));
    assert_ne!(of(r#"{"a":1,"a":2}"#), of(r#"{"a":2,"a":1}"#));
    assert_eq!(of(r#"{"b":0,"a":1,"a":2}"#), of(r#"{"a":1,"b":0,"a":2}"#));
}

#[test]
fn texts_of_any_depth_and_size_have_a_hash() {
    let deep = |levels: usize, inner: &str| {
        format!(
            "{}{inner}{}",
            r#"{"b":1,"a":"#.repeat(levels),
            "}".repeat(levels)
        )
    };
    let ordered = of(&deep(256, "1"));
    assert!(ordered.starts_with(r#"{"a":{"a""#));
    // Deeper, it counts to the letter.
    for levels in [257, 100_000] {
        let text = deep(levels, "1");
        assert_eq!(of(&text), text);
    }
    let long = "x".repeat(10 << 20);
    let one = tool(&serde_json::json!({"name": "a", "description": long, "inputSchema": {}}));
    let other = format!("{}y", long.get(1..).unwrap());
    let other = tool(&serde_json::json!({"name": "a", "description": other, "inputSchema": {}}));
    assert_ne!(of_tool(&one), of_tool(&other));
}

#[test]
fn the_hash_is_the_one_that_anybody_gets() {
    let tool = read(r#"{ "name": "a", "inputSchema": {"type": "object"} }"#);
    // printf '%s' '{"inputSchema":{"type":"object"},"name":"a"}' | sha256sum
    assert_eq!(
        of_tool(&tool).to_string(),
        "sha256:60d4353e9a5499b483d09f13d9e28060e70f34edf787bb7040ba30bd390f85af"
    );
    // printf '%s' '"Use it."' | sha256sum
    assert_eq!(
        of_instructions("Use it.").to_string(),
        "sha256:a2618e0844fb6ad939e99d17450af651c2fe00d27610235e0d3b25c06263d627"
    );
    assert_ne!(of_instructions(""), of_instructions("\0"));
}

/// Values of every kind.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}|[\\x00-\\x7f]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-e\"\\\\\\x01é]{0,3}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes a value with keys in an order and white space that the numbers choose.
fn scrambled(value: &Value, dice: &mut impl FnMut() -> usize, out: &mut String) {
    let space = |dice: &mut dyn FnMut() -> usize, out: &mut String| {
        out.push_str(["", " ", "\n\t", "\r\n  "].get(dice() % 4).unwrap());
    };
    space(dice, out);
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                scrambled(item, dice, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for at in (1..members.len()).rev() {
                members.swap(at, dice() % (at + 1));
            }
            out.push('{');
            for (at, (key, member)) in members.into_iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                space(dice, out);
                out.push_str(&Value::from(key.as_str()).to_string());
                space(dice, out);
                out.push(':');
                scrambled(member, dice, out);
            }
            out.push('}');
        }
        Value::String(text) if dice().is_multiple_of(2) => {
            out.push('"');
            for unit in text.encode_utf16() {
                out.push_str(&format!("\\u{unit:04X}"));
            }
            out.push('"');
        }
        plain => out.push_str(&plain.to_string()),
    }
    space(dice, out);
}

fn dice(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    }
}

/// The pointers to all leaves.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                leaves(member, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{at}/{index}"), found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}

#[test]
fn any_leaf_of_a_tool_counts_and_any_missing_member() {
    let before = of(&full().to_string());
    let mut found = Vec::new();
    leaves(&full(), "", &mut found);
    assert_eq!(found.len(), 19);
    for pointer in found {
        for other in [Value::from("other"), Value::from(7), Value::Null] {
            let mut changed = full();
            let leaf = changed.pointer_mut(&pointer).unwrap();
            if *leaf == other {
                continue;
            }
            *leaf = other;
            assert_ne!(of(&changed.to_string()), before, "{pointer}");
        }
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let mut changed = full();
        match changed.pointer_mut(parent).unwrap() {
            Value::Object(members) => drop(members.remove(key)),
            Value::Array(items) => drop(items.remove(key.parse().unwrap())),
            _ => panic!("{parent} is a leaf"),
        }
        assert_ne!(of(&changed.to_string()), before, "{pointer} removed");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_tool_is_the_same_in_any_order_and_white_space(seed: u64) {
        let mut text = String::new();
        scrambled(&full(), &mut dice(seed), &mut text);
        prop_assert_eq!(of_tool(&read(&text)), of_tool(&tool(&full())));
    }

    #[test]
    fn any_value_is_the_same_in_any_order_and_white_space(value in any_value(), seed: u64) {
        let mut text = String::new();
        scrambled(&value, &mut dice(seed), &mut text);
        let one = of(&text);
        prop_assert_eq!(&one, &of(&value.to_string()));
        // What is canonical stays as it is, and is the value still.
        prop_assert_eq!(of(&one), one);
    }

    #[test]
    fn another_leaf_anywhere_is_another_text(value in any_value(), which: usize, seed: u64) {
        let mut found = Vec::new();
        leaves(&value, "", &mut found);
        let pointer = found.get(which % found.len()).unwrap();
        let mut other = value.clone();
        let leaf = other.pointer_mut(pointer).unwrap();
        *leaf = match leaf.take() {
            Value::String(text) => format!("{text} ").into(),
            Value::Bool(yes) => (!yes).into(),
            Value::Number(number) => number.to_string().into(),
            _ => false.into(),
        };
        let mut text = String::new();
        scrambled(&other, &mut dice(seed), &mut text);
        prop_assert_ne!(of(&text), of(&value.to_string()));
    }

    #[test]
    fn values_that_differ_have_texts_that_differ(one in any_value(), other in any_value()) {
        // Numbers that are alike but for their type are alike here.
        let is_same = of(&one.to_string()) == of(&other.to_string());
        let by_value = |value: &Value| serde_json::from_str::<Value>(&of(&value.to_string())).unwrap();
        prop_assert_eq!(is_same, by_value(&one) == by_value(&other));
    }

    #[test]
    fn a_text_is_quoted_like_a_string_of_a_definition(text in "\\PC*|[\\x00-\\x7f]*") {
        let json = Value::from(text.as_str()).to_string();
        prop_assert_eq!(quote(&text), of(&json));
    }
}
