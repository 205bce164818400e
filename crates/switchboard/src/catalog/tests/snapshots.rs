//! The parts of all servers together.

use std::sync::Arc;

use super::super::{Catalog, Freshness, ItemKind, Problem};
use super::{catalog, exposed, name, prompt, resource, server, tools};
use crate::catalog::names::NameForm;
use crate::spec::{NameStyle, ToolFilter};

#[test]
fn tools_are_listed_by_server_and_then_in_the_servers_order() {
    let parts = || {
        [
            server("b").tools(tools(&["z", "a"])),
            server("a").tools(tools(&["x"])),
            server("c").tools(tools(&["y"])),
        ]
    };
    let expected = ["mcp__a__x", "mcp__b__z", "mcp__b__a", "mcp__c__y"];
    assert_eq!(exposed(&catalog(parts())), expected);
    assert_eq!(exposed(&catalog(parts().into_iter().rev())), expected);
    assert_eq!(catalog(parts()).tool_count(), 4);
}

#[test]
fn a_tool_is_found_by_its_name_for_models_and_by_server_and_name() {
    let all = catalog([
        server("git").tools(tools(&["log", "a/b"])),
        server("hub")
            .style(NameStyle::Single)
            .tools(tools(&["log"])),
    ]);
    let key = |text: &str| all.resolve(text).map(|tool| tool.key().to_string());
    assert_eq!(key("mcp__git__log").unwrap(), "git/log");
    assert_eq!(key("mcp_hub_log").unwrap(), "hub/log");
    assert_eq!(key("git/log").unwrap(), "git/log");
    // A server's name has no slash, so the first one separates.
    assert_eq!(key("git/a/b").unwrap(), "git/a/b");
    assert_eq!(all.by_key("hub", "log").unwrap().exposed(), "mcp_hub_log");
    assert_eq!(all.tool("mcp__git__log").unwrap().server(), &name("git"));
}

#[test]
fn nothing_is_resolved_by_guessing() {
    let all = catalog([
        server("git").tools(tools(&["log", "status"])),
        server("hub").tools(tools(&["log"])),
    ]);
    let told = |text: &str| all.resolve(text).unwrap_err().to_string();
    assert_eq!(
        told("mcp__git__lgo"),
        "no tool is called \"mcp__git__lgo\"; did you mean \"mcp__git__log\"?"
    );
    assert_eq!(
        told("MCP__GIT__LOG"),
        "no tool is called \"MCP__GIT__LOG\"; did you mean \"mcp__git__log\"?"
    );
    assert_eq!(
        told("log"),
        "no tool is called \"log\"; did you mean \"mcp__git__log\"?"
    );
    assert_eq!(
        told("git/stauts"),
        "no tool is called \"git/stauts\"; did you mean \"git/status\"?"
    );
    assert_eq!(
        told("gitt/status"),
        "no tool is called \"gitt/status\"; did you mean \"git/status\"?"
    );
    assert_eq!(
        told("other/thing\u{1b}"),
        "no tool is called \"other/thing\\u{1b}\""
    );
    assert_eq!(told(""), "no tool is called \"\"");
    let unknown = all.resolve("git/nothing").unwrap_err();
    assert_eq!(unknown.server, Some(name("git")));
    assert_eq!(unknown.closest, None);
    assert_eq!(unknown.kind, ItemKind::Tool);
}

#[test]
fn a_hidden_tool_is_nowhere() {
    let filter = ToolFilter {
        allow: None,
        block: vec!["drop".into()],
    };
    let all = catalog([server("db").filter(&filter).tools(tools(&["drop", "read"]))]);
    assert_eq!(exposed(&all), ["mcp__db__read"]);
    assert!(all.tool("mcp__db__drop").is_none());
    assert!(all.by_key("db", "drop").is_none());
    assert_eq!(all.resolve("db/drop").unwrap_err().closest, None);
    assert_eq!(all.server("db").unwrap().hidden(), 1);
}

#[test]
fn prompts_and_resources_are_found_too() {
    let all = catalog([
        server("a")
            .prompts(vec![prompt("p")])
            .resources(vec![resource("x:r")]),
        server("b").resources(vec![resource("x:r")]),
    ]);
    assert_eq!(all.prompt("mcp__a__p").unwrap().name(), "p");
    assert_eq!(all.resolve_prompt("a/p").unwrap().exposed(), "mcp__a__p");
    assert_eq!(
        all.resolve_prompt("p").unwrap_err().to_string(),
        "no prompt is called \"p\"; did you mean \"mcp__a__p\"?"
    );
    // Another server may have the same address.
    assert_eq!(all.resource("b", "x:r").unwrap().server(), &name("b"));
    assert!(all.resource("c", "x:r").is_none());
    assert_eq!(all.resources().count(), 2);
}

