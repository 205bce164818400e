//! Results as text.

use super::*;

fn result(json: &str) -> CallToolResult {
    CallToolResult::from_raw(&Raw::parse(json).unwrap()).unwrap()
}

fn whole(text: &str, described: usize) -> Text {
    Text {
        text: text.to_owned(),
        is_cut: false,
        described,
    }
}

#[track_caller]
fn reads(json: &str, expected: &str) {
    let text = text(&result(json), &TextLimits::default());
    assert_eq!(text, whole(expected, 0), "{json}");
}

#[test]
fn blocks_stand_on_lines_of_their_own() {
    reads(
        r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"},{"type":"text","text":""}]}"#,
        "a\nb\n\n",
    );
}

#[test]
fn what_is_no_text_is_described() {
    let json = r#"{"content":[
        {"type":"image","data":"AAAA","mimeType":"image/png"},
        {"type":"audio","data":"AAA=","mimeType":"audio/wav"},
        {"type":"resource_link","uri":"a:b","name":"n","mimeType":"m","size":12288},
        {"type":"resource","resource":{"uri":"c:d","blob":"AA=="}},
        {"type":"resource","resource":{"uri":"e:f","text":"inside"}},
        {"type":"hologram"},
        {"type":"text","text":5},
        7]}"#;
    let expected = "[image image/png 3 B]\n[audio audio/wav 2 B]\n[resource link a:b m 12 KiB]\n\
        [resource c:d 1 B]\ninside\n[block of the unknown type hologram]\n\
        [text block that cannot be read]\n[block without a type]";
    assert_eq!(
        text(&result(json), &TextLimits::default()),
        whole(expected, 7)
    );
}

#[test]
fn data_speaks_where_there_are_no_blocks() {
    for (data, said) in [
        (r#""plain""#, "plain"),
        (r#"{"text":"t"}"#, "t"),
        (r#"{"result":"r"}"#, "r"),
        (r#"{"result":[1, 2]}"#, "[1, 2]"),
        (r#"{"content":"c","isError":false}"#, "c"),
        (
            r#"{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#,
            "x\ny",
        ),
        (r#"{"text":"t","more":1}"#, r#"{"text":"t","more":1}"#),
        (r#"{"a":1.10}"#, r#"{"a":1.10}"#),
        ("null", "null"),
        ("[]", "[]"),
    ] {
        reads(
            &format!(r#"{{"content":[],"structuredContent":{data}}}"#),
            said,
        );
    }
    reads(
        r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}}"#,
        "t",
    );
    reads(r#"{"content":[]}"#, "");
}

#[test]
fn a_result_of_a_server_that_knows_no_blocks_is_understood() {
    reads(r#"{"text":"t"}"#, "t");
    reads(r#"{"result":"r","isError":true}"#, "r");
    reads("{}", "");
}

#[test]
fn a_text_is_cut_at_its_bound_and_says_so() {
    let cut = |bytes: usize| {
        let json = r#"{"content":[{"type":"text","text":"abé"},{"type":"text","text":"cd"}]}"#;
        text(&result(json), &TextLimits { bytes })
    };
    assert_eq!(cut(8), whole("abé\ncd", 0));
    assert_eq!(cut(7), whole("abé\ncd", 0));
    let short = |text: &str| Text {
        text: text.to_owned(),
        is_cut: true,
        described: 0,
    };
    assert_eq!(cut(6), short("abé\nc\n[cut here: 1 B more]"));
    // Never inside a character, and nothing of what follows.
    assert_eq!(cut(3), short("ab\n[cut here: 5 B more]"));
    assert_eq!(TextLimits::default().bytes, 10 * 1024 * 1024);
}

#[test]
fn a_prompt_says_who_says_what() {
    let json = r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},
        {"role":"assistant","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]}"#;
    let prompt = GetPromptResult::from_raw(&Raw::parse(json).unwrap()).unwrap();
    assert_eq!(
        prompt_text(&prompt, &TextLimits::default()),
        whole("user:\nhi\nassistant:\n[image image/png 3 B]", 1)
    );
}

#[test]
fn a_prompt_with_content_as_a_string_or_a_list_is_its_texts() {
    let json = r#"{"messages":[{"role":"user","content":"hi\n\u0041"},
        {"role":"assistant","content":[{"type":"text","text":"a"},
            {"type":"image","data":"AAAA","mimeType":"image/png"}]}]}"#;
    let prompt = GetPromptResult::from_raw(&Raw::parse(json).unwrap()).unwrap();
    assert_eq!(
        prompt_text(&prompt, &TextLimits::default()),
        whole("user:\nhi\nA\nassistant:\na\n[image image/png 3 B]", 1)
    );
}

#[test]
fn a_resource_is_its_texts() {
    let json =
        r#"{"contents":[{"uri":"a:1","text":"one"},{"uri":"a:2","blob":"AAAA","mimeType":"x/y"}]}"#;
    let read = ReadResourceResult::from_raw(&Raw::parse(json).unwrap()).unwrap();
    assert_eq!(
        resource_text(&read, &TextLimits::default()),
        whole("one\n[resource a:2 x/y 3 B]", 1)
    );
}
