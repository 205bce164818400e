//! Tests of refused edits, and of their messages.

use serde_json::json;

use super::texts::TEAM;
use super::*;

#[test]
fn an_unknown_name_is_told_with_the_nearest_one() {
    for change in [remove("secnod"), enable("secnod"), disable("secnod")] {
        let error = refused(TEAM, &change);
        assert_eq!(
            error.to_string(),
            "no server \"secnod\" in this file: did you mean \"second\"?"
        );
    }
    assert_eq!(
        refused("", &remove("a")).to_string(),
        "no server \"a\" in this file"
    );
    assert!(matches!(
        refused("{}", &remove("a")),
        EditError::NoSuchServer { closest: None, .. }
    ));
}

#[test]
fn a_syntax_error_is_told_with_its_place_and_without_values() {
    for (text, line, column) in [
        ("{\n  \"größe\": canary\n}", 2, 12),
        ("{\"a\": \"canary}", 1, 7),
        ("{\"a\": \"canary\" \"b\": 1}", 1, 15),
        ("{} canary", 1, 4),
        ("{'canary': 1}", 1, 2),
        ("{\"a\": \"\\ud800canary\"}", 1, 8),
        ("\u{feff}{\"a\" 1}", 1, 6),
    ] {
        let error = refused(text, &add("x"));
        let EditError::Syntax {
            line: l, column: c, ..
        } = &error
        else {
            panic!("{error:?}");
        };
        assert_eq!((*l, *c), (line, column), "{text}: {error}");
        assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(
        refused(&deep, &add("x")),
        EditError::Syntax { .. }
    ));
}

#[test]
fn what_stands_there_twice_is_refused() {
    for text in [
        r#"{"mcpServers":{"a":{},"a":{}}}"#,
        r#"{"mcpServers":{"a":{}},"servers":[{"name":"a"}]}"#,
        r#"{"mcpServers":{"a":{},"\u0061":{}}}"#,
    ] {
        for change in [
            remove("a"),
            disable("a"),
            enable("a"),
            replace("a", json!({})),
        ] {
            let error = refused(text, &change);
            assert_eq!(
                error.to_string(),
                "\"a\" is in this file twice: remove one of them by hand"
            );
        }
    }
    let twice = r#"{"mcpServers":{},"mcpServers":{}}"#;
    assert!(matches!(refused(twice, &add("x")), EditError::Twice { .. }));
    let twice = r#"{"mcpServers":{"a":{"disabled":true,"disabled":true}}}"#;
    assert!(matches!(
        refused(twice, &enable("a")),
        EditError::Twice { .. }
    ));
}

#[test]
fn things_of_another_kind_are_refused() {
    for (text, change, message) in [
        ("[]", add("a"), "the file must be an object"),
        (
            r#"{"mcpServers":7}"#,
            add("a"),
            "\"/mcpServers\" must be an object or a list",
        ),
        (
            r#"{"mcpServers":{"a":"x"}}"#,
            disable("a"),
            "\"/mcpServers/a\" must be an object",
        ),
        (
            "{}",
            add_entry("a", json!([])),
            "the entry of a server must be an object",
        ),
    ] {
        assert_eq!(refused(text, &change).to_string(), message);
    }
}

#[test]
fn a_change_shows_no_entry() {
    let change = add_entry("a", json!({"env": {"T": "canary"}}));
    assert!(!format!("{change:?}").contains("canary"));
    assert_eq!(format!("{:?}", remove("a")), "Remove { name: \"a\" }");
}
