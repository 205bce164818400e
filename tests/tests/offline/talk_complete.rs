//! What arguments may become, and addresses with blanks: asked for, filled in and read.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use switchboard::catalog::Fill;
use switchboard::host::Host;
use switchboard::policy::{Level, Reason};
use switchboard::protocol::{CompleteParams, CompletionArgument, CompletionContext, CompletionRef};
use switchboard::spec::{Protocol, Settings};
use switchboard::transport::Memory;
use switchboard::{Caller, Error, ErrorKind, View};
use switchboard_testkit::Options;
use tokio::sync::mpsc;

use crate::host_support::agents::{agent, allowing};
use crate::host_support::{With as _, name, testkit};
use crate::support::Server;
use crate::support::wire::{Wire, hello_legacy, hello_modern};

fn asked(target: CompletionRef) -> CompleteParams {
    CompleteParams {
        target,
        argument: CompletionArgument {
            name: "city".to_owned(),
            value: "P".to_owned(),
        },
        context: Some(CompletionContext {
            arguments: [("country", "France".to_owned())].into_iter().collect(),
        }),
    }
}

fn of_prompt(name: &str) -> CompletionRef {
    let name = name.to_owned();
    CompletionRef::Prompt { name }
}

/// A server with a prompt and a template, which answers as it is told to.
fn completing(hello: Value, values: Vec<String>) -> (Memory, mpsc::UnboundedReceiver<Value>) {
    let (says, heard) = mpsc::unbounded_channel();
    let memory = Memory::new("completing", move |input, output| {
        let (hello, values) = (hello.clone(), values.clone());
        let mut wire = Wire::new(input, output, 1, says.clone());
        async move {
            while let Some(request) = wire.read().await {
                let kept = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
                let mut result = kept;
                match request["method"].as_str().unwrap() {
                    "initialize" | "server/discover" => result = hello.clone(),
                    "tools/list" => result["tools"] = json!([]),
                    "prompts/list" => result["prompts"] = json!([{"name": "trip"}]),
                    "resources/list" => result["resources"] = json!([]),
                    "resources/templates/list" => {
                        let template = json!({"uriTemplate": "map:{city}", "name": "map"});
                        result["resourceTemplates"] = json!([template]);
                    }
                    "completion/complete" => {
                        result["completion"] = json!({"values": values, "total": 1000});
                    }
                    _ => continue,
                }
                wire.answer(&request, &result).await;
            }
        }
    });
    (memory, heard)
}

fn with_completions(mut hello: Value) -> Value {
    hello["capabilities"]["completions"] = json!({});
    hello
}

fn questions(heard: &mut mpsc::UnboundedReceiver<Value>) -> Vec<Value> {
    let all = std::iter::from_fn(|| heard.try_recv().ok());
    let all = all.filter(|message| message["method"] == "completion/complete");
    all.map(|mut message| {
        let mut params = message["params"].take();
        params.as_object_mut().unwrap().remove("_meta");
        params
    })
    .collect()
}

#[tokio::test]
async fn an_argument_is_completed_in_both_eras() {
    let both = [
        (Protocol::Legacy, hello_legacy("2025-11-25")),
        (Protocol::Modern, hello_modern(&["2026-07-28"])),
    ];
    for (era, hello) in both {
        let values = vec!["Paris".to_owned(), "Pau".to_owned()];
        let (memory, mut heard) = completing(with_completions(hello), values.clone());
        let host = Host::builder().protocol(era).with("one", memory);
        let host = host.build().unwrap();
        let view = host.view(Caller::owner());
        let params = asked(of_prompt("trip"));
        let found = view.complete("one", &params).await.unwrap();
        assert_eq!(
            (found.values, found.total, found.has_more),
            (values, Some(1000), false)
        );
        let uri = "map:{city}".to_owned();
        let params = asked(CompletionRef::Resource { uri });
        view.complete("one", &params).await.unwrap();
        let argument = json!({"name": "city", "value": "P"});
        let context = json!({"arguments": {"country": "France"}});
        let question = |of: Value| json!({"ref": of, "argument": argument, "context": context});
        assert_eq!(
            questions(&mut heard),
            [
                question(json!({"type": "ref/prompt", "name": "trip"})),
                question(json!({"type": "ref/resource", "uri": "map:{city}"})),
            ]
        );
    }
}

#[tokio::test]
async fn older_servers_are_asked_in_their_own_words() {
    // 2024-11-05 has no word for that a server completes; both know of no other arguments.
    for version in ["2024-11-05", "2025-03-26"] {
        let mut hello = hello_legacy(version);
        if version != "2024-11-05" {
            hello = with_completions(hello);
        }
        let (memory, mut heard) = completing(hello, Vec::new());
        let host = Host::builder().protocol(Protocol::Legacy);
        let host = host.with("one", memory).build().unwrap();
        let view = host.view(Caller::owner());
        let params = asked(of_prompt("trip"));
        view.complete("one", &params).await.unwrap();
        assert_eq!(questions(&mut heard)[0].get("context"), None, "{version}");
    }
}

#[tokio::test]
async fn a_server_that_completes_nothing_is_not_asked() {
    let (memory, mut heard) = completing(hello_legacy("2025-11-25"), Vec::new());
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("one", memory).build().unwrap();
    let view = host.view(Caller::owner());
    let params = asked(of_prompt("trip"));
    let error = view.complete("one", &params).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotOffered);
    assert!(questions(&mut heard).is_empty());
}

