//! Names without a prefix, and items by the names that their servers gave them.

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::catalog::{ExposedNames, ToolRef};
use switchboard::host::{Caller, Host};
use switchboard::policy::{AgentPolicy, Grants, Level};

use crate::host_support::pinned::plain;
use crate::host_support::recorder::{Offer, Recorder};
use crate::host_support::{With as _, name};

/// Names that are odd in one way each.
const ODD: [&str; 8] = [
    "a/b",
    "x y",
    "é/..",
    "__x",
    "/",
    "a//",
    "mcp__notes__read",
    "read",
];

fn odd() -> Offer {
    Offer {
        tools: ODD.iter().map(|name| plain(name)).collect(),
        prompts: ODD.iter().map(|name| json!({ "name": name })).collect(),
        ..Offer::default()
    }
}

#[tokio::test(start_paused = true)]
async fn tools_and_prompts_have_names_without_a_prefix() {
    let recorder = Recorder::new(odd());
    let names = ExposedNames::unprefixed();
    let host = Host::builder()
        .with("notes", recorder.memory("notes"))
        .exposed_names(names)
        .build()
        .unwrap();
    host.connect("notes").await.unwrap();
    let view = host.view(Caller::owner());
    let tools = view.tools();
    assert!(
        tools
            .iter()
            .all(|tool| tool.name().len() <= ExposedNames::DEFAULT_LENGTH)
    );
    assert_eq!(tools.last().unwrap().name(), "notes__read");
    for tool in &tools {
        // Each leads to the tool that has it, and is the same for a prompt.
        assert_eq!(host.tool(tool.name()).unwrap().raw_name(), tool.raw_name());
        let prompt = view.find_prompt(tool.name()).await.unwrap();
        assert_eq!(prompt.name(), tool.raw_name());
    }
    host.call("notes__read", json!({})).await.unwrap();
    assert_eq!(recorder.uses()[0].name, "read");
    assert!(host.tool("mcp__notes__read").is_err());
}

#[tokio::test(start_paused = true)]
async fn exposed_names_do_not_depend_on_the_order_of_connecting() {
    let servers = ["a", "a_", "a__b", "a__", "b"];
    let mut seen = Vec::new();
    for is_reversed in [false, true] {
        let mut builder = Host::builder().exposed_names(ExposedNames::unprefixed());
        for server in servers {
            builder = builder.with(server, Recorder::new(odd()).memory(server));
        }
        let host = builder.build().unwrap();
        let mut order = servers.to_vec();
        if is_reversed {
            order.reverse();
        }
        for server in order {
            host.connect(server).await.unwrap();
        }
        let tools = host.tools();
        let names = tools
            .iter()
            .map(|tool| (tool.name().to_owned(), tool.key().to_string()));
        seen.push(names.collect::<Vec<_>>());
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].len(), servers.len() * ODD.len());
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_denied_a_tool_that_it_names_without_a_prefix() {
    let reader = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:notes:a*"]).unwrap());
    let recorder = Recorder::new(odd());
    let host = Host::builder()
        .with("notes", recorder.memory("notes"))
        .exposed_names(ExposedNames::unprefixed())
        .agent("reader", reader)
        .build()
        .unwrap();
    let view = host.view(Caller::agent("reader").unwrap());
    // Whether the server was listed or not.
    for _ in 0..2 {
        let error = view.call("notes__read", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        host.connect("notes").await.unwrap();
    }
    assert!(recorder.uses().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_item_is_found_by_its_server_and_own_name_to_the_letter() {
    let recorder = Recorder::new(odd());
    let host = Host::builder().with("notes", recorder.memory("notes"));
    let host = host.build().unwrap();
    host.connect("notes").await.unwrap();
    let view = host.view(Caller::owner());
    for own in ODD {
        let tool = view.tool(ToolRef::new(&name("notes"), own)).unwrap();
        assert_eq!(tool.raw_name(), own);
        tool.call(json!({})).await.unwrap();
        let prompt = format!("notes/{own}");
        view.prompt(&prompt, json!({})).await.unwrap();
        let used: Vec<_> = recorder.uses().into_iter().map(|seen| seen.name).collect();
        assert_eq!(used, [own, own]);
    }
    for other in ["a", "a/", "READ", " read", "b"] {
        assert!(
            view.tool(ToolRef::new(&name("notes"), other)).is_err(),
            "{other}"
        );
    }
}
