//! Lists that are broken, endless or in pieces.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::protocol::Tool;
use switchboard::session::{Cut, Listing, Session};

use crate::support::{Server, legacy, legacy_options, legacy_with, limited};

/// Lists tools from a server whose page for a cursor is what `page` says.
async fn listed(
    page: impl Fn(Option<&str>) -> Value + Send + Sync + 'static,
) -> (Listing<Tool>, usize) {
    let page = Arc::new(page);
    let (session, mut server) = legacy(move |mut wire| {
        let page = Arc::clone(&page);
        async move {
            while let Some(request) = wire.read().await {
                let cursor = request["params"]["cursor"].as_str();
                wire.answer(&request, &page(cursor)).await;
            }
        }
    })
    .await;
    let listing = session.list_tools().await.unwrap();
    session.close().await;
    (listing, server.heard_so_far().len())
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn names(listing: &Listing<Tool>) -> Vec<&str> {
    listing.items.iter().map(Tool::name).collect()
}

#[tokio::test(start_paused = true)]
async fn bad_tools_are_set_aside_with_a_reason_and_the_good_ones_kept() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let deep: &str = Box::leak(deep.into_boxed_str());
    let (session, _server) = legacy(move |mut wire| async move {
        while let Some(request) = wire.read().await {
            let id = &request["id"];
            let tools = [
                tool("one").to_string(),
                json!({"inputSchema": {}}).to_string(),
                json!({"name": 7, "inputSchema": {}}).to_string(),
                json!({"name": "schemaless"}).to_string(),
                "7".to_owned(),
                "null".to_owned(),
                format!("{{\"name\":\"deep\",\"inputSchema\":{deep}}}"),
                tool("").to_string(),
                tool("one").to_string(),
                tool("two").to_string(),
            ]
            .join(",");
            wire.raw(format!(
                "{{\"id\":{id},\"result\":{{\"tools\":[{tools}]}}}}\n"
            ))
            .await;
        }
    })
    .await;
    let listing = session.list_tools().await.unwrap();
    assert_eq!(names(&listing).first(), Some(&"one"));
    assert_eq!(names(&listing).last(), Some(&"two"));
    let aside: Vec<_> = listing.set_aside.iter().map(|item| item.index).collect();
    for index in [1, 2, 4, 5, 6, 7, 8] {
        assert!(aside.contains(&index), "{index} of {aside:?}");
    }
    assert!(listing.set_aside.iter().all(|item| !item.reason.is_empty()));
    let twice = listing.set_aside.last().unwrap();
    assert_eq!(twice.name.as_deref(), Some("one"));
    assert_eq!(twice.reason, "duplicate name");
    assert_eq!(listing.cut, None);
}

#[tokio::test(start_paused = true)]
async fn an_empty_cursor_is_followed() {
    let (listing, _) = listed(|cursor| match cursor {
        None => json!({"tools": [tool("a")], "nextCursor": ""}),
        Some("") => json!({"tools": [tool("b")]}),
        Some(other) => panic!("{other}"),
    })
    .await;
    assert_eq!(names(&listing), ["a", "b"]);
    assert_eq!((listing.pages, listing.cut), (2, None));
}

