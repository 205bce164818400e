//! Schemas that are made to hurt: each is over in time, and nothing is opened or dialled.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use switchboard_wire::Raw;

use super::compiled;
use crate::{Checker, Cost, Reason, SchemaLimits, Verdict};

/// Compiling has no clock, so this is what it may take on a busy machine, with checks included.
const PATIENCE: Duration = Duration::from_secs(5);

/// The verdict on one value, got in time.
async fn survives(schema: &str, value: &str) -> Verdict {
    survives_within(SchemaLimits::default().time, schema, value).await
}

/// The same where the verdict counts, and not that it is over soon.
async fn judged(schema: &str, value: &str) -> Verdict {
    survives_within(PATIENCE, schema, value).await
}

async fn survives_within(time: Duration, schema: &str, value: &str) -> Verdict {
    let limits = SchemaLimits {
        // Other tests have their turns meanwhile.
        pool: 100,
        time,
        ..SchemaLimits::default()
    };
    let (schema, value) = (Raw::parse(schema).unwrap(), Raw::parse(value).unwrap());
    let begun = Instant::now();
    let verdict = Checker::compile(&schema, &limits).check_text(&value).await;
    let taken = begun.elapsed();
    assert!(taken < PATIENCE * 2, "{taken:?}");
    verdict
}

/// Definitions that each use the next one twice.
fn bomb(combinator: &str, levels: usize) -> String {
    let each = (0..levels).map(|at| {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, at + 1);
        format!(r#""d{at}":{{"{combinator}":[{next},{next}]}},"#)
    });
    let definitions: String = each.collect();
    format!(
        r##"{{"$defs":{{{definitions}"d{levels}":{{"type":"integer"}}}},"$ref":"#/$defs/d0"}}"##
    )
}

/// Definitions that each are the next one; the last one is given.
fn chain(links: usize, last: &str) -> String {
    let each = (0..links).map(|at| format!(r##""d{at}":{{"$ref":"#/$defs/d{}"}},"##, at + 1));
    let definitions: String = each.collect();
    format!(r##"{{"$defs":{{{definitions}"d{links}":{last}}},"$ref":"#/$defs/d0"}}"##)
}

/// Objects in objects, `levels` deep.
fn deep(levels: usize, innermost: &str) -> String {
    format!(
        "{}{innermost}{}",
        r#"{"a":"#.repeat(levels),
        "}".repeat(levels)
    )
}

#[tokio::test]
async fn a_bomb_of_references_is_dear_and_goes_off_nowhere() {
    for combinator in ["allOf", "anyOf", "oneOf"] {
        let schema = bomb(combinator, 60);
        assert_eq!(compiled(&schema).cost(), Cost::Dear, "{combinator}");
        for value in ["1", r#""text""#, "{}", "[1]"] {
            // Any verdict will do, as long as there is one.
            let _ = survives(&schema, value).await;
        }
    }
    // A small one is no bomb.
    assert_eq!(compiled(&bomb("allOf", 3)).cost(), Cost::Cheap);
    assert_eq!(judged(&bomb("allOf", 3), "1").await, Verdict::Fits);
}

#[tokio::test]
async fn a_schema_that_doubles_with_every_level_of_the_value_is_stopped() {
    let tree = r##"{"type":"object","allOf":[{"properties":{"a":{"$ref":"#"}}},
        {"properties":{"a":{"$ref":"#"}}}]}"##;
    assert_eq!(compiled(tree).cost(), Cost::Dear);
    assert_eq!(judged(tree, &deep(3, "{}")).await, Verdict::Fits);
    for innermost in ["{}", "1"] {
        let _ = survives(tree, &deep(100, innermost)).await;
    }
    let left_over = r##"{"type":"object","allOf":[{"$ref":"#/$defs/t"},{"$ref":"#/$defs/t"}],
        "$defs":{"t":{"properties":{"a":{"$ref":"#"}}}},"unevaluatedProperties":false}"##;
    let _ = survives(left_over, &deep(100, "1")).await;
    let dynamic = r##"{"$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}"##;
    assert_eq!(compiled(dynamic).cost(), Cost::Dear);
    let _ = survives(dynamic, &deep(100, "1")).await;
}

#[tokio::test]
async fn a_chain_of_references_does_not_exhaust_the_stack() {
    let long = chain(4_900, r#"{"type":"integer"}"#);
    let _ = survives(&long, "1").await;
    let _ = survives(&long, "{}").await;
    let circle = chain(4_900, r##"{"properties":{"a":{"$ref":"#/$defs/d0"}}}"##);
    let _ = survives(&circle, &deep(100, "1")).await;
}

#[tokio::test]
async fn references_in_a_circle_end() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
        r##"{"$defs":{"a":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}"##,
    ] {
        for value in ["1", "{}"] {
            let _ = survives(schema, value).await;
        }
    }
}

