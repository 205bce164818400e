//! OpenAI's shapes, whole.

use serde_json::json;
use switchboard_wire::{FromRaw as _, Raw};

use super::*;
use crate::formats::Note;

fn tool(value: &Value) -> Tool {
    Tool::from_raw(&Raw::of(value).unwrap()).unwrap()
}

fn result(value: &Value) -> CallToolResult {
    CallToolResult::from_raw(&Raw::of(value).unwrap()).unwrap()
}

fn said(notes: &[Note]) -> Vec<String> {
    notes.iter().map(ToString::to_string).collect()
}

fn parameters_of(schema: &Value) -> (Value, Vec<String>) {
    let adapted = chat("t", &tool(&json!({"name":"t","inputSchema":schema})));
    let parameters = adapted
        .value
        .pointer("/function/parameters")
        .unwrap()
        .clone();
    (parameters, said(&adapted.notes))
}

#[test]
fn a_plain_tool_is_passed_on_as_it_is() {
    let echo = tool(
        &json!({"name":"echo","description":"Says it again.","inputSchema":{
        "type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}),
    );
    let parameters = json!({"type":"object","properties":{"message":{"type":"string"}},
        "required":["message"]});
    assert_eq!(
        chat("demo__echo", &echo),
        Adapted {
            value: json!({"type":"function","function":{"name":"demo__echo",
                "description":"Says it again.","parameters":parameters}}),
            notes: vec![],
        }
    );
    assert_eq!(
        responses("demo__echo", &echo),
        Adapted {
            value: json!({"type":"function","name":"demo__echo","description":"Says it again.",
                "parameters":parameters,"strict":false}),
            notes: vec![],
        }
    );
}

#[test]
fn strict_mode_is_claimed_where_the_schema_qualifies() {
    let closed = tool(
        &json!({"name":"t","inputSchema":{"type":"object","properties":{},
        "additionalProperties":false}}),
    );
    let chat = chat("t", &closed).value;
    assert_eq!(chat.pointer("/function/strict"), Some(&json!(true)));
    assert_eq!(responses("t", &closed).value["strict"], json!(true));
}

#[test]
fn the_root_is_made_an_object_with_properties() {
    assert_eq!(
        parameters_of(&json!({})),
        (
            json!({"type":"object","properties":{}}),
            vec![
                "parameters: `type` set to `object`, which the API asks for".to_owned(),
                "parameters: empty `properties` added, which the API asks for".to_owned(),
            ]
        )
    );
    assert_eq!(
        parameters_of(&json!({"$schema":"x","type":["object","null"],"properties":{"a":true}})),
        (
            json!({"type":"object","properties":{"a":true}}),
            vec![
                "parameters: `$schema` dropped: the API does not take it".to_owned(),
                "parameters: `type` replaced by `object`: arguments are always one".to_owned(),
            ]
        )
    );
}

#[test]
fn alternatives_at_the_root_are_taken_together() {
    let taken = |keyword: &str| {
        format!("parameters: `{keyword}` taken from the root: the API does not take it there")
    };
    let branches = json!([
        {"properties":{"a":{"type":"string"},"c":{"type":"null"}},"required":["a","c"]},
        {"properties":{"b":{"type":"string"},"c":{"type":"number"}},"required":["b","c"]}]);
    let properties =
        json!({"z":{},"a":{"type":"string"},"c":{"type":"null"},"b":{"type":"string"}});
    for keyword in ["anyOf", "oneOf"] {
        assert_eq!(
            parameters_of(&json!({"type":"object","properties":{"z":{}},keyword:branches})),
            (
                json!({"type":"object","properties":properties,"required":["c"]}),
                vec![taken(keyword)]
            )
        );
    }
    assert_eq!(
        parameters_of(&json!({"type":"object","properties":{"z":{}},"allOf":branches})),
        (
            json!({"type":"object","properties":properties,"required":["a","c","b"]}),
            vec![taken("allOf")]
        )
    );
}

#[test]
fn a_reference_at_the_root_is_followed() {
    let schema = json!({"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{}}}}});
    assert_eq!(
        parameters_of(&schema),
        (
            json!({"type":"object","properties":{"a":{}},
                "$defs":{"A":{"type":"object","properties":{"a":{}}}}}),
            vec!["parameters: `$ref` at the root replaced by what it points at".to_owned()]
        )
    );
    let (parameters, notes) = parameters_of(&json!({"$ref":"#","type":"object","properties":{}}));
    assert_eq!(parameters, json!({"type":"object","properties":{}}));
    assert_eq!(
        notes,
        ["parameters: `$ref` at the root dropped: it leads nowhere"]
    );
}

#[test]
fn a_description_is_cut_at_the_limit_and_a_title_stands_in() {
    let described = |text: &str| {
        let tool = tool(&json!({"name":"t","description":text,
            "inputSchema":{"type":"object","properties":{}}}));
        let adapted = chat("t", &tool);
        let description = adapted.value.pointer("/function/description").unwrap();
        (
            description.as_str().unwrap().to_owned(),
            said(&adapted.notes),
        )
    };
    let full = "é".repeat(1024);
    assert_eq!(described(&full), (full.clone(), vec![]));
    let (cut, notes) = described(&"é".repeat(1025));
    assert_eq!(cut, format!("{}…", "é".repeat(1023)));
    let note = "description: cut to 1024 characters, the most that the API takes";
    assert_eq!(notes, [note]);
    let titled =
        tool(&json!({"name":"t","title":"T","inputSchema":{"type":"object","properties":{}}}));
    assert_eq!(
        chat("t", &titled).value.pointer("/function/description"),
        Some(&json!("T"))
    );
}

#[test]
fn a_name_that_the_api_refuses_is_noted_and_kept() {
    let plain = tool(&json!({"name":"t","inputSchema":{"type":"object","properties":{}}}));
    for name in ["a.b", "", "ü", &"n".repeat(65)] {
        let adapted = chat(name, &plain);
        assert_eq!(adapted.value.pointer("/function/name"), Some(&json!(name)));
        let note = "name: the API takes only 1 to 64 letters, digits, `_` and `-`";
        assert_eq!(said(&adapted.notes), [note]);
    }
    assert_eq!(chat(&"n".repeat(64), &plain).notes, []);
}

#[test]
fn a_schema_that_cannot_be_read_is_replaced_by_any_object() {
    let raw = Raw::parse(r#"{"name":"t","inputSchema":{"maximum":1e400}}"#).unwrap();
    let adapted = chat("t", &Tool::from_raw(&raw).unwrap());
    let parameters = adapted.value.pointer("/function/parameters");
    assert_eq!(parameters, Some(&json!({"type":"object","properties":{}})));
    let note = "parameters: replaced by any object: it holds what cannot be read";
    assert_eq!(said(&adapted.notes), [note]);
}

#[test]
fn a_result_is_a_message_of_text() {
    let limits = TextLimits::default();
    let plain = result(&json!({"content":[{"type":"text","text":"hi"}]}));
    assert_eq!(
        chat_result("c1", &plain, &limits),
        Adapted {
            value: json!({"role":"tool","tool_call_id":"c1","content":"hi"}),
            notes: vec![]
        }
    );
    assert_eq!(
        responses_result("c1", &plain, &limits),
        Adapted {
            value: json!({"type":"function_call_output","call_id":"c1","output":"hi"}),
            notes: vec![]
        }
    );
    let failed = result(&json!({"content":[{"type":"text","text":"no"}],"isError":true}));
    let adapted = chat_result("c1", &failed, &limits);
    assert_eq!(
        adapted.value["content"],
        json!("The tool reported an error:\nno")
    );
    let note = "content: the error is said in the text: the API has no flag for it";
    assert_eq!(said(&adapted.notes), [note]);
}

#[test]
fn images_are_parts_where_the_api_takes_them() {
    let limits = TextLimits::default();
    let pictures = result(&json!({"content":[
        {"type":"text","text":"look"},
        {"type":"image","data":"AAAA","mimeType":"image/png"},
        {"type":"image","data":"AAAA","mimeType":"image/tiff"}]}));
    let chat = chat_result("c1", &pictures, &limits);
    assert_eq!(
        chat.value["content"],
        json!("look\n[image image/png 3 B]\n[image image/tiff 3 B]")
    );
    assert_eq!(
        said(&chat.notes),
        ["content: 2 blocks described: only text is taken"]
    );
    let responses = responses_result("c1", &pictures, &limits);
    assert_eq!(
        responses.value["output"],
        json!([
            {"type":"input_text","text":"look"},
            {"type":"input_image","image_url":"data:image/png;base64,AAAA"},
            {"type":"input_text","text":"[image image/tiff 3 B]"}])
    );
    let note = "content: a block described: the API does not take it";
    assert_eq!(said(&responses.notes), [note]);
    let small = TextLimits { bytes: 4 };
    let cut = responses_result("c1", &pictures, &small).value;
    assert_eq!(
        cut["output"],
        json!([{"type":"input_text","text":"look"},
            {"type":"input_text","text":"[cut: blocks that are too large]"}])
    );
}

#[test]
fn calls_are_read() {
    let expected = Call {
        id: "c1".to_owned(),
        name: "echo".to_owned(),
        arguments: Raw::parse(r#"{"n": 1.10}"#).unwrap(),
    };
    let chat = json!({"id":"c1","type":"function",
        "function":{"name":"echo","arguments":r#"{"n": 1.10}"#}});
    assert_eq!(chat_call(&chat), Ok(expected.clone()));
    let responses = json!({"type":"function_call","id":"fc_1","call_id":"c1","name":"echo",
        "arguments":r#"{"n": 1.10}"#});
    assert_eq!(responses_call(&responses), Ok(expected));
    let without = json!({"id":"c1","type":"function","function":{"name":"echo","arguments":""}});
    assert_eq!(chat_call(&without).unwrap().arguments, Raw::empty_object());
}

#[test]
fn a_bad_call_says_what_is_wrong_and_not_what_it_held() {
    let with = |arguments: &str| {
        let call = json!({"id":"c1","type":"function",
            "function":{"name":"echo","arguments":arguments}});
        chat_call(&call).unwrap_err().to_string()
    };
    let not_object = "the arguments of the call must be a JSON object";
    assert_eq!(with(r#"["CANARY"]"#), not_object);
    assert_eq!(with("null"), not_object);
    let cut = with(r#"{"key":"CANARY"#);
    assert_eq!(
        cut,
        "the arguments of the call are not JSON: line 1, column 14"
    );
    let two = with(r#"{"key":"x"} CANARY"#);
    assert!(
        two.starts_with("the arguments of the call are not JSON: line 1"),
        "{two}"
    );
    assert!(!two.contains("CANARY"));
    assert_eq!(
        chat_call(&json!({"type":"custom"})),
        Err(ParseCallError::NotACall {
            expected: "function"
        })
    );
    assert_eq!(
        chat_call(&json!("x")),
        Err(ParseCallError::NotACall {
            expected: "function"
        })
    );
    assert_eq!(
        chat_call(&json!({"type":"function","id":"c1"})),
        Err(ParseCallError::Missing { member: "name" })
    );
    assert_eq!(
        responses_call(&json!({"type":"function_call","id":"only","name":"n"})),
        Err(ParseCallError::Missing { member: "call_id" })
    );
}
