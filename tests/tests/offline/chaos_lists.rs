//! Lists that are not as they should be.

use serde_json::json;
use switchboard::CallError;
use switchboard::protocol::Tool;
use switchboard::session::{Cut, Listing};
use switchboard::spec::Protocol;

use crate::chaos_support::{ERAS, add, call, echo, neighbour, open};

/// The tools that the server lists when nothing is wrong with it.
const TOOLS: [&str; 7] = [
    "echo",
    "get_time",
    "add",
    "slow_operation",
    "ask_name",
    "fail",
    "announce_change",
];

/// What is listed with a fault, while a neighbour's call goes well and the next call works.
async fn listed(fault: &str, protocol: Protocol) -> Listing<Tool> {
    let session = open(fault, protocol).await;
    let neighbour = neighbour(&session).await;
    let tools = session.list_tools().await.unwrap();
    assert_eq!(add(&session).await.unwrap(), "3", "{fault}");
    assert!(neighbour.await.unwrap().is_ok(), "{fault}");
    tools
}

fn names(listing: &Listing<Tool>) -> Vec<&str> {
    listing.items.iter().map(Tool::name).collect()
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_comes_again_ends_the_list() {
    for protocol in ERAS {
        for (fault, pages) in [("repeat-cursor", 2), ("cycle-cursor", 3)] {
            let tools = listed(fault, protocol).await;
            assert_eq!(tools.cut, Some(Cut::RepeatedCursor), "{fault}");
            assert_eq!(tools.pages, pages, "{fault}");
            assert_eq!(names(&tools), TOOLS, "{fault}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_cut() {
    for protocol in ERAS {
        let tools = listed("endless-cursor", protocol).await;
        assert_eq!(tools.cut, Some(Cut::Pages(100)));
        assert_eq!(tools.items.len(), 100);
        assert_eq!(names(&tools).last(), Some(&"page-100"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_cursor_is_a_cursor() {
    for protocol in ERAS {
        let tools = listed("empty-cursor", protocol).await;
        assert_eq!((tools.cut, tools.pages), (None, 2));
        assert_eq!(names(&tools), TOOLS);
    }
}

#[tokio::test(start_paused = true)]
async fn a_huge_cursor_is_not_sent_back() {
    for protocol in ERAS {
        let tools = listed("huge-cursor", protocol).await;
        assert_eq!(tools.cut, Some(Cut::Cursor(64 * 1024)));
        assert_eq!(names(&tools), ["echo", "get_time"]);
        // One that is merely long is.
        let tools = listed("huge-cursor=60000", protocol).await;
        assert_eq!((tools.cut, tools.pages), (None, 2));
        assert_eq!(names(&tools), TOOLS);
    }
}

#[tokio::test(start_paused = true)]
async fn bad_items_do_not_cost_the_good_ones() {
    for protocol in ERAS {
        let tools = listed("bad-item", protocol).await;
        assert_eq!(names(&tools), TOOLS);
        let places: Vec<_> = tools.set_aside.iter().map(|item| item.index).collect();
        assert_eq!(places, [7, 8, 9, 10]);
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_tools_with_one_name_the_first_counts() {
    for protocol in ERAS {
        let tools = listed("dup-names", protocol).await;
        assert_eq!(names(&tools), TOOLS);
        let aside: Vec<_> = tools
            .set_aside
            .iter()
            .map(|item| item.name.as_deref())
            .collect();
        assert_eq!(aside, [Some("echo")]);
    }
}

#[tokio::test(start_paused = true)]
async fn odd_names_do_not_cost_the_others() {
    for protocol in ERAS {
        for (fault, added) in [("long-names=100000", 1), ("unicode-names", 6)] {
            let tools = listed(fault, protocol).await;
            assert!(names(&tools).starts_with(&TOOLS), "{fault}");
            let all = tools.items.len() + tools.set_aside.len();
            assert_eq!(all, TOOLS.len() + added, "{fault}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn more_tools_than_the_limit_are_cut() {
    for protocol in ERAS {
        let session = open("10k-tools=2500", protocol).await;
        let tools = session.list_tools().await.unwrap();
        assert_eq!(tools.cut, Some(Cut::Items(2048)));
        assert_eq!(tools.items.len(), 2048);
        // What was cut off is there all the same.
        assert_eq!(
            call(&session, "tool_2500", json!({})).await.unwrap(),
            "tool_2500"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tools_are_more_than_a_message_may_hold() {
    for protocol in ERAS {
        let session = open("10k-tools", protocol).await;
        let error = session.list_tools().await.unwrap_err();
        assert!(matches!(error, CallError::TooLarge { .. }), "{error:?}");
        assert_eq!(echo(&session).await.unwrap(), "hello");
    }
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_is_borne() {
    for protocol in ERAS {
        let session = open("list-changed-storm", protocol).await;
        let changes = session.changes();
        let neighbour = neighbour(&session).await;
        assert_eq!(names(&session.list_tools().await.unwrap()), TOOLS);
        assert_eq!(add(&session).await.unwrap(), "3");
        assert!(neighbour.await.unwrap().is_ok());
        assert_eq!(changes.borrow().tools, 10_000);
    }
}
