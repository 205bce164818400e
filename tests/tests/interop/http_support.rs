//! What the interop tests over HTTP share.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "each test uses its part; a failure here is a failed test"
)]

use serde_json::{Value, json};
use switchboard::protocol::{CallToolResult, Content, Raw};
use switchboard::session::{CallOptions, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::Connect;
use switchboard_tests::offer;

/// Connects, or says why not.
pub(crate) async fn connect(to: &(impl Connect + std::fmt::Debug), protocol: Protocol) -> Session {
    let options = SessionOptions::default().protocol(protocol);
    Session::connect(to, options)
        .await
        .unwrap_or_else(|error| panic!("{to:?}: {error:?}"))
}

/// Lists all there is; every item fits and every list is whole. Returns the names of the tools.
pub(crate) async fn list_everything(session: &Session) -> Vec<String> {
    let tools = session.list_tools().await.unwrap();
    assert_eq!((tools.set_aside, tools.cut), (Vec::new(), None));
    let resources = session.list_resources().await.unwrap();
    assert_eq!((resources.set_aside, resources.cut), (Vec::new(), None));
    let templates = session.list_resource_templates().await.unwrap();
    assert_eq!((templates.set_aside, templates.cut), (Vec::new(), None));
    let prompts = session.list_prompts().await.unwrap();
    assert_eq!((prompts.set_aside, prompts.cut), (Vec::new(), None));
    let names = tools.items.iter().map(|tool| tool.name().to_owned());
    names.collect()
}

/// Calls a tool, which goes well.
pub(crate) async fn call(session: &Session, tool: &str, arguments: Value) -> CallToolResult {
    let arguments = Raw::of(&arguments).unwrap();
    let called = session.call_tool(tool, Some(arguments), CallOptions::default());
    let result = called.await.unwrap();
    assert!(!result.is_error(), "{result:?}");
    result
}

/// Calls a tool and watches; returns the progress that was last seen.
pub(crate) async fn call_with_progress(
    session: &Session,
    tool: &str,
    arguments: Value,
) -> (CallToolResult, f64) {
    let (sender, mut watch) = switchboard::session::progress();
    let arguments = Raw::of(&arguments).unwrap();
    let options = CallOptions::default().progress(sender);
    let result = session.call_tool(tool, Some(arguments), options);
    let result = result.await.unwrap();
    let last = watch.borrow_and_update().as_ref().unwrap().progress;
    (result, last)
}

/// Lets a partner of our own making count, and sees it count.
#[allow(
    clippy::float_cmp,
    clippy::cast_precision_loss,
    reason = "small whole numbers"
)]
pub(crate) async fn count(session: &Session, steps: i64) {
    let arguments = json!({ "steps": steps });
    let (result, last) = call_with_progress(session, offer::COUNT, arguments).await;
    assert_eq!(text(&result), offer::counted(steps));
    assert_eq!(last, steps as f64);
}

/// The first text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    result.content().iter().find_map(Content::as_text).unwrap()
}
