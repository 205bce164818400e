//! Changes of invented texts.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Texts that may separate two parts of a document.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(" "),
        4 => Just("\n    "),
        1 => Just("\n\n  "),
        1 => Just("\r\n\t"),
        1 => Just("// line, { \" comment\n"),
        1 => Just("/* block */"),
        1 => Just("/* two,\n lines */"),
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{}".to_owned()),
        Just("{ \"command\": \"x\" }".to_owned()),
        Just("{\n  \"command\": \"a, // b\" // c\n}".to_owned()),
        Just("{\"url\":\"https://e.example/\",}".to_owned()),
        gap().prop_map(|gap| format!("{{{gap}\"k\":{gap}[1,{gap}2]{gap}}}")),
    ]
}

/// A document as pieces: what is before the servers, the servers (gap, text, gap), what is after.
#[derive(Debug, Clone)]
struct Invented {
    head: String,
    servers: Vec<(String, String, String)>,
    is_comma_last: bool,
    tail: String,
}

impl Invented {
    fn text(&self) -> String {
        let mut out = self.head.clone();
        for (at, (before, server, after)) in self.servers.iter().enumerate() {
            let is_last = at + 1 == self.servers.len();
            let comma = if is_last && !self.is_comma_last {
                ""
            } else {
                ","
            };
            out = out + before + server + after + comma;
        }
        out + &self.tail
    }
}

fn document(least: usize) -> impl Strategy<Value = Invented> {
    let server = (gap(), gap(), value(), gap());
    let servers = proptest::collection::vec(server, least..5);
    (gap(), gap(), servers, any::<bool>(), gap(), gap()).prop_map(
        |(first, second, servers, is_comma_last, inner, last)| Invented {
            head: format!("{first}{{{second}\"x\": [1],{second}\"mcpServers\": {{"),
            servers: servers
                .into_iter()
                .enumerate()
                .map(|(at, (before, colon, value, after))| {
                    (before, format!("\"s{at}\":{colon}{value}"), after)
                })
                .collect(),
            is_comma_last,
            tail: format!("{inner}}}{last}}}{last}"),
        },
    )
}

/// A document that was written by a formatter: one server a line, comments above or behind.
fn formatted() -> impl Strategy<Value = String> {
    let comment = prop_oneof![Just(None), Just(Some("// c")), Just(Some("/* c */"))];
    let server = (comment.clone(), value(), comment, any::<bool>());
    (
        proptest::collection::vec(server, 1..5),
        any::<bool>(),
        prop_oneof![Just("\n"), Just("\r\n")],
        any::<bool>(),
    )
        .prop_map(|(servers, is_comma_last, newline, has_end)| {
            let mut out = String::from("{\n  \"mcpServers\": {\n");
            let count = servers.len();
            for (at, (above, value, behind, is_apart)) in servers.into_iter().enumerate() {
                if is_apart {
                    out.push('\n');
                }
                if let Some(comment) = above {
                    out += &format!("    {comment}\n");
                }
                let comma = if at + 1 < count || is_comma_last {
                    ","
                } else {
                    ""
                };
                let behind = behind.map(|c| format!(" {c}")).unwrap_or_default();
                out += &format!("    \"s{at}\": {value}{comma}{behind}\n");
            }
            out += "  }\n}";
            if has_end {
                out.push('\n');
            }
            out.replace('\n', newline)
        })
}

fn names(text: &str) -> Vec<String> {
    let value = jsonc_parser::parse_to_value(text, &jsonc_parser::ParseOptions::default());
    let root = value.unwrap().unwrap();
    let jsonc_parser::JsonValue::Object(root) = root else {
        panic!("{text}");
    };
    let servers = root.get_object("mcpServers").unwrap();
    let mut names: Vec<String> = servers
        .clone()
        .into_iter()
        .map(|(name, _)| name.to_string())
        .collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn adding_changes_no_byte_of_what_is_there(document in document(0)) {
        let text = document.text();
        let added = apply(&text, &add_entry("new", json!({"command": "n"})));
        let mut rest = added.as_str();
        for (_, server, _) in &document.servers {
            let at = rest.find(server.as_str());
            prop_assert!(at.is_some(), "{text}\n---\n{added}");
            rest = &rest[at.unwrap() + server.len()..];
        }
        prop_assert!(added.starts_with(&document.head));
        let mut expected = names(&text);
        expected.push("new".to_owned());
        expected.sort();
        prop_assert_eq!(names(&added), expected);
    }

    #[test]
    fn removing_takes_one_server_and_no_byte_of_the_others(document in document(1), which in 0_usize..60) {
        let which = which % document.servers.len();
        let text = document.text();
        let gone = format!("s{which}");
        let left = apply(&text, &remove(&gone));
        let mut rest = left.as_str();
        for (at, (_, server, _)) in document.servers.iter().enumerate() {
            if at == which {
                continue;
            }
            let found = rest.find(server.as_str());
            prop_assert!(found.is_some(), "{text}\n---\n{left}");
            rest = &rest[found.unwrap() + server.len()..];
        }
        prop_assert!(left.starts_with(&document.head));
        let mut expected = names(&text);
        expected.retain(|name| *name != gone);
        prop_assert_eq!(names(&left), expected);
    }

    #[test]
    fn adding_and_removing_loses_nothing_but_spaces(document in document(0)) {
        let text = document.text();
        let back = apply(&apply(&text, &add("new")), &remove("new"));
        let packed = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(packed(&back), packed(&text), "{}\n---\n{}", text, back);
    }

    #[test]
    fn adding_and_removing_gives_the_same_bytes_back(text in formatted()) {
        let added = apply(&text, &add("new"));
        prop_assert_eq!(apply(&added, &remove("new")), text);
    }

    #[test]
    fn switching_off_and_on_gives_the_same_bytes_back(text in formatted()) {
        let off = apply(&text, &disable("s0"));
        prop_assert!(off != text);
        prop_assert_eq!(apply(&off, &enable("s0")), text);
    }

    #[test]
    fn no_text_makes_an_edit_panic(text in "[{}\\[\\],:\"/* \\nas\\\\mcpServers0-9]{0,60}") {
        for change in [add("a"), remove("a"), enable("a"), disable("a")] {
            let _ = super::super::apply(&text, &change);
        }
    }
}
