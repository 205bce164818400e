//! Schemas with good and bad marks, and the headers that come of them.

use proptest::prelude::*;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

fn of(schema: &str) -> Result<Vec<Mirror>, MirrorError> {
    find_mirrors(&raw(schema))
}

/// A schema with one property `p`.
fn with(property: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"p":{property}}}}}"#)
}

fn misplaced(keyword: &str) -> Result<Vec<Mirror>, MirrorError> {
    let keyword = keyword.to_owned();
    Err(MirrorError::Misplaced { keyword })
}

const MARKED: &str = r#"{"type":"string","x-mcp-header":"P"}"#;

#[test]
fn marked_properties_are_found_at_any_depth() {
    let found = of(r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "plain":{"type":"string"},
            "filter":{"type":"object","properties":{"limit":{"x-mcp-header":"Max-Rows","type":"integer"}}},
            "dry":{"type":"boolean","x-mcp-header":"!#$%&'*+-.^_`|~9"}}}"#);
    let mirror = |name: &str, path: &[&str], kind| Mirror {
        header_name: format!("Mcp-Param-{name}"),
        path: path.iter().map(ToString::to_string).collect(),
        kind,
    };
    let expected = [
        mirror("Region", &["region"], MirrorKind::String),
        mirror("Max-Rows", &["filter", "limit"], MirrorKind::Integer),
        mirror("!#$%&'*+-.^_`|~9", &["dry"], MirrorKind::Boolean),
    ];
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn most_schemas_have_none() {
    for schema in [
        "{}",
        "true",
        "null",
        "[]",
        r#"{"type":"object"}"#,
        &with(r#"{"type":"string"}"#),
    ] {
        assert_eq!(of(schema), Ok(Vec::new()), "{schema}");
    }
}

#[test]
fn a_mark_that_is_no_header_name_makes_the_tool_bad() {
    let property = "p".to_owned();
    let expected = Err(MirrorError::BadName { property });
    for mark in [
        r#""""#,
        r#"" ""#,
        r#""a b""#,
        r#""a:b""#,
        r#""a\r\nb""#,
        r#""a\u0000""#,
        r#""ä""#,
        r#""(a)""#,
        r#""a/b""#,
        r#""a\tb""#,
        "7",
        "null",
        "true",
        "{}",
        r#"["A"]"#,
        r#""\ud800""#,
    ] {
        let schema = with(&format!(r#"{{"type":"string","x-mcp-header":{mark}}}"#));
        assert_eq!(of(&schema), expected, "{mark}");
    }
}

#[test]
fn a_type_that_is_not_exactly_one_of_three_makes_the_tool_bad() {
    let property = "p".to_owned();
    let expected = Err(MirrorError::BadType { property });
    for kind in [
        r#""type":"number","#,
        r#""type":"object","#,
        r#""type":"array","#,
        r#""type":"null","#,
        r#""type":["string"],"#,
        r#""type":["string","null"],"#,
        r#""type":"String","#,
        "",
        r##""$ref":"#/$defs/x","##,
        r#""enum":["a"],"#,
    ] {
        let schema = with(&format!(r#"{{{kind}"x-mcp-header":"P"}}"#));
        assert_eq!(of(&schema), expected, "{kind}");
    }
}

#[test]
fn names_are_unique_whatever_their_case() {
    let schema = |a: &str, b: &str| {
        format!(
            r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":"{a}"}},
               "b":{{"properties":{{"c":{{"type":"string","x-mcp-header":"{b}"}}}}}}}}}}"#
        )
    };
    assert!(of(&schema("Region", "Regions")).is_ok());
    let name = "rEGION".to_owned();
    assert_eq!(
        of(&schema("Region", "rEGION")),
        Err(MirrorError::Repeated { name })
    );
}

#[test]
fn a_mark_that_properties_do_not_lead_to_makes_the_tool_bad() {
    let root = r#"{"type":"object","x-mcp-header":"P"}"#;
    assert_eq!(of(root), misplaced("the schema itself"));
    for keyword in [
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "additionalItems",
        "contentSchema",
        "x-vendor",
    ] {
        let below = [
            MARKED.to_owned(),
            with(MARKED),
            format!(r#"{{"not":{MARKED}}}"#),
        ];
        for below in below {
            let schema = with(&format!(r#"{{"{keyword}":{below}}}"#));
            assert_eq!(of(&schema), misplaced(keyword), "{schema}");
            let schema = format!(r#"{{"{keyword}":{below}}}"#);
            assert_eq!(of(&schema), misplaced(keyword), "{schema}");
        }
    }
    for keyword in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        let schema = with(&format!(r#"{{"{keyword}":[true,{MARKED}]}}"#));
        assert_eq!(of(&schema), misplaced(keyword), "{schema}");
    }
    for keyword in [
        "$defs",
        "definitions",
        "patternProperties",
        "dependentSchemas",
    ] {
        let schema = format!(r#"{{"{keyword}":{{"x":{MARKED}}}}}"#);
        assert_eq!(of(&schema), misplaced(keyword), "{schema}");
        // A definition may have the name of a keyword.
        let schema = format!(r#"{{"{keyword}":{{"default":{}}}}}"#, with(MARKED));
        assert_eq!(of(&schema), misplaced(keyword), "{schema}");
    }
    assert_eq!(
        of(&format!(r#"{{"properties":[{MARKED}]}}"#)),
        misplaced("properties")
    );
}

#[test]
fn an_escape_does_not_hide_a_mark() {
    let schema = with(r#"{"not":{"x\u002dmcp-header":"P"}}"#);
    assert_eq!(of(&schema), misplaced("not"));
    let schema = with(r#"{"type":"string","x-mcp\u002dheader":"P"}"#);
    assert_eq!(of(&schema).unwrap().len(), 1);
}

#[test]
fn names_of_properties_and_data_are_no_marks() {
    for schema in [
        r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#,
        r#"{"$defs":{"x-mcp-header":{"type":"string"}}}"#,
        r#"{"items":{"properties":{"x-mcp-header":{"type":"string"}}}}"#,
        &with(r#"{"default":{"x-mcp-header":"P"},"examples":[{"x-mcp-header":"P"}]}"#),
        &with(r#"{"const":{"x-mcp-header":"P"},"enum":[{"x-mcp-header":"P"}]}"#),
        r#"{"required":["x-mcp-header"],"description":"x-mcp-header"}"#,
    ] {
        assert_eq!(of(schema), Ok(Vec::new()), "{schema}");
    }
}

#[test]
fn there_may_be_as_many_marks_as_the_limit_and_no_deeper() {
    let schema = |count: usize| {
        let one = |n| format!(r#""p{n}":{{"type":"string","x-mcp-header":"P{n}"}}"#);
        let all: Vec<String> = (0..count).map(one).collect();
        format!(r#"{{"properties":{{{}}}}}"#, all.join(","))
    };
    assert_eq!(of(&schema(MIRRORS)).unwrap().len(), MIRRORS);
    assert_eq!(
        of(&schema(MIRRORS + 1)),
        Err(MirrorError::TooMany { max: MIRRORS })
    );
    let deep = |levels: usize| (0..levels).fold(MARKED.to_owned(), |inner, _| with(&inner));
    assert!(of(&deep(DEPTH / 2 - 1)).is_ok());
    assert_eq!(
        of(&deep(DEPTH / 2)),
        Err(MirrorError::TooDeep { max: DEPTH })
    );
    let not = |levels: usize| {
        format!(
            "{}{}{}",
            r#"{"not":"#.repeat(levels),
            MARKED,
            "}".repeat(levels)
        )
    };
    assert_eq!(of(&not(DEPTH - 1)), misplaced("not"));
    assert_eq!(
        of(&not(10 * DEPTH)),
        Err(MirrorError::TooDeep { max: DEPTH })
    );
}

fn value(argument: &str) -> Option<String> {
    let mirrors = of(&with(MARKED)).unwrap();
    let mut found = values(&mirrors, &raw(&format!(r#"{{"p":{argument}}}"#)));
    assert!(found.len() <= 1);
    let (name, value) = found.pop()?;
    assert_eq!(name, "Mcp-Param-P");
    Some(value)
}

#[test]
fn values_are_written_as_the_rules_say() {
    for (argument, expected) in [
        (r#""us-west1""#, "us-west1"),
        (r#""""#, ""),
        (r#""a b""#, "a b"),
        (r#""\u0041""#, "A"),
        ("true", "true"),
        ("false", "false"),
        ("0", "0"),
        ("-7", "-7"),
        ("-0", "0"),
        ("42.0", "42"),
        ("4.2e1", "42"),
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991"),
        (r#"" a""#, "=?base64?IGE=?="),
        (r#""a ""#, "=?base64?YSA=?="),
        (r#""a\tb""#, "=?base64?YQli?="),
        (r#""a\r\nX: y""#, "=?base64?YQ0KWDogeQ==?="),
        (r#""\u0000""#, "=?base64?AA==?="),
        (r#""ä""#, "=?base64?w6Q=?="),
        (r#""\u007f""#, "=?base64?fw==?="),
        (r#""=?base64?YQ==?=""#, "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        (r#""=?BASE64??=""#, "=?base64?PT9CQVNFNjQ/Pz0=?="),
        (r#""=?base64?""#, "=?base64?"),
        (r#""?=""#, "?="),
    ] {
        assert_eq!(value(argument).as_deref(), Some(expected), "{argument}");
    }
}

#[test]
fn what_no_header_can_say_has_none() {
    for argument in [
        "null",
        "{}",
        "[]",
        "1.5",
        "9007199254740992",
        "-9007199254740992",
        "1e400",
        "1e16",
        r#""\ud800""#,
        "9223372036854775808",
    ] {
        assert_eq!(value(argument), None, "{argument}");
    }
}

#[test]
fn absent_arguments_have_no_header() {
    let nested = of(&with(&with(MARKED))).unwrap();
    for arguments in [
        "{}",
        "null",
        "[]",
        r#"{"p":null}"#,
        r#"{"p":"x"}"#,
        r#"{"p":{"p":null}}"#,
    ] {
        assert_eq!(values(&nested, &raw(arguments)), [], "{arguments}");
    }
    let found = values(&nested, &raw(r#"{"p":{"p":"x"}}"#));
    assert_eq!(found, [("Mcp-Param-P".to_owned(), "x".to_owned())]);
}

#[test]
fn the_name_of_a_request_depends_on_its_method() {
    let params = raw(r#"{"name":"n","uri":"u","taskId":"t"}"#);
    for (method, expected) in [
        ("tools/call", Some("n")),
        ("prompts/get", Some("n")),
        ("resources/read", Some("u")),
        ("tasks/get", Some("t")),
        ("tasks/update", Some("t")),
        ("tasks/cancel", Some("t")),
        ("tasks/list", None),
        ("tools/list", None),
        ("server/discover", None),
    ] {
        assert_eq!(name_of(method, &params).as_deref(), expected, "{method}");
    }
    assert_eq!(name_of("tools/call", &raw(r#"{"name":7}"#)), None);
    assert_eq!(name_of("tools/call", &raw("null")), None);
}

proptest! {
    #[test]
    fn every_value_can_be_sent_and_read_back(value in any::<String>()) {
        let sent = encode_value(&value);
        prop_assert!(sent.bytes().all(|byte| (0x20..=0x7e).contains(&byte)));
        prop_assert_eq!(sent.trim(), &*sent);
        let inner = sent.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        let read = match inner {
            Some(inner) => String::from_utf8(STANDARD.decode(inner).unwrap()).unwrap(),
            None => sent.clone().into_owned(),
        };
        prop_assert_eq!(read, value);
    }
}
