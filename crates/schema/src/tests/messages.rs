//! Violations in words.

use super::{messages, violations};
use crate::{Verdict, Violation};

#[track_caller]
fn says(schema: &str, value: &str, expected: &str) {
    assert_eq!(messages(schema, value), [expected], "{schema}");
}

#[test]
fn a_violation_has_its_place_its_rule_and_its_words() {
    let schema = r#"{"type":"object","properties":{"list":{"items":{"type":"integer"}}}}"#;
    assert_eq!(
        violations(schema, r#"{"list":[1,"two"]}"#),
        [Violation {
            pointer: "/list/1".to_owned(),
            rule: "/properties/list/items/type".to_owned(),
            message: "`/list/1` must be an integer".to_owned(),
        }]
    );
}

#[test]
fn types_are_named_as_a_person_would() {
    for (name, said) in [
        ("array", "an array"),
        ("boolean", "true or false"),
        ("integer", "an integer"),
        ("null", "null"),
        ("number", "a number"),
        ("object", "an object"),
    ] {
        let schema = format!(r#"{{"properties":{{"a":{{"type":"{name}"}}}}}}"#);
        says(&schema, r#"{"a":"x"}"#, &format!("`/a` must be {said}"));
    }
    says(r#"{"type":"string"}"#, "1", "the value must be a string");
    let several = messages(r#"{"type":["string","null"]}"#, "1");
    assert_eq!(several, ["the value must be null or a string"]);
}

#[test]
fn every_missing_member_is_named() {
    let schema = r#"{"required":["path","mode"],"properties":{"path":{}}}"#;
    assert_eq!(
        messages(schema, "{}"),
        ["the value must have `path`", "the value must have `mode`"]
    );
}

#[test]
fn a_stranger_is_named_with_what_was_meant() {
    let schema = r#"{"properties":{"message":{},"count":{}},"additionalProperties":false}"#;
    says(
        schema,
        r#"{"mesage":1}"#,
        "the value must not have `mesage` (did you mean `message`?)",
    );
    says(
        schema,
        r#"{"colour":1,"cuont":2}"#,
        "the value must not have `colour` or `cuont` (did you mean `count`?)",
    );
    let inner = r##"{"$defs":{"p":{"properties":{"width":{}},"additionalProperties":false}},
        "properties":{"p":{"$ref":"#/$defs/p"}}}"##;
    says(
        inner,
        r#"{"p":{"widht":1}}"#,
        "`/p` must not have `widht` (did you mean `width`?)",
    );
    let left = r#"{"properties":{"message":{}},"unevaluatedProperties":false}"#;
    says(
        left,
        r#"{"mesage":1}"#,
        "the value must not have `mesage` (did you mean `message`?)",
    );
}

#[test]
fn allowed_values_are_listed_up_to_ten() {
    says(
        r#"{"enum":["low","high",3,null]}"#,
        r#""medium""#,
        r#"the value must be one of "low", "high", 3 or null"#,
    );
    let many: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    says(
        &format!(r#"{{"enum":[{}]}}"#, many.join(",")),
        "99",
        "the value must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 2 more values",
    );
    says(r#"{"const":"v1"}"#, "1", r#"the value must be "v1""#);
}

#[test]
fn numbers_texts_and_lists_have_their_limits_said() {
    says(r#"{"minimum":1}"#, "0", "the value must be at least 1");
    says(r#"{"maximum":1.5}"#, "2", "the value must be at most 1.5");
    says(
        r#"{"exclusiveMinimum":0}"#,
        "0",
        "the value must be more than 0",
    );
    says(
        r#"{"exclusiveMaximum":0}"#,
        "0",
        "the value must be less than 0",
    );
    says(
        r#"{"multipleOf":5}"#,
        "7",
        "the value must be a multiple of 5",
    );
    says(
        r#"{"minLength":1}"#,
        r#""""#,
        "the value must have at least 1 character",
    );
    says(
        r#"{"maxLength":2}"#,
        r#""abc""#,
        "the value must have at most 2 characters",
    );
    says(
        r#"{"minItems":2}"#,
        "[]",
        "the value must have at least 2 items",
    );
    says(
        r#"{"maxItems":1}"#,
        "[1,2]",
        "the value must have at most 1 item",
    );
    says(
        r#"{"minProperties":1}"#,
        "{}",
        "the value must have at least 1 member",
    );
    says(
        r#"{"maxProperties":0}"#,
        r#"{"a":1}"#,
        "the value must have at most 0 members",
    );
    says(
        r#"{"uniqueItems":true}"#,
        "[1,1]",
        "the value must not hold the same item twice",
    );
    says(
        r#"{"contains":{"type":"string"}}"#,
        "[1]",
        "the value does not hold the items that it must",
    );
    says(
        r#"{"prefixItems":[{}],"unevaluatedItems":false}"#,
        "[1,2]",
        "the value has items that nothing allows",
    );
    says(
        r#"{"pattern":"^[a-z]+$"}"#,
        r#""A1""#,
        "the value must match the pattern `^[a-z]+$`",
    );
    says(
        r#"{"propertyNames":{"pattern":"^[a-z]+$"}}"#,
        r#"{"A":1}"#,
        "the value has a member with a name that must match the pattern `^[a-z]+$`",
    );
    says(
        r#"{"properties":{"a":false}}"#,
        r#"{"a":1}"#,
        "`/a` must not be there",
    );
    says(
        r#"{"not":{"type":"null"}}"#,
        "null",
        "the value must not be what its schema rules out",
    );
}

#[test]
fn alternatives_say_what_each_lacked() {
    says(
        r#"{"properties":{"id":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}"#,
        r#"{"id":true}"#,
        "`/id` fits no alternative: must be a string; or must be an integer",
    );
    says(
        r#"{"oneOf":[{"required":["a"]},{"properties":{"b":{"type":"null"}}}]}"#,
        r#"{"b":1}"#,
        "the value fits no alternative: must have `a`; or `/b` must be null",
    );
    says(
        r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#,
        "1",
        "the value fits several alternatives, and must fit exactly one",
    );
}

#[test]
fn what_a_schema_says_is_shown_without_its_controls() {
    says(
        r#"{"enum":["\u001b[2Jx"]}"#,
        "1",
        r#"the value must be one of "\u001b[2Jx""#,
    );
    says(
        "{\"pattern\":\"^\u{202e}$\"}",
        r#""a""#,
        "the value must match the pattern `^\\u{202e}$`",
    );
    let long = format!(r#"{{"const":"{}"}}"#, "x".repeat(1000));
    assert!(messages(&long, "1").concat().len() < 300);
}

#[test]
fn no_value_is_ever_quoted() {
    // One value that breaks every rule there is, with a secret at every leaf.
    let secret = "CANARY-5ecret";
    let value = format!(
        r#"{{"t":"{secret}","e":"{secret}","c":"{secret}","p":"{secret}","l":"{secret}","s":"{secret}",
        "u":["{secret}","{secret}"],"k":["{secret}"],"n":"{secret}","a":"{secret}","o":"{secret}",
        "x":"{secret}","f":"{secret}","m":{{"deep":["{secret}"]}},"i":["{secret}"]}}"#
    );
    let schema = r#"{"properties":{
        "t":{"type":"integer"},"e":{"enum":["a"]},"c":{"const":1},"p":{"pattern":"^z$"},
        "l":{"maxLength":1},"s":{"minLength":100},"u":{"uniqueItems":true},
        "k":{"contains":{"type":"null"}},"n":{"not":{"type":"string"}},
        "a":{"anyOf":[{"type":"null"},{"enum":[3]},{"pattern":"^z"}]},
        "o":{"oneOf":[{"type":"string"},{"minLength":1}]},
        "f":false,"m":{"properties":{"deep":{"items":{"type":"null"}}}},
        "i":{"prefixItems":[{"type":"object"}],"maxItems":0,"unevaluatedItems":false}},
        "additionalProperties":false,"maxProperties":1,"required":["zz"],
        "if":true,"then":{"propertyNames":{"maxLength":0}}}"#;
    let verdict = super::verdict(schema, &value);
    let Verdict::Misfits(found) = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(found.len(), 20);
    assert!(!format!("{verdict:?}").contains("CANARY"), "{verdict:#?}");
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(!shown.concat().contains("CANARY"));
}