#[tokio::test]
async fn no_more_values_are_kept_than_there_may_be() {
    for (sent, has_more) in [(100, false), (101, true)] {
        let values = (0..sent).map(|number| number.to_string()).collect();
        let hello = with_completions(hello_legacy("2025-11-25"));
        let (memory, _heard) = completing(hello, values);
        let host = Host::builder().protocol(Protocol::Legacy);
        let host = host.with("one", memory).build().unwrap();
        let view = host.view(Caller::owner());
        let params = asked(of_prompt("trip"));
        let found = view.complete("one", &params).await.unwrap();
        assert_eq!((found.values.len(), found.has_more), (100, has_more));
    }
}

#[tokio::test]
async fn an_agent_completes_what_it_may_use_and_nothing_else_is_there() {
    let hello = with_completions(hello_legacy("2025-11-25"));
    let (memory, mut heard) = completing(hello, vec!["Paris".to_owned()]);
    let policy = allowing("planner", Level::Yolo, &["mcp:one:prompt/trip"]);
    let host = Host::builder().protocol(Protocol::Legacy).policy(policy);
    let host = host.with("one", memory).build().unwrap();
    let view: View = host.view(agent("planner"));
    let found = view.complete("one", &asked(of_prompt("trip"))).await;
    assert_eq!(found.unwrap().values, ["Paris"]);
    assert_eq!(questions(&mut heard).len(), 1);
    let said = |error: Error| (error.kind(), error.to_string(), error.server().cloned());
    let uri = "map:{city}".to_owned();
    let template = asked(CompletionRef::Resource { uri });
    let error = view.complete("one", &template).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(error.denial().unwrap().rule, Reason::NoGrant);
    let policy = allowing("planner", Level::Yolo, &["mcp:one:prompt/trip"]);
    host.set_policy(policy.conceal_denials(true));
    let denied = said(view.complete("one", &template).await.unwrap_err());
    let absent = said(view.complete("none", &template).await.unwrap_err());
    assert_eq!(denied, absent);
    assert_eq!(denied.0, ErrorKind::NotFound);
    view.complete("one", &asked(of_prompt("other")))
        .await
        .unwrap_err();
    assert!(questions(&mut heard).is_empty());
}

fn fills(given: &[(&str, &str)]) -> BTreeMap<String, Fill> {
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), Fill::from(*text));
    given.iter().map(own).collect()
}

#[tokio::test]
async fn a_template_is_filled_in_and_read() {
    let host = Host::builder().with("one", testkit(Options::default()));
    let host = host.build().unwrap();
    let view = host.view(Caller::owner());
    let read = async |given: &[(&str, &str)]| {
        let values = fills(given);
        view.read_template("one", "note:///{name}", &values).await
    };
    let result = read(&[("name", "a/b c")]).await.unwrap();
    assert_eq!(result.contents()[0].uri(), "note:///a%2Fb%20c");
    let missing = read(&[]).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Arguments);
    assert!(
        missing.to_string().contains("not filled in: name"),
        "{missing}"
    );
    let unknown = read(&[("name", "a"), ("nome", "b")]).await.unwrap_err();
    assert!(unknown.to_string().contains("has no nome"), "{unknown}");
}

#[tokio::test]
async fn an_agent_reads_the_address_that_it_was_granted_and_not_the_family() {
    let policy = allowing("planner", Level::Yolo, &["mcp:one:resource/note:///a*"]);
    let host = Host::builder().with("one", testkit(Options::default()));
    let host = host.policy(policy).build().unwrap();
    let view = host.view(agent("planner"));
    let template = "note:///{name}";
    let values = fills(&[("name", "ada")]);
    view.read_template("one", template, &values).await.unwrap();
    let values = fills(&[("name", "bob")]);
    let error = view.read_template("one", template, &values).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn what_nobody_here_knows_of_is_handed_on_as_it_came() {
    let ui =
        json!({"ui": {"resourceUri": "ui://app/main", "csp": {"x": [1.50, null]}}, "a.b/c": 1e2});
    let (meta, contents) = (ui.clone(), ui.clone());
    let server = Server::new(move |mut wire| {
        let (meta, contents) = (meta.clone(), contents.clone());
        async move {
            wire.greet_legacy().await;
            while let Some(request) = wire.read().await {
                let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "_meta": meta});
                let result = match request["method"].as_str().unwrap() {
                    "tools/list" => json!({"tools": [tool]}),
                    "prompts/list" => json!({"prompts": []}),
                    "resources/list" => json!({"resources": []}),
                    "resources/templates/list" => json!({"resourceTemplates": []}),
                    "tools/call" => json!({"content": [], "_meta": meta, "new": [meta]}),
                    "resources/read" => {
                        let one = json!({"uri": "ui://app/main", "text": "<p>", "_meta": contents});
                        json!({"contents": [one], "_meta": meta})
                    }
                    _ => continue,
                };
                wire.answer(&request, &result).await;
            }
        }
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host
        .transport(name("one"), server, Settings::default())
        .build()
        .unwrap();
    let view = host.view(Caller::owner());
    let tool = view.find("one/t").await.unwrap();
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(json(tool.entry().tool().raw().as_str())["_meta"], ui);
    let result = tool.call(json!({})).await.unwrap();
    let whole = json(result.whole().raw().as_str());
    assert_eq!((&whole["_meta"], &whole["new"][0]), (&ui, &ui));
    let read = view.read("one", "ui://app/main").await.unwrap();
    let whole = json(read.raw().as_str());
    assert_eq!(
        (&whole["_meta"], &whole["contents"][0]["_meta"]),
        (&ui, &ui)
    );
    assert!(
        read.raw().as_str().contains("1.5"),
        "{}",
        read.raw().as_str()
    );
}
