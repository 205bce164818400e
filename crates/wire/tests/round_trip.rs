//! Whatever a peer sends is kept as it was sent, and read as another reader would read it.

use proptest::prelude::*;
use serde::Serialize;
use serde_json::Value;
use switchboard_wire::*;

/// Numbers that a reader may not be able to hold.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "0",
            "-0",
            "1.10",
            "1e400",
            "-1e-400",
            "1E+2",
            "0.1e-7",
            "9007199254740993",
            "123456789012345678901234567890",
            "-170141183460469231731687303715884105729",
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        (any::<i32>(), 0..999_u32).prop_map(|(whole, part)| format!("{whole}.{part:03}")),
    ]
}

/// A string as it is escaped, with its quotes.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 ,:{}\\[\\]éß漢🦀]{0,6}",
        1 => prop::sample::select(vec![
            r"\n", r"\/", r#"\""#, r"\\", r"\u0041", r"\ud83e\udd80", r"\ud800", r"\udc00\ud800",
            r"\u0000", "\u{7f}", "\u{2028}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Any JSON value, as text.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        number(),
        string(),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((string(), inner), 0..4).prop_map(|members| object(&members)),
        ]
    })
}

fn object(members: &[(String, String)]) -> String {
    let members: Vec<_> = members
        .iter()
        .map(|(key, value)| format!("{key}:{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// An object with the given members, each perhaps left out or given twice, among others that
/// nobody knows, in any order.
fn object_with(
    required: Vec<(&'static str, BoxedStrategy<String>)>,
    optional: Vec<(&'static str, BoxedStrategy<String>)>,
) -> BoxedStrategy<String> {
    let named = |(key, value): (&'static str, BoxedStrategy<String>)| {
        value.prop_map(move |value| (format!("\"{key}\""), value))
    };
    let required: Vec<_> = required.into_iter().map(named).collect();
    let optional: Vec<_> = optional
        .into_iter()
        .map(|member| prop::collection::vec(named(member), 0..=2))
        .collect();
    let unknown = prop::collection::vec((string(), json()), 0..3);
    (required, optional, unknown)
        .prop_map(|(required, optional, unknown)| [required, optional.concat(), unknown].concat())
        .prop_shuffle()
        .prop_map(|members| object(&members))
        .boxed()
}

fn list(item: BoxedStrategy<String>) -> BoxedStrategy<String> {
    prop::collection::vec(item, 0..3)
        .prop_map(|items| format!("[{}]", items.join(",")))
        .boxed()
}

fn flag() -> BoxedStrategy<String> {
    prop::sample::select(vec!["true", "false", "null"])
        .prop_map(str::to_owned)
        .boxed()
}

fn words(words: &[&'static str]) -> BoxedStrategy<String> {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    prop::sample::select(quoted).boxed()
}

fn text() -> BoxedStrategy<String> {
    string().boxed()
}

fn anything() -> BoxedStrategy<String> {
    json().boxed()
}

fn schema() -> BoxedStrategy<String> {
    object_with(
        vec![("type", words(&["object"]))],
        vec![("properties", anything())],
    )
}

fn tool() -> BoxedStrategy<String> {
    object_with(
        vec![("name", text()), ("inputSchema", schema())],
        vec![
            ("title", text()),
            ("description", text()),
            ("outputSchema", schema()),
            (
                "annotations",
                object_with(vec![], vec![("readOnlyHint", flag())]),
            ),
            ("_meta", anything()),
        ],
    )
}

fn content() -> BoxedStrategy<String> {
    let kinds = words(&[
        "text",
        "image",
        "audio",
        "resource_link",
        "resource",
        "later",
    ]);
    object_with(
        vec![("type", kinds)],
        vec![
            ("text", text()),
            ("data", text()),
            ("mimeType", text()),
            ("uri", text()),
            ("name", text()),
            ("size", number().boxed()),
            ("resource", contents()),
            ("_meta", anything()),
        ],
    )
}

fn contents() -> BoxedStrategy<String> {
    object_with(
        vec![("uri", text())],
        vec![("text", text()), ("blob", text()), ("mimeType", text())],
    )
}

fn resource() -> BoxedStrategy<String> {
    object_with(
        vec![("uri", text()), ("name", text())],
        vec![("size", number().boxed()), ("_meta", anything())],
    )
}

fn prompt() -> BoxedStrategy<String> {
    let argument = object_with(vec![("name", text())], vec![("required", flag())]);
    object_with(
        vec![("name", text())],
        vec![("arguments", list(argument)), ("description", text())],
    )
}

fn result() -> BoxedStrategy<String> {
    object_with(
        vec![("content", list(content()))],
        vec![
            ("isError", flag()),
            ("structuredContent", anything()),
            ("_meta", anything()),
        ],
    )
}

fn prompt_result() -> BoxedStrategy<String> {
    let message = object_with(
        vec![],
        vec![
            ("role", words(&["user", "assistant"])),
            ("content", content()),
        ],
    );
    object_with(
        vec![("messages", list(prop_oneof![message, json()].boxed()))],
        vec![("description", text())],
    )
}

/// A whole message, with an envelope in its proper order.
fn line() -> BoxedStrategy<String> {
    let id = || {
        prop_oneof![
            any::<i64>().prop_map(|id| id.to_string()),
            "\"[a-z0-9]{1,4}\""
        ]
    };
    let params = || prop::option::of(json());
    let with =
        |params: Option<String>| params.map_or_else(String::new, |p| format!(",\"params\":{p}"));
    let error = (any::<i16>(), "[a-z ]{0,8}", json()).prop_map(|(code, message, data)| {
        format!(r#"{{"data":{data},"code":{code},"message":"{message}"}}"#)
    });
    prop_oneof![
        (id(), "[a-z/]{1,9}", params()).prop_map(move |(id, method, p)| format!(
            r#""id":{id},"method":"{method}"{}"#,
            with(p)
        )),
        ("[a-z/]{1,9}", params())
            .prop_map(move |(method, p)| format!(r#""method":"{method}"{}"#, with(p))),
        (id(), json()).prop_map(|(id, result)| format!(r#""id":{id},"result":{result}"#)),
        (prop_oneof![id(), Just("null".to_owned())], error)
            .prop_map(|(id, error)| format!(r#""id":{id},"error":{error}"#)),
    ]
    .prop_map(|members| format!(r#"{{"jsonrpc":"2.0",{members}}}"#))
    .boxed()
}

fn raw(text: &str) -> Raw {
    Raw::parse(text).expect("the generators write JSON")
}

/// Where a value fits its type, it writes itself as it was sent.
fn kept<T: FromRaw + Serialize>(text: &str) -> Option<T> {
    let value = T::from_raw(&raw(text)).ok()?;
    let written = serde_json::to_string(&value).expect("it was JSON when it came");
    assert_eq!(written, text);
    Some(value)
}

/// What an ordinary reader makes of the text; `None` where it cannot hold it.
fn ordinary(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Whether a part reads as the ordinary reader read it.
fn same(part: Option<&Raw>, value: Option<&Value>) -> bool {
    let part = part.map(|part| part.decode::<Value>().expect("the whole could be read"));
    part.as_ref() == value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_json_is_kept(text in json()) {
        let value = raw(&text);
        prop_assert_eq!(value.as_str(), &text);
        prop_assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }

    #[test]
    fn members_and_items_agree_with_an_ordinary_reader(text in json()) {
        let value = raw(&text);
        match ordinary(&text) {
            Some(Value::Object(map)) => {
                for (key, item) in &map {
                    prop_assert!(same(value.member(key).as_ref(), Some(item)), "{}", key);
                }
                prop_assert!(value.members().len() >= map.len());
            }
            Some(Value::Array(items)) => {
                let read: Vec<Value> = value.items().iter().map(|item| item.decode().unwrap()).collect();
                prop_assert_eq!(read, items);
            }
            _ => {}
        }
    }

    #[test]
    fn tools_are_kept_and_read(text in tool()) {
        let read = kept::<Tool>(&text);
        if let Some(value) = ordinary(&text) {
            let tool = read.expect("an ordinary reader can read it");
            prop_assert_eq!(Some(tool.name()), value["name"].as_str());
            prop_assert_eq!(tool.title(), value["title"].as_str());
            prop_assert_eq!(tool.description(), value["description"].as_str());
            prop_assert!(same(Some(tool.input_schema().raw()), value.get("inputSchema")));
            prop_assert!(same(tool.output_schema().map(Schema::raw), value.get("outputSchema")));
            prop_assert!(same(tool.meta(), value.get("_meta")));
            let read_only = tool.annotations().and_then(ToolAnnotations::read_only_hint);
            prop_assert_eq!(read_only, value["annotations"]["readOnlyHint"].as_bool());
        }
    }

    #[test]
    fn pages_are_kept_item_by_item(items in prop::collection::vec(tool(), 0..3), cursor in string()) {
        let text = format!(r#"{{"nextCursor":{cursor},"tools":[{}]}}"#, items.join(","));
        let cursor = raw(&cursor).as_text();
        if let Some(page) = kept::<ToolPage>(&text) {
            let read: Vec<_> = page.items().iter().map(Raw::as_str).collect();
            prop_assert_eq!(read, items);
            prop_assert_eq!(page.next_cursor(), cursor.as_deref());
        } else {
            prop_assert_eq!(cursor, None);
        }
    }

    #[test]
    fn content_is_kept_and_read(text in content()) {
        let block = kept::<Content>(&text).expect("any object is a block");
        let Some(value) = ordinary(&text) else { return Ok(()) };
        let kind = value["type"].as_str();
        match &block {
            Content::Text(block) => {
                prop_assert_eq!(kind, Some("text"));
                prop_assert_eq!(Some(block.text()), value["text"].as_str());
            }
            Content::Image(block) | Content::Audio(block) => {
                prop_assert!(matches!(kind, Some("image" | "audio")));
                prop_assert_eq!(Some(block.data()), value["data"].as_str());
                prop_assert_eq!(Some(block.mime_type()), value["mimeType"].as_str());
            }
            Content::ResourceLink(link) => {
                prop_assert_eq!(Some(link.uri()), value["uri"].as_str());
                prop_assert_eq!(link.size(), value["size"].as_u64());
            }
            Content::Resource(block) => {
                prop_assert_eq!(Some(block.resource().uri()), value["resource"]["uri"].as_str());
                prop_assert_eq!(block.resource().text(), value["resource"]["text"].as_str());
            }
            Content::Unknown(block) => {
                prop_assert_eq!(block.kind.as_deref(), kind);
                prop_assert_eq!(block.misfit.is_none(), kind == Some("later"));
            }
            _ => prop_assert!(false, "a kind of content that this test does not know"),
        }
    }

    #[test]
    fn results_are_kept_and_read(text in result()) {
        let read = kept::<CallToolResult>(&text).expect("whatever a block holds, it is a block");
        if let Some(value) = ordinary(&text) {
            prop_assert_eq!(read.is_error(), value["isError"].as_bool().unwrap_or(false));
            prop_assert!(same(read.structured_content(), value.get("structuredContent")));
            let blocks: Vec<Value> = read.content().iter().map(|b| b.raw().decode().unwrap()).collect();
            prop_assert_eq!(&Value::Array(blocks), &value["content"]);
        }
    }

    #[test]
    fn resources_and_prompts_are_kept(resource in resource(), contents in contents(), prompt in prompt()) {
        if let (Some(read), Some(value)) = (kept::<Resource>(&resource), ordinary(&resource)) {
            prop_assert_eq!(Some(read.uri()), value["uri"].as_str());
            prop_assert_eq!(read.size(), value["size"].as_u64());
        }
        if let (Some(read), Some(value)) = (kept::<ResourceContents>(&contents), ordinary(&contents)) {
            prop_assert_eq!(read.blob(), value["blob"].as_str());
        }
        if let (Some(read), Some(value)) = (kept::<Prompt>(&prompt), ordinary(&prompt)) {
            let required: Vec<_> = read.arguments().iter().map(PromptArgument::required).collect();
            let theirs: Vec<_> = value["arguments"].as_array().into_iter().flatten()
                .map(|argument| argument["required"].as_bool().unwrap_or(false)).collect();
            prop_assert_eq!(required, theirs);
        }
    }

    #[test]
    fn messages_of_a_prompt_are_all_kept(text in prompt_result()) {
        if let (Some(read), Some(value)) = (kept::<GetPromptResult>(&text), ordinary(&text)) {
            let messages: Vec<Value> =
                read.messages().iter().map(|m| m.raw().decode().unwrap()).collect();
            prop_assert_eq!(&Value::Array(messages), &value["messages"]);
        }
    }

    #[test]
    fn whole_messages_are_written_as_they_were_read(line in line()) {
        let message = Message::parse(&line).expect("the generator writes messages");
        prop_assert_eq!(&message.to_line(), &line);
        prop_assert_eq!(serde_json::to_string(&message).unwrap(), line);
        prop_assert_eq!(Message::parse(&message.to_line()), Ok(message));
    }
}