#[tokio::test]
async fn a_schema_at_the_bounds_is_compiled_in_time() {
    let many: Vec<String> = (0..9_000)
        .map(|at| format!(r#""p{at}":{{"type":"null"}}"#))
        .collect();
    let schema = format!(r#"{{"properties":{{{}}}}}"#, many.join(","));
    assert!(schema.len() <= 256 * 1024);
    let verdict = judged(&schema, r#"{"p5":1}"#).await;
    assert!(matches!(verdict, Verdict::Misfits(_)), "{verdict:?}");
    let patterns: Vec<String> = (0..200)
        .map(|at| format!(r#"{{"pattern":"a{{0,{}}}$"}}"#, at + 400))
        .collect();
    let schema = format!(r#"{{"allOf":[{}]}}"#, patterns.join(","));
    let _ = survives(&schema, &format!(r#""{}""#, "a".repeat(1_000_000))).await;
}

#[tokio::test]
async fn a_pattern_that_is_exponential_elsewhere_is_linear_here() {
    let schema = r#"{"type":"string","pattern":"^(a+)+$"}"#;
    let value = format!(r#""{}!""#, "a".repeat(50_000));
    let verdict = judged(schema, &value).await;
    assert!(matches!(verdict, Verdict::Misfits(_)), "{verdict:?}");
}

#[test]
fn patterns_that_need_to_go_back_are_not_compiled() {
    for pattern in ["^(?=.*x)a+$", "^(?!x)a", "(?<=x)a", r"^(a)\\1$", "("] {
        let cost = compiled(&format!(
            r#"{{"properties":{{"q":{{"pattern":"{pattern}"}}}}}}"#
        ))
        .cost();
        let pointer = "/properties/q/pattern".to_owned();
        assert_eq!(
            cost,
            Cost::Unchecked(Reason::Pattern { pointer }),
            "{pattern}"
        );
    }
}

#[tokio::test]
async fn values_of_megabytes_are_checked_in_time() {
    let many = format!("[{}1]", "1,".repeat(300_000));
    for schema in [
        r#"{"items":{"type":"integer"}}"#,
        r#"{"items":{"type":"string"}}"#,
        r#"{"items":{"anyOf":[{"type":"string"},{"type":"null"}]}}"#,
        r#"{"uniqueItems":true}"#,
        r#"{"contains":{"const":2}}"#,
    ] {
        let _ = survives(schema, &many).await;
    }
    let options: Vec<String> = (0..9_000).map(|at| format!(r#"["o{at}"]"#)).collect();
    let schema = format!(r#"{{"items":{{"enum":[{}]}}}}"#, options.join(","));
    let _ = survives(&schema, &format!("[{}1]", r#"["z"],"#.repeat(30_000))).await;
}

#[test]
fn nothing_is_dialled_and_nothing_is_opened() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("string.json");
    // Were it read, the schema would be complete and compile.
    std::fs::write(&file, r#"{"type":"string"}"#).unwrap();
    let path = file.to_str().unwrap().replace('\\', "/");
    let path = path.trim_start_matches('/');
    for uri in [
        format!("http://127.0.0.1:{port}/x.json"),
        format!("https://127.0.0.1:{port}/x.json#/$defs/a"),
        format!("file:///{path}"),
        format!("//127.0.0.1:{port}/x.json"),
        "string.json".to_owned(),
    ] {
        for schema in [
            format!(r#"{{"$ref":"{uri}"}}"#),
            format!(r#"{{"properties":{{"a":{{"$ref":"{uri}"}}}}}}"#),
            format!(r#"{{"$id":"http://127.0.0.1:{port}/base/","allOf":[{{"$ref":"{uri}"}}]}}"#),
            format!(r#"{{"$dynamicRef":"{uri}"}}"#),
        ] {
            let cost = compiled(&schema).cost();
            assert!(
                matches!(&cost, Cost::Unchecked(Reason::Remote { .. })),
                "{schema}: {cost:?}"
            );
        }
    }
    let dialled = listener.accept().map(|_| ()).unwrap_err();
    assert_eq!(dialled.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_reference_within_the_schema_must_lead_somewhere() {
    for reference in ["#/nope", "#nope", "#/$defs/a/b"] {
        let cost = compiled(&format!(r#"{{"$ref":"{reference}"}}"#)).cost();
        let reference = reference.to_owned();
        assert_eq!(cost, Cost::Unchecked(Reason::NoSuchPlace { reference }));
    }
}
