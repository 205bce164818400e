//! One server's part: what is taken, what is left out, what is kept.

use std::sync::Arc;

use switchboard_wire::Tool;

use super::super::{CatalogLimits, Freshness, ItemKind, Notice, Problem};
use super::{prompt, read, resource, server, template, tool, tools};
use crate::spec::{NameStyle, ToolFilter};

fn notices(part: &super::ServerCatalog) -> Vec<String> {
    part.notices().iter().map(ToString::to_string).collect()
}

#[test]
fn a_part_has_what_the_server_listed_in_its_order() {
    let part = server("s")
        .style(NameStyle::Single)
        .tools(tools(&["b", "a"]))
        .prompts(vec![prompt("p")])
        .resources(vec![resource("file:///r")])
        .templates(vec![template("file:///{x}")])
        .instructions(Some("be kind".to_owned()))
        .build(None);
    let names: Vec<_> = part.tools().iter().map(|tool| tool.exposed()).collect();
    assert_eq!(names, ["mcp_s_b", "mcp_s_a"]);
    assert_eq!(part.tool("a").unwrap().key().to_string(), "s/a");
    assert_eq!(part.prompt("p").unwrap().exposed(), "mcp_s_p");
    assert_eq!(
        part.resource("file:///r").unwrap().uri(),
        part.resources()[0].uri()
    );
    assert_eq!(
        part.template("file:///{x}").unwrap().uri_template(),
        "file:///{x}"
    );
    assert_eq!(part.instructions(), Some("be kind"));
    assert_eq!(part.freshness(), Freshness::Live);
    assert_eq!(part.style(), NameStyle::Single);
    assert_eq!(part.notices(), []);
}

#[test]
fn what_the_filter_hides_is_counted_and_nothing_else() {
    let filter = ToolFilter {
        allow: Some(vec!["read".into(), "write".into()]),
        block: vec!["write".into()],
    };
    let long = "l".repeat(500);
    let part = server("s")
        .filter(&filter)
        .tools(tools(&["read", "write", "delete", "delete", &long]))
        .build(None);
    assert_eq!(part.tools().len(), 1);
    assert!(part.tool("write").is_none() && part.tool("delete").is_none());
    assert_eq!(part.hidden(), 4);
    assert_eq!(part.notices(), []);
}

#[test]
fn of_two_tools_with_one_name_the_first_stays() {
    let part = server("s")
        .tools(vec![tool("a", "first"), tool("b", ""), tool("a", "second")])
        .build(None);
    assert_eq!(part.tool("a").unwrap().description(), Some("first"));
    assert_eq!(notices(&part), ["tool \"a\": left out: duplicate name"]);
}

#[test]
fn a_name_over_the_bound_costs_the_one_tool() {
    // Characters count, not bytes.
    let (under, at, over) = ("é".repeat(127), "é".repeat(128), "é".repeat(129));
    let part = server("s")
        .tools(tools(&[&under, &at, &over, "last"]))
        .prompts(vec![prompt(&over)])
        .build(None);
    let kept: Vec<_> = part.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(kept, [under.as_str(), &at, "last"]);
    let problems: Vec<_> = part
        .notices()
        .iter()
        .map(|notice| (notice.kind, &notice.problem))
        .collect();
    let long = Problem::LongName(128);
    assert_eq!(
        problems,
        [
            (Some(ItemKind::Tool), &long),
            (Some(ItemKind::Prompt), &long)
        ]
    );
    let name = part.notices()[0].name.as_deref().unwrap();
    assert!(name.len() < 160, "{name}");
}

