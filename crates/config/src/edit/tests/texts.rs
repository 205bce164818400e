//! Changes of texts that people write.

use serde_json::json;

use super::*;

pub(super) const TEAM: &str = r#"// The team's servers.
{
  "inputs": [ { "id": "x" } ], // not ours
  "mcpServers": {
    // First.
    "first": { "command": "a", "x-unknown": {"deep": [1.50, null]} }, // behind first

    // About nobody in particular.

    /* Second,
       over two lines. */
    "second": {
      "command": "b", // why b
    },
    "third": { "url": "https://example.com" } // behind third
    // "fourth": {}
  },
  "other": 1
}
"#;

#[test]
fn a_server_is_added_behind_the_last_and_nothing_else_changes() {
    let expected = TEAM.replace(
        "\"third\": { \"url\": \"https://example.com\" } // behind third\n",
        "\"third\": { \"url\": \"https://example.com\" }, // behind third\n    \"new\": {\n      \
         \"command\": \"new\",\n      \"args\": [\"-y\", \"pkg\"]\n    }\n",
    );
    let added = apply(TEAM, &add("new"));
    assert_eq!(added, expected);
    assert_eq!(apply(&added, &remove("new")), TEAM);
}

#[test]
fn a_server_goes_with_its_comma_and_its_comments() {
    assert_eq!(
        apply(TEAM, &remove("first")),
        TEAM.replace(
            "    // First.\n    \"first\": { \"command\": \"a\", \"x-unknown\": {\"deep\": [1.50, null]} }, // behind first\n",
            ""
        )
    );
    assert_eq!(
        apply(TEAM, &remove("second")),
        TEAM.replace(
            "    /* Second,\n       over two lines. */\n    \"second\": {\n      \"command\": \"b\", // why b\n    },\n",
            ""
        )
    );
    assert_eq!(
        apply(TEAM, &remove("third")),
        TEAM.replace(
            "    },\n    \"third\": { \"url\": \"https://example.com\" } // behind third\n",
            "    }\n"
        )
    );
}

#[test]
fn line_ends_tabs_and_a_missing_last_line_end_are_kept() {
    let text = "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t},\r\n}";
    let added = apply(text, &add("b"));
    assert_eq!(
        added,
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"b\": {\r\n\t\t\t\"command\": \"new\",\r\n\t\t\t\
         \"args\": [\"-y\", \"pkg\"]\r\n\t\t},\r\n\t},\r\n}"
    );
    assert_eq!(apply(&added, &remove("b")), text);
    assert_eq!(apply(text, &remove("a")), "{\r\n\t\"mcpServers\": {},\r\n}");
}

#[test]
fn a_text_without_a_document_becomes_one() {
    let fresh = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n";
    let change = add_entry("a", json!({"command": "x"}));
    for text in ["", " \n\t\n"] {
        assert_eq!(apply(text, &change), fresh);
    }
    assert_eq!(apply("{}", &change), fresh.trim_end());
    assert_eq!(apply("{}\n", &change), fresh);
    assert_eq!(apply("{\n}\n", &change), fresh);
    assert_eq!(apply("// mine\n", &change), format!("// mine\n{fresh}"));
    assert_eq!(apply("\u{feff}{}\n", &change), format!("\u{feff}{fresh}"));
    assert_eq!(apply("\u{feff}", &change), format!("\u{feff}{fresh}"));
}

#[test]
fn a_document_without_servers_gets_a_place_for_them() {
    let text = "{\n    \"theme\": \"dark\"\n}\n";
    assert_eq!(
        apply(text, &add_entry("a", json!({"command": "x"}))),
        "{\n    \"theme\": \"dark\",\n    \"mcpServers\": {\n        \"a\": {\n            \"command\": \"x\"\n        \
         }\n    }\n}\n"
    );
}

