//! Edits of TOML texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const PATH: [&str; 2] = ["mcp_servers", "new"];

fn entry() -> Value {
    json!({ "command": "/bin/x", "args": ["serve"] })
}

const TABLE: &str = "[mcp_servers.new]\ncommand = \"/bin/x\"\nargs = [\"serve\"]\n";

#[track_caller]
fn added(text: &str) -> String {
    set(text, &PATH, &entry()).unwrap()
}

#[test]
fn a_table_is_added_behind_its_neighbours_or_at_the_end() {
    for (text, expected) in [
        ("", TABLE.to_owned()),
        ("# mine\n", format!("# mine\n\n{TABLE}")),
        ("model = \"m\"", format!("model = \"m\"\n\n{TABLE}")),
        ("a = 1\n\n", format!("a = 1\n\n{TABLE}")),
        (
            "[mcp_servers.a]\ncommand = \"a\" # c\n\n# of z\n[z]\nk = 1\n",
            format!("[mcp_servers.a]\ncommand = \"a\" # c\n\n{TABLE}\n# of z\n[z]\nk = 1\n"),
        ),
        (
            "[mcp_servers.a]\ncommand = \"a\"\n# cwd = \"b\"\n\n[z]\n",
            format!("[mcp_servers.a]\ncommand = \"a\"\n# cwd = \"b\"\n\n{TABLE}\n[z]\n"),
        ),
        (
            "[mcp_servers]\n[z]\n",
            format!("[mcp_servers]\n\n{TABLE}[z]\n"),
        ),
        (
            "mcp_servers.a.command = \"a\"\n",
            format!("mcp_servers.a.command = \"a\"\n\n{TABLE}"),
        ),
    ] {
        assert_eq!(added(text), expected, "{text:?}");
    }
    assert_eq!(
        added("\u{feff}a = 1\r\n"),
        format!("\u{feff}a = 1\r\n\r\n{}", TABLE.replace('\n', "\r\n"))
    );
}

#[test]
fn what_cannot_be_edited_is_refused() {
    for text in [
        "mcp_servers = 1\n",
        "mcp_servers = { a = { command = \"a\" } }\n",
        "[[mcp_servers]]\n",
        "a = \n",
        "a = 1\na = 2\n",
    ] {
        assert!(set(text, &PATH, &entry()).is_err(), "{text}");
    }
    let nested = format!("a = {}1{}\n", "[".repeat(3000), "]".repeat(3000));
    assert!(matches!(
        set(&nested, &PATH, &entry()),
        Err(EditError::Syntax { .. })
    ));
}

#[test]
fn a_key_is_set_where_it_is() {
    let text =
        "[mcp_servers.new] # mine\ncommand = 'old' # c\n\n[mcp_servers.new.env]\nA = \"1\"\n";
    let path = ["mcp_servers", "new", "command"];
    let new = set(text, &path, &"/b".into()).unwrap();
    assert_eq!(new, text.replace("'old'", "\"/b\""));
    let path = ["mcp_servers", "new", "args"];
    let new = set(text, &path, &json!(["serve"])).unwrap();
    assert_eq!(new, text.replace("# c\n", "# c\nargs = [\"serve\"]\n"));
    let inline = "mcp_servers.new = { command = \"a\" }\n";
    assert!(matches!(
        set(inline, &path, &json!(["serve"])),
        Err(EditError::Unsafe)
    ));
}

#[test]
fn a_table_is_removed_with_its_inner_tables_and_comments() {
    for (text, expected) in [
        (
            "a = 1\n\n# about new\n[mcp_servers.new]\nk = \"\"\"\n[not.a.table]\n\"\"\"\n\n\
             [mcp_servers.new.env]\nA = \"1\"\n\n# about z\n[z]\n",
            "a = 1\n\n# about z\n[z]\n",
        ),
        (
            "[mcp_servers.a]\n\n[mcp_servers.new]\nk = 1\n",
            "[mcp_servers.a]\n",
        ),
        ("[mcp_servers.new]\nk = 1\n# end\n", "# end\n"),
        (
            "[mcp_servers]\na = { k = 1 }\nnew = { k = 2 }\n",
            "[mcp_servers]\na = { k = 1 }\n",
        ),
        (
            "mcp_servers.new.k = 1\nmcp_servers.new.l = 2\nb = 1\n",
            "b = 1\n",
        ),
        (
            "[mcp_servers.\"new\"]\nk = 1\n\n[[mcp_servers.new.x]]\n",
            "",
        ),
        ("b = 1\n", "b = 1\n"),
    ] {
        assert_eq!(unset(text, &PATH).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_value_is_found_in_every_form() {
    for text in [
        "[mcp_servers.new]\nk = 1\n",
        "mcp_servers = { new = { k = 1 } }",
        "mcp_servers.new.k = 1",
        "\u{feff}[mcp_servers]\nnew.k = 1\n",
    ] {
        assert_eq!(value_at(text, &PATH).unwrap(), Some(json!({"k": 1})));
    }
    assert_eq!(value_at("a = 1", &PATH).unwrap(), None);
}

/// Files of Codex as people write them.
fn file() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("# a comment\n"),
        Just("\n"),
        Just("[x]\nk = [\n  1, # one\n  [2],\n]\n"),
        Just("[mcp_servers.a]\ncommand = \"a\"\n"),
        Just("  [mcp_servers.b.env]\n  A = 'x' # c\n"),
        Just("[[list]]\nt = '''\n[mcp_servers.new]\n'''\n"),
        Just("[[list]]\n"),
        Just("[\"q.r\"]\nd = 1979-05-27\n"),
    ];
    (
        proptest::collection::vec(piece, 0..6),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(pieces, is_windows, has_end)| {
            let mut text = format!("top = 1\n{}", pieces.concat());
            if !has_end {
                text.truncate(text.trim_end().len());
            }
            if is_windows {
                text = text.replace('\n', "\r\n");
            }
            text
        })
        .prop_filter("a table is there once", |text| parse(text).is_ok())
}

proptest! {
    #[test]
    fn an_added_table_takes_nothing_with_it_when_it_goes(text in file()) {
        let new = added(&text);
        prop_assert_eq!(value_at(&new, &PATH).unwrap(), Some(entry()));
        let back = unset(&new, &PATH).unwrap();
        let lines = |text: &str| {
            let lines = text.lines().map(str::to_owned);
            lines.filter(|line| !line.trim().is_empty()).collect::<Vec<_>>()
        };
        prop_assert_eq!(lines(&back), lines(&text));
    }
}