/// A tool whose input schema has so many bytes, or its output schema.
fn with_schema(name: &str, member: &str, bytes: usize) -> Tool {
    let small = r#"{"$comment":""}"#;
    let schema = format!(r#"{{"$comment":"{}"}}"#, "c".repeat(bytes - small.len()));
    let other = match member {
        "inputSchema" => "outputSchema",
        _ => "inputSchema",
    };
    read(&format!(
        r#"{{"name":"{name}","{member}":{schema},"{other}":{{}}}}"#
    ))
}

#[test]
fn a_schema_over_the_bound_costs_the_one_tool() {
    let most = 256 * 1024;
    for member in ["inputSchema", "outputSchema"] {
        let part = server("s")
            .tools(vec![
                with_schema("under", member, most - 1),
                with_schema("at", member, most),
                with_schema("over", member, most + 1),
                tool("last", ""),
            ])
            .build(None);
        let kept: Vec<_> = part.tools().iter().map(|tool| tool.name()).collect();
        assert_eq!(kept, ["under", "at", "last"]);
        assert_eq!(
            part.notices(),
            [Notice::new(
                ItemKind::Tool,
                Some("over"),
                Problem::LongSchema(most)
            )]
        );
    }
}

#[test]
fn an_address_over_the_bound_costs_the_one_resource() {
    let most = 8 * 1024;
    let address = |bytes: usize| format!("x:{}", "a".repeat(bytes - 2));
    let part = server("s")
        .resources(vec![resource(&address(most)), resource(&address(most + 1))])
        .templates(vec![template(&address(most + 1))])
        .build(None);
    assert_eq!((part.resources().len(), part.templates().len()), (1, 0));
    let problems: Vec<_> = part.notices().iter().map(|one| &one.problem).collect();
    assert_eq!(problems, [&Problem::LongAddress(most); 2]);
}

#[test]
fn long_texts_are_shown_cut_and_kept_whole() {
    let titled = |title: usize, description: usize| -> Tool {
        let (title, description) = ("t".repeat(title), "d".repeat(description));
        read(&format!(
            r#"{{"name":"x","title":"{title}","description":"{description}","inputSchema":{{}}}}"#
        ))
    };
    let part = server("s")
        .tools(vec![titled(256, 16 * 1024)])
        .instructions(Some("i".repeat(16 * 1024)))
        .build(None);
    let fits = &part.tools()[0];
    assert_eq!(fits.title().map(str::len), Some(256));
    assert_eq!(fits.description().map(str::len), Some(16 * 1024));
    assert_eq!(part.notices(), []);

    let part = server("s")
        .tools(vec![titled(257, 16 * 1024 + 1)])
        .instructions(Some("i".repeat(16 * 1024 + 1)))
        .build(Some(&part));
    let over = &part.tools()[0];
    assert!(over.title().unwrap().ends_with("t… (1 more byte)"));
    assert!(over.description().unwrap().ends_with("d… (1 more byte)"));
    assert_eq!(over.tool().title().map(str::len), Some(257));
    assert_eq!(over.tool().description().map(str::len), Some(16 * 1024 + 1));
    assert!(part.instructions().unwrap().ends_with("i… (1 more byte)"));
    assert_eq!(part.whole_instructions().map(str::len), Some(16 * 1024 + 1));
    assert_eq!(
        notices(&part),
        [
            "tool \"x\": title cut at 256 bytes",
            "tool \"x\": description cut at 16384 bytes",
            "instructions: cut at 16384 bytes",
        ]
    );
}

#[test]
fn a_title_among_the_annotations_is_a_title() {
    let one: Tool = read(r#"{"name":"x","inputSchema":{},"annotations":{"title":"The X"}}"#);
    let part = server("s").tools(vec![one]).build(None);
    assert_eq!(part.tools()[0].title(), Some("The X"));
}

#[test]
fn more_tools_than_the_bound_are_left_out_from_the_end() {
    let names: Vec<String> = (0..2050).map(|at| format!("t{at}")).collect();
    for (listed, dropped) in [(2047, 0), (2048, 0), (2049, 1), (2050, 2)] {
        let listed: Vec<&str> = names.iter().take(listed).map(String::as_str).collect();
        let part = server("s").tools(tools(&listed)).build(None);
        assert_eq!(part.tools().len(), listed.len() - dropped);
        let limit = 2048;
        let expected = Notice::new(ItemKind::Tool, None, Problem::TooMany { limit, dropped });
        let expected = [expected];
        assert_eq!(part.notices(), &expected[..dropped.min(1)]);
    }
}

#[test]
fn a_tool_without_a_schema_is_kept_with_a_notice() {
    let part = server("s")
        .tools(vec![read(r#"{"name":"bare"}"#)])
        .build(None);
    assert_eq!(part.tools().len(), 1);
    assert_eq!(
        notices(&part),
        ["tool \"bare\": no inputSchema: arguments are not checked"]
    );
    assert!(!part.notices()[0].problem.is_left_out());
}

#[test]
fn what_was_noticed_while_reading_comes_first() {
    let part = server("s")
        .notices([
            Notice::set_aside(ItemKind::Tool, Some("x\u{1b}[2J"), "inputSchema: missing"),
            Notice::list_cut(ItemKind::Prompt, "there are more than 100 pages"),
        ])
        .tools(tools(&["a", "a"]))
        .build(None);
    assert_eq!(
        notices(&part),
        [
            "tool \"x\\u{1b}[2J\": left out: inputSchema: missing",
            "prompts: list cut: there are more than 100 pages",
            "tool \"a\": left out: duplicate name",
        ]
    );
}

#[test]
fn what_did_not_change_is_the_same_entry_after_a_refresh() {
    let list = |description: &str| {
        let builder = server("s").tools(vec![tool("a", "same"), tool("b", description)]);
        builder
            .prompts(vec![prompt("p")])
            .resources(vec![resource("x:r")])
            .templates(vec![template("x:{t}")])
    };
    let before = list("old").build(None);
    let after = list("new").build(Some(&before));
    assert!(Arc::ptr_eq(&before.tools()[0], &after.tools()[0]));
    assert!(!Arc::ptr_eq(&before.tools()[1], &after.tools()[1]));
    assert_eq!(after.tools()[1].description(), Some("new"));
    assert!(Arc::ptr_eq(&before.prompts()[0], &after.prompts()[0]));
    assert!(Arc::ptr_eq(&before.resources()[0], &after.resources()[0]));
    assert!(Arc::ptr_eq(&before.templates()[0], &after.templates()[0]));
}

#[test]
fn members_in_another_order_are_no_change_and_another_value_is() {
    let first: Tool = read(r#"{"name":"a","inputSchema":{"type":"object","x":[1,2]}}"#);
    let turned: Tool = read(r#"{"inputSchema": {"x": [1, 2], "type": "object"}, "name": "a"}"#);
    let other: Tool = read(r#"{"inputSchema": {"x": [2, 1], "type": "object"}, "name": "a"}"#);
    let before = server("s").tools(vec![first]).build(None);
    let after = server("s").tools(vec![turned]).build(Some(&before));
    assert!(Arc::ptr_eq(&before.tools()[0], &after.tools()[0]));
    let after = server("s").tools(vec![other]).build(Some(&before));
    assert!(!Arc::ptr_eq(&before.tools()[0], &after.tools()[0]));
}

#[test]
fn another_name_or_other_bounds_make_a_new_entry() {
    let before = server("s").tools(tools(&["a"])).build(None);
    let styled = server("s").style(NameStyle::Single).tools(tools(&["a"]));
    let styled = styled.build(Some(&before));
    assert_eq!(styled.tools()[0].exposed(), "mcp_s_a");
    let limits = CatalogLimits {
        description_bytes: 3,
        ..CatalogLimits::default()
    };
    let described = || server("s").tools(vec![tool("a", "long text")]);
    let before = described().build(None);
    let bounded = described().limits(limits).build(Some(&before));
    assert_eq!(
        bounded.tools()[0].description(),
        Some("lon… (6 more bytes)")
    );
    // A part of another server has nothing that could be kept.
    let other = server("t").tools(tools(&["a"])).build(Some(&before));
    assert_eq!(other.tools()[0].key().to_string(), "t/a");
}

#[test]
fn a_part_marked_stale_shares_everything() {
    let part = server("s").tools(tools(&["a"])).build(None);
    let stale = part.with_freshness(Freshness::Stale);
    assert_eq!(stale.freshness(), Freshness::Stale);
    assert_eq!(part.freshness(), Freshness::Live);
    assert!(Arc::ptr_eq(&part.tools()[0], &stale.tools()[0]));
}

#[test]
fn an_entry_does_not_hold_the_page_that_it_came_from() {
    let page = read::<switchboard_wire::Raw>(
        r#"{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}]}"#,
    );
    let items = page.member("tools").unwrap().items();
    let listed: Tool = switchboard_wire::FromRaw::from_raw(&items[0]).unwrap();
    let place = listed.raw().as_str().as_ptr();
    let part = server("s").tools(vec![listed.clone()]).build(None);
    let kept = part.tools()[0].tool();
    assert_eq!(kept, &listed);
    assert_ne!(kept.raw().as_str().as_ptr(), place);
}