#[test]
fn what_is_on_one_line_stays_on_one_line() {
    let change = add_entry("b", json!({"command": "x", "args": ["y", "z"]}));
    for (text, added) in [
        (
            r#"{ "mcpServers": { "a": {} } }"#,
            r#"{ "mcpServers": { "a": {}, "b": {"command": "x", "args": ["y", "z"]} } }"#,
        ),
        (
            r#"{"mcpServers":{"a":{}}}"#,
            r#"{"mcpServers":{"a":{},"b":{"command":"x","args":["y","z"]}}}"#,
        ),
        (
            r#"{"mcpServers":{"a":{}, "c":{},}}"#,
            r#"{"mcpServers":{"a":{}, "c":{}, "b": {"command": "x", "args": ["y", "z"]},}}"#,
        ),
        (
            r#"{ "mcpServers": { "a": {} /* a */ } }"#,
            r#"{ "mcpServers": { "a": {} /* a */, "b": {"command": "x", "args": ["y", "z"]} } }"#,
        ),
        (
            r#"{ "mcpServers": { "a": {}, /* a */ } }"#,
            "{ \"mcpServers\": { \"a\": {}, /* a */\n  \"b\": {\n    \"command\": \"x\",\n    \
             \"args\": [\"y\", \"z\"]\n  }, } }",
        ),
    ] {
        assert_eq!(apply(text, &change), added);
        assert_eq!(apply(added, &remove("b")), text);
    }
}