#[tokio::test(start_paused = true)]
async fn a_null_cursor_ends_the_list() {
    let (listing, _) = listed(|_| json!({"tools": [tool("a")], "nextCursor": null})).await;
    assert_eq!((listing.pages, listing.cut), (1, None));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_cursor_is_noticed() {
    let (listing, requests) = listed(|_| json!({"tools": [tool("a")], "nextCursor": "x"})).await;
    assert_eq!(names(&listing), ["a"]);
    assert_eq!(listing.cut, Some(Cut::RepeatedCursor));
    assert_eq!(requests, 2);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_of_cursors_is_noticed() {
    let (listing, requests) = listed(|cursor| {
        let next = match cursor {
            None | Some("c") => "a",
            Some("a") => "b",
            _ => "c",
        };
        json!({"tools": [tool(cursor.unwrap_or("first"))], "nextCursor": next})
    })
    .await;
    assert_eq!(names(&listing), ["first", "a", "b", "c"]);
    assert_eq!(listing.cut, Some(Cut::RepeatedCursor));
    assert_eq!(requests, 4);
}

fn numbered(cursor: Option<&str>) -> usize {
    cursor.map_or(0, |cursor| cursor.parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn endless_pages_are_cut() {
    let (listing, requests) = listed(|cursor| {
        let page = numbered(cursor);
        json!({"tools": [tool(&format!("t{page}"))], "nextCursor": (page + 1).to_string()})
    })
    .await;
    assert_eq!(listing.items.len(), 100);
    assert_eq!(listing.cut, Some(Cut::Pages(100)));
    assert_eq!(requests, 100);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_exactly_the_most_pages_is_whole() {
    let (listing, _) = listed(|cursor| match numbered(cursor) {
        99 => json!({"tools": []}),
        page => json!({"tools": [], "nextCursor": (page + 1).to_string()}),
    })
    .await;
    assert_eq!((listing.pages, listing.cut), (100, None));
}

#[tokio::test(start_paused = true)]
async fn a_huge_cursor_is_not_sent_back() {
    for (bytes, cut) in [
        (64 * 1024, None),
        (64 * 1024 + 1, Some(Cut::Cursor(64 * 1024))),
    ] {
        let (listing, requests) = listed(move |cursor| match cursor {
            None => json!({"tools": [tool("a")], "nextCursor": "x".repeat(bytes)}),
            Some(_) => json!({"tools": [tool("b")]}),
        })
        .await;
        assert_eq!(listing.cut, cut);
        assert_eq!(requests, if cut.is_none() { 2 } else { 1 });
    }
}

#[tokio::test(start_paused = true)]
async fn too_many_items_are_cut() {
    for (count, cut) in [(2048, None), (2049, Some(Cut::Items(2048)))] {
        let (listing, _) = listed(move |_| {
            let tools: Vec<Value> = (0..count).map(|n| tool(&format!("t{n}"))).collect();
            json!({"tools": tools})
        })
        .await;
        assert_eq!(listing.items.len(), 2048);
        assert_eq!(listing.cut, cut);
    }
}

#[tokio::test(start_paused = true)]
async fn bad_items_are_bounded_like_good_ones() {
    let (listing, requests) = listed(|cursor| {
        let page = numbered(cursor);
        json!({"tools": vec![Value::Null; 1000], "nextCursor": (page + 1).to_string()})
    })
    .await;
    assert_eq!(listing.items.len(), 0);
    assert!(listing.set_aside.len() <= 2048);
    assert!(listing.cut.is_some());
    assert!(requests <= 100);
}

#[tokio::test(start_paused = true)]
async fn a_page_over_the_limit_fails_the_list_and_the_next_one_works() {
    let limits = limited(|limits| limits.message_bytes = 1000);
    let (session, _server) = legacy_with(legacy_options().limits(limits), |mut wire| async move {
        let request = wire.expect("tools/list").await;
        let tools: Vec<Value> = (0..100).map(|n| tool(&format!("t{n}"))).collect();
        wire.answer(&request, &json!({"tools": tools})).await;
        let request = wire.expect("tools/list").await;
        wire.answer(&request, &json!({"tools": [tool("a")]})).await;
        wire.hold().await;
    })
    .await;
    let error = session.list_tools().await.unwrap_err();
    assert!(
        matches!(error, switchboard::CallError::TooLarge { .. }),
        "{error}"
    );
    assert_eq!(names(&session.list_tools().await.unwrap()), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_is_not_asked_for_what_it_does_not_offer() {
    let mut server = Server::new(|mut wire| async move {
        let request = wire.expect("initialize").await;
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "serverInfo": {"name": "x", "version": "1"}});
        wire.answer(&request, &hello).await;
        wire.hold().await;
    });
    let session = Session::connect(&server, legacy_options()).await.unwrap();
    assert_eq!(session.list_tools().await.unwrap(), Listing::default());
    assert_eq!(session.list_resources().await.unwrap(), Listing::default());
    assert_eq!(
        session.list_resource_templates().await.unwrap(),
        Listing::default()
    );
    assert_eq!(session.list_prompts().await.unwrap(), Listing::default());
    session.close().await;
    let methods = server.methods_so_far();
    assert_eq!(methods, ["initialize", "notifications/initialized"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_with_resources_may_not_know_templates() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("resources/templates/list").await;
        wire.refuse(&request, -32601).await;
        wire.hold().await;
    })
    .await;
    assert_eq!(
        session.list_resource_templates().await.unwrap(),
        Listing::default()
    );
}
