//! More than 200 results of tool calls that are odd but valid, as raw JSON text.
//!
//! They are what a careless proxy changes: spellings of numbers and letters, the order of members,
//! unknown members and content types, nesting, sizes. With `Options::shapes` the tool
//! `shape` answers with them by `number`, from 1 on, byte for byte as they are here.
//!
//! Both eras have the same shapes: a modern result has its `resultType` besides, first or last, and
//! structured content of any type, which a legacy result wraps in an object.

mod content;
mod values;

use std::sync::LazyLock;

use switchboard_wire::Era;

static LEGACY: LazyLock<Vec<String>> = LazyLock::new(|| all(Era::Legacy));
static MODERN: LazyLock<Vec<String>> = LazyLock::new(|| all(Era::Modern));

/// The results for legacy clients, in the order of their numbers.
pub fn legacy() -> &'static [String] {
    &LEGACY
}

/// The results for modern clients, in the order of their numbers.
pub fn modern() -> &'static [String] {
    &MODERN
}

/// The members of a result, each as raw text such as `"isError":false`.
type Members = Vec<String>;

/// A text that needs no care.
const PLAIN: &str = r#"{"type":"text","text":"plain"}"#;

fn all(era: Era) -> Vec<String> {
    let mut shapes = Vec::new();
    shapes.extend(values::TEXTS.iter().map(|text| one(&text_block(text))));
    shapes.extend(content::BLOCKS.iter().map(|block| one(block)));
    shapes.extend(values::NUMBERS.iter().map(|number| structured(era, number)));
    shapes.extend(values::VALUES.iter().map(|value| structured(era, value)));
    shapes.extend(values::KEYS.iter().flat_map(|key| odd_key(era, key)));
    shapes.extend(content::META.iter().flat_map(|meta| with_meta(meta)));
    shapes.extend(orders());
    shapes.extend(errors(era));
    shapes.extend(sizes(era));
    let results = shapes.into_iter().enumerate();
    let mut results: Vec<String> = results
        .map(|(index, members)| {
            let tagged = tagged(era, index, members);
            format!("{{{}}}", tagged.join(","))
        })
        .collect();
    results.extend(spaced(era));
    results
}

/// Adds the `resultType` of the modern era, first or last in turn.
fn tagged(era: Era, index: usize, mut members: Members) -> Members {
    let tag = r#""resultType":"complete""#.to_owned();
    match (era, index.is_multiple_of(2)) {
        (Era::Legacy, _) => {}
        (Era::Modern, true) => members.insert(0, tag),
        (Era::Modern, false) => members.push(tag),
    }
    members
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{text}}}"#)
}

