//! Anthropic's shapes, whole.

use serde_json::json;
use switchboard_wire::{FromRaw as _, Raw};

use super::*;

fn tool(value: &Value) -> Tool {
    Tool::from_raw(&Raw::of(value).unwrap()).unwrap()
}

fn written(value: &Value) -> (Value, Vec<String>) {
    let read = CallToolResult::from_raw(&Raw::of(value).unwrap()).unwrap();
    let adapted = result("toolu_1", &read, &TextLimits::default());
    let notes = adapted.notes.iter().map(ToString::to_string).collect();
    (adapted.value, notes)
}

#[test]
fn a_tool_has_a_name_a_description_and_a_schema() {
    let echo = tool(
        &json!({"name":"echo","description":"Says it again.","inputSchema":{
        "type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}),
    );
    assert_eq!(
        definition("demo__echo", &echo),
        Adapted {
            value: json!({"name":"demo__echo","description":"Says it again.","input_schema":{
                "type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}),
            notes: vec![],
        }
    );
    let long = "x".repeat(5000);
    let long = tool(&json!({"name":"t","description":long,
        "inputSchema":{"type":"object","properties":{}}}));
    assert_eq!(definition("t", &long).notes, []);
}

#[test]
fn alternatives_at_the_root_are_taken_together() {
    let either = tool(&json!({"name":"t","inputSchema":{"anyOf":[
        {"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},
        {"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}]}}));
    let adapted = definition("t", &either);
    assert_eq!(
        adapted.value,
        json!({"name":"t","input_schema":{"type":"object",
            "properties":{"id":{"type":"integer"},"name":{"type":"string"}}}})
    );
    let notes: Vec<String> = adapted.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "input_schema: `anyOf` taken from the root: the API does not take it there",
            "input_schema: `type` set to `object`, which the API asks for",
        ]
    );
}

#[test]
fn every_block_has_its_shape() {
    let (value, notes) = written(&json!({"content":[
        {"type":"text","text":"hi"},
        {"type":"text","text":""},
        {"type":"image","data":"AAAA","mimeType":"image/png"},
        {"type":"image","data":"AAAA","mimeType":"image/tiff"},
        {"type":"resource","resource":{"uri":"a:1","text":"inside"}},
        {"type":"resource","resource":{"uri":"a:2","blob":"AAAA","mimeType":"application/pdf"}},
        {"type":"resource","resource":{"uri":"a:3","blob":"AAAA"}}],"isError":true}));
    assert_eq!(
        value,
        json!({"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[
            {"type":"text","text":"hi"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
            {"type":"text","text":"[image image/tiff 3 B]"},
            {"type":"document","title":"a:1",
                "source":{"type":"text","media_type":"text/plain","data":"inside"}},
            {"type":"document","title":"a:2",
                "source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}},
            {"type":"text","text":"[resource a:3 3 B]"}]})
    );
    let described = "content: a block described: the API does not take it";
    let empty = "content: an empty block left out: the API refuses it";
    assert_eq!(notes, [empty, described, described]);
}

#[test]
fn data_stands_in_for_blocks_and_nothing_for_nothing() {
    let (value, notes) = written(&json!({"content":[],"structuredContent":{"a":1}}));
    assert_eq!(
        value["content"],
        json!([{"type":"text","text":r#"{"a":1}"#}])
    );
    assert_eq!(notes, [""; 0]);
    let (value, _) = written(&json!({"content":[]}));
    assert_eq!(
        value,
        json!({"type":"tool_result","tool_use_id":"toolu_1","content":[]})
    );
}

#[test]
fn what_is_too_large_is_left_out_and_said() {
    let raw = json!({"content":[{"type":"text","text":"long"},{"type":"text","text":"ab"}]});
    let read = CallToolResult::from_raw(&Raw::of(&raw).unwrap()).unwrap();
    let adapted = result("t", &read, &TextLimits { bytes: 3 });
    assert_eq!(
        adapted.value["content"],
        json!([{"type":"text","text":"ab"},
            {"type":"text","text":"[cut: blocks that are too large]"}])
    );
    assert_eq!(adapted.notes.len(), 1);
}

#[test]
fn a_call_is_read() {
    let block = json!({"type":"tool_use","id":"toolu_1","name":"echo","input":{"z":1,"a":2}});
    assert_eq!(
        tool_use(&block),
        Ok(Call {
            id: "toolu_1".to_owned(),
            name: "echo".to_owned(),
            arguments: Raw::parse(r#"{"z":1,"a":2}"#).unwrap(),
        })
    );
    let listed = json!({"type":"tool_use","id":"t","name":"echo","input":[1]});
    assert_eq!(tool_use(&listed), Err(ParseCallError::ArgumentsNotAnObject));
    let text = json!({"type":"text","text":"hi"});
    assert_eq!(
        tool_use(&text),
        Err(ParseCallError::NotACall {
            expected: "tool_use"
        })
    );
}
