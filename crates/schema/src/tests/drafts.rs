//! Tests of the dialects of JSON Schema.

use super::{compiled, messages, verdict};
use crate::{Cost, Reason, Verdict};

#[test]
fn without_a_schema_keyword_it_is_2020_12() {
    let tuple = r#"{"prefixItems":[{"type":"string"}]}"#;
    assert_eq!(messages(tuple, "[1]"), ["`/0` must be a string"]);
    // An array of `items` is what older drafts called a tuple.
    let old = compiled(r#"{"items":[{"type":"string"}]}"#).cost();
    assert!(
        matches!(old, Cost::Unchecked(Reason::NotASchema { .. })),
        "{old:?}"
    );
}

#[test]
fn older_drafts_are_honoured_where_the_schema_names_them() {
    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        let tuple = format!(r#"{{"$schema":"{draft}","items":[{{"type":"string"}}]}}"#);
        assert_eq!(
            messages(&tuple, "[1]"),
            ["`/0` must be a string"],
            "{draft}"
        );
    }
    let four = r#"{"$schema":"http://json-schema.org/draft-04/schema#","maximum":3,"exclusiveMaximum":true}"#;
    assert_eq!(messages(four, "3"), ["the value must be less than 3"]);
    assert_eq!(verdict(four, "2"), Verdict::Fits);
}

#[test]
fn beside_a_reference_other_keywords_count_only_in_new_drafts() {
    let schema = |draft: &str| {
        format!(
            r##"{{"$schema":"{draft}","definitions":{{"s":{{"type":"string"}}}},
            "properties":{{"a":{{"$ref":"#/definitions/s","maxLength":1}}}}}}"##
        )
    };
    let value = r#"{"a":"long"}"#;
    let seven = schema("http://json-schema.org/draft-07/schema#");
    assert_eq!(verdict(&seven, value), Verdict::Fits);
    let new = schema("https://json-schema.org/draft/2020-12/schema");
    assert_eq!(
        messages(&new, value),
        ["`/a` must have at most 1 character"]
    );
}

#[test]
fn a_dialect_that_nobody_knows_is_not_guessed() {
    let cost = compiled(r#"{"$schema":"https://example.com/dialect","type":"object"}"#).cost();
    assert_eq!(
        cost,
        Cost::Unchecked(Reason::Dialect {
            uri: "https://example.com/dialect".to_owned()
        })
    );
}

#[test]
fn formats_and_encodings_are_remarks() {
    for schema in [
        r#"{"format":"email"}"#,
        r#"{"format":"date-time"}"#,
        r#"{"format":"made-up"}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","contentEncoding":"base64"}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","contentMediaType":"application/json"}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","format":"ipv4"}"#,
    ] {
        assert_eq!(
            verdict(schema, r#""{ no such thing""#),
            Verdict::Fits,
            "{schema}"
        );
    }
}

#[test]
fn true_and_false_are_schemas() {
    assert_eq!(verdict("true", "1"), Verdict::Fits);
    assert_eq!(messages("false", "1"), ["the value must not be there"]);
    assert_eq!(verdict("{}", "null"), Verdict::Fits);
}

#[test]
fn what_is_no_schema_says_so() {
    for schema in [
        r#"{"type":"strin"}"#,
        r#"{"required":"a"}"#,
        "[]",
        "7",
        r#"{"minimum":1e400}"#,
    ] {
        let cost = compiled(schema).cost();
        assert!(
            matches!(cost, Cost::Unchecked(Reason::NotASchema { .. })),
            "{schema}: {cost:?}"
        );
    }
}

#[test]
fn a_value_that_cannot_be_read_is_not_checked() {
    for value in [r#"{"a":1e400}"#, r#"{"a":"\ud800"}"#] {
        assert_eq!(
            verdict("{}", value),
            Verdict::NotChecked(Reason::Unreadable),
            "{value}"
        );
    }
}
