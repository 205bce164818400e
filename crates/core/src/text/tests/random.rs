//! Random texts made of nasty pieces.

use proptest::prelude::*;

use super::forbidden;
use crate::text::{sanitise, sanitise_line};

/// Strings that mean trouble on their own or together.
fn piece() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "\u{1b}[31m",
        "\u{1b}]8;;http://x\u{7}",
        "\u{9b}",
        "\r",
        "\r\n",
        "\n",
        "\t",
        "\0",
        "\u{7f}",
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{ad}",
        "\u{2028}",
        "\u{3164}",
        "\u{fe0f}",
        "\u{fe0e}",
        "\u{fe00}",
        "\u{e0100}",
        "\u{20e3}",
        "1",
        "#",
        "☺",
        "👨",
        "🏽",
        "\u{e0041}",
        "\u{301}",
        "\u{301}\u{302}\u{489}\u{20d0}",
        "\u{1160}",
        "\u{1161}\u{11a8}",
        "\u{e000}",
        "\u{fdd0}",
        "\u{ffff}",
        "a",
        "é",
        "東",
        "ש",
        "plain words ",
        "u{1b}",
        "}",
    ]);
    prop_oneof![
        4 => nasty.prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => (0x300_u32..0x370).prop_map(|c| char::from_u32(c).unwrap().to_string().repeat(5)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

/// Reads the escapes back.
fn unescape(shown: &str) -> String {
    let mut text = String::new();
    let mut chars = shown.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match chars.next().unwrap() {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                assert_eq!(chars.next(), Some('{'));
                let code: String = chars.by_ref().take_while(|c| *c != '}').collect();
                char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
            }
            other => panic!("unknown escape {other:?}"),
        });
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn sanitised_text_is_safe_and_stays_as_it_is(text in text()) {
        for sink in [sanitise, sanitise_line] {
            let shown = sink(&text);
            prop_assert_eq!(forbidden::find(&shown), None);
            prop_assert_eq!(&sink(&shown), &shown);
        }
        prop_assert!(!sanitise_line(&text).contains(['\n', '\t', '\r']));
    }

    #[test]
    fn nothing_is_lost(text in text().prop_map(|text| text.replace('\\', "/"))) {
        prop_assert_eq!(unescape(&sanitise(&text)), text.as_str());
        prop_assert_eq!(unescape(&sanitise_line(&text)), text.as_str());
    }

    #[test]
    fn printable_ascii_is_unchanged(text in "[ -~]{0,200}") {
        prop_assert_eq!(sanitise_line(&text), text.as_str());
        prop_assert_eq!(sanitise(&text), text.as_str());
    }

    #[test]
    fn any_string_is_safe(text in any::<String>()) {
        let shown = sanitise(&text);
        prop_assert_eq!(forbidden::find(&shown), None);
        prop_assert_eq!(&sanitise(&shown), &shown);
    }
}

/// The strategy of this file, for documents.
pub(super) fn strings() -> impl Strategy<Value = String> {
    text()
}
