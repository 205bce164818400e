//! JSON that is safe to show and means the same.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;

use super::{forbidden, random};
use crate::text::{json_escape, write_json_safe};

#[test]
fn forbidden_characters_become_json_escapes_in_keys_and_strings() {
    assert_eq!(
        write_json_safe("{\"a\u{202e}\": [\"\u{7f}\u{9b}\", \"\u{e0041}\"]}"),
        r#"{"a\u202e": ["\u007f\u009b", "\udb40\udc41"]}"#
    );
}

#[test]
fn safe_json_is_borrowed() {
    for json in [
        "{\n\t\"a\": [1, 2.50, 1e400, null],\r\n\"b\": \"größe 東京 ☺\u{fe0f}\"}",
        r#""\u001b \ud800 \udc00 \ud83d\ude00 \n \" \\""#,
        "",
    ] {
        assert!(matches!(write_json_safe(json), Cow::Borrowed(same) if same == json));
    }
}

#[test]
fn escapes_that_are_there_stay_beside_new_ones() {
    assert_eq!(
        write_json_safe("\"\\ud800\u{200b}\\u001b\\\\\u{200b}\""),
        r#""\ud800\u200b\u001b\\\u200b""#
    );
}

#[test]
fn a_lone_carriage_return_between_values_becomes_a_newline() {
    assert_eq!(write_json_safe("[1,\r2,\r\n3]"), "[1,\n2,\r\n3]");
}

#[test]
fn a_text_that_is_not_json_is_still_safe() {
    let shown = write_json_safe("\u{1b}[2J \"open \r\u{202e}");
    assert_eq!(forbidden::find(&shown), None);
}

#[test]
fn a_control_character_that_was_all_that_was_wrong_is_escaped() {
    let json = "{\"a\":\"x\0\"}";
    assert!(serde_json::from_str::<Value>(json).is_err());
    assert_eq!(write_json_safe(json), r#"{"a":"x\u0000"}"#);
}

#[test]
fn a_text_becomes_one_json_string() {
    assert_eq!(
        json_escape("a\"\\\n\u{1b}\u{202e}"),
        r#""a\"\\\n\u001b\u202e""#
    );
}

/// Any JSON document with nasty strings and keys.
fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        random::strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((random::strings(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn json_means_the_same_and_shows_nothing_forbidden(value in document(), pretty in any::<bool>()) {
        let json = if pretty { format!("{value:#}") } else { value.to_string() };
        let shown = write_json_safe(&json);
        prop_assert_eq!(forbidden::find(&shown), None);
        prop_assert_eq!(&serde_json::from_str::<Value>(&shown).unwrap(), &value);
        let again = write_json_safe(&shown);
        prop_assert!(matches!(again, Cow::Borrowed(_)));
    }
}