#[test]
fn a_snapshot_stays_as_it_is_while_others_replace_it() {
    let first = catalog([
        server("a").tools(tools(&["x"])),
        server("b").tools(tools(&["y"])),
    ]);
    let held = Arc::clone(first.tool("mcp__a__x").unwrap());
    let second = first.with(Arc::new(server("a").tools(tools(&["z"])).build(None)));
    let third = second.without(&name("b"));
    assert_eq!(exposed(&first), ["mcp__a__x", "mcp__b__y"]);
    assert_eq!(exposed(&second), ["mcp__a__z", "mcp__b__y"]);
    assert_eq!(exposed(&third), ["mcp__a__z"]);
    assert!(Arc::ptr_eq(first.tool("mcp__a__x").unwrap(), &held));
    // What no change touched is shared.
    assert!(Arc::ptr_eq(
        first.server("b").unwrap(),
        second.server("b").unwrap()
    ));
    assert!(third.without(&name("b")).is(&third));
    assert_eq!(exposed(&Catalog::default()), [""; 0]);
}

#[test]
fn readers_of_one_snapshot_see_it_whole_while_another_thread_replaces_it() {
    let part = |round: usize| {
        let names: Vec<String> = (0..20).map(|at| format!("t{round}_{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Arc::new(server("s").tools(tools(&names)).build(None))
    };
    let shared = std::sync::Mutex::new(Catalog::default().with(part(0)));
    std::thread::scope(|scope| {
        let replacing = scope.spawn(|| {
            for round in 1..200 {
                let next = shared.lock().unwrap().with(part(round));
                *shared.lock().unwrap() = next;
            }
        });
        while !replacing.is_finished() {
            let seen = shared.lock().unwrap().clone();
            let names = exposed(&seen);
            let head = names[0].strip_suffix("_0").unwrap();
            assert_eq!(names.len(), 20);
            assert!(names.iter().all(|name| name.starts_with(head)));
            assert!(names.iter().all(|name| seen.tool(name).is_some()));
        }
    });
}

#[test]
fn a_server_without_a_connection_is_marked() {
    let all = catalog([server("s")
        .freshness(Freshness::Offline)
        .tools(tools(&["a"]))]);
    let tool = all.tool("mcp__s__a").unwrap();
    let part = all.server(tool.server().as_str()).unwrap();
    assert_eq!(part.freshness(), Freshness::Offline);
}

/// Names that collide, as two could whose hashes are the same.
fn colliding(_: &str, tool: &str, _: NameForm) -> String {
    if tool.starts_with('c') {
        "mcp__same".to_owned()
    } else {
        format!("mcp__{tool}")
    }
}

#[test]
fn of_two_with_one_name_for_models_the_one_that_sorts_first_stays() {
    let parts = || {
        [
            server("b").naming(colliding).tools(tools(&["c1", "only"])),
            server("a").naming(colliding).tools(tools(&["c3", "c2"])),
            server("c").naming(colliding).tools(tools(&["c0"])),
        ]
    };
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut parts = parts().map(Some);
        let all = catalog(order.map(|at| parts[at].take().unwrap()));
        assert_eq!(all.tool("mcp__same").unwrap().key().to_string(), "a/c2");
        assert_eq!(exposed(&all), ["mcp__same", "mcp__only"]);
        assert_eq!(all.tool_count(), 2);
        assert!(all.by_key("a", "c3").is_none() && all.by_key("c", "c0").is_none());
        let mut left_out: Vec<String> = all
            .notices()
            .map(|(server, notice)| format!("{server}: {notice}"))
            .collect();
        left_out.sort();
        let why = "left out: its name for models, mcp__same, is that of a/c2";
        assert_eq!(
            left_out,
            [
                format!("a: tool \"c3\": {why}"),
                format!("b: tool \"c1\": {why}"),
                format!("c: tool \"c0\": {why}"),
            ]
        );
        // When the one that stayed goes, another comes back.
        let rest = all.without(&name("a"));
        assert_eq!(rest.tool("mcp__same").unwrap().key().to_string(), "b/c1");
        let (_, notice) = rest.notices().next().unwrap();
        assert!(matches!(notice.problem, Problem::Collision { .. }));
    }
}