#[test]
fn on_one_line_an_item_goes_without_leaving_a_hole() {
    let text = r#"{ "mcpServers": { "a": 1, /* b */ "b": 2, "c": 3 } }"#;
    for (name, left) in [
        ("a", r#"{ "mcpServers": { /* b */ "b": 2, "c": 3 } }"#),
        ("b", r#"{ "mcpServers": { "a": 1, "c": 3 } }"#),
        ("c", r#"{ "mcpServers": { "a": 1, /* b */ "b": 2 } }"#),
    ] {
        assert_eq!(apply(text, &remove(name)), left);
    }
}

#[test]
fn a_closing_bracket_is_never_commented_out() {
    let text = "{ \"mcpServers\": {\n  \"a\": 1, // about a\n  \"b\": 2 } }";
    assert_eq!(
        apply(text, &remove("b")),
        "{ \"mcpServers\": {\n  \"a\": 1 // about a\n  } }"
    );
    let text = "{ \"mcpServers\": { // all\n  \"b\": 2 } }";
    assert_eq!(
        apply(text, &remove("b")),
        "{ \"mcpServers\": { // all\n  } }"
    );
    let text = "{ \"mcpServers\": { // none\n} }";
    let added = apply(text, &add_entry("b", json!({})));
    assert_eq!(added, "{ \"mcpServers\": { // none\n  \"b\": {}\n} }");
    assert_eq!(apply(&added, &remove("b")), text);
}

#[test]
fn commas_at_the_beginning_of_lines_are_understood() {
    let text =
        "{\n  \"mcpServers\": {\n      \"a\": 1 // a\n    , \"b\": 2\n    , \"c\": 3\n  }\n}\n";
    assert_eq!(
        apply(text, &remove("c")),
        "{\n  \"mcpServers\": {\n      \"a\": 1 // a\n    , \"b\": 2\n  }\n}\n"
    );
    assert!(super::super::apply(text, &remove("a")).is_ok());
    assert!(super::super::apply(text, &remove("b")).is_ok());
}

#[test]
fn lists_of_servers_are_edited_by_the_name_inside() {
    let text = "{\n  \"servers\": [\n    { \"name\": \"a\", \"command\": [\"x\"] },\n    { \"command\": \"nameless\" }\n  ]\n}\n";
    let added = apply(
        text,
        &add_entry("b", json!({"name": "zzz", "command": "y"})),
    );
    assert_eq!(
        added,
        text.replace(
            "nameless\" }\n",
            "nameless\" },\n    {\n      \"name\": \"b\",\n      \"command\": \"y\"\n    }\n"
        )
    );
    assert_eq!(apply(&added, &remove("b")), text);
    let disabled = apply(text, &disable("a"));
    assert_eq!(
        disabled,
        text.replace("[\"x\"] }", "[\"x\"], \"disabled\": true }")
    );
    assert_eq!(apply(&disabled, &enable("a")), text);
    let replaced = apply(text, &replace("a", json!({"command": "z"})));
    assert!(replaced.contains("    {\n      \"name\": \"a\",\n      \"command\": \"z\"\n    },\n"));
}

#[test]
fn the_key_that_a_file_has_is_used() {
    let text = r#"{"servers":{"a":{}}}"#;
    let both = r#"{"servers":{"a":{}},"mcpServers":{"c":{}}}"#;
    let change = add_entry("b", json!({}));
    assert_eq!(apply(text, &change), r#"{"servers":{"a":{},"b":{}}}"#);
    assert_eq!(
        apply(both, &change),
        r#"{"servers":{"a":{}},"mcpServers":{"c":{},"b":{}}}"#
    );
    assert_eq!(
        apply(both, &remove("a")),
        r#"{"servers":{},"mcpServers":{"c":{}}}"#
    );
}

#[test]
fn names_are_compared_by_what_they_mean() {
    for server in ["größe-東京", "say\"hi\"", "back\\slash", "\u{1f600}"] {
        let added = apply("{}", &add(server));
        let value: Value = serde_json::from_str(&added).unwrap();
        assert_eq!(value["mcpServers"][server]["command"], "new");
        assert!(matches!(
            refused(&added, &add(server)),
            EditError::Exists(_)
        ));
        assert_eq!(apply(&added, &remove(server)), "{\n  \"mcpServers\": {}\n}");
    }
    let escaped = r#"{"mcpServers":{"a\u0062":{}}}"#;
    assert_eq!(apply(escaped, &remove("ab")), r#"{"mcpServers":{}}"#);
}

#[test]
fn an_existing_server_is_replaced_only_when_asked() {
    let error = refused(TEAM, &add("third"));
    assert_eq!(
        error.to_string(),
        "there is a server \"third\" in this file already"
    );
    assert_eq!(
        apply(TEAM, &replace("third", json!({"command": "c"}))),
        TEAM.replace(
            "{ \"url\": \"https://example.com\" }",
            "{\n      \"command\": \"c\"\n    }"
        )
    );
    assert_eq!(
        apply(
            r#"{"servers":{"a":{"b":1}}}"#,
            &replace("a", json!({"c": [{}, []]}))
        ),
        r#"{"servers":{"a":{"c":[{},[]]}}}"#
    );
}

#[test]
fn servers_are_switched_off_and_on_the_way_the_file_does_it() {
    let off = apply(TEAM, &disable("second"));
    assert_eq!(
        off,
        TEAM.replace(
            "\"b\", // why b\n",
            "\"b\", // why b\n      \"disabled\": true,\n"
        )
    );
    assert_eq!(apply(&off, &disable("second")), off);
    assert_eq!(apply(&off, &enable("second")), TEAM);
    assert_eq!(apply(TEAM, &enable("second")), TEAM);
    let file = |members: &str| format!("{{\"servers\":{{\"a\":{{{members}}}}}}}");
    for (before, change, after) in [
        ("\"enabled\":true", disable("a"), "\"enabled\":false"),
        ("\"enabled\": false", enable("a"), "\"enabled\": true"),
        ("\"disabled\":false", disable("a"), "\"disabled\":true"),
        ("\"disabled\":false", enable("a"), "\"disabled\":false"),
        ("\"disabled\":true,\"x\":1", enable("a"), "\"x\":1"),
        ("\"disabled\":\"yes\"", enable("a"), ""),
        (
            "\"disabled\":false,\"enabled\":true",
            disable("a"),
            "\"disabled\":true,\"enabled\":false",
        ),
        (
            "\"enabled\":false,\"disabled\":true",
            enable("a"),
            "\"enabled\":true",
        ),
        (
            "\"disabled\":true,\"enabled\":false",
            enable("a"),
            "\"enabled\":true",
        ),
    ] {
        assert_eq!(apply(&file(before), &change), file(after), "{before}");
    }
}
