//! At, under and over every bound.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_wire::Raw;

use super::compiled;
use crate::{Checker, Cost, Reason, SchemaLimits, Verdict};

fn cost(schema: &str, limits: &SchemaLimits) -> Cost {
    Checker::compile(&Raw::parse(schema).unwrap(), limits).cost()
}

/// Time enough for the busiest machine, where the verdict is what counts.
fn patient() -> SchemaLimits {
    SchemaLimits {
        time: Duration::from_secs(60),
        ..SchemaLimits::default()
    }
}

fn nested(levels: usize) -> String {
    format!("{}true{}", r#"{"not":"#.repeat(levels), "}".repeat(levels))
}

#[test]
fn the_defaults_are_those_of_the_threat_model() {
    let limits = SchemaLimits::default();
    assert_eq!(limits.schema_bytes, 256 * 1024);
    assert_eq!(limits.depth, 64);
    assert_eq!(limits.subschemas, 10_000);
    assert_eq!(limits.time, Duration::from_millis(250));
    assert_eq!(limits.pool, 2);
}

#[test]
fn a_schema_may_have_so_many_bytes() {
    let limits = SchemaLimits::default();
    let sized = |bytes: usize| format!(r#"{{"title":"{}"}}"#, "x".repeat(bytes - 12));
    assert_eq!(sized(100).len(), 100);
    assert_eq!(cost(&sized(limits.schema_bytes - 1), &limits), Cost::Cheap);
    assert_eq!(cost(&sized(limits.schema_bytes), &limits), Cost::Cheap);
    assert_eq!(
        cost(&sized(limits.schema_bytes + 1), &limits),
        Cost::Unchecked(Reason::TooLarge {
            bytes: 262_145,
            most: 262_144
        })
    );
}

#[test]
fn a_schema_may_be_nested_so_deep() {
    let limits = SchemaLimits::default();
    assert_eq!(cost(&nested(63), &limits), Cost::Cheap);
    assert_eq!(cost(&nested(64), &limits), Cost::Cheap);
    for depth in [65, 1000, 30_000] {
        assert_eq!(
            cost(&nested(depth), &limits),
            Cost::Unchecked(Reason::TooDeep { depth, most: 64 })
        );
    }
}

#[test]
fn a_schema_may_have_so_many_subschemas() {
    let limits = SchemaLimits::default();
    let with = |count: usize| format!(r#"{{"allOf":[{}]}}"#, vec!["true"; count - 1].join(","));
    assert_eq!(cost(&with(9_999), &limits), Cost::Dear);
    assert_eq!(cost(&with(10_000), &limits), Cost::Dear);
    assert_eq!(
        cost(&with(10_001), &limits),
        Cost::Unchecked(Reason::TooManySubschemas { most: 10_000 })
    );
}

#[test]
fn a_schema_may_have_so_many_patterns() {
    let limits = SchemaLimits {
        patterns: 3,
        ..SchemaLimits::default()
    };
    let with = |count: usize| {
        let named: Vec<String> = (1..count).map(|at| format!(r#""^{at}$":true"#)).collect();
        format!(
            r#"{{"pattern":"^a$","patternProperties":{{{}}}}}"#,
            named.join(",")
        )
    };
    assert_eq!(cost(&with(2), &limits), Cost::Cheap);
    assert_eq!(cost(&with(3), &limits), Cost::Cheap);
    assert_eq!(
        cost(&with(4), &limits),
        Cost::Unchecked(Reason::TooManyPatterns { most: 3 })
    );
}

#[test]
fn a_pattern_may_be_so_large() {
    let limits = SchemaLimits::default();
    assert_eq!(
        cost(r#"{"pattern":"^[a-z0-9_-]{1,128}$"}"#, &limits),
        Cost::Cheap
    );
    assert_eq!(
        cost(
            r#"{"properties":{"q":{"pattern":"(a{1000}){1000}"}}}"#,
            &limits
        ),
        Cost::Unchecked(Reason::Pattern {
            pointer: "/properties/q/pattern".to_owned()
        })
    );
}

#[test]
fn a_schema_is_cheap_up_to_a_cost() {
    let limits = SchemaLimits {
        cheap: 4,
        ..SchemaLimits::default()
    };
    let with = |count: usize| format!(r#"{{"allOf":[{}]}}"#, vec!["true"; count].join(","));
    assert_eq!(cost(&with(2), &limits), Cost::Cheap);
    assert_eq!(cost(&with(3), &limits), Cost::Cheap);
    assert_eq!(cost(&with(4), &limits), Cost::Dear);
}

#[tokio::test]
async fn a_dear_schema_is_checked_only_where_one_can_wait() {
    let limits = SchemaLimits {
        cheap: 0,
        ..patient()
    };
    let schema = Raw::parse(r#"{"type":"integer"}"#).unwrap();
    let checker = Checker::compile(&schema, &limits);
    assert_eq!(
        checker.check_now(&json!(1)),
        Verdict::NotChecked(Reason::TooExpensive)
    );
    assert_eq!(checker.check(Arc::new(json!(1))).await, Verdict::Fits);
    let verdict = checker.check_text(&Raw::parse("true").unwrap()).await;
    assert!(matches!(verdict, Verdict::Misfits(_)), "{verdict:?}");
}

#[tokio::test]
async fn a_value_can_make_a_cheap_schema_dear() {
    let schema = Raw::parse(r#"{"items":{"type":"integer"}}"#).unwrap();
    let checker = Checker::compile(&schema, &patient());
    let long = json!(vec![1; 100_000]);
    assert_eq!(
        checker.check_now(&long),
        Verdict::NotChecked(Reason::TooExpensive)
    );
    assert_eq!(checker.check(Arc::new(long.clone())).await, Verdict::Fits);
    let text = Raw::of(&long).unwrap();
    assert_eq!(
        checker.check_text_now(&text),
        Verdict::NotChecked(Reason::TooExpensive)
    );
    assert_eq!(checker.check_text(&text).await, Verdict::Fits);
}

#[test]
fn a_text_is_checked_in_place_up_to_a_length() {
    let limits = SchemaLimits {
        value_bytes: 5,
        ..SchemaLimits::default()
    };
    let checker = Checker::compile(&Raw::parse("true").unwrap(), &limits);
    let check = |text: &str| checker.check_text_now(&Raw::parse(text).unwrap());
    assert_eq!(check(r#""12""#), Verdict::Fits);
    assert_eq!(check(r#""123""#), Verdict::Fits);
    assert_eq!(
        check(r#""1234""#),
        Verdict::NotChecked(Reason::TooExpensive)
    );
}

#[test]
fn so_many_violations_are_reported() {
    let checker = compiled(r#"{"items":{"type":"string"}}"#);
    for (wrong, reported) in [(19, 19), (20, 20), (21, 20), (999, 20)] {
        let Verdict::Misfits(found) = checker.check_now(&json!(vec![1; wrong])) else {
            panic!("numbers are no strings");
        };
        assert_eq!(found.len(), reported);
    }
    // Too many errors to collect: only the first is reported.
    let Verdict::Misfits(found) = checker.check_now(&json!(vec![1; 2000])) else {
        panic!("numbers are no strings");
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "`/0` must be a string");
}

#[tokio::test]
async fn without_time_nothing_is_checked() {
    let limits = SchemaLimits {
        cheap: 0,
        time: Duration::ZERO,
        ..SchemaLimits::default()
    };
    let checker = Checker::compile(&Raw::parse("true").unwrap(), &limits);
    let verdict = checker.check(Arc::new(json!(1))).await;
    assert_eq!(verdict, Verdict::NotChecked(Reason::Busy));
}

#[test]
fn what_tools_really_ask_for_is_cheap() {
    for schema in [
        r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#,
        r#"{"type":"object","properties":{},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#,
        r#"{"type":"object","properties":{"path":{"type":"string","pattern":"^/[a-z/]*$"},
            "edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},
            "new":{"type":"string"}},"required":["old","new"],"additionalProperties":false}},
            "mode":{"enum":["a","b","c"],"default":"a"},"id":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}}}"#,
        r##"{"$defs":{"Point":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}}}},
            "type":"object","properties":{"from":{"$ref":"#/$defs/Point"},"to":{"$ref":"#/$defs/Point"}}}"##,
    ] {
        assert_eq!(compiled(schema).cost(), Cost::Cheap, "{schema}");
    }
    let wide: Vec<String> = (0..300)
        .map(|at| format!(r#""p{at}":{{"anyOf":[{{"type":"string"}},{{"type":"null"}}]}}"#))
        .collect();
    let wide = format!(r#"{{"type":"object","properties":{{{}}}}}"#, wide.join(","));
    assert_eq!(compiled(&wide).cost(), Cost::Cheap);
}
