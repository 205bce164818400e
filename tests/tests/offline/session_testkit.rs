//! Sessions with the bundled test server, in both eras, without a process.

use std::time::Duration;

use serde_json::json;
use switchboard::protocol::{Era, GetPromptParams, Pairs, Raw, Version};
use switchboard::session::{Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::{CallError, CallOptions};
use switchboard_testkit::{Eras, Options};
use switchboard_tests::in_process::testkit;

fn eras(eras: Eras) -> Options {
    let mut options = Options::default();
    options.eras = eras;
    options
}

async fn connect(options: Options) -> Session {
    Session::connect(&testkit(options), SessionOptions::default())
        .await
        .unwrap()
}

fn arguments(value: &serde_json::Value) -> Option<Raw> {
    Some(Raw::of(value).unwrap())
}

#[tokio::test]
async fn a_dual_era_server_is_spoken_to_in_the_modern_era() {
    let session = connect(eras(Eras::Both)).await;
    assert_eq!(session.negotiated().version, Version::V2026_07_28);
    everything_works(&session).await;
    session.close().await;
}

#[tokio::test]
async fn a_legacy_server_is_spoken_to_in_the_legacy_era() {
    let session = connect(eras(Eras::Legacy)).await;
    assert_eq!(session.negotiated().version, Version::V2025_11_25);
    everything_works(&session).await;
    session.close().await;
}

#[tokio::test]
async fn the_era_can_be_ordered() {
    for (protocol, era) in [
        (Protocol::Legacy, Era::Legacy),
        (Protocol::Modern, Era::Modern),
    ] {
        let options = SessionOptions::default().protocol(protocol);
        let session = Session::connect(&testkit(eras(Eras::Both)), options)
            .await
            .unwrap();
        assert_eq!(session.negotiated().era(), era);
    }
}

async fn everything_works(session: &Session) {
    let tools = session.list_tools().await.unwrap();
    assert_eq!(tools.set_aside, []);
    let names: Vec<_> = tools
        .items
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert!(names.starts_with(&["echo", "get_time", "add", "slow_operation"].map(String::from)));

    let result = session
        .call_tool(
            "echo",
            arguments(&json!({"message": "héllo\n"})),
            CallOptions::default(),
        )
        .await
        .unwrap();
    assert_eq!(result.content()[0].as_text(), Some("héllo\n"));
    assert!(!result.is_error());

    let resources = session.list_resources().await.unwrap();
    let uris: Vec<_> = resources
        .items
        .iter()
        .map(|resource| resource.uri())
        .collect();
    assert_eq!(
        uris,
        [
            "file:///readme.txt",
            "file:///config.json",
            "file:///data/users.csv"
        ]
    );
    let read = session
        .read_resource("file:///config.json", CallOptions::default())
        .await
        .unwrap();
    assert!(read.contents()[0].text().is_some());
    session.list_resource_templates().await.unwrap();

    let prompts = session.list_prompts().await.unwrap();
    let names: Vec<_> = prompts.items.iter().map(|prompt| prompt.name()).collect();
    assert_eq!(names, ["greeting", "code_review", "summarize"]);
    let mut given = Pairs::new();
    given.insert("name", "Ada".to_owned());
    let params = GetPromptParams {
        name: "greeting".to_owned(),
        arguments: given,
    };
    let prompt = session
        .get_prompt(&params, CallOptions::default())
        .await
        .unwrap();
    assert!(!prompt.messages().is_empty());

    assert!(session.ping().await.unwrap() < Duration::from_secs(5));
    let error = session
        .call_tool("no_such_tool", None, CallOptions::default())
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Rpc(_)), "{error}");
}