fn contents(blocks: &str) -> String {
    format!(r#""content":[{blocks}]"#)
}

/// A result with one block.
fn one(block: &str) -> Members {
    vec![contents(block)]
}

/// A result with structured content; a legacy one is always an object.
fn structured(era: Era, value: &str) -> Members {
    let value = match era {
        Era::Legacy if !value.starts_with('{') => format!(r#"{{"value":{value}}}"#),
        _ => value.to_owned(),
    };
    vec![contents(PLAIN), format!(r#""structuredContent":{value}"#)]
}

/// Unknown members under an odd key: in the result, and further inside.
fn odd_key(era: Era, key: &str) -> [Members; 2] {
    let member = format!("{key}:[1.0,null]");
    let block = format!(r#"{{"type":"text",{member},"text":"odd"}}"#);
    let inside = format!(r#"{{"a":1,{member},"z":{{{member}}}}}"#);
    let mut nested = structured(era, &inside);
    nested.push(format!(r#""_meta":{{{member}}}"#));
    [vec![member, contents(&block)], nested]
}

/// The same `_meta` of a result, of a block and of a resource.
fn with_meta(meta: &str) -> [Members; 2] {
    let result = vec![format!(r#""_meta":{meta}"#), contents(PLAIN)];
    let block = format!(
        r#"{{"_meta":{meta},"type":"resource","resource":{{"uri":"test://meta","text":"x","_meta":{meta}}}}}"#
    );
    [result, one(&block)]
}

/// Every order of the four members that a result knows.
fn orders() -> Vec<Members> {
    let members = [
        contents(PLAIN),
        r#""structuredContent":{"b":1,"a":2}"#.to_owned(),
        r#""isError":false"#.to_owned(),
        r#""_meta":{"example.com/order":true}"#.to_owned(),
    ];
    let mut orders: Vec<Members> = vec![Vec::new()];
    for member in members {
        let longer = orders.iter().flat_map(|order| {
            let member = &member;
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, member.clone());
                order
            })
        });
        orders = longer.collect();
    }
    orders
}

/// Failures with and without structured content, and none that says so.
fn errors(era: Era) -> Vec<Members> {
    let mut shapes = Vec::new();
    for is_error in ["true", "false"] {
        let member = format!(r#""isError":{is_error}"#);
        shapes.push(vec![member.clone(), contents("")]);
        shapes.push(vec![contents(PLAIN), member.clone()]);
        let mut with_content = structured(era, r#"{"code":-0,"why":null}"#);
        with_content.insert(0, member);
        shapes.push(with_content);
    }
    shapes
}

/// Nothing, and much.
fn sizes(era: Era) -> Vec<Members> {
    let repeat = |block: &str, count: usize| vec![block; count].join(",");
    let deep = |open: &str, core: &str, close: &str| {
        format!("{}{core}{}", open.repeat(60), close.repeat(60))
    };
    let wide: Vec<String> = (0..2000)
        .map(|key| format!(r#""k{key}":{key}.0"#))
        .collect();
    let text = |letter: &str, count: usize| text_block(&format!("\"{}\"", letter.repeat(count)));
    vec![
        one(""),
        one(&repeat(PLAIN, 2)),
        one(&repeat(PLAIN, 1000)),
        one(&content::BLOCKS.join(",")),
        one(&text("x", 1024)),
        one(&text("x", 64 * 1024)),
        one(&text("\\u0000", 10_000)),
        one(&text("\u{1f511}", 50_000)),
        one(&text("\\ud83d\\udd11", 50_000)),
        one(&text("x", 1024 * 1024)),
        structured(era, &format!("{{{}}}", wide.join(","))),
        structured(era, &format!("[{}]", repeat("-0", 10_000))),
        structured(era, &deep("[", "", "]")),
        structured(era, &deep(r#"{"a":"#, "{}", "}")),
        structured(era, &format!(r#"{{"{}":1}}"#, "k".repeat(10_000))),
        structured(era, &format!("9{}", "0".repeat(300))),
        structured(era, &format!("0.{}1", "0".repeat(300))),
    ]
}

/// Spaces and tabs where JSON allows them; line breaks would end the message over stdio.
fn spaced(era: Era) -> Vec<String> {
    let tag = match era {
        Era::Legacy => "",
        Era::Modern => r#""resultType" : "complete" , "#,
    };
    vec![
        format!(r#"{{ {tag}"content" : [ {PLAIN} ] }}"#),
        format!("{{\t{tag}\"content\"\t:\t[\t{PLAIN}\t]\t}}"),
        format!(r#"{{{tag}"content":[    ],"structuredContent":{{   }}}}"#),
        format!(r#"{{{tag}"content":[ {{ "type" : "text" , "text" : " spaced " }} ]}}"#),
        format!(r#"{{  {tag}  "structuredContent":{{ "a" : [ 1 , 2 ] }},  "content":[]  }}"#),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use serde_json::Value;

    #[test]
    fn there_are_more_than_200_and_no_two_are_the_same() {
        for shapes in [legacy(), modern()] {
            assert!(shapes.len() > 200, "{}", shapes.len());
            let different: HashSet<&String> = shapes.iter().collect();
            assert_eq!(different.len(), shapes.len());
        }
        assert_eq!(legacy().len(), modern().len());
    }

    #[test]
    fn each_is_a_result_on_one_line() {
        for (shapes, tag) in [(legacy(), None), (modern(), Some("complete"))] {
            for shape in shapes {
                assert!(!shape.contains(['\n', '\r']), "{shape}");
                let result: Value = serde_json::from_str(shape).expect(shape);
                assert!(result["content"].is_array(), "{shape}");
                let kind = result.get("resultType").and_then(Value::as_str);
                assert_eq!(kind, tag, "{shape}");
            }
        }
    }

    #[test]
    fn structured_content_of_a_legacy_result_is_an_object() {
        for shape in legacy() {
            let result: Value = serde_json::from_str(shape).unwrap();
            let content = result.get("structuredContent");
            assert!(content.is_none_or(Value::is_object), "{shape}");
        }
    }

    #[test]
    fn a_reader_and_writer_in_between_would_change_most_of_them() {
        let again = |shape: &String| serde_json::from_str::<Value>(shape).unwrap().to_string();
        let changed = modern().iter().filter(|shape| again(shape) != **shape);
        assert!(changed.count() > 50);
    }
}
