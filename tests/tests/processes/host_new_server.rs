//! Servers that are added to a running host and connected to in one call.

use std::time::Duration;

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::host::Host;
use switchboard::policy::{AgentPolicy, Level, Policy};
use switchboard::spec::ServerSpec;
use switchboard::transport::Environment;
use tokio::time::timeout;

use crate::host_support::PATIENCE;
use crate::support::marked::{mark, marked};
use crate::support::process::until;

const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// A server that can be found by its mark.
fn process(name: &str, mark: &str, args: &[&str]) -> ServerSpec {
    let spec = ServerSpec::stdio(name, SERVER).unwrap();
    spec.args(args.iter().copied())
        .env("SWITCHBOARD_TEST_MARK", mark)
}

/// Two agents that may use everything.
fn policy() -> Policy {
    let everything = || AgentPolicy::everything(Level::Yolo);
    Policy::none()
        .agent("planner".parse().unwrap(), everything())
        .agent("writer".parse().unwrap(), everything())
}

/// A host without servers.
fn host() -> Host {
    let host = Host::builder().environment(&Environment::of_process());
    host.policy(policy()).build().unwrap()
}

#[tokio::test]
async fn a_new_server_is_connected_for_one_agent_or_for_all() {
    let (mark, host) = (mark(), host());
    let planner = host
        .connect_new(process("mine", &mark, &[]))
        .private_to("planner")
        .timeout(PATIENCE)
        .await
        .unwrap();
    assert_eq!(planner.caller().id().as_str(), "planner");
    let echo = planner.tool("mine/echo").unwrap();
    let said = echo.call(json!({"message": "hello"})).await.unwrap();
    assert_eq!(said.text(), "hello");
    // To others it does not exist, whatever they are granted, and another policy changes nothing.
    let writer = host.agent("writer").unwrap();
    for _ in 0..2 {
        assert!(writer.servers().is_empty() && writer.tools().is_empty());
        let error = writer.find("mine/echo").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        host.set_policy(policy());
    }
    assert!(host.tool("mine/echo").is_ok(), "the owner sees everything");

    let spec = process("ours", &mark, &[]);
    let owner = host.connect_new(spec).shared().await.unwrap();
    assert!(owner.caller().is_owner());
    for view in [&planner, &writer, &owner] {
        let echo = view.tool("ours/echo").unwrap();
        echo.call(json!({"message": "x"})).await.unwrap();
    }

    // A server that takes the name later does not inherit the audience.
    host.remove("mine").await.unwrap();
    host.connect_new(process("mine", &mark, &[])).await.unwrap();
    assert!(writer.tool("mine/echo").is_ok());
    host.shutdown().await;
    assert_eq!(marked(&mark), []);
}

#[tokio::test]
async fn a_new_server_that_fails_leaves_nothing_behind() {
    let (mark, host) = (mark(), host());
    let late = process("late", &mark, &["--start-delay", "3600000"]);
    let limit = Duration::from_millis(300);
    let error = host
        .connect_new(late)
        .private_to("planner")
        .timeout(limit)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert!(error.is_timeout() && error.server().is_some(), "{error:?}");
    assert_eq!(marked(&mark), [], "its process has ended");

    let broken = process("broken", &mark, &["--chaos", "exit-3"]);
    let error = host.connect_new(broken).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert!(!error.is_timeout());

    // An agent that the policy does not mention could not use it: nothing is started.
    let spec = process("mine", &mark, &[]);
    let error = host.connect_new(spec).private_to("guest").await;
    assert!(error.unwrap_err().missing_policy().is_some());
    let misdescribed = process("mine", &mark, &[]).header("X-Y", "z");
    let error = host.connect_new(misdescribed).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");

    assert!(host.servers().is_empty());
    assert_eq!(host.catalog().servers().len(), 0);
    // The names are free, for everyone.
    host.connect_new(process("late", &mark, &[])).await.unwrap();
    assert!(host.agent("writer").unwrap().tool("late/echo").is_ok());
    // A name that is taken is refused, and the server that has it stays as it is.
    let twice = process("late", &mark, &[]);
    let error = host.connect_new(twice).private_to("planner").await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Configuration);
    assert!(host.agent("writer").unwrap().tool("late/echo").is_ok());
    host.shutdown().await;
    assert_eq!(marked(&mark), []);
}

#[tokio::test]
async fn a_new_server_is_removed_if_the_attempt_is_dropped() {
    let (mark, host) = (mark(), host());
    let late = process("late", &mark, &["--start-delay", "3600000"]);
    let attempt = host.connect_new(late).into_future();
    let dropped = timeout(Duration::from_millis(300), attempt).await;
    assert!(dropped.is_err());
    assert!(host.servers().is_empty());
    until("its process has ended", || marked(&mark).is_empty()).await;
    host.shutdown().await;
}
